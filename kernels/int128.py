"""128-bit integers, the numbers of wide decimals: a dtype for device memory, and Python integers for carries.

NumPy and Numba have no such type, so no Python function can compute with them. The CUDA backend brings functions for
some built-in operators (those with an `int128_identity`, `built_in.Traits`); the CPU backend takes none.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .arrays import is_int128
from .messages import shown
from .operators.operator import Operator

_LOWEST, _HIGHEST = -(1 << 127), (1 << 127) - 1


class Int128(int):
    """A 128-bit integer on the host: a carry of INT128 data, or a part of one."""

    __slots__ = ()


def wrap(value: int) -> Int128:
    """Return an integer modulo 2 ** 128."""
    return Int128((value - _LOWEST) % (1 << 128) + _LOWEST)


def halves(value: int) -> tuple[int, int]:
    """Return the fields of INT128 for an integer.

    Examples
    --------
    >>> halves(-1)
    (18446744073709551615, -1)
    """
    return value & ((1 << 64) - 1), value >> 64


def whole(value: Any) -> Int128:
    """Return an element of an INT128 array as an integer.

    Examples
    --------
    >>> from dask_gpuscan.kernels import INT128
    >>> whole(np.array((5, 1), INT128)[()])
    18446744073709551621
    """
    return Int128(int(value["low"]) + (int(value["high"]) << 64))


def as_int128(value: Any, name: str) -> Any:
    """Return an integer, or a number of an INT128 array, as Int128; an array of them as it is.

    Raises
    ------
    TypeError
        Naming the argument `name`, if it is not one, or too large.
    """
    if getattr(getattr(value, "dtype", None), "kind", "") == "V" and is_int128(value.dtype):
        return whole(value) if np.ndim(value) == 0 else value
    if isinstance(value, (int, np.integer)) and _LOWEST <= int(value) <= _HIGHEST:
        return Int128(value)
    raise TypeError(f"{name} must be an integer of at most 128 bits, found {shown(value)}")


def fold(op: Operator, states: Sequence[Any]) -> Any:
    """Combine states in order into one, on the host.

    Examples
    --------
    >>> from dask_gpuscan.kernels import BUILT_IN
    >>> fold(BUILT_IN["add"], [Int128(2**126), Int128(2**126)]) == -(2**127)
    True
    """
    folded = states[0]
    for state in states[1:]:
        folded = op.combine(folded, state)
    if isinstance(folded, tuple):
        return (wrap(folded[0]), *folded[1:])
    return wrap(folded)
