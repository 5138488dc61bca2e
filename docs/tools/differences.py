"""Call methods of pandas, polars, cuDF and ours on the same columns, and write where answers differ.

``python docs/tools/differences.py`` writes the tables of docs/guide/semantics.md. Libraries that are absent, or not
named, keep their part of differences.json: on a GPU host, ``python docs/tools/differences.py cudf`` fills that of cuDF.
"""

import importlib
import json
import math
import sys
import warnings
from collections.abc import Callable, Collection, Iterator
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from support_matrix import is_here, put_in, version_of

import dask_gpuscan  # noqa: F401  (registers the accessor)

HERE = Path(__file__).parent
TABLE, PAGE = HERE / "differences.json", HERE.parent / "guide" / "semantics.md"
MARKS = "<!-- differences -->", "<!-- end of differences -->"

Answer = tuple[str, list[Any] | None]
"""A dtype, and values, or None if the call is refused."""
Row = tuple[str, str, str, str]
"""A call, its column, our answer and that of the library."""

KEYS = [1, 1, 2, 2]
DAYS = [date(2026, 3, 2), None, date(2026, 3, 1), date(2026, 3, 2)]
COLUMNS: dict[str, pd.Series] = {
    "bool": pd.Series([True, False, True, True]),
    "int8": pd.Series([100, 100, -3, 2], dtype="int8"),
    "uint8": pd.Series([3, 250, 2, 200], dtype="uint8"),
    "int64": pd.Series([3, 1, 2, 2]),
    "Int64": pd.Series([3, None, 2, 2], dtype="Int64"),
    "boolean": pd.Series([True, None, False, True], dtype="boolean"),
    "float32": pd.Series([3, np.nan, 2, 2], dtype="float32"),
    "float64": pd.Series([3, np.nan, 2, 2]),
    "Float64": pd.Series([3, None, 2, 2], dtype="Float64"),
    "double[pyarrow]": pd.Series([3, None, 2, math.nan], dtype=pd.ArrowDtype(pa.float64())),
    "int64[pyarrow]": pd.Series([3, None, 2, 2], dtype=pd.ArrowDtype(pa.int64())),
    "decimal[pyarrow]": pd.Series(
        [Decimal("3.00"), None, Decimal("2.00"), Decimal("2.00")],
        dtype=pd.ArrowDtype(pa.decimal128(9, 2)),
    ),
    "str": pd.Series(["c", None, "b", "b"], dtype="str"),
    "datetime64[us]": pd.Series(pd.to_datetime(DAYS)).astype("datetime64[us]"),
    "date32[pyarrow]": pd.Series(DAYS, dtype=pd.ArrowDtype(pa.date32())),
    "timedelta64[us]": pd.Series(
        [timedelta(3), None, timedelta(2), timedelta(2)], dtype="timedelta64[us]"
    ),
    "ordered category": pd.Series(pd.Categorical(["low", None, "high", "high"], ["low", "high"], True)),
    "object": pd.Series([3, None, 2, 2], dtype=object),
}  # fmt: skip
"""The columns, by name; those of polars are made from Arrow's."""

OF_POLARS = ("bool", "int8", "uint8", "int64", "float32", "double[pyarrow]", "int64[pyarrow]", "decimal[pyarrow]",
             "str", "datetime64[us]", "date32[pyarrow]", "timedelta64[us]")  # fmt: skip
OF_CUDF = ("bool", "int8", "uint8", "int64", "float32", "float64", "str", "datetime64[us]", "timedelta64[us]",
           "ordered category")  # fmt: skip

STATISTICS = (
    "sum",
    "prod",
    "mean",
    "min",
    "max",
    "median",
    "std",
    "count",
    "first",
    "last",
    "nunique",
)
OURS = (
    *(f"x.{name}()" for name in ("shift", "diff", "pct_change", "cumsum", "cumprod", "cummax", "cummin", "ffill")),
    *(f"x.{name}()" for name in ("interpolate", "rank", "sort_values", "drop_duplicates", "value_counts")),
    "x.nlargest(2)",
    *(f"x.rolling(2, min_periods=1).{name}()" for name in ("sum", "mean", "max", "count")),
    "x.expanding().sum()",
    "x.ewm(alpha=0.5).mean()",
    *(f"g.{name}()" for name in (*STATISTICS, "cumsum", "cummax", "ffill", "shift", "diff", "rank")),
)  # fmt: skip
"""The calls on a column x, and on g, its groups by a key."""

POLARS = {
    "x.shift()": "x.shift()",
    "x.diff()": "x.diff()",
    "x.pct_change()": "x.pct_change()",
    **{f"x.cum{name}()": f"x.cum_{name}()" for name in ("sum", "prod", "max", "min")},
    "x.ffill()": "x.forward_fill()",
    "x.interpolate()": "x.interpolate()",
    "x.rank()": 'x.rank("average")',
    'x.rank(method="min", ascending=False)': 'x.rank("min", descending=True)',
    'x.sort_values(na_position="first")': "x.sort()",
    'x.sort_values(ascending=False, na_position="first")': "x.sort(descending=True)",
    "x.drop_duplicates()": "x.unique(maintain_order=True)",
    "x.nlargest(2)": "x.top_k(2)",
    **{
        f"x.rolling(2, min_periods=1).{name}()": f"x.rolling_{name}(2, min_samples=1)"
        for name in ("sum", "mean", "max")
    },
    "x.ewm(alpha=0.5, min_periods=1).mean()": "x.ewm_mean(alpha=0.5)",
    **{
        f"g.{name}()": f"g.agg(x.{polars}())"
        for name, polars in zip(STATISTICS, (*STATISTICS[:1], "product", *STATISTICS[2:-1], "n_unique"), strict=True)
    },
    **{f"g.cum{name}()": f'x.cum_{name}().over("k")' for name in ("sum", "max")},
    "g.shift()": 'x.shift().over("k")',
    "g.diff()": 'x.diff().over("k")',
    "g.rank()": 'x.rank("average").over("k")',
}  # fmt: skip
"""The same calls for polars: ours, and the expressions of polars."""


def plain(answer: Any) -> Answer:
    """Return the dtype of an answer and its values, with null and NaN distinguished if the library does so."""
    if type(answer).__module__.startswith("polars"):
        answer = answer.get_columns()[-1] if hasattr(answer, "get_columns") else answer
        return str(answer.dtype), answer.to_list()
    if hasattr(answer, "to_arrow"):  # cuDF
        return str(answer.dtype), answer.to_arrow().to_pylist()
    values = [None if x is pd.NA or x is pd.NaT else x for x in answer.tolist()]
    if isinstance(answer.dtype, np.dtype):  # where NaN is null
        values = [None if isinstance(x, float) and x != x else x for x in values]
    return str(answer.dtype), values


def told(call: str, scope: dict[str, Any]) -> Answer:
    """Return the answer of a call, or the name of its error without values."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return plain(eval(call, dict(scope)))
        except Exception as error:
            return type(error).__name__, None


def same(ours: list[Any] | None, theirs: list[Any] | None) -> bool:
    """Return whether values are equal up to rounding."""
    if ours is None or theirs is None or len(ours) != len(theirs):
        return ours is theirs
    return all(
        one is other or one == other or (one is not None and other is not None and repr(one) == repr(other))
        or (isinstance(one, float) and isinstance(other, (int, float)) and math.isclose(one, other))
        for one, other in zip(ours, theirs, strict=True)
    )  # fmt: skip


def shown(answer: Answer, with_values: bool) -> str:
    """Return the text of a cell."""
    dtype, values = answer
    if values is None:
        return "refused"
    texts = [
        "null" if x is None else str(round(x, 3) if isinstance(x, float) else x) for x in values
    ]
    return f"`{dtype}`" + (f": {', '.join(texts)}" if with_values else "")


def of_frames(module: str, names: tuple[str, ...]) -> Iterator[Row]:
    """Yield the differences from a library with pandas' methods."""
    library = importlib.import_module(module)
    for name in names:
        x = COLUMNS[name] if library is pd else library.from_pandas(COLUMNS[name])
        frame = library.DataFrame({"k": KEYS})
        frame["x"] = x
        ours = {"x": frame["x"].gpuscan, "g": frame.gpuscan.groupby("k")["x"]}
        theirs = {"x": frame["x"], "g": frame.groupby("k")["x"]}
        for call in OURS:
            yield from differing(call, name, told(call, ours), told(call, theirs))


def of_polars() -> Iterator[Row]:
    """Yield the differences from polars."""
    pl = importlib.import_module("polars")
    for name in OF_POLARS:
        array = pa.array(COLUMNS[name], from_pandas="pyarrow" not in name)
        frame = pl.DataFrame({"k": KEYS, "x": pl.from_arrow(array)})
        ours = {"x": frame["x"].gpuscan, "g": frame.gpuscan.groupby("k")["x"]}
        groups = frame.group_by("k", maintain_order=True)
        theirs = {"f": frame, "x": pl.col("x"), "g": groups}
        for call, other in POLARS.items():
            answer = told(other if other.startswith("g") else f"f.select({other})", theirs)
            yield from differing(call, str(frame["x"].dtype), told(call, ours), answer)


def differing(call: str, column: str, ours: Answer, theirs: Answer) -> Iterator[Row]:
    """Yield a row if two answers differ."""
    equal = same(ours[1], theirs[1])
    if not equal or (ours[1] is not None and ours[0] != theirs[0]):
        yield call, column, shown(ours, not equal), shown(theirs, not equal)


LIBRARIES: dict[str, Callable[[], Iterator[Row]]] = {
    "pandas": lambda: of_frames("pandas", tuple(COLUMNS)),
    "polars": of_polars,
    "cudf": lambda: of_frames("cudf", OF_CUDF),
}


def run(names: Collection[str]) -> dict[str, Any]:
    """Return the differences from these libraries, if they are installed, and the known ones from others."""
    known: dict[str, Any] = json.loads(TABLE.read_text(encoding="utf-8"))
    for name, differences in LIBRARIES.items():
        if name in names and is_here(name):
            known[name] = {
                "version": version_of(name),
                "rows": [list(row) for row in differences()],
            }
    return known


def made(known: dict[str, Any]) -> str:
    """Return a table for each library, with a row for each call and pair of answers."""
    parts = []
    for name in LIBRARIES:
        title = {"cudf": "cuDF"}.get(name, name)
        if name not in known:
            parts.append(f"### {title}\n\nNot run yet.")
            continue
        columns: dict[tuple[str, str, str], list[str]] = {}
        for call, column, ours, theirs in known[name]["rows"]:
            columns.setdefault((call, ours, theirs), []).append(f"`{column}`")
        lines = [
            f"| `{call}` | {' '.join(dict.fromkeys(of))} | {ours} | {theirs} |"
            for (call, ours, theirs), of in columns.items()
        ]
        head = ["| call | column | here | " + title + " |", "| --- | --- | --- | --- |"]
        parts.append("\n".join([f"### {title} {known[name]['version']}", "", *head, *lines]))
    return "\n\n".join(parts)


def main() -> None:
    """Compare the libraries, and write the tables."""
    known = run(sys.argv[1:] or LIBRARIES)
    TABLE.write_text(json.dumps(known, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
    PAGE.write_text(put_in(PAGE.read_text(encoding="utf-8"), made(known), MARKS), encoding="utf-8")


if __name__ == "__main__":
    main()
