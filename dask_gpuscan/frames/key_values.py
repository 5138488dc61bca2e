"""Values as keys: which are the same key, in every partition and process.

Python's equality is the base. It is widened where it depends on the object (NaN within a tuple) or on the class
(instants of NumPy, pandas and Python), and for `pandas.NA`, which equals nothing. Times of Arrow are the numbers that
it stores, as Python's classes have neither nanoseconds nor years above 9999.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from enum import Enum
from numbers import Number
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import pyarrow as pa

from .types import Values


def one_nan(values: Values) -> Values:
    """Return floats or complex numbers with 0.0 for -0.0, and with NaN of one kind."""
    if values.dtype == np.clongdouble:
        values = values.astype(np.complex128)
    return np.where(np.isnan(values), np.nan, values + 0.0)


def words_of(values: Values, least: int = 8) -> Values:
    """Return values of 8 bytes at most as words of `least` bytes or more, equal where values are the same key."""
    if values.dtype.kind == "f":
        values = one_nan(values)
    width = values.itemsize
    return values.view(f"u{width}").astype(f"u{max(width, least)}", copy=False)


class Missing(Enum):
    """Stands for values that do not equal themselves; equals itself, in every process."""

    NULL = "null"
    NAN = "NaN"
    NAT = "NaT"
    NA = "NA"


@dataclass(frozen=True, order=True)
class Instant:
    """A time of any class, by a clock or of the world."""

    of_world: bool
    nanoseconds: int


@dataclass(frozen=True, order=True)
class Duration:
    """A difference of times, of any class."""

    nanoseconds: int


_NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


def key_value(value: Any) -> Hashable:
    """Return an object that is equal, and hashes equally, for objects that are the same key.

    Examples
    --------
    >>> key_value((np.int8(1), np.float32("nan"))) == key_value((True, float("nan")))
    True
    >>> key_value(np.datetime64("2026-01-01")) == key_value(pd.Timestamp("2026-01-01"))
    True
    """
    if isinstance(value, pa.Scalar):
        return _of_arrow(value)
    if isinstance(value, tuple):
        return tuple(map(key_value, value))
    if isinstance(value, frozenset):
        return frozenset(map(key_value, value))
    if value is pd.NA:
        return Missing.NA
    if isinstance(value, (datetime, timedelta, np.datetime64, np.timedelta64)):
        return _time(value)
    if isinstance(value, np.generic):
        value = value.item()  # float32 equals other floats than the number that it hashes as
    if isinstance(value, Number) and value != value:
        return Missing.NAN
    found: Hashable = value
    return found


def _of_arrow(scalar: Any) -> Hashable:
    kind, types = scalar.type, pa.types
    if not scalar.is_valid:
        return Missing.NULL
    if types.is_timestamp(kind):
        return Instant(kind.tz is not None, scalar.value * _NANOSECONDS[kind.unit])
    if types.is_duration(kind):
        return Duration(scalar.value * _NANOSECONDS[kind.unit])
    if types.is_time(kind) or types.is_date(kind):
        number: Hashable = scalar.value
        return number
    if types.is_dictionary(kind) or isinstance(kind, pa.BaseExtensionType):
        return key_value(scalar.value)
    if types.is_struct(kind):
        return tuple(key_value(scalar[i]) for i in range(kind.num_fields))
    if isinstance(scalar, pa.ListScalar):
        return tuple(map(key_value, scalar.values))
    return key_value(scalar.as_py())


def _time(value: Any) -> Hashable:
    if pd.isna(value):
        return Missing.NAT
    is_instant = isinstance(value, (datetime, np.datetime64))
    if type(value) is datetime:
        value = value.replace(fold=0)  # Python's equality does not look at it
    try:
        found: Any = pd.Timestamp(value) if is_instant else pd.Timedelta(value)
    except (ValueError, OverflowError):  # outside the range of pandas
        return value  # type: ignore[no-any-return]
    count = int(found.asm8.view(np.int64)) * _NANOSECONDS[found.unit]
    return Instant(found.tzinfo is not None, count) if is_instant else Duration(count)


def key_text(key: Hashable) -> str:
    """Return a text that is the same, in every process, for equal answers of `key_value`.

    Different keys may share a text: all objects of classes that are not listed here do.
    """
    if isinstance(key, str):
        return key
    if isinstance(key, Number):
        return f"number {hash(key)}"  # not salted, unlike the hash of a string
    if isinstance(key, tuple):
        return f"({','.join(map(key_text, key))})"
    if isinstance(key, frozenset):
        return f"{{{','.join(sorted(map(key_text, key)))}}}"
    if isinstance(key, pd.Interval):
        return key_text(tuple(map(key_value, (key.left, key.right, key.closed))))
    if isinstance(key, time):
        return "time" if key.utcoffset() is not None else f"time {key.replace(tzinfo=None)}"
    if isinstance(key, (Enum, Instant, Duration, bytes, date, pd.Period, UUID)):
        return repr(key)
    return "object"
