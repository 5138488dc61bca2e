"""The visitor that scans or reduces a line: four lanes to the aggregate, and again from the prefix.

This module must never know how tiles get their prefix.
"""

# mypy: disable-error-code="no-untyped-def"

from typing import Any, NamedTuple

import numba

from .calls import cast, combine
from .jit import OPTIONS
from .steps import reduce_line, scan_lanes, walk_line
from .visitors import Visitor, register


class Reduce(NamedTuple):
    """A reduction along ``start + i * stride``."""

    op: Any
    xs: Any
    nulls: Any
    identity: Any
    start: Any
    stride: Any


class Scan(NamedTuple):
    """A scan along ``start + i * stride``."""

    op: Any
    xs: Any
    nulls: Any
    outs: Any
    null_value: Any
    mark: Any
    exclusive: Any
    identity: Any
    start: Any
    stride: Any


@numba.njit(**OPTIONS)
def _observe(work, space, seed, first, size):
    at = work.start + first * work.stride
    return reduce_line(work.op, work.xs, work.nulls, work.identity, seed, at, work.stride, size)


@numba.njit(**OPTIONS)
def _emit(work, space, prefix, between, first, size):
    op, identity, stride = work.op, work.identity, work.stride
    count = size // 4
    at = work.start + first * stride
    seeds = (
        prefix,
        cast(identity, combine(op, prefix, between[0])),
        cast(identity, combine(op, prefix, between[1])),
        cast(identity, combine(op, prefix, between[2])),
    )
    state = scan_lanes(
        op, work.xs, work.nulls, work.outs, work.null_value, work.mark, work.exclusive, identity,
        seeds, at, count * stride, stride, count,
    )[3]  # fmt: skip
    walk_line(
        op, work.xs, work.nulls, work.outs, work.null_value, work.mark, work.exclusive, identity,
        state, at + 4 * count * stride, stride, size - 4 * count,
    )  # fmt: skip


register(Reduce, Visitor(_observe))
register(Scan, Visitor(_observe, _emit))
