"""Carries of lines: as callers give and get them, and as kernels read and write them.

A carry is one state for all lines, or arrays of one item a line.
"""

from math import prod
from typing import Any

import cupy
import numpy as np

from ..int128 import Int128, halves, whole
from ..signature import Signature, as_state
from .in_order import Substitute
from .plan import in_words


def on_host(carry_in: Any, types_: Signature) -> Any:
    """Return a carry that a caller gave as a state of these types, on the host."""
    if isinstance(carry_in, tuple):
        return as_state(tuple(map(_host, carry_in)), types_, "carry_in")
    return as_state(_host(carry_in), types_, "carry_in")


def _host(part: Any) -> Any:
    return part.get() if isinstance(part, cupy.ndarray) else part


def carries_of(
    carry: Any, types_: Signature, state: np.dtype, lines_shape: tuple[int, ...], flipped: bool
) -> tuple[bytes, np.ndarray | None]:
    """Return the state that every line starts from, or one state a line in the order of the lines."""
    parts = (carry,) if types_.scalar_state else carry
    if not any(isinstance(p, np.ndarray) and p.ndim for p in parts):
        return bytes_of(parts, state), None
    table = np.zeros(prod(lines_shape), state)
    order = lines_shape[::-1] if flipped else lines_shape  # the caller's order
    for name, part in zip(state.names or (), parts, strict=True):
        full = np.broadcast_to(np.array(_halved(part), state[name]), order)
        table[name] = (full.T if flipped else full).reshape(-1)
    return bytes(in_words(state.itemsize)), table


def _halved(part: Any) -> Any:
    return halves(part) if isinstance(part, Int128) else part


def bytes_of(parts: Any, state: np.dtype) -> bytes:
    """Return a state as a kernel takes it."""
    return (
        np.array([tuple(map(_halved, parts))], state)
        .tobytes()
        .ljust(in_words(state.itemsize), b"\0")
    )


def state_of(
    host: np.ndarray,
    types_: Signature,
    lines_shape: tuple[int, ...],
    flipped: bool,
    instead: Substitute | None,
) -> Any:
    """Return the state that a caller gets for those of all lines."""
    fields: list[Any] = []
    for name in host.dtype.names or ():
        field = np.ascontiguousarray(host[name])
        if flipped:
            fields.append(field.reshape(lines_shape).T)
        else:
            fields.append(field.reshape(lines_shape)[()])
    if types_.state[0].kind == "V" and not lines_shape:
        fields[0] = whole(fields[0])
    state = fields[0] if types_.scalar_state else tuple(fields)
    return state if instead is None else instead.leave(state)
