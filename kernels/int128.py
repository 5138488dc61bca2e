"""128-bit integers, the numbers of wide decimals: a dtype for device memory, and Python integers for carries.

NumPy and Numba have no such type, so no Python function can compute with them. The CUDA backend brings the
built-in operators for them; the CPU backend takes none. This module must never import a backend's library.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from .built_in import BUILT_IN
from .cpu import types
from .cpu.types import Signature
from .operators import Operator

INT128 = np.dtype([("low", np.uint64), ("high", np.int64)], align=True)
"""A two's complement integer of 128 bits, its low half first."""

OPERATORS = {name: BUILT_IN[name] for name in ("add", "minimum", "maximum", "first", "last")}
"""The operators that take arrays of INT128."""

_LOWEST, _HIGHEST = -(1 << 127), (1 << 127) - 1

_IDENTITIES = {OPERATORS["add"]: 0, OPERATORS["minimum"]: _HIGHEST, OPERATORS["maximum"]: _LOWEST}
"""Identities of those whose state is the integer itself."""


class Int128(int):
    """A 128-bit integer on the host: a carry of INT128 data, or what it is combined from."""

    __slots__ = ()


def is_int128(dtype: Any) -> bool:
    """Tell whether a dtype is INT128, however its fields are aligned."""
    return bool(dtype.kind == "V" and dtype == INT128)


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
    >>> whole(np.array((5, 1), INT128)[()])
    18446744073709551621
    """
    return Int128(int(value["low"]) + (int(value["high"]) << 64))


@lru_cache(maxsize=4096)
def signature(op: Operator, inputs: tuple[np.dtype, ...], dtype: np.dtype | None) -> Signature:
    """Return the types of `op` over inputs of these dtypes, INT128 among them.

    Raises
    ------
    TypeError, ValueError
        As `cpu.types.signature`; for INT128, if the operator or `dtype` is none of those that are known.
    """
    if not any(d.kind == "V" for d in inputs):
        return types.signature(op, inputs, dtype)
    if len(inputs) != 1 or op not in OPERATORS.values() or not is_int128(inputs[0]):
        known = ", ".join(OPERATORS)
        raise TypeError(f"{op.name} does not take {inputs}: for 128-bit integers there are {known}")
    if dtype is not None and not is_int128(dtype):
        raise TypeError(f"dtype must be None or INT128 for 128-bit integers, found {dtype}")
    if op in _IDENTITIES:
        return Signature((INT128,), (INT128,), True, (INT128,), True, Int128(_IDENTITIES[op]))
    state: tuple[np.dtype, ...] = (INT128, np.dtype(np.bool_))
    return Signature((INT128,), state, False, (INT128,), True, (Int128(0), np.False_))


def as_state(value: Any, types_: Signature, name: str) -> Any:
    """Return `value` as a state of these types, as `cpu.types.as_state` does; 128-bit integers as Int128.

    Raises
    ------
    TypeError
        If the value has another form, or a field cannot hold its part.
    """
    if not any(d.kind == "V" for d in types_.state):
        return types.as_state(value, types_.state, types_.scalar_state, name)
    parts = (value,) if types_.scalar_state else value
    if not isinstance(parts, tuple) or len(parts) != len(types_.state):
        raise TypeError(f"{name} must be a tuple (integer, bool), found {value!r}")
    found = tuple(
        _part(part, name) if field.kind == "V" else types.as_state(part, (field,), True, name)
        for part, field in zip(parts, types_.state, strict=True)
    )
    return found[0] if types_.scalar_state else found


def _part(value: Any, name: str) -> Any:
    if getattr(getattr(value, "dtype", None), "kind", "") == "V" and is_int128(value.dtype):
        return whole(value) if np.ndim(value) == 0 else value
    if isinstance(value, (int, np.integer)) and _LOWEST <= int(value) <= _HIGHEST:
        return Int128(value)
    raise TypeError(f"{name} must be an integer of at most 128 bits, found {value!r}")


def holds(state: Any) -> bool:
    """Tell whether a state has a 128-bit integer in it."""
    return isinstance(state[0] if isinstance(state, tuple) else state, Int128)


def fold(op: Operator, states: Sequence[Any]) -> Any:
    """Combine states in order into one, on the host.

    Examples
    --------
    >>> fold(BUILT_IN["add"], [Int128(2**126), Int128(2**126)]) == -(2**127)
    True
    """
    folded = states[0]
    for state in states[1:]:
        folded = op.combine(folded, state)
    if isinstance(folded, tuple):
        return (wrap(folded[0]), *folded[1:])
    return wrap(folded)
