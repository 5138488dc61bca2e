"""The methods that frames are drawn for: on which dtypes, with which arguments, and what pandas has for each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from helpers.widened import REDUCTIONS

from .drawn import EVERY, FEW_NUMBERS, NUMBERS, TEXTS, TIMES

FLAGS = (False, True)
PERIODS = (1, -1, 2, 0, 3, -3, 30)
KEEP = ("first", "last", False)


@dataclass(frozen=True)
class Method:
    """A method, by the objects that have it."""

    name: str
    on: tuple[str, ...]
    """Which `KINDS` of `frames.py` have it."""
    dtypes: Sequence[str]
    arguments: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    """Arguments that may be left out, and values of each."""
    wild: bool = False
    """Whether its answers are exact for values at the ends of their ranges too."""
    theirs: Callable[..., Any] | None = None
    """What pandas has for it, of a frame or groups and with the arguments; by default the method of the same name."""
    required: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    """Arguments that may not be left out."""

    def by_pandas(self, of: Any, given: Mapping[str, Any]) -> Any:
        """Return the answer of pandas."""
        if self.theirs is not None:
            return self.theirs(of, **given)
        return getattr(of, self.name)(**given)


ROWS = ("series", "frame")
BOTH = (*ROWS, "groups")
WINDOWS = ("windows", "group windows")
SCANS = {"skipna": (True, False)}
RANKS = {
    "method": ("average", "min", "max", "first", "dense"),
    "pct": FLAGS,
    "ascending": (True, False),
    "na_option": ("keep", "top", "bottom"),
}
REDUCED = (*REDUCTIONS, "median", "nunique")
STATISTICS = ("sum", "mean", "var", "std", "sem", "min", "max", "count", "first", "last")
WINDOWED = (*STATISTICS, "skew", "kurt", "median", "nunique")
BUCKETED = (*STATISTICS, "prod", "size", "median", "nunique")
EXACT = ("min", "max", "any", "all", "count", "first", "last", "nunique")


def is_arrow_float(dtype: Any) -> bool:
    """Return whether pandas takes 0.0 and -0.0 of a dtype for two values where it looks for equal ones."""
    return str(dtype) in ("float[pyarrow]", "double[pyarrow]")


def _heads(frame: pd.DataFrame) -> np.ndarray:
    """Return where runs begin: NaN equals NaN and a null a null."""
    codes = [
        pd.factorize(
            column + 0.0 if is_arrow_float(column.dtype) else column, use_na_sentinel=False
        )[0]
        for column in ([frame] if frame.ndim == 1 else [frame[n] for n in frame])
    ]
    heads = np.ones(len(frame), bool)
    if codes:
        heads[1:] = np.any([c[1:] != c[:-1] for c in codes], axis=0)
    return heads


def _run_number(frame: Any) -> Any:
    return pd.Series(np.cumsum(_heads(frame)) - 1, frame.index, np.int64, "run_number")


def _run_length(frame: Any, reverse: bool = False) -> Any:
    runs = pd.Series(np.cumsum(_heads(frame)), frame.index)
    found = runs.groupby(runs.to_numpy()).cumcount(ascending=not reverse) + 1
    return found.rename("run_length")


def _unique_consecutive(frame: Any, keep: str = "first") -> Any:
    heads = _heads(frame)
    if keep == "last":
        heads = np.append(heads[1:], np.ones(min(len(frame), 1), bool))
    return frame[heads]


def _rle(frame: Any) -> Any:
    starts = np.flatnonzero(_heads(frame))
    kept = frame.iloc[starts].reset_index(drop=True)
    kept = kept.to_frame(kept.name or "value") if kept.ndim == 1 else kept
    lengths = np.diff(np.append(starts, len(frame)))
    return kept.assign(run_start=starts, run_length=lengths)


def _row_number(frame: Any) -> Any:
    return pd.Series(np.arange(len(frame)), frame.index, name="row_number")


def _group_rows(groups: Any) -> Any:
    return groups.cumcount().rename("row_number")


def _stable(frame: Any, **given: Any) -> Any:
    return frame.sort_values(kind="stable", **given)


def _stable_index(frame: Any, **given: Any) -> Any:
    return frame.sort_index(kind="stable", **given)


def _backwards(name: str) -> Callable[..., Any]:
    """Return a method of pandas that begins with the last row."""

    def method(frame: Any, reverse: bool, **given: Any) -> Any:
        return getattr(frame[::-1], name)(**given)[::-1]

    return method


SORTS = {"ascending": (True, False), "na_position": ("last", "first"), "ignore_index": FLAGS}
LIMITS = {
    "limit": (1, 2),
    "limit_direction": ("forward", "backward", "both"),
    "limit_area": ("inside", "outside"),
}
INTERPOLATIONS = ("linear", "lower", "higher", "nearest", "midpoint")
QUANTILES = (0.5, 0.0, 1.0, 0.3)
POSITIONS = (0, 1, -1, -2, [0, 2], slice(1, None), slice(None, -1))
ORDERED = (*NUMBERS, *TIMES, *(t for t in TEXTS if t != "object"))
WITH_NULLS = ("float64", "float32", "Float64", "double[pyarrow]", "int64")


def _each(
    names: Sequence[str],
    on: Sequence[str],
    dtypes: Sequence[str],
    wild: bool = False,
    theirs: Callable[..., Any] | None = None,
    required: Mapping[str, Sequence[Any]] | None = None,
    **arguments: Sequence[Any],
) -> list[Method]:
    return [Method(name, on, dtypes, arguments, wild, theirs, required or {}) for name in names]


METHODS = (
    *_each(("cumsum", "cumprod"), BOTH, (*NUMBERS, *TIMES), skipna=(True, False)),
    *_each(("cummax", "cummin"), BOTH, (*NUMBERS, *TIMES), True, skipna=(True, False)),
    *(
        Method(name, ROWS, NUMBERS, SCANS, theirs=_backwards(name), required={"reverse": (True,)})
        for name in ("cumsum", "cumprod", "cummax", "cummin")
    ),
    *_each(("ffill", "bfill"), BOTH, EVERY, True, limit=(1, 2, 5)),
    *_each(("shift",), BOTH, EVERY, True, periods=PERIODS),
    *_each(("diff",), BOTH, (*NUMBERS, *TIMES), periods=PERIODS),
    *_each(("pct_change",), BOTH, NUMBERS, periods=PERIODS),
    *_each(("rank",), BOTH, EVERY, True, **RANKS),
    *_each(("drop_duplicates",), ROWS, EVERY, True, keep=KEEP, ignore_index=FLAGS),
    *_each(("unique_consecutive",), ROWS, EVERY, True, _unique_consecutive, keep=("first", "last")),
    *_each(("duplicated",), ROWS, EVERY, True, keep=KEEP),
    *_each(("run_number",), ROWS, EVERY, True, _run_number),
    *_each(("run_length",), ROWS, EVERY, True, _run_length, reverse=FLAGS),
    *_each(("rle",), ROWS, EVERY, True, _rle),
    *_each(("row_number",), ROWS, ("int64", "str"), True, _row_number),
    *_each(("reset_index",), ROWS, EVERY, True, drop=FLAGS),
    *_each(("sort_values",), ("series",), ORDERED, True, _stable, **SORTS),
    *_each(("sort_values",), ("by columns",), EVERY, True, _stable, **SORTS),
    *_each(("sort_index",), ROWS, ("int64",), True, _stable_index, **SORTS),
    *_each(
        *(("nlargest", "nsmallest"), ("series",), (*NUMBERS, *TIMES), True),
        n=(0, 1, 2, 3, 9),
        keep=("first", "last", "all"),
    ),
    *_each(
        *(("value_counts",), ("series",), EVERY, True),
        normalize=FLAGS,
        ascending=FLAGS,
        dropna=(True, False),
    ),
    *_each(("interpolate",), ROWS, WITH_NULLS, **LIMITS),
    *_each([n for n in REDUCED if n in EXACT], ("groups",), EVERY, True),
    *_each([n for n in REDUCED if n not in EXACT], ("groups",), (*NUMBERS, "timedelta64[ns]")),
    *_each(("size",), ("groups",), ("int64",), True),
    *_each(("cumcount",), ("groups",), ("int64",), True, ascending=(True, False)),
    *_each(("row_number",), ("groups",), ("int64",), True, _group_rows),
    *_each(("head", "tail"), ("groups",), EVERY, True, n=(1, 0, 2, -1, 5)),
    *_each(("nth",), ("groups",), EVERY, True, n=POSITIONS),
    *_each(("quantile",), ("groups",), FEW_NUMBERS, q=QUANTILES, interpolation=INTERPOLATIONS),
    *_each(WINDOWED, WINDOWS, FEW_NUMBERS),
    *_each(
        *(("quantile",), WINDOWS, FEW_NUMBERS),
        required={"q": QUANTILES},
        interpolation=INTERPOLATIONS,
    ),
    *_each(("mean",), ("ewm",), FEW_NUMBERS),
    *_each(("var", "std"), ("ewm",), FEW_NUMBERS, bias=FLAGS),
    *_each(BUCKETED, ("buckets",), FEW_NUMBERS),
)
"""The methods that are drawn."""
