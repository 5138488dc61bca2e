"""What rows are ordered by: one key, and keys as callers give them, checked."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from .arrays import Array, brief, check_one_length, is_array
from .int128 import is_int128
from .messages import shown
from .nulls import InBand, Mask, Nulls

Positions = bool | Literal["narrow"]
"""Whether positions of rows are wanted as well, and in which dtype."""

SORTED_KINDS = "biufmM"
"""The kinds of dtypes that have an order here, beside 128-bit integers."""


@dataclass(frozen=True, eq=False)
class SortKey:
    """One key that rows are ordered by.

    Parameters
    ----------
    values : array
        1-d, of bool, integers, floats of 16 to 64 bits, `INT128`, datetime64 or timedelta64.
    nulls : InBand, Mask or None
        Which elements are null. NaN and NaT need not be told of; `InBand` says of int64 that they are times.
    descending : bool, default False
    nulls_first : bool, default False
        Whether nulls, and NaN and NaT, come before all values rather than after, whatever the direction. NaN is
        nearer to the values than nulls that a mask tells.
    """

    values: Array
    nulls: Nulls = None
    descending: bool = False
    nulls_first: bool = False

    def __repr__(self) -> str:
        order = "descending" if self.descending else "ascending"
        return f"SortKey({brief(self.values)}, {order}, nulls {'first' if self.nulls_first else 'last'})"


def sort_keys(
    keys: Array | Sequence[Array],
    nulls: Sequence[Nulls] | None,
    descending: bool | Sequence[bool],
    nulls_first: bool | Sequence[bool],
) -> list[SortKey]:
    """Return keys as `argsort` is given them, checked."""
    single = not isinstance(keys, (list, tuple)) and is_array(keys)
    every: list[Any] = (
        [keys] if single else listed("keys", "an array or a sequence of arrays", keys)
    )
    if not every:
        raise ValueError("keys must be at least one array")
    for key in every:
        check_sortable(key)
    check_one_length("keys", every)
    flags = [
        _one_a_key(name, x, len(every))
        for name, x in (("descending", descending), ("nulls_first", nulls_first))
    ]
    each = [None] * len(every)
    if nulls is not None:
        each = listed("nulls", "a sequence of InBand, Mask or None, one a key", nulls)
    if len(each) != len(every):
        raise ValueError(f"nulls must have one entry a key, found {len(each)}")
    for null in each:
        if null is not None and not isinstance(null, (InBand, Mask)):
            raise TypeError(f"nulls must be InBand, Mask or None, found {shown(null)}")
        if isinstance(null, Mask):
            null.check_length("a key", len(every[0]))
    return [SortKey(*one) for one in zip(every, each, *flags, strict=True)]


def check_sortable(key: Any) -> None:
    """Check that an object is an array whose elements have an order here."""
    if not is_array(key):
        raise TypeError(
            f"keys must be arrays (numpy.ndarray, cupy.ndarray), found {type(key).__name__}"
        )
    dtype = key.dtype
    known = dtype.kind in SORTED_KINDS and dtype.isnative and dtype.itemsize <= 8
    if not (known or is_int128(dtype)):
        raise TypeError(f"keys: the kernels do not sort arrays of dtype {dtype}")


def _one_a_key(name: str, given: Any, count: int) -> list[bool]:
    if isinstance(given, (bool, np.bool_)):
        return [bool(given)] * count
    flags = listed(name, "bool or a sequence of bool", given)
    if len(flags) != count:
        raise ValueError(f"{name} must have one entry a key, found {len(flags)} for {count} keys")
    if not all(isinstance(flag, (bool, np.bool_)) for flag in flags):
        raise TypeError(f"{name} must be bool, found {shown(given)}")
    return list(map(bool, flags))


def listed(name: str, accepted: str, given: Any) -> list[Any]:
    """Return the items of an argument that must be iterable."""
    if not isinstance(given, Iterable):
        raise TypeError(f"{name} must be {accepted}, found {shown(given)}")
    return list(given)
