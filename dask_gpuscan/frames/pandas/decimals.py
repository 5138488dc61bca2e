"""Decimals of Arrow as Python's integers, in units of the last digit, which are exact whatever their size."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa

from ..types import DType
from .layouts import PandasArray
from .native import one_array

_BITS = 32
_LIMB = (1 << _BITS) - 1


def is_decimal(dtype: DType) -> bool:
    """Return whether a dtype is of Arrow's decimals, of any width."""
    return isinstance(dtype, pd.ArrowDtype) and bool(pa.types.is_decimal(dtype.pyarrow_dtype))


def widest(dtype: pd.ArrowDtype) -> pd.ArrowDtype:
    """Return the widest dtype of decimals with as many digits behind the point."""
    return pd.ArrowDtype(pa.decimal256(76, dtype.pyarrow_dtype.scale))


def of_sums(dtype: pd.ArrowDtype) -> pd.ArrowDtype:
    """Return the dtype of sums of decimals, by the rule of Arrow: that of the most digits that their width has."""
    kind = dtype.pyarrow_dtype
    wide = kind.bit_width > 128
    return widest(dtype) if wide else pd.ArrowDtype(pa.decimal128(38, kind.scale))


def of_differences(dtype: pd.ArrowDtype) -> pd.ArrowDtype:
    """Return the dtype of differences of decimals, by the rule of Arrow: one digit more, up to those of their width."""
    kind = dtype.pyarrow_dtype
    wide = kind.bit_width > 128
    make, most = (pa.decimal256, 76) if wide else (pa.decimal128, 38)
    return pd.ArrowDtype(make(min(kind.precision + 1, most), kind.scale))


def has_all_digits(dtype: DType) -> bool:
    """Return whether a dtype is of decimals with all digits of their width: Arrow cannot subtract these."""
    return is_decimal(dtype) and dtype == of_differences(dtype)


def limbs_of(array: PandasArray) -> list[np.ndarray]:
    """Return decimals as digits of base 2 ** 32, the last of which has the sign, in integers of 64 bits; nulls are 0.

    Sums of each digit make up the digits of the sum, of up to 2 ** 31 rows.

    Examples
    --------
    >>> from decimal import Decimal
    >>> limbs_of(pd.array([Decimal(2**32 + 5), Decimal(-1)], dtype=pd.ArrowDtype(pa.decimal128(20, 0))))[:2]
    [array([         5, 4294967295]), array([         1, 4294967295])]
    """
    whole = one_array(pa.chunked_array(array.__arrow_array__()))
    parts, data = whole.type.bit_width // _BITS, whole.buffers()[1]
    words = np.zeros((0 if data is None else len(whole), parts), np.int32)
    if len(words):
        words = np.frombuffer(data, np.int32, words.size, 4 * parts * whole.offset).reshape(
            words.shape
        )
    limbs = [words[:, i].view(np.uint32).astype(np.int64) for i in range(parts - 1)]
    limbs.append(words[:, -1].astype(np.int64))
    if whole.null_count:  # any value may lie below a null
        valid = whole.is_valid().to_numpy(zero_copy_only=False)
        limbs = [limb * valid for limb in limbs]
    return limbs


def whole_of(limbs: Sequence[np.ndarray]) -> np.ndarray:
    """Return digits of base 2 ** 32, or sums of these, as Python's integers.

    Examples
    --------
    >>> whole_of([np.array([5, 4294967295]), np.array([1, -1])]).tolist()
    [4294967301, -1]
    """
    *low, high = limbs
    found: np.ndarray = high.astype(object)
    for limb in reversed(low):
        found = (found << _BITS) + limb.astype(object)
    return found


def decimals_of(values: np.ndarray, valid: np.ndarray, dtype: pd.ArrowDtype) -> PandasArray:
    """Return integers as decimals of a dtype, null where not `valid`.

    Raises
    ------
    OverflowError
        For a number that has more digits than these.

    Examples
    --------
    >>> dtype = pd.ArrowDtype(pa.decimal128(3, 2))
    >>> decimals_of(np.array([150, 0], object), np.array([True, False]), dtype).tolist()
    [Decimal('1.50'), <NA>]
    >>> decimals_of(np.array([1000], object), np.array([True]), dtype)
    Traceback (most recent call last):
        ...
    OverflowError: overflow: 1000 has more than 3 digits, those of decimal128(3, 2)[pyarrow]
    """
    kind = dtype.pyarrow_dtype
    values = np.where(valid, values, 0)
    for end in (values.min(), values.max()) if len(values) else ():
        if abs(end) >= 10**kind.precision:
            raise OverflowError(
                f"overflow: {end} has more than {kind.precision} digits, those of {dtype}"
            )
    words = np.empty((len(values), kind.bit_width // _BITS), np.uint32)
    for at in range(words.shape[1]):
        words[:, at] = (values >> _BITS * at) & _LIMB
    bits = None if valid.all() else pa.array(valid).buffers()[1]
    array = pa.Array.from_buffers(kind, len(values), [bits, pa.py_buffer(words)])
    return pd.arrays.ArrowExtensionArray(pa.chunked_array([array]))


def stored_integer(value: object, dtype: pd.ArrowDtype) -> int | None:
    """Return the integer that a decimal stores for a number; None if it does not hold the value exactly.

    Examples
    --------
    >>> from decimal import Decimal
    >>> stored_integer(Decimal("1.5"), pd.ArrowDtype(pa.decimal128(9, 2)))
    150
    """
    if isinstance(value, bool) or not isinstance(value, (int, np.integer, Decimal)):
        return None
    if isinstance(value, Decimal) and not value.is_finite():
        return None
    scaled = Fraction(int(value) if isinstance(value, np.integer) else value)
    scaled *= Fraction(10) ** dtype.pyarrow_dtype.scale
    return int(scaled) if scaled.denominator == 1 else None
