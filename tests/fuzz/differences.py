"""Where answers are meant to differ from those of pandas: what holds when, what is answered instead, and why.

Each is described in docs/guide/semantics.md.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from helpers.widened import PICKS, picked, widened

from .methods import is_arrow_float


@dataclass(frozen=True)
class Difference:
    """An answer that is meant to be another one than that of pandas."""

    reason: str
    holds: Callable[[Any, bool], bool]
    """Return whether it is so for a case, and for its partitions or else for the whole."""
    instead: Callable[[Any, Any, Any], Any]
    """Return what is expected, given the answer of pandas, the case, and the answer of ours."""


SCANS = ("cumsum", "cumprod", "cummax", "cummin", "ffill", "bfill", "cumcount", "row_number")
NUMBERED = ("cumcount", "row_number")


def _is_scan(case: Any) -> bool:
    return case.kind == "groups" and case.method.name in SCANS


def _is_by_rows(case: Any) -> bool:
    """Return whether answers have the index of the frame."""
    moves = ("shift", "diff", "pct_change", "rank", "head", "tail", "nth")
    return _is_scan(case) or case.method.name in moves


def _is_masked(dtype: Any) -> bool:
    return hasattr(dtype, "numpy_dtype") and not isinstance(dtype, pd.ArrowDtype)


def _may_be_null(case: Any) -> bool:
    """Return whether answers may be null before it is known whether any is."""
    if case.kind == "buckets":
        return case.method.name in PICKS
    moves = case.method.name in ("shift", "diff")
    return moves or (_is_scan(case) and case.on.dropna)


def _with_nulls(expected: Any, case: Any, found: Any) -> Any:
    """Return what pandas answers in dtypes that have a null, with differences of unsigned integers as they are."""
    frame = case.on.frame
    columns = frame.to_frame() if frame.ndim == 1 else frame
    unsigned = [n for n, d in columns.dtypes.items() if isinstance(d, np.dtype) and d.kind == "u"]
    if case.method.name == "diff" and unsigned:
        wide = columns.astype(dict.fromkeys((n for n in unsigned if n not in case.on.by), "int64"))
        wide = wide.iloc[:, 0].rename(frame.name) if frame.ndim == 1 else wide
        expected = case.method.by_pandas(case.on.theirs(wide), case.given)
    of = {expected.name: frame.dtype} if frame.ndim == 1 else dict(columns.dtypes)
    if expected.ndim == 2:
        return expected.assign(
            **{n: _column_with_nulls(expected[n], found[n].dtype, of[n]) for n in expected}
        )
    return _column_with_nulls(expected, found.dtype, of.get(expected.name))  # None: row numbers


def _column_with_nulls(expected: Any, dtype: Any, of: Any) -> Any:
    """Return an answer of pandas in a dtype of ours, given the dtype of the column that it is of."""
    if (
        of == np.bool_ and dtype.kind == "O"
    ):  # pandas has numbers for picks of buckets, and for differences in groups
        values = [np.nan if pd.isna(x) else bool(x) for x in expected]
        return pd.Series(values, expected.index, dtype=object, name=expected.name)
    is_number = isinstance(expected.dtype, np.dtype) and expected.dtype.kind in "iuf"
    return expected.astype("float64") if is_number and dtype == np.float64 else expected


def _in_the_dtypes_of(found: Any, expected: Any) -> Any:
    """Return the answer of pandas in the dtypes of ours."""
    if expected.ndim == 1:
        return expected.astype(found.dtype)
    return expected.astype(found.dtypes.to_dict())


def _null_rows(case: Any) -> np.ndarray:
    """Tell which rows are in no group."""
    null: np.ndarray = case.on.frame[list(case.on.by)].isna().any(axis=1).to_numpy()
    return null


def _null_without_group(expected: Any, case: Any, found: Any) -> Any:
    """Return the answer of pandas with nulls where a key is null."""
    null = _null_rows(case)
    kept = expected.mask(null if expected.ndim == 1 else np.stack([null] * expected.shape[1], 1))
    return _in_the_dtypes_of(found, kept)


def _of_rows_in_groups(expected: Any, case: Any, found: Any) -> Any:
    """Return what pandas answers without the rows whose keys are null, and nulls for these."""
    null = _null_rows(case)
    frame = case.on.frame.set_axis(pd.RangeIndex(len(null)))
    answer = case.method.by_pandas(case.on.theirs(frame[~null]), case.given)
    return _in_the_dtypes_of(expected, answer.reindex(frame.index).set_axis(case.on.frame.index))


def _without_negative_zeros(expected: Any, case: Any, found: Any) -> Any:
    """Return what pandas answers where each 0.0 is a positive one."""
    frame = case.on.frame.copy()
    for name in frame.columns.difference(case.on.by):
        if is_arrow_float(frame[name].dtype):
            frame[name] = (frame[name] + 0.0).astype(frame[name].dtype)
    return case.method.by_pandas(case.on.theirs(frame), case.given)


def _by_one_column_after_another(expected: Any, case: Any, found: Any) -> Any:
    """Return what pandas answers where it sorts by the last column first, and by one at a time."""
    frame = case.on.frame
    for name in reversed(case.on.columns):
        frame = frame.sort_values(kind="stable", **{**case.given, "by": name})
    return frame


def _has_infinity_and_null(column: Any) -> bool:
    is_float = isinstance(column.dtype, np.dtype) and column.dtype.kind == "f"
    return is_float and bool(np.isinf(column).any() and column.isna().any())


def _nulls_as_found(expected: Any, case: Any, found: Any) -> Any:
    """Return the answer of pandas with NaN, None or NaT where ours has it, if ours is of objects."""
    if expected.ndim == 2:
        return expected.assign(
            **{n: _nulls_as_found(expected[n], case, found[n]) for n in expected}
        )
    if found.dtype != object:
        return expected
    both = expected.isna().to_numpy() & found.isna().to_numpy()
    values = np.where(both, found.to_numpy(), expected.astype(object).to_numpy())
    return pd.Series(values, expected.index, dtype=object, name=expected.name)


def _of_two_numbers(expected: Any, case: Any, found: Any) -> Any:
    """Return the answer of pandas with nulls where there are no two numbers yet."""
    return expected.mask((case.on.frame.notna().cumsum() < 2).to_numpy())


def _in_their_order(expected: Any, case: Any, found: Any) -> Any:
    """Return the answer of pandas with ranks of ordered categories and of NumPy's integers as a series has them."""
    ranks = {n: case.on.frame[n].rank(**case.given) for n in expected if _is_ranked_alone(case, n)}
    return expected.assign(**ranks)


def _is_ranked_alone(case: Any, name: str) -> bool:
    """Return whether frames of pandas rank a column otherwise than series: floats beside integers round these."""
    dtype = case.on.frame[name].dtype
    is_integer = isinstance(dtype, np.dtype) and dtype.kind in "iu"
    return is_integer or bool(getattr(dtype, "ordered", False))


def _with_infinity(expected: Any, case: Any, found: Any) -> Any:
    """Return the answer of pandas with infinity where NumPy's floats have it."""
    if expected.ndim == 1:
        return _endless(expected, case.on.frame, case)
    return expected.assign(**{n: _endless(expected[n], case.on.frame[n], case) for n in expected})


def _endless(expected: Any, column: Any, case: Any) -> Any:
    if not _may_lose_infinity(column.dtype):
        return expected
    plain = case.method.by_pandas(column.astype("float64"), case.given)
    return expected.mask(np.isinf(plain).to_numpy(), plain.astype(expected.dtype))


def _may_lose_infinity(dtype: Any) -> bool:
    return is_arrow_float(dtype) or (_is_masked(dtype) and dtype.kind == "f")


def _objects_as(expected: Any, case: Any, found: Any) -> Any:
    """Return the answer of pandas with the labels that ours has."""
    levels = [
        expected.index.get_level_values(i).astype(found.index.get_level_values(i).dtype)
        for i in range(expected.index.nlevels)
    ]
    return expected.set_axis(levels[0] if len(levels) == 1 else pd.MultiIndex.from_arrays(levels))


def _ties_as_met(expected: Any, case: Any, found: Any) -> Any:
    """Return the answer of pandas, in which values of one count are in the order in which they are met."""
    counts = case.on.frame.astype(object).value_counts(**case.given)
    return counts.set_axis(counts.index.astype(found.index.dtype)).astype(found.dtype)


DIFFERENCES: tuple[Difference, ...] = (
    Difference(
        "integers and bool that may be null are floats and objects, though pandas may find none that is",
        lambda case, lazy: _may_be_null(case),
        _with_nulls,
    ),
    Difference(
        "nullable and Arrow-backed integers and bool that windows pick stay such, where pandas has floats",
        lambda case, lazy: case.kind in ("windows", "group windows"),
        lambda expected, case, found: picked(
            expected,
            case.on.frame if case.kind == "windows" else case.on.frame["x"],
            case.method.name,
        ),
    ),
    Difference(
        "0.0 and -0.0 are equal; of Arrow's floats pandas counts them as two values of a group",
        lambda case, lazy: case.kind == "groups" and case.method.name == "nunique",
        _without_negative_zeros,
    ),
    Difference(
        "0.0 and -0.0 are duplicates; of Arrow's floats pandas keeps both where rows have several columns",
        lambda case, lazy: (
            case.kind == "frame"
            and case.method.name == "drop_duplicates"
            and any(map(is_arrow_float, case.values))
        ),
        _without_negative_zeros,
    ),
    Difference(
        "nulls that are first stand before infinity; by several columns pandas takes NaN for an infinity",
        lambda case, lazy: (
            case.kind == "by columns"
            and len(case.on.columns) > 1
            and case.given.get("na_position") == "first"
            and any(_has_infinity_and_null(case.on.frame[name]) for name in case.on.columns)
        ),
        _by_one_column_after_another,
    ),
    Difference(
        "the deviation of one number is null, where that of pandas is 0.0 once weights are rounded",
        lambda case, lazy: (
            case.kind == "ewm" and case.method.name in ("var", "std") and not case.given.get("bias")
        ),
        _of_two_numbers,
    ),
    Difference(
        "frames rank ordered categories by their order, and integers as they are, as series do",
        lambda case, lazy: (
            case.kind == "frame"
            and case.method.name == "rank"
            and any(_is_ranked_alone(case, name) for name in case.on.frame)
        ),
        _in_their_order,
    ),
    Difference(
        "extremes so far are infinite where numbers are, which pandas' nullable floats make finite",
        lambda case, lazy: (
            case.kind in ("series", "frame")
            and case.method.name in ("cummax", "cummin")
            and any(map(_may_lose_infinity, case.values))
        ),
        _with_infinity,
    ),
    Difference(
        "differences of periods are objects, null where they are NaN, None or NaT",
        lambda case, lazy: (
            case.method.name == "diff" and any(isinstance(d, pd.PeriodDtype) for d in case.values)
        ),
        _nulls_as_found,
    ),
    Difference(
        "a shift by 0 rows leaves rows in no group without an answer, as any other shift does",
        lambda case, lazy: (
            case.kind == "groups"
            and case.method.name in ("shift", "diff", "pct_change")
            and case.given.get("periods") == 0
            and case.on.dropna
        ),
        _null_without_group,
    ),
    Difference(
        "of no rows, answers have the dtypes that they have of any",
        lambda case, lazy: not len(case.on.frame),
        lambda expected, case, found: _in_the_dtypes_of(found, expected),
    ),
    Difference(
        "of no rows, ignore_index gives a new index too",
        lambda case, lazy: not len(case.on.frame) and bool(case.given.get("ignore_index")),
        lambda expected, case, found: expected.reset_index(drop=True),
    ),
    Difference(
        "keys that are objects are an index of objects over partitions",
        lambda case, lazy: (
            case.kind == "groups"
            and not _is_by_rows(case)
            and "object" in map(str, case.on.frame[list(case.on.by)].dtypes)
        ),
        _objects_as,
    ),
    Difference(
        "values that are counted as often are in the order in which they are met, nulls among them",
        lambda case, lazy: case.method.name == "value_counts" and any(map(_is_masked, case.values)),
        _ties_as_met,
    ),
    Difference(
        "nulls among labels of objects are NaN",
        lambda case, lazy: case.method.name == "value_counts" and "object" in map(str, case.values),
        lambda expected, case, found: expected.set_axis(
            pd.Index(
                [np.nan if pd.isna(v) else v for v in expected.index],
                found.index.dtype,
                name=expected.index.name,
            )
        ),
    ),
    Difference(
        "nulls of times stay null and add nothing, where pandas takes their bits for times if a key is null",
        lambda case, lazy: (
            case.kind == "groups"
            and case.method.name in ("cumsum", "cummax", "cummin", "rank")
            and case.on.dropna
            and _null_rows(case).any()
            and any(d.kind in "mM" or isinstance(d, pd.PeriodDtype) for d in case.values)
        ),
        _of_rows_in_groups,
    ),
    Difference(
        "quantiles that are values of uint64 are uint64; pandas casts them to int64",
        lambda case, lazy: (
            case.kind == "groups"
            and case.method.name == "quantile"
            and any(dtype == np.uint64 for dtype in case.values)
        ),
        lambda expected, case, found: _in_the_dtypes_of(found, expected),
    ),
    Difference(
        "dtypes of groups hold all values, where those of pandas are chosen by the values",
        lambda case, lazy: (
            case.kind == "buckets"
            or (
                case.kind == "groups"
                and (_is_scan(case) or bool(case.on.clustered) or lazy or not len(case.on.frame))
            )
        ),
        lambda expected, case, found: widened(expected, case.method.name),
    ),
)
"""What is answered otherwise, in the order in which it is applied."""

REFUSALS: dict[str, str] = {
    "float16 cannot be an index": "pandas has no index of half floats, but for no rows",
    "pct_change.* dtype bool is not defined": "pandas has changes of flags where none is False",
    "does not fit|does not hold|below 2\\*\\*53 only": "pandas rounds such integers, or wraps around",
}
"""Words of messages of ours, and why there is no answer."""


def refusal_for(case: Any, error: Exception) -> str | None:
    """Return why ours refuse what pandas answers; None if they should not."""
    message = f"{case.method.name}: {error}"
    return next((why for words, why in REFUSALS.items() if re.search(words, message)), None)
