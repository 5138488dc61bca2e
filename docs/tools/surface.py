"""Compare our methods and their arguments with pandas' own, and write docs/surface.md.

``python docs/tools/surface.py`` writes the page again. Methods of frames are those that depend on the order of rows,
in `ORDERED`; those of groups, windows and buckets are all. ``api/absent.py`` lists methods that are absent.
"""

import inspect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from dask_gpuscan import Gpuscan
from dask_gpuscan.api.absent import PEERS, SUBSTITUTES
from dask_gpuscan.api.groupby.groupby import GroupBy
from dask_gpuscan.api.windows.expanding import Ewm, Expanding
from dask_gpuscan.api.windows.group_resample import GroupResampler
from dask_gpuscan.api.windows.resample import Resampler
from dask_gpuscan.api.windows.rolling import Rolling

PAGE = Path(__file__).parents[1] / "surface.md"

ORDERED = (
    "agg", "apply", "argsort", "asfreq", "asof", "autocorr", "bfill", "cummax", "cummin", "cumprod", "cumsum",
    "diff", "drop_duplicates", "duplicated", "ewm", "expanding", "explode", "ffill", "first_valid_index", "groupby",
    "head", "idxmax", "idxmin", "interpolate", "is_monotonic_decreasing", "is_monotonic_increasing",
    "last_valid_index", "mode", "nlargest", "nsmallest", "pct_change", "rank", "resample", "reset_index", "rolling",
    "searchsorted", "shift", "sort_index", "sort_values", "tail", "transform", "truncate", "unique", "value_counts",
)  # fmt: skip
"""Methods of a Series or DataFrame with answers that depend on the order of rows, or are in an order."""


NO_METHODS = ("boxplot", "dtype", "exclusions", "hist", "keys", "level", "ndim", "plot")
"""Attributes of pandas' classes that describe their origin, and plots."""


@dataclass(frozen=True)
class Surface:
    """One class of ours, and the classes of pandas that it is compared with."""

    title: str
    kind: str
    """The key in `PEERS` and `SUBSTITUTES`."""
    ours: Any
    names: Sequence[str] = ()
    """The methods that are compared; by default all public ones of pandas."""

    @property
    def compared(self) -> list[str]:
        """The names of pandas' methods."""
        every = {name for peer in PEERS[self.kind] for name in dir(peer) if name[0] != "_"}
        every -= set(NO_METHODS)
        return [name for name in sorted(every) if not self.names or name in self.names]


SURFACES = (
    Surface("Series and DataFrame", "gpuscan", Gpuscan, ORDERED),
    Surface("SeriesGroupBy and DataFrameGroupBy", "groupby", GroupBy),
    Surface("Rolling", "rolling", Rolling),
    Surface("Expanding", "expanding", Expanding),
    Surface("ExponentialMovingWindow", "ewm", Ewm),
    Surface("Resampler", "resample", Resampler),
    Surface("Resampler of groups", "groupby.resample", GroupResampler),
)

WITHOUT_MEANING = ("axis", "copy", "engine", "engine_kwargs", "inplace")
"""Arguments of pandas about how it computes, or about columns instead of rows, in methods that do not take them."""

CALLED = {"func": "functions"}
"""Arguments that have another name here."""

WHY = {
    "allow_duplicates": "choose names first, with `rename`",
    "args": "an operator uses what is around its function",
    "bins": "cut the values first, with `pandas.cut`",
    "col_fill": "columns of several levels keep them",
    "col_level": "columns of several levels keep them",
    "convention": "is for periods; buckets are of datetimes",
    "exclude": "choose the columns first",
    "fill_value": "fill the nulls of the answer",
    "freq": "moves labels, not rows: `shift(freq=)` of the frame",
    "group_keys": "keys are in the index of what has one row a group, and of nothing else",
    "include": "choose the columns first",
    "kwargs": "an operator uses what is around its function",
    "include_groups": "keys are not reduced, as in pandas 3",
    "kind": "all sorts are stable",
    "level": "all levels, or name the level as a column by `on`",
    "limit_area": '`interpolate("pad", limit_area=)` has it',
    "method": "is of pandas' engines; operators of several inputs see several columns",
    "min_count": "`count()` says how many values there are, for `where`",
    "name": "use `rename`",
    "names": "use `rename`",
    "raw": "an operator combines two values, not an array",
    "skipna": "nulls are passed over",
    "sort_remaining": "further levels are sorted, too",
    "step": "take every so many rows of the answer",
    "subset": "choose the columns first",
    "suffix": "several distances are several calls",
    "win_type": "weighted windows are not built",
}
"""Why arguments of pandas are not taken."""


def arguments(owners: Iterable[Any], name: str) -> list[str]:
    """Return the names of the arguments of a method of any of some classes."""
    found: dict[str, None] = {}
    for owner in owners:
        member = inspect.getattr_static(owner, name, None)
        if not callable(getattr(owner, name, None)) or isinstance(member, property):
            continue
        try:
            given = inspect.signature(getattr(owner, name)).parameters
        except (TypeError, ValueError):
            continue
        open_ended = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        found |= {
            n: None for n, each in given.items() if n != "self" and each.kind not in open_ended
        }
    return list(found)


def not_taken(surface: Surface, name: str) -> list[str]:
    """Return the arguments of a method of pandas that ours does not take."""
    own = arguments([surface.ours], name)
    return [
        each
        for each in arguments(PEERS[surface.kind], name)
        if CALLED.get(each, each) not in own and each not in (*own, *WITHOUT_MEANING)
    ]


def listed(names: Iterable[str]) -> str:
    """Return names as code, one after the other."""
    return " ".join(f"`{name}`" for name in names)


def present(surface: Surface) -> list[str]:
    """Return the rows of the methods that are there."""
    rows = [
        "| method | arguments of pandas | not taken | more than pandas |",
        "| --- | --- | --- | --- |",
    ]
    for name in surface.compared:
        if not hasattr(surface.ours, name):
            continue
        theirs = arguments(PEERS[surface.kind], name)
        own = arguments([surface.ours], name)
        known = {CALLED.get(each, each) for each in theirs} | set(theirs)
        missing = not_taken(surface, name)
        cells = (
            f"`{name}`",
            listed(each for each in own if each in known),
            listed(missing),
            listed(each for each in own if each not in known),
        )
        rows.append("| " + " | ".join(cells) + " |")
    return rows


def absent(surface: Surface) -> list[str]:
    """Return the rows of the methods that are not there."""
    rows = ["| method | use |", "| --- | --- |"]
    known = SUBSTITUTES[surface.kind]
    for name in surface.compared:
        if not hasattr(surface.ours, name):
            use = known.get(name, f"`{name}` of pandas or Dask itself")
            rows.append(f"| `{name}` | {use.replace('|', chr(92) + '|')} |")
    return rows


def page() -> str:
    """Return the page."""
    version = ".".join(pd.__version__.split(".")[:2])
    lines = [
        "# Compared with pandas, method by method",
        "",
        f"This page compares `.gpuscan` with pandas {version}: which methods and arguments it has, and what to use",
        "instead of the others. Of Series and DataFrames, methods are those that depend on the order of rows.",
        "",
        f"Arguments that are not taken and have no meaning here are left out: {listed(WITHOUT_MEANING)}.",
        "",
        "`python docs/tools/surface.py` writes this page.",
    ]
    for surface in SURFACES:
        lines += ["", f"## {surface.title}", "", *present(surface)]
        rows = absent(surface)
        if len(rows) > 2:
            lines += ["", "Absent:", "", *rows]
    missing = {
        each
        for surface in SURFACES
        for name in surface.compared
        if hasattr(surface.ours, name)
        for each in not_taken(surface, name)
    }
    rows = [f"| `{each}` | {WHY[each]} |" for each in sorted(missing)]
    lines += [
        "",
        "## Arguments that are not taken",
        "",
        "| argument | why, or what to do |",
        "| --- | --- |",
        *rows,
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
