"""Links of the API pages: to the method of the same name in pandas and Dask, and by short names.

Docstrings refer to `GroupBy.cumsum` and `kernels.scan`; the classes are in modules that users do not import.
"""

from typing import Any

import dask.dataframe as dd
import pandas as pd
from sphinx.application import Sphinx

OWNERS = {
    "Gpuscan": "dask_gpuscan",
    "GpuscanIndex": "dask_gpuscan.api.frame.order",
    "ListAccessor": "dask_gpuscan.api.frame.list_accessor",
    "GroupBy": "dask_gpuscan.api.groupby.groupby",
    "Resampler": "dask_gpuscan.api.windows.resample",
    "GroupResampler": "dask_gpuscan.api.windows.group_resample",
    "Rolling": "dask_gpuscan.api.windows.rolling",
    "Expanding": "dask_gpuscan.api.windows.expanding",
    "Ewm": "dask_gpuscan.api.windows.expanding",
    "XarrayGpuscan": "dask_gpuscan.api.xarray.accessor",
    "XarrayGroups": "dask_gpuscan.api.xarray.accessor",
    "kernels": "dask_gpuscan",
    "operator": "dask_gpuscan",
}
"""The modules of the names that docstrings use."""

SAME: dict[str, tuple[tuple[Any, str, str], ...]] = {
    "Gpuscan": (
        (pd.Series, "pandas.Series", "of pandas"),
        (pd.DataFrame, "pandas.DataFrame", "of pandas"),
        (dd.Series, "dask.dataframe.Series", "of Dask"),
        (dd.DataFrame, "dask.dataframe.DataFrame", "of Dask"),
    ),
    "GroupBy": (
        (pd.api.typing.DataFrameGroupBy, "pandas.api.typing.DataFrameGroupBy", "of pandas"),
    ),
    "Resampler": ((pd.api.typing.Resampler, "pandas.api.typing.Resampler", "of pandas"),),
    "Rolling": ((pd.api.typing.Rolling, "pandas.api.typing.Rolling", "of pandas"),),
    "Expanding": ((pd.api.typing.Expanding, "pandas.api.typing.Expanding", "of pandas"),),
    "Ewm": (
        (
            pd.api.typing.ExponentialMovingWindow,
            "pandas.api.typing.ExponentialMovingWindow",
            "of pandas",
        ),
    ),
}
"""By our class: classes that may have a method of the same name, their documented names, and their library."""

HEADING = ["See Also", "--------"]
LATER = ("Notes", "References", "Examples")


def same_methods(owner: str, name: str) -> list[str]:
    """Return a line for each library with a class that has this method; Series also represents DataFrame."""
    lines: dict[str, str] = {}
    for found, path, whose in SAME.get(owner, ()):
        if hasattr(found, name):
            lines.setdefault(whose, f"{path}.{name} : The method {whose}.")
    return list(lines.values())


def add_see_also(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """Add the methods of other libraries to the section See Also of a method's docstring, new or existing."""
    parts = name.split(".")
    same = same_methods(parts[-2], parts[-1]) if len(parts) > 1 else []
    if not same:
        return
    if HEADING[0] in lines:
        at = lines.index(HEADING[0]) + 2
        while at < len(lines) and lines[at].strip():
            at += 1
        lines[at:at] = same
    else:
        at = next((lines.index(each) for each in LATER if each in lines), len(lines))
        lines[at:at] = [*HEADING, *same, ""]


def short_name(app: Sphinx, env: Any, node: Any, shown: Any) -> Any:
    """Resolve a reference by a short name."""
    target = node.get("reftarget", "")
    module = OWNERS.get(target.partition(".")[0])
    if node.get("refdomain") != "py" or module is None:
        return None
    full = f"{module}.{target}"
    return env.domains["py"].resolve_xref(
        env, node["refdoc"], app.builder, "obj", full, node, shown
    )


def setup(app: Sphinx) -> None:
    """Connect to the build before numpydoc, which reads the sections."""
    app.connect("autodoc-process-docstring", add_see_also, priority=400)
    app.connect("missing-reference", short_name, priority=400)
