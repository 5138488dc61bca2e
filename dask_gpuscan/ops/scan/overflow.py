"""Where pandas raises for a sum or product that does not fit, rather than wrapping around: Arrow integers, timedeltas.

Kernels wrap around, as NumPy and the nullable types do. Their answer is compared with the elements, which finds
every overflow exactly, because the answer before the first overflow is right.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
import pandas as pd
import pyarrow as pa

from ... import kernels
from ...frames.messages import column_title
from ...frames.types import Column, DType, Missing, Values, View
from ...kernels import InBand, Operator
from ...kernels.late_dataclass import dataclass
from ...kernels.nulls import NAT
from ...kernels.operators.operator import Element, State


@dataclass(frozen=True)
class Overflow:
    """How to find answers of an operator that leave an integer type."""

    leaves: Callable[[np.ndarray, np.ndarray], np.ndarray]
    """Takes prior states and elements, and returns where the next state does not fit."""
    is_sum: bool
    """Whether states are sums, which the range of the elements bounds."""


def _sum_leaves(prior: np.ndarray, elements: np.ndarray) -> np.ndarray:
    after = prior + elements
    wrong: np.ndarray = (after < prior) != (elements < 0)
    return wrong


def _product_leaves(prior: np.ndarray, elements: np.ndarray) -> np.ndarray:
    after = prior * elements
    divisor = np.where(elements == 0, 1, elements)
    lowest = np.iinfo(after.dtype).min
    negated = (elements == -1) & (prior == lowest) if after.dtype.kind == "i" else False
    wrong: np.ndarray = ((elements != 0) & (after // divisor != prior)) | negated
    return wrong


SUMS, PRODUCTS = Overflow(_sum_leaves, is_sum=True), Overflow(_product_leaves, is_sum=False)


@dataclass(frozen=True)
class Walk:
    """The options of a finished scan."""

    label: str
    exclusive: bool
    reverse: bool


EXACT = 2**53 - 1
"""Up to this number, each float64 stands for one integer."""


def check_exact(values: Values, what: str) -> None:
    """Check that integers are the same as float64.

    Parameters
    ----------
    values : array of NumPy or CuPy
        Integers, or floats that were integers.
    what : str
        For the message: a name for the integers.

    Raises
    ------
    OverflowError
        If one is 2**53 or more, or -2**53 or less.
    """
    if not are_exact(values):
        raise OverflowError(
            f"{what}: the answer is of float64, which is exact for integers below 2**53 only; "
            f"cast with astype('float64') first to have larger ones rounded"
        )


def are_exact(values: Values) -> bool:
    """Return whether integers that differ still differ as float64."""
    return not values.size or (int(values.max()) <= EXACT and int(values.min()) >= -EXACT)


def check_held(values: Values, missing: Missing, by: np.dtype, dtype: DType) -> None:
    """Check integers that are not null.

    Parameters
    ----------
    values : array
        Integers.
    missing : View, array of bool or None
        Where they are null.
    by : dtype
        Integers that must hold them.
    dtype : dtype
        The dtype that users know.

    Raises
    ------
    OverflowError
        For the first one that they do not hold.
    """
    known = np.iinfo(by)
    if not len(values) or (int(values.min()) >= known.min and int(values.max()) <= known.max):
        return
    if missing is not None:
        values = values[~(missing.missing() if isinstance(missing, View) else missing)]
    for value in values[(values < known.min) | (values > known.max)][:1]:
        raise OverflowError(f"{value} does not fit {dtype}; ask for a wider dtype=")


def check_overflow(
    found_by: Overflow,
    walk: Walk,
    column: Column,
    dtype: DType,
    view: View,
    out: np.ndarray,
    before: Values,
    null: np.ndarray | None,
) -> None:
    """Raise the error of pandas if an integer sum or product left its type.

    The answer after the last element counts even if it is not written: rows of the next partition continue from it.

    Parameters
    ----------
    found_by : Overflow
    walk : Walk
    column : Series
        For its name.
    dtype : dtype
        Of the answer.
    view : View
        The elements.
    out : array
        The scan's answer, wrapped around.
    before : scalar
        The state before the first element in scan order.
    null : array of bool, optional
        Answers that are null anyway.

    Raises
    ------
    pyarrow.ArrowInvalid, pandas.errors.OutOfBoundsTimedelta
    """
    is_sum = found_by.is_sum
    values = view.values
    if values.dtype.kind == "f":  # floats may be anything where they are null
        values = values[~view.missing()]
    if not len(values) or (is_sum and _cannot_overflow(values, before, out.dtype)):
        return
    if is_sum and null is None and not walk.exclusive and view.values.dtype.itemsize < 8:
        if not _fits(walk.reverse, view, before, out.dtype):
            refuse(walk.label, column, dtype)
        return
    present = ~(view.missing() if null is None else view.missing() | null)
    elements = view.values[present].astype(out.dtype, copy=False)
    answers = out[present]
    if walk.reverse:
        elements, answers = elements[::-1], answers[::-1]
    prior = answers
    if not walk.exclusive:
        prior = np.concatenate([np.asarray([before], out.dtype), answers[:-1]])
    with np.errstate(over="ignore"):
        wrong = found_by.leaves(prior, elements)
    is_nat = isinstance(view.nulls, InBand) and (answers == NAT).any()  # at values that are not NaT
    if is_nat or wrong.any():
        refuse(walk.label, column, dtype)


def refuse(label: str, column: Column, dtype: DType) -> NoReturn:
    """Raise the error of pandas for an answer that does not fit its dtype."""
    reason = f"{label} of {column_title(column)} does not fit {dtype}"
    if isinstance(dtype, pd.ArrowDtype):
        raise pa.ArrowInvalid(f"overflow: {reason}; ask for a wider dtype=")
    raise pd.errors.OutOfBoundsTimedelta(
        f"overflow in timedelta operation: {reason}; use a coarser unit"
    )


def _later(a: State, b: State) -> Any:
    return (a[0] + b[0], min(a[1], a[0] + b[1]), max(a[2], a[0] + b[2]))


def _earlier(a: State, b: State) -> Any:
    return _later(b, a)


def _one(x: Element) -> Any:
    return (np.int64(x), min(np.int64(x), 0), max(np.int64(x), 0))


_RANGE = {
    reverse: Operator(combine, (0, 0, 0), _one, name="range of sums", inputs=1)
    for reverse, combine in ((False, _later), (True, _earlier))
}
"""State: (sum, least and greatest of the running sums from one end, the empty sum included)."""


def _fits(reverse: bool, view: View, before: Values, dtype: np.dtype) -> bool:
    """Return whether all running sums of elements below 64 bits stay within a type."""
    _, least, greatest = kernels.reduce(_RANGE[reverse], view.values, nulls=view.nulls)
    known = np.iinfo(dtype)
    return bool(known.min <= int(before) + int(least) and int(before) + int(greatest) <= known.max)


def _cannot_overflow(values: np.ndarray, before: Values, dtype: np.dtype) -> bool:
    """Return whether no sum can leave the type, by the number and the size of the elements; False may be wrong."""
    size = max(abs(int(values.min())), abs(int(values.max())))
    return bool(abs(int(before)) + len(values) * size <= np.iinfo(dtype).max)
