"""Where answers are meant to differ from those of pandas: what holds when, what is answered instead, and why.

Each is described in docs/guide/semantics.md.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from widened import can_be_null, nullable, widened


@dataclass(frozen=True)
class Difference:
    """An answer that is meant to be another one than that of pandas."""

    reason: str
    holds: Callable[[Any, bool], bool]
    """Tell whether it is so for a case, and for its partitions or else for the whole."""
    instead: Callable[[Any, Any, Any], Any]
    """Return what is expected, given the answer of pandas, the case, and the answer of ours."""


SCANS = ("cumsum", "cumprod", "cummax", "cummin", "ffill", "bfill", "cumcount", "row_number")
OPENS = ("min", "max", "first", "last")
"""Reductions that make floats of NumPy's integers and flags where a bucket has no rows."""


def _is_scan(case: Any) -> bool:
    return case.kind == "groups" and case.method.name in SCANS


def _may_be_null(case: Any) -> bool:
    return case.on.dropna and any(can_be_null(case.on.frame[k].dtype) for k in case.on.by)


def _in_the_dtypes_of(found: Any, expected: Any) -> Any:
    """Return the answer of pandas in the dtypes of ours."""
    if expected.ndim == 1:
        return expected.astype(found.dtype)
    return expected.astype(found.dtypes.to_dict())


def _unfilled_nulls(expected: Any, case: Any, found: Any) -> Any:
    """Return the answer of pandas with nulls where a key is null."""
    null = case.on.frame[list(case.on.by)].isna().any(axis=1).to_numpy()
    kept = expected.where(~null) if null.any() else expected
    return _in_the_dtypes_of(found, kept)


def _without_negative_zeros(expected: Any, case: Any, found: Any) -> Any:
    """Return what pandas answers where each 0.0 is a positive one."""
    frame = case.on.frame.copy()
    for name in frame.columns.difference(case.on.by):
        if str(frame[name].dtype) in ("float[pyarrow]", "double[pyarrow]"):
            frame[name] = frame[name] + 0.0
    return case.method.by_pandas(case.on.theirs(frame), case.given)


DIFFERENCES: tuple[Difference, ...] = (
    Difference(
        "0.0 and -0.0 are equal; of Arrow's floats pandas counts them as two values of a group",
        lambda case, lazy: case.kind == "groups" and case.method.name == "nunique",
        _without_negative_zeros,
    ),
    Difference(
        "differences of periods are objects, null where they are NaN, None or NaT",
        lambda case, lazy: (
            case.method.name == "diff" and any(isinstance(d, pd.PeriodDtype) for d in case.values)
        ),
        lambda expected, case, found: (
            expected.astype(object).where(expected.notna(), np.nan)
            if "object" in str(found.dtype if found.ndim == 1 else found.dtypes.tolist())
            else expected
        ),
    ),
    Difference(
        "a shift by 0 rows leaves rows in no group without an answer, as any other shift does",
        lambda case, lazy: (
            case.kind == "groups"
            and case.method.name in ("shift", "diff", "pct_change")
            and case.given.get("periods") == 0
            and case.on.dropna
        ),
        _unfilled_nulls,
    ),
    Difference(
        "partitions cannot know whether a bucket has no rows, only that one may have none",
        lambda case, lazy: (
            case.kind == "buckets"
            and lazy
            and case.method.name in OPENS
            and all(isinstance(d, np.dtype) and d.kind in "biu" for d in case.values)
        ),
        lambda expected, case, found: expected.astype("float64"),
    ),
    Difference(
        "of no rows, buckets and group keys have the dtypes that they have of any",
        lambda case, lazy: case.kind in ("buckets", "groups") and not len(case.on.frame),
        lambda expected, case, found: _in_the_dtypes_of(found, expected),
    ),
    Difference(
        "keys that are objects are an index of objects over partitions",
        lambda case, lazy: (
            case.kind == "groups"
            and "object" in map(str, case.on.frame[list(case.on.by)].dtypes)
            and len(case.on.by) == 1
        ),
        lambda expected, case, found: (
            expected.set_axis(expected.index.astype(found.index.dtype))
            if expected.index.name == "k"
            else expected
        ),
    ),
    Difference(
        "dtypes of groups hold all values, where those of pandas are chosen by the values",
        lambda case, lazy: (
            case.kind == "buckets"
            or case.kind == "groups"
            and (_is_scan(case) or bool(case.on.clustered) or lazy or not len(case.on.frame))
        ),
        lambda expected, case, found: widened(expected, case.method.name),
    ),
    Difference(
        "partitions cannot know whether a key is null, only whether it can be",
        lambda case, lazy: lazy and _is_scan(case) and _may_be_null(case),
        lambda expected, case, found: nullable(expected),
    ),
)
"""What is answered otherwise, in the order in which it is applied."""

REFUSALS: dict[str, str] = {
    "float16 cannot be an index": "pandas has no index of half floats, but for no rows",
}
"""Words of messages of ours, and why there is no answer."""


def refusal_for(case: Any, error: Exception) -> str | None:
    """Return why ours refuse what pandas answers; None if they should not."""
    message = f"{case.label}: {error}"
    return next((why for words, why in REFUSALS.items() if re.search(words, message)), None)
