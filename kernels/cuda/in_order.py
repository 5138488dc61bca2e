"""Products of floating-point numbers on the GPU: a tree of combinations with the answers of a walk in order.

A tree multiplies numbers that are not neighbours in a walk: part of a product may overflow, or underflow to
zero, although the walk never does (or does so earlier, and stays there). So the state here is a number and a
power of two, which do neither, with the logarithms of the largest and the smallest product on the way, from
which the walk's own overflow and underflow follow (`kernels.product` hands the same on between partitions).
Where a walk would have met both, overflow is told; complex products and other operators that say `in_order`
are combined as they are.

A number is left as it is while it is far from both ends, so that a combination costs one product, and its
logarithm is read off its bits: the exponent, and the rest of the number for what follows the point (Mitchell,
Computer multiplication and division using binary logarithms, 1962), which is at most 0.0861 too small and
exact for powers of two. So overflow is never told too early, and underflow not where `SLACK` covers the sum of
these errors along a path of the tree.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..built_in import facts_of
from ..operator_calls import make_constant
from ..operators import Operator, segmented
from ..signature import Signature
from .lto import cuda

libdevice = cuda.libdevice

HEADROOM = {4: 30, 8: 120}
"""Numbers stay between 2 to the power of -HEADROOM and HEADROOM, by their bytes: the product of two is finite."""

SLACK = 2

NONE, SIGNLESS, UNITS = np.float32(0), np.int32(0x7FFFFFFF), np.int32(0x4B000000)
FAR = np.float32(np.inf)


def _functions(dtype: np.dtype) -> tuple[Callable[..., Any], ...]:
    """Return combine, lift and lower for products in `dtype`."""
    kind, limits, headroom = dtype.type, np.finfo(dtype), HEADROOM[dtype.itemsize]
    fraction, bias = (20, 1023) if dtype.itemsize == 8 else (23, 127)  # of the upper 32 bits
    least, most = np.int32((bias - headroom) << fraction), np.int32((bias + headroom) << fraction)
    up, down, one, zero = kind(4.0**headroom), kind(0.25**headroom), kind(1), kind(0)
    step = np.float32(2 * headroom)
    # a float32 whose bits are UNITS and a number n below 2**23 is 2**23 + n
    unit = np.float32(2.0 ** (8 - fraction))
    origin = np.float32(-(2.0 ** (31 - fraction)) - bias)
    highest = np.float32(limits.maxexp)
    lowest = np.float32(limits.minexp - limits.nmant - 1 - SLACK)

    if dtype.itemsize == 8:

        def size(x: Any) -> Any:
            return np.int32(libdevice.double2hiint(x)) & SIGNLESS
    else:

        def size(x: Any) -> Any:
            return np.int32(libdevice.float_as_int(x)) & SIGNLESS

    def log(size_: Any) -> Any:
        return libdevice.int_as_float(np.int32((size_ >> 8) | UNITS)) * unit + origin

    def combine(a: Any, b: Any) -> Any:
        product, power, before = a[0] * b[0], a[1] + b[1], a[1] + log(size(a[0]))
        bits = size(product)
        largest = libdevice.fmaxf(a[2], before + b[2])
        smallest = libdevice.fminf(a[3], before + b[3])
        scale = down if bits >= most else one  # a branch is slower
        shift = step if bits >= most else NONE
        scale = up if bits < least else scale
        shift = -step if bits < least else shift
        return (product * scale, power + shift, largest, smallest)

    def lift(x: Any) -> Any:
        number, power = kind(x), NONE
        bits = size(number)
        if not (bits >= least and bits < most):
            if number == zero:  # stays zero whatever finite numbers follow
                return (number, -FAR, NONE, -FAR)
            if not math.isfinite(number):
                return (number, NONE, NONE, NONE)
            mantissa, exponent = math.frexp(number)
            number, power = kind(mantissa), np.float32(exponent)
        after = power + log(size(number))
        return (number, power, libdevice.fmaxf(after, NONE), libdevice.fminf(after, NONE))

    def lower(s: Any) -> Any:
        if s[2] >= highest:
            return s[0] * FAR
        if s[3] < lowest:
            return s[0] * zero
        if s[1] == NONE:
            return s[0]
        return kind(libdevice.ldexp(s[0] * 1.0, np.int32(s[1])))

    return combine, lift, lower


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
            after = np.where(usual, exponent + np.floor(4096 * (2 * abs(mantissa) - 2)) / 4096, 0)
            number, power = np.where(usual, mantissa, x), np.where(usual, exponent, 0)
            power, after = (np.where(x == 0, -np.inf, part) for part in (power, after))
        ends = (np.maximum(np.where(x == 0, 0, after), 0), np.minimum(after, 0))
        return (*parts[:-1], *(part[()] for part in (number, power, *ends)))

    def leave(self, state: Any) -> Any:
        """Return the operator's state for one of the substitute."""
        number, power, largest, smallest = (np.asarray(part) for part in state[self.flags :])
        dtype = self.types.state[self.flags]
        limits = np.finfo(dtype)
        with np.errstate(all="ignore"):
            shift = np.clip(power, -(1 << 14), 1 << 14).astype(np.intc)
            answer = np.ldexp(number.astype("f8"), shift)
            answer = np.where(
                smallest < limits.minexp - limits.nmant - 1 - SLACK, number * 0.0, answer
            )
            answer = np.where(largest >= limits.maxexp, number * np.inf, answer).astype(dtype)[()]
        return (*state[: self.flags], answer) if self.flags else answer


@lru_cache(maxsize=256)
def substitute(op: Operator, types_: Signature) -> Substitute | None:
    """Return what computes a product as a walk in order does, if `op` is one of floating-point numbers."""
    number = types_.state[-1]
    if number.kind != "f" or not facts_of(op).is_product:
        return None
    combine, lift, lower = _functions(number)
    product = Operator(combine, (1.0, 0.0, 0.0, 0.0), lift, lower, name=op.name)
    make_constant(product)
    flags = len(types_.state) - 1
    identity: tuple[Any, ...] = (number.type(1), NONE, NONE, NONE)
    state: tuple[np.dtype, ...] = (number, *[np.dtype(np.float32)] * 3)
    if flags:
        product = segmented(product)
        make_constant(product)
        identity, state = (np.False_, *identity), (types_.state[0], *state)
    chosen = Signature(types_.inputs, state, False, types_.outputs, types_.scalar_output, identity)
    return Substitute(product, chosen, flags)
