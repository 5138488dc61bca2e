"""Frames at random: columns of every dtype with nulls, ties and the ends of their ranges, and cuts into partitions."""

import datetime
import decimal
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from .choices import Choices

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
DECIMALS = ("decimal128(9, 2)[pyarrow]",)
NUMBERS = (*INTS, *MASKED, *ARROW_INTS, *BOOLS, *FLOATS)
EVERY = (*NUMBERS, *TIMES, *TEXTS)

FEW_NUMBERS = (
    "int64",
    "float64",
    "int8",
    "uint64",
    "bool",
    "Int64",
    "Float64",
    "int64[pyarrow]",
    "double[pyarrow]",
    "float32",
)
"""A dtype of each kind: any other is one more kernel to compile."""

TAME = (0.0, 1.0, 0.25, -0.5, 2.0, -2.0, 1.75)
"""Floats whose sums are exact in any order."""
WILD = (*TAME, -0.0, np.inf, -np.inf, 1e-3, 6e4)


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
    if "decimal" in lower:
        return tuple(map(decimal.Decimal, ("0.00", "1.50", "-2.25", "3.00")))
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


def can_be_null(dtype: str) -> bool:
    """Tell whether a column of a dtype can hold nulls."""
    return dtype not in (*INTS, "bool")


def array_of(items: Sequence[Any], dtype: str) -> Any:
    """Return values and None as an array of a dtype."""
    if dtype in ("category", "ordered"):
        return pd.Categorical(items, categories=["c", "a", "b"], ordered=dtype == "ordered")
    return pd.Series(list(items), dtype=dtype).array


def column(choices: Choices, dtype: str, count: int, wild: bool = False) -> Any:
    """Draw an array of a dtype: its nulls are nowhere, here and there, or nearly everywhere."""
    values = pool(dtype, wild)
    values = values[: choices.between(1, len(values))]  # few values make ties
    nulls = choices.below(4) if can_be_null(dtype) else 0
    items = [
        None if nulls and choices.below(5) < (0, 1, 2, 4)[nulls] else choices.pick(values)
        for _ in range(count)
    ]
    return array_of(items, dtype)


def length(choices: Choices) -> int:
    """Draw a number of rows: mostly few."""
    return choices.below(choices.pick((3, 8, 16, 40)))


def labels(choices: Choices, count: int) -> pd.Index:
    """Draw an index."""
    numbers = np.arange(count)
    kind = choices.below(5)
    if kind == 0:
        return pd.RangeIndex(count)
    if kind == 1:
        return pd.Index(numbers * 2 + 10, name="row")
    if kind == 2:
        return pd.Index(numbers // 2, name="row")
    if kind == 3:
        return pd.Index([f"r{i % 3}" for i in numbers], dtype="str", name="row")
    return pd.DatetimeIndex(pd.Timestamp("2026-01-01") + pd.to_timedelta(numbers, unit="h"))


def cuts(choices: Choices, count: int) -> list[int]:
    """Draw the rows at which partitions begin: equal ones make empty partitions; at times each row has its own."""
    if choices.one_in(6):
        return list(range(count))
    return sorted(choices.many(lambda: choices.below(count + 1), 6))


def shown(frame: pd.DataFrame | pd.Series) -> str:
    """Show a frame as what makes it, for messages."""
    if frame.ndim == 1:
        index = "" if isinstance(frame.index, pd.RangeIndex) else f", index={frame.index!r}"
        return f"pd.Series({frame.tolist()!r}, dtype={str(frame.dtype)!r}{index})"
    named = ", ".join(f"{n!r}: {shown(c.reset_index(drop=True))}" for n, c in frame.items())
    index = "" if isinstance(frame.index, pd.RangeIndex) else f".set_axis({frame.index!r})"
    return f"pd.DataFrame({{{named}}}){index}"


def options(choices: Choices, possible: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """Draw arguments, some of them left out; the first value of each is the simplest."""
    return {name: choices.pick(values) for name, values in possible.items() if choices.flag()}
