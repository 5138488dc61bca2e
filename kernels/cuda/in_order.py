"""Products of floating-point numbers on the GPU: a tree of combinations with the answers of a walk in order.

A tree multiplies numbers that are not neighbours in a walk: part of a product may overflow, or underflow to
zero, although the walk never does (or does so earlier, and stays there). So the state here is a mantissa and
an exponent, which do neither, with the highest and the lowest exponent on the way, from which the walk's own
overflow and underflow follow (`kernels.product` hands the same on between partitions). Where a walk would
have met both, overflow is told; complex products and other operators that say `in_order` are combined as
they are. This module must never launch anything.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..cpu.types import Signature
from ..operators import BUILT_IN, Operator, segmented

FAR = 1 << 29
"""Exponents are kept within this: the walk is over long before, and its end is in the state."""


def _combine(a: Any, b: Any) -> Any:
    product = a[0] * b[0]
    if a[0] == 0.0:  # zero stays zero whatever finite numbers follow
        return (product, a[1], a[2], a[3])
    shift = 0
    if product != 0.0 and abs(product) < 0.5:  # mantissas are from 0.5 to 1
        product, shift = product + product, 1
    exponent = min(max(a[1] + b[1] - shift, -FAR), FAR)
    return (product, exponent, max(a[2], a[1] + b[2]), min(a[3], a[1] + b[3]))


def _lift(x: Any) -> Any:
    number = x * 1.0
    if not math.isfinite(number) or number == 0.0:
        return (number, 0, 0, 0)
    mantissa, exponent = math.frexp(number)
    return (mantissa, exponent, max(exponent, 0), min(exponent, 0))


def _lowering(highest: int, lowest: int) -> Callable[[Any], Any]:
    def lower(s: Any) -> Any:
        if s[2] > highest:
            return s[0] * math.inf
        if s[3] < lowest:
            return s[0] * 0.0
        return math.ldexp(s[0] * 1.0, s[1])

    return lower


@dataclass(frozen=True)
class Substitute:
    """The operator that is run instead, its types, and how its states are made from those asked for, and back."""

    op: Operator
    types: Signature
    flags: int  # fields before the number

    def enter(self, state: Any) -> Any:
        """Return the substitute's state for one of the operator, or arrays of them."""
        parts = state if isinstance(state, tuple) else (state,)
        with np.errstate(all="ignore"):
            x = np.asarray(parts[-1])
            usual = np.isfinite(x) & (x != 0)
            mantissa, exponent = np.frexp(np.where(usual, x, 1))
            mantissa, exponent = np.where(usual, mantissa, x), np.where(usual, exponent, 0)
        ends = (np.maximum(exponent, 0), np.minimum(exponent, 0))
        return (*parts[:-1], *(part[()] for part in (mantissa, exponent, *ends)))

    def leave(self, state: Any) -> Any:
        """Return the operator's state for one of the substitute."""
        mantissa, exponent, highest, lowest = (np.asarray(part) for part in state[self.flags :])
        dtype = self.types.state[self.flags]
        limits = np.finfo(dtype)
        with np.errstate(all="ignore"):
            answer = np.ldexp(mantissa.astype("f8"), exponent)
            answer = np.where(lowest < limits.minexp - limits.nmant, mantissa * 0.0, answer)
            answer = np.where(highest > limits.maxexp, mantissa * np.inf, answer).astype(dtype)[()]
        return (*state[: self.flags], answer) if self.flags else answer


@lru_cache(maxsize=256)
def substitute(op: Operator, types_: Signature) -> Substitute | None:
    """Return what computes a product as a walk in order does, if `op` is one of floating-point numbers."""
    number = types_.state[-1]
    if number.kind != "f" or op not in (BUILT_IN["multiply"], segmented(BUILT_IN["multiply"])):
        return None
    limits = np.finfo(number)
    product = Operator(
        _combine,
        (1.0, 0, 0, 0),
        _lift,
        _lowering(int(limits.maxexp), int(limits.minexp - limits.nmant)),
        name=op.name,
    )
    flags = len(types_.state) - 1
    integer = np.dtype(np.int32)
    identity: tuple[Any, ...] = (number.type(1), *[integer.type(0)] * 3)
    state: tuple[np.dtype, ...] = (number, integer, integer, integer)
    if flags:
        product = segmented(product)
        identity, state = (np.False_, *identity), (types_.state[0], *state)
    chosen = Signature(types_.inputs, state, False, types_.outputs, types_.scalar_output, identity)
    return Substitute(product, chosen, flags)
