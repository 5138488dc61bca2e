"""Hypothesis strategies: columns of every dtype with nulls, and cuts of their rows into partitions."""

from collections.abc import Iterator
from itertools import count, pairwise
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd
from hypothesis import settings
from hypothesis import strategies as st

import dask_gpuscan

two_thirds = settings(max_examples=-(-2 * settings.default.max_examples // 3))
"""Two thirds of the examples, for tests in which each example may compile a kernel; test_meta has one of each kind."""

NARROW = ("int8", "int32", "uint8", "uint32", "Int16", "UInt8")
INTEGERS = ("int64", *NARROW, "bool", "Int64", "boolean", "int64[pyarrow]")
FLOATS = ("float64", "float32", "float16", "Float64", "double[pyarrow]")
FAMILIES = ("int64", "bool", "Int64", "int64[pyarrow]", "float64", "Float64", "double[pyarrow]")
"""A dtype for each kind of numbers and of nulls; each further dtype is another kernel to compile for each operator."""
TIMES = (
    "datetime64[ns]",
    "datetime64[us, Europe/Berlin]",
    "timedelta64[ns]",
    "period[D]",
    "timestamp[us][pyarrow]",
    "duration[ns][pyarrow]",
    "date32[day][pyarrow]",
)
OTHERS = ("str", "object", "category", "string[pyarrow]")

_REALS = st.integers(-8, 8).map(lambda i: i / 4)  # sums of these are exact, in any order


def values(dtype: str) -> st.SearchStrategy[Any]:
    """Return a strategy of single values of a column of this dtype."""
    lower = dtype.lower()
    if lower.startswith("bool"):
        return st.booleans()
    if dtype in NARROW:  # also the ends of the range: sums of these overflow
        ends = np.iinfo(lower)
        return st.integers(max(ends.min, -9), 9) | st.sampled_from([int(ends.min), int(ends.max)])
    if lower.startswith("u"):
        return st.integers(0, 9)
    if "int" in lower:
        return st.integers(-9, 9)
    if "float" in lower or "double" in lower:
        return _REALS
    if "timedelta" in lower or "duration" in lower:
        return st.integers(-5, 5).map(lambda h: pd.Timedelta(hours=h))
    if dtype == "period[D]":
        return st.integers(0, 9).map(lambda d: pd.Period("2026-01-01", "D") + d)
    if "date" in lower or "timestamp" in lower:
        zone = "Europe/Berlin" if "Berlin" in dtype else None
        return st.integers(0, 9).map(
            lambda d: pd.Timestamp("2026-01-01", tz=zone) + pd.Timedelta(days=d)
        )
    return st.sampled_from(["a", "b", "c"])


def can_be_null(dtype: str) -> bool:
    return dtype not in ("int64", "int8", "int32", "uint8", "uint32", "bool")


@st.composite
def columns(draw: Any, dtypes: tuple[str, ...], max_size: int = 24) -> pd.Series:
    """Draw a series of one of the dtypes, with nulls in random places, or everywhere, or nowhere."""
    dtype = draw(st.sampled_from(dtypes))
    one = values(dtype)
    if can_be_null(dtype):
        one = draw(st.sampled_from([one, one | st.none(), one | st.none() | st.none() | st.none()]))
    items = draw(st.lists(one, max_size=max_size))
    if dtype == "category":
        return pd.Series(pd.Categorical(items, categories=["a", "b", "c"]), name="x")
    if dtype == "date32[day][pyarrow]":
        items = [None if i is None else i.date() for i in items]
    return pd.Series(items, dtype=dtype, name="x")


@st.composite
def frames(draw: Any, dtypes: tuple[str, ...], max_columns: int = 3) -> pd.DataFrame:
    """Draw a frame of one to three columns of equal length, with an index that is not the default."""
    picked = draw(st.lists(columns(dtypes), min_size=1, max_size=max_columns))
    count = min(len(c) for c in picked)
    frame = pd.DataFrame({f"c{i}": c.iloc[:count] for i, c in enumerate(picked)})
    frame.index = pd.Index(np.arange(count) * 2 + 10, name="row")
    return frame


@st.composite
def cuts(draw: Any) -> list[float]:
    """Draw fractions at which rows are cut; equal ones give empty partitions."""
    return sorted(draw(st.lists(st.floats(0, 1), max_size=6)))


def partitioned(frame: Any, at: list[float]) -> Any:
    """Return the frame as a Dask collection cut at these fractions of its rows."""
    return partitioned_at(frame, [int(f * len(frame)) for f in at])


def partitioned_at(frame: Any, rows: list[int]) -> Any:
    """Return the frame as a Dask collection; the partitions after the first begin at these rows."""
    bounds = [0, *rows, len(frame)]
    return of_partitions([frame.iloc[a:b] for a, b in pairwise(bounds)], frame.iloc[:0])


def of_partitions(parts: list[Any], meta: Any) -> Any:
    """Return a Dask collection of partitions, which need not match `meta`."""
    return dd.from_map(_rows_of, list(map(_Part, parts)), meta=meta)


def in_pieces(frame: Any) -> Iterator[Any]:
    """Yield the frame, Dask collections with partitions of one and of three rows, and a stream of two batches."""
    yield frame
    for rows in (1, 3):
        yield partitioned_at(frame, list(range(rows, len(frame), rows)))
    yield dask_gpuscan.stream([frame.iloc[:2], frame.iloc[2:]])


class _Part:
    """Rows that Dask identifies by a unique number.

    Their content is slow to hash, and Dask gives `str` and `string[pyarrow]` the same token.
    """

    _numbers = count()

    def __init__(self, rows: Any) -> None:
        self.rows, self.number = rows, next(self._numbers)

    def __dask_tokenize__(self) -> tuple[str, int]:
        return "part", self.number


def _rows_of(part: _Part) -> Any:
    return part.rows
