"""Frames at random: columns of every dtype with nulls, ties and the ends of their ranges, and cuts into partitions."""

import datetime
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

INTS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
MASKED = ("Int8", "Int32", "Int64", "UInt8", "UInt64")
ARROW_INTS = ("int8[pyarrow]", "int64[pyarrow]", "uint8[pyarrow]", "uint64[pyarrow]")
BOOLS = ("bool", "boolean", "bool[pyarrow]")
FLOATS = (
    "float16",
    "float32",
    "float64",
    "Float32",
    "Float64",
    "float[pyarrow]",
    "double[pyarrow]",
)
TIMES = (
    *("datetime64[ns]", "datetime64[s]", "datetime64[us, Europe/Berlin]", "timestamp[us][pyarrow]"),
    *("timedelta64[ns]", "timedelta64[s]", "duration[ns][pyarrow]"),
    *("date32[day][pyarrow]", "period[D]"),
)
TEXTS = ("str", "string", "string[pyarrow]", "object", "category", "ordered")
NUMBERS = (*INTS, *MASKED, *ARROW_INTS, *BOOLS, *FLOATS)
EVERY = (*NUMBERS, *TIMES, *TEXTS)

FEW_NUMBERS = (
    *("int64", "float64", "int8", "uint64", "bool", "float32"),
    *("Int64", "Float64", "int64[pyarrow]", "double[pyarrow]"),
)
"""A dtype of each kind: any other is one more kernel to compile."""

TAME = (0.0, 1.0, 0.25, -0.5, 2.0, -2.0, 1.75)
"""Floats whose sums are exact in any order."""
WILD = (*TAME, -0.0, np.inf, -np.inf, 1e-3, 6e4)


class Shown:
    """A case that Hypothesis shows by its repr, and not by its fields."""

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))


def one_of(*strategies: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return the strategy of one of several, each as often as it is given."""
    return st.sampled_from(strategies).flatmap(lambda one: one)


def one_in(count: int) -> st.SearchStrategy[bool]:
    """Return the strategy of what is True once in so many draws."""
    return st.integers(1, count).map(
        lambda n: n == 2 * count // 3
    )  # ends of ranges are drawn often


def _ends(dtype: str) -> tuple[int, ...]:
    ends = np.iinfo(dtype.removesuffix("[pyarrow]").lower())
    few = (0, 1, 2, 3, 5, 9) if ends.min == 0 else (0, 1, -1, 2, 3, -4)
    return (*few, int(ends.min), int(ends.max), int(ends.max) - 1)


def pool(dtype: str, wild: bool) -> Sequence[Any]:
    """Return the values that a column of a dtype is drawn from, in which the first are the simplest."""
    lower = dtype.lower()
    if lower.startswith("bool"):
        return (False, True)
    if "int" in lower:
        ends = _ends(dtype)
        return ends if wild else ends[:6]
    if "float" in lower or "double" in lower:
        return WILD if wild else TAME
    if "timedelta" in lower or "duration" in lower:
        return tuple(pd.Timedelta(seconds=s) for s in (0, 1, -1, 60, 3600))
    if lower.startswith("period"):
        return tuple(pd.Period("2026-01-01", "D") + d for d in (0, 1, 2, 9))
    if lower.startswith("date32"):
        return tuple(datetime.date(2026, 1, d) for d in (1, 2, 3, 9))
    if "date" in lower or "timestamp" in lower:
        zone = "Europe/Berlin" if "Berlin" in dtype else None
        return tuple(
            pd.Timestamp("2026-01-01", tz=zone) + pd.Timedelta(days=d) for d in (0, 1, 2, 9)
        )
    return ("a", "b", "c", "", "ä")[: 3 if dtype in ("category", "ordered") else 5]


def array_of(items: Sequence[Any], dtype: str) -> Any:
    """Return values and None as an array of a dtype."""
    if dtype in ("category", "ordered"):
        return pd.Categorical(items, categories=["c", "a", "b"], ordered=dtype == "ordered")
    return pd.Series(list(items), dtype=dtype).array


LENGTHS = st.sampled_from((3, 8, 16, 40)).flatmap(lambda most: st.integers(0, most - 1))
"""Numbers of rows: mostly few."""


def lists(one: st.SearchStrategy[Any], count: int) -> st.SearchStrategy[list[Any]]:
    """Return the strategy of lists of so many."""
    return st.lists(one, min_size=count, max_size=count)


@st.composite
def columns(draw: Any, dtype: str, count: int, wild: bool = False) -> Any:
    """Draw an array of a dtype: its nulls are nowhere, here and there, or nearly everywhere."""
    values = pool(dtype, wild)
    values = values[: draw(st.integers(1, len(values)))]  # few values make ties
    nulls = 0 if dtype in (*INTS, "bool") else draw(st.sampled_from((0, 1, 2, 4)))
    one = st.sampled_from([*values] * (5 - nulls) + [None] * (nulls * len(values)))
    return array_of(draw(lists(one, count)), dtype)


INDEXES: tuple[Callable[[int], pd.Index], ...] = (
    pd.RangeIndex,
    lambda count: pd.Index(np.arange(count) * 2 + 10, name="row"),
    lambda count: pd.Index(np.arange(count) // 2, name="row"),
    lambda count: pd.Index([f"r{i % 3}" for i in range(count)], dtype="str", name="row"),
    lambda count: pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(count), unit="h"),
)


def labels(count: int) -> st.SearchStrategy[pd.Index]:
    """Return the strategy of indexes of so many rows."""
    return st.sampled_from(INDEXES).map(lambda make: make(count))


def cuts(count: int) -> st.SearchStrategy[list[int]]:
    """Return the strategy of rows at which partitions begin.

    Equal ones make empty partitions; at times each row has its own.
    """
    some = st.lists(st.integers(0, count), max_size=6).map(sorted)
    return one_of(*[some] * 5, st.just(list(range(count))))


Values = Mapping[str, Sequence[Any]]


def options(may: Values, must: Values | None = None) -> st.SearchStrategy[dict[str, Any]]:
    """Return the strategy of arguments, those that may be left out and those that may not."""
    required, optional = (
        {name: st.sampled_from(values) for name, values in each.items()}
        for each in (must or {}, may)
    )
    return st.fixed_dictionaries(required, optional=optional)


def shown(frame: pd.DataFrame | pd.Series) -> str:
    """Show a frame as what makes it, for messages."""
    if frame.ndim == 1:
        index = "" if isinstance(frame.index, pd.RangeIndex) else f", index={frame.index!r}"
        return f"pd.Series({frame.tolist()!r}, dtype={str(frame.dtype)!r}{index})"
    named = ", ".join(f"{n!r}: {shown(c.reset_index(drop=True))}" for n, c in frame.items())
    index = "" if isinstance(frame.index, pd.RangeIndex) else f".set_axis({frame.index!r})"
    return f"pd.DataFrame({{{named}}}){index}"
