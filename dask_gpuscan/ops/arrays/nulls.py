"""NaN and NaT in arrays: the operators by which a scan passes over them, or keeps them as NumPy does.

Times are scanned as 64-bit integers, among which NaT is the smallest.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ...kernels import BUILT_IN, InBand, Nulls, Operator
from ...kernels.late_dataclass import dataclass
from ...kernels.messages import shown
from ...kernels.nulls import NAT
from ...kernels.operators.built_in import LAST_NUMBER, LAST_TIME
from ...kernels.scalars import FLAG, is_number
from ..scan.operator_traits import (
    LARGEST_NUMBER,
    PLAIN,
    SMALLEST_NUMBER,
    TRAITS,
    operator_for,
    traits_of,
)


@dataclass(frozen=True)
class Way:
    """How an array is scanned."""

    op: Operator
    nulls: Nulls = None
    """Which elements leave the state as it is."""
    answer: np.dtype | None = None
    """The dtype of answers, if it is not the operator's."""


_ADD, _FIRST, _LAST = BUILT_IN["add"], BUILT_IN["first"], BUILT_IN["last"]
_LARGEST, _SMALLEST = BUILT_IN["maximum"], BUILT_IN["minimum"]


def _one(name: str, combine: Any, identity: Any) -> Operator:
    return Operator(combine, identity, name=name, inputs=1)


_PASSING_NAN = {
    _LARGEST.token: _one("maximum-number", LARGEST_NUMBER.combine, np.nan),
    _SMALLEST.token: _one("minimum-number", SMALLEST_NUMBER.combine, np.nan),
    _FIRST.token: _one("first-number", lambda a, b: b if a != a else a, np.nan),
    _LAST.token: LAST_NUMBER,
}
"""Operators with NaN as their identity: answers before the first number are NaN."""

_PASSING_NAT = {
    _ADD.token: _ADD,
    _LARGEST.token: _LARGEST,
    _SMALLEST.token: _one(
        "minimum-time", lambda a, b: a if (b == NAT) | ((a != NAT) & (a < b)) else b, NAT
    ),
    _FIRST.token: _one("first-time", lambda a, b: b if a == NAT else a, NAT),
    _LAST.token: LAST_TIME,
}

_KEEPING_NAT = {
    _ADD.token: _one("add-times", lambda a, b: NAT if (a == NAT) | (b == NAT) else a + b, 0),
    _LARGEST.token: _one(
        "maximum-time", lambda a, b: a if (a == NAT) | ((b != NAT) & (a > b)) else b, NAT + 1
    ),
    _SMALLEST.token: _SMALLEST,
    _FIRST.token: _FIRST,
    _LAST.token: _LAST,
}

_AFTER_NOTHING = {
    _LARGEST.token: Operator(
        lambda a, b: (a[0] if (a[0] > b[0]) | (a[0] != a[0]) else b[0], a[1] | b[1]),
        lambda dtype: (dtype.type(-np.inf), False),
        lambda x: (x, True),
        lambda s: s[0] if s[1] else s[0] - s[0],
        name="maximum-after-nothing",
        inputs=1,
    ),
    _SMALLEST.token: Operator(
        lambda a, b: (a[0] if (a[0] < b[0]) | (a[0] != a[0]) else b[0], a[1] | b[1]),
        lambda dtype: (dtype.type(np.inf), False),
        lambda x: (x, True),
        lambda s: s[0] if s[1] else s[0] - s[0],
        name="minimum-after-nothing",
        inputs=1,
    ),
}
"""Operators that keep NaN, and answer NaN before the first number: infinity less itself."""

_OF_TIMES = {True: _PASSING_NAT, False: _KEEPING_NAT}


def way(
    op: Operator,
    dtypes: Sequence[np.dtype],
    answer: np.dtype | None,
    skipna: bool,
    from_nothing: bool = False,
) -> Way:
    """Return how arrays of some dtypes, the operator's inputs, are scanned.

    Parameters
    ----------
    op : Operator
    dtypes : sequence of dtype
    answer : dtype, optional
        As requested.
    skipna : bool
    from_nothing : bool, default False
        Whether there are answers before the first element, and no initial value.

    Raises
    ------
    TypeError
        For times, if the operator does not take them, or another dtype is asked for.

    Examples
    --------
    >>> way(BUILT_IN["maximum"], [np.dtype("f8")], None, True).op.name
    'maximum-number'
    """
    kinds = {dtype.kind for dtype in dtypes}
    op = operator_for(op, dtypes[0] if answer is None else answer)
    if kinds & {"m", "M"}:
        found = _OF_TIMES[skipna].get(op.token)
        if found is None or (op.token == _ADD.token and "M" in kinds):
            raise TypeError(
                f"{op.name} is not defined for {dtypes[0]}; cast it with astype('int64')"
            )
        if answer is not None:
            raise TypeError(f"dtype={answer} cannot be asked for an array of {dtypes[0]}")
        return Way(found, InBand() if skipna and found is _ADD else None)
    if not kinds & {"f", "c"}:
        return Way(op)
    if answer is not None and answer.kind not in "fc":
        return Way(op, InBand() if skipna else None)
    if answer is None and traits_of(op).of_integers is not None:
        answer = dtypes[0]
    if not skipna and from_nothing and op.token in _AFTER_NOTHING:
        return Way(_AFTER_NOTHING[op.token], answer=answer)
    if not skipna:
        return Way(TRAITS.get(op.token, PLAIN).over_rows or op, answer=answer)
    found = _PASSING_NAN.get(op.token)
    return Way(op, InBand(), answer) if found is None else Way(found)


def as_time(value: Any, dtype: np.dtype) -> Any:
    """Return a time as the integer that stands for it in arrays of a dtype.

    Raises
    ------
    TypeError
        For anything that is not such a time.

    Examples
    --------
    >>> as_time(np.timedelta64(1, "m"), np.dtype("m8[s]"))
    np.int64(60)
    """
    try:
        found = np.array(value, dtype)
    except (TypeError, ValueError):
        found = None
    if found is None or isinstance(value, FLAG) or is_number(value):
        raise TypeError(f"initial must be {dtype}, found {shown(value)}")
    return found.view(np.int64)[()]


@lru_cache(maxsize=256)
def last_within(limit: int, of_times: bool) -> Operator:
    """Return the operator whose answer is the last value, if at most `limit` elements came since.

    Its state is the last value, and how many elements came since.

    Examples
    --------
    >>> from dask_gpuscan import kernels
    >>> x = np.array([1.0, np.nan, np.nan])
    >>> kernels.scan(last_within(1, False), x, carry_out=False)[0]
    array([ 1.,  1., nan])
    """
    if of_times:
        return Operator(
            lambda a, b: b if b[0] != NAT else (a[0], a[1] + b[1]),
            (NAT, 0),
            lambda x: (x, 0 if x != NAT else 1),
            lambda s: s[0] if s[1] <= limit else NAT,
            name="last-time-within",
            inputs=1,
        )
    return Operator(
        lambda a, b: b if b[0] == b[0] else (a[0], a[1] + b[1]),
        (np.nan, 0),
        lambda x: (x, 0 if x == x else 1),
        lambda s: s[0] if s[1] <= limit else np.nan,
        name="last-number-within",
        inputs=1,
    )
