"""Call every method on every library, and write which of them work: docs/support.md, and in short docs/methods.md.

``python docs/tools/support_matrix.py`` runs the columns of the installed libraries; the others stay as they are.
On a GPU host::

    python docs/tools/support_matrix.py --output FILE       # writes only FILE
    python docs/tools/support_matrix.py --merge FILE        # anywhere else: takes over its columns

The rows of `support_calls` are run. A cell is "yes" if the call succeeds and, on libraries other than pandas, its
answer is that on pandas; otherwise it is the error.
"""

import argparse
import importlib
import json
from collections.abc import Callable, Collection
from importlib.metadata import version
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
from support_calls import ARRAY_CALLS, CALLS, CUBE_CALLS, cube, frame, numbers

HERE = Path(__file__).parent
TABLE = HERE / "support_matrix.json"
EMPTY: dict[str, Any] = {"ran": {}, "cells": {}}
PARTITIONS = 3

Answers = dict[str, dict[str, str]]


def dask_cudf(data: pd.DataFrame) -> Any:
    """Return a collection of cuDF frames."""
    return dd.from_pandas(data, npartitions=PARTITIONS).to_backend("cudf")


FRAMES: dict[str, tuple[str, Callable[[pd.DataFrame], Any]]] = {
    "pandas": ("pandas", lambda data: data),
    "Dask": ("pandas", lambda data: dd.from_pandas(data, npartitions=PARTITIONS)),
    "cuDF": ("cudf", lambda data: importlib.import_module("cudf").from_pandas(data)),
    "dask-cudf": ("cudf", dask_cudf),
}
"""The module that each library of frames needs, and a function that converts the data."""

ARRAYS: dict[str, tuple[str, Callable[[np.ndarray], Any]]] = {
    "NumPy": ("numpy", lambda x: x),
    "Dask array": ("dask", lambda x: da.from_array(x, chunks=2)),
    "pyarrow": ("pyarrow", pa.array),
    "polars": ("polars", lambda x: importlib.import_module("polars").Series(x)),
    "CuPy": ("cupy", lambda x: importlib.import_module("cupy").asarray(x)),
    "Dask of CuPy": (
        "cupy",
        lambda x: da.from_array(importlib.import_module("cupy").asarray(x), chunks=2),
    ),
}

CUBES = ("NumPy", "Dask array", "CuPy", "Dask of CuPy")
"""The libraries of arrays in xarray's objects."""


def is_here(module: str) -> bool:
    """Return whether a library can be imported and, if it needs a GPU, there is one."""
    try:
        found = importlib.import_module(module)
        if module in ("cudf", "cupy"):
            importlib.import_module("cupy").cuda.runtime.getDeviceCount()
    except Exception:
        return False
    return found is not None


def plain(answer: Any) -> Any:
    """Convert an answer of any library to pandas or NumPy."""
    if isinstance(answer, tuple):
        return tuple(map(plain, answer))
    if dask.is_dask_collection(answer):
        (answer,) = dask.compute(answer)
    if hasattr(answer, "chunksizes"):  # xarray
        answer = answer.data
    if hasattr(answer, "get") and type(answer).__module__.startswith("cupy"):
        answer = answer.get()
    for way in ("to_pandas", "to_numpy"):
        if not isinstance(answer, (pd.DataFrame, pd.Series, pd.Index)) and hasattr(answer, way):
            answer = getattr(answer, way)()
    return answer


def compare(answer: Any, expected: Any) -> None:
    """Raise an AssertionError if two answers differ by more than dtypes and rounding."""
    loose = {f"check_{of}": False for of in ("dtype", "categorical", "index_type", "names")}
    if isinstance(expected, tuple):
        for one, other in zip(answer, expected, strict=True):
            compare(one, other)
    elif isinstance(expected, pd.DataFrame):
        pd.testing.assert_frame_equal(
            answer, expected, check_column_type=False, check_freq=False, **loose
        )
    elif isinstance(expected, pd.Series):
        pd.testing.assert_series_equal(answer, expected, check_freq=False, **loose)
    else:
        np.testing.assert_allclose(np.asarray(answer, float), np.asarray(expected, float))


def cell(call: Callable[[Any], Any], data: Any, expected: Any) -> str:
    """Return "yes", or the first line of the error."""
    try:
        answer = plain(call(data))
        if expected is not None:
            compare(answer, expected)
    except AssertionError as error:
        return f"another answer: {str(error).strip().splitlines()[0]}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    return "yes"


def run(names: Collection[str] | None = None) -> dict[str, Any]:
    """Call everything that can be called here, or the named methods."""
    cells: Answers = {}
    ran: dict[str, str] = {}
    cubes = {
        name: (module, lambda x, make=make: x.copy(data=make(x.values)))
        for name, (module, make) in ARRAYS.items()
        if name in CUBES
    }
    runs: list[Any] = [(FRAMES, CALLS, frame()), (ARRAYS, ARRAY_CALLS, numbers())]
    if is_here("xarray"):
        runs.append((cubes, CUBE_CALLS, cube()))
    for libraries, calls, data in runs:
        here = {name: make(data) for name, (module, make) in libraries.items() if is_here(module)}
        for name, call in calls.items():
            if names is not None and name not in names:
                continue
            expected = plain(call(data))
            for library, held in here.items():
                is_first = held is data
                cells.setdefault(name, {})[library] = cell(
                    call, held, None if is_first else expected
                )
        for library in here:
            package = {"dask-cudf": "dask_cudf", "Dask array": "dask", "Dask of CuPy": "cupy"}
            ran[library] = version_of(package.get(library, library.lower()))
    return {"ran": ran, "cells": cells}


def version_of(module: str) -> str:
    """Return a module's version; packages for GPUs have other names than their modules."""
    found = getattr(importlib.import_module(module), "__version__", None)
    return found or version(module)


def merged(known: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Return a table with the columns of another one; methods that no longer exist are dropped."""
    cells = {
        name: {**known["cells"].get(name, {}), **new["cells"].get(name, {})}
        for name in (*CALLS, *ARRAY_CALLS, *CUBE_CALLS)
    }
    return {"ran": {**known["ran"], **new["ran"]}, "cells": cells}


# --- the tables -------------------------------------------------------------------------------------

OWNERS = {
    "Gpuscan": "`.gpuscan`",
    "ListAccessor": "`.gpuscan.list`",
    "GroupBy": "`.gpuscan.groupby()`",
    "Rolling": "`.gpuscan.rolling()`",
    "Expanding": "`.gpuscan.expanding()`",
    "Ewm": "`.gpuscan.ewm()`",
    "Resampler": "`.gpuscan.resample()`",
    "dask_gpuscan": "functions of frames",
}
OF_XARRAY = {
    "XarrayGpuscan": "`.gpuscan` of xarray",
    "XarrayGroups": "`.gpuscan.groupby()` of xarray",
}
BEGIN, END = "<!-- support matrix -->", "<!-- end of support matrix -->"


def mark(answer: str | None) -> str:
    """Return the text of a cell."""
    return {"yes": "✓", None: "not run", "": ""}.get(answer, "no")


def table(head: str, columns: tuple[str, ...], rows: dict[str, dict[str, str]]) -> str:
    """Return a Markdown table with a row for each method."""
    lines = [f"| {head} | {' | '.join(columns)} |", "| --- |" + " :---: |" * len(columns)]
    for name, cells in rows.items():
        lines.append(f"| `{name}` | {' | '.join(mark(cells.get(each)) for each in columns)} |")
    return "\n".join(lines)


def on_arrays(known: dict[str, Any], name: str) -> str:
    """Return whether a method's function of arrays works on all libraries that were run; "" if there is none."""
    answers = set(known["cells"][name].values()) if name in ARRAY_CALLS else {""}
    return answers.pop() if len(answers) == 1 else "some"


def rows_of(known: dict[str, Any], owner: str) -> dict[str, dict[str, str]]:
    """Return the rows of the methods of one class."""
    found = {}
    for each in CALLS:
        of, _, name = each.partition(".")
        if of == owner:
            found[name] = {**known["cells"][each], "arrays": on_arrays(known, name)}
    return found


def refusals(known: dict[str, Any]) -> str:
    """Return the reasons of the cells with "no"."""
    lines = [
        f"- `{name}` on {library}: {answer}"
        for name, cells in known["cells"].items()
        for library, answer in cells.items()
        if answer != "yes"
    ]
    return "\n".join(["Where a cell says no:", "", *lines]) if lines else "No cell says no."


def full(known: dict[str, Any]) -> str:
    """Return the tables of docs/support.md."""
    parts = [", ".join(f"{name} {number}" for name, number in known["ran"].items())]
    parts[0] = f"Run with {parts[0]}."
    for owner, title in OWNERS.items():
        columns = (*FRAMES, "arrays") if owner == "Gpuscan" else tuple(FRAMES)
        parts += [f"## {title}", table("method", columns, rows_of(known, owner))]
    arrays = {name: known["cells"][name] for name in ARRAY_CALLS}
    parts += ["## Functions of arrays", table("function", tuple(ARRAYS), arrays)]
    for owner, title in OF_XARRAY.items():
        rows = {
            n.partition(".")[2]: known["cells"][n] for n in CUBE_CALLS if n.startswith(f"{owner}.")
        }
        parts += [f"## {title}", table("method", CUBES, rows)]
    parts.append(refusals(known))
    return "\n\n".join(parts)


def short(known: dict[str, Any]) -> str:
    """Return the table of docs/methods.md: how many methods of each kind work."""
    lines = [f"| | {' | '.join(FRAMES)} |", "| --- |" + " :---: |" * len(FRAMES)]
    for owner, title in OWNERS.items():
        rows = rows_of(known, owner)
        counts = []
        for library in FRAMES:
            answers = [cells.get(library) for cells in rows.values()]
            done = f"{answers.count('yes')} of {len(answers)}"
            counts.append("not run" if set(answers) == {None} else done)
        lines.append(f"| {title} | {' | '.join(counts)} |")
    return "\n".join(lines)


def put_in(text: str, table: str, marks: tuple[str, str] = (BEGIN, END)) -> str:
    """Return a page with a new table between two marks."""
    before, _, rest = text.partition(marks[0])
    _, _, after = rest.partition(marks[1])
    return f"{before}{marks[0]}\n\n{table}\n\n{marks[1]}{after}"


PAGES = {HERE.parent / "support.md": full, HERE.parent / "methods.md": short}


def main(argv: list[str] | None = None) -> None:
    """Run the calls or merge tables, and write the result."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--output", type=Path, help="write the new columns to this file alone")
    parser.add_argument("--merge", type=Path, help="take the columns of this file over")
    options = parser.parse_args(argv)
    new = json.loads(options.merge.read_text()) if options.merge else run()
    if options.output:
        options.output.write_text(json.dumps(new, indent=1, ensure_ascii=False) + "\n")
        return
    known = merged(json.loads(TABLE.read_text()) if TABLE.exists() else EMPTY, new)
    TABLE.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n")
    for page, made in PAGES.items():
        page.write_text(put_in(page.read_text(encoding="utf-8"), made(known)), encoding="utf-8")


if __name__ == "__main__":
    main()
