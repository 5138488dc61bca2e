"""Columns of decimals, given as integers in units of the last digit."""

from collections.abc import Iterable
from decimal import Decimal

import pandas as pd
import pyarrow as pa


def decimal_of(number: int, scale: int) -> Decimal:
    """Return a decimal with `scale` digits after the point."""
    return Decimal((int(number < 0), tuple(map(int, str(abs(number)))), -scale))


def decimals(numbers: Iterable[int | None], kind: pa.DataType) -> pd.Series:
    """Return a column of a type of Arrow."""
    values = [None if n is None else decimal_of(n, kind.scale) for n in numbers]
    wide = kind if kind.bit_width >= 128 else pa.decimal128(kind.precision, kind.scale)
    array = pa.array(values, wide).cast(kind)
    return pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([array])))
