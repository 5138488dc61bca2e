"""Products of floating-point numbers on the GPU, combined in a tree with the overflow of a sequential product.

A tree multiplies partial products. They may overflow, or underflow to zero, where the sequential product does not, or
does so earlier and stays there. So the state here is a number and a power of two, which do neither, with the
logarithms of the largest and the smallest partial product of the sequence, which say where the sequential product
overflows or underflows. `kernels.operators.product` uses the same state between partitions, and explains why these two
are closer together than the limits of the type: no sequence passes both. Complex products and other operators that are
`in_order` are combined as they are.

A number is not scaled while it is far from both limits, so that a combination costs one product. Its logarithm is read
from its bits: the exponent, and the fraction as the digits after the point (Mitchell, Computer multiplication and
division using binary logarithms, 1962). It is at most 0.0861 too small, and exact for powers of two. So overflow is
never reported too early, and underflow is not if `SLACK` covers the sum of these errors along a path of the tree.
Nothing here branches: the code of a rare case would be repeated for each item of a thread, and so large a kernel does
not fit the instruction cache.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ...late_dataclass import dataclass
from ...operators.built_in import traits_of
from ...operators.calls import make_constant
from ...operators.operator import Operator
from ...operators.segments import segmented
from ...operators.signature import Signature
from ..core.ltoir import compiler

HEADROOM = {4: 52, 8: 360}
"""By the bytes of a number: numbers stay between 2**-HEADROOM and 2**HEADROOM, and are scaled by twice that power.

The product of two is normal, and a number that is not zero is between these limits after at most one scaling.
"""

SLACK = 2

NONE, SIGNLESS, UNITS = np.float32(0), np.int32(0x7FFFFFFF), np.int32(0x4B000000)
FAR, ENDLESS = np.float32(1e30), np.float32(np.inf)
"""The power of infinity, and negated that of zero, so large that finite factors do not change it; and infinity."""


class LogLimits(NamedTuple):
    """Limits of the logarithms of the numbers of a dtype."""

    highest: np.float32
    """Numbers from this limit on are infinite."""
    lowest: np.float32
    """Numbers below this limit are zero."""
    apart: np.float32
    """How far apart the largest and the smallest partial product may be without passing both limits."""
    step: np.float32
    """The logarithm of the factor that a number is scaled by."""


def log_limits(dtype: np.dtype) -> LogLimits:
    """Return the limits of a floating-point dtype.

    Examples
    --------
    >>> [float(end) for end in log_limits(np.dtype("f4"))]
    [128.0, -152.0, 280.0, 104.0]
    """
    limits = np.finfo(dtype)
    highest, lowest = limits.maxexp, limits.minexp - limits.nmant - 1 - SLACK
    ends = (highest, lowest, highest - lowest, 2 * HEADROOM[dtype.itemsize])
    return LogLimits(*map(np.float32, ends))


def functions(dtype: np.dtype, libdevice: Any) -> tuple[Callable[..., Any], ...]:
    """Return combine, lift and lower for products in `dtype`, written with functions of libdevice."""
    kind, headroom = dtype.type, HEADROOM[dtype.itemsize]
    highest, lowest, apart, step = log_limits(dtype)
    fraction, bias = (20, 1023) if dtype.itemsize == 8 else (23, 127)  # of the upper 32 bits
    least, most = np.int32((bias - headroom) << fraction), np.int32((bias + headroom) << fraction)
    infinite = np.int32((2 * bias + 1) << fraction)
    up, down, one, zero = kind(4.0**headroom), kind(0.25**headroom), kind(1), kind(0)
    endless = kind(ENDLESS)
    # the float32 with the bits of UNITS and a number n below 2**23 is 2**23 + n
    unit = np.float32(2.0 ** (8 - fraction))
    origin = np.float32(-(2.0 ** (31 - fraction)) - bias)

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
        scale = down if bits >= most else one
        shift = step if bits >= most else NONE
        scale = up if bits < least else scale
        shift = -step if bits < least else shift
        return (
            product * scale,
            power + shift,
            libdevice.fminf(largest, a[3] + apart),
            libdevice.fmaxf(smallest, a[2] - apart),
        )

    def lift(x: Any) -> Any:
        number = kind(x)
        bits = size(number)
        scale = down if bits >= most else one
        power = step if bits >= most else NONE
        scale = up if bits < least else scale
        power = -step if bits < least else power
        power = FAR if bits >= infinite else power
        power = -FAR if number == zero else power
        number = number * scale
        after = power + log(size(number))
        largest = libdevice.fminf(libdevice.fmaxf(after, NONE), apart)
        return (number, power, largest, libdevice.fmaxf(libdevice.fminf(after, NONE), -apart))

    def lower(s: Any) -> Any:
        scale = up if s[1] > NONE else one  # beyond one step, a limit has been passed
        scale = down if s[1] < NONE else scale
        scale = zero if s[3] < lowest else scale
        scale = endless if s[2] >= highest else scale
        return s[0] * scale

    return combine, lift, lower


def _follow4(before: Any, x: Any) -> Any:
    return before * np.float32(x)


def _follow8(before: Any, x: Any) -> Any:
    return before * np.float64(x)


def _follow_or_begin4(before: Any, begins: Any, x: Any) -> Any:
    return np.float32(x) if begins else before * np.float32(x)


def _follow_or_begin8(before: Any, begins: Any, x: Any) -> Any:
    return np.float64(x) if begins else before * np.float64(x)


FOLLOW: dict[tuple[int, int], Callable[..., Any]] = {
    (4, 0): _follow4,
    (8, 0): _follow8,
    (4, 1): _follow_or_begin4,
    (8, 1): _follow_or_begin8,
}
"""Functions that return a product from the previous one and an element, by the bytes of a number and the number of
flags in front of it."""


@dataclass(frozen=True)
class StableProduct:
    """The operator that is run instead of a product, its types, and conversions between the states of the two."""

    op: Operator
    types: Signature
    flags: int  # fields before the number

    @property
    def follow(self) -> Callable[..., Any] | None:
        """The function that returns an answer from the previous one, unless answers are rounded to another type."""
        number = self.types.state[self.flags]
        return FOLLOW[number.itemsize, self.flags] if self.types.outputs == (number,) else None

    def enter(self, state: Any) -> Any:
        """Return the substitute's state for a state of the operator, or arrays of such states."""
        parts = state if isinstance(state, tuple) else (state,)
        x = np.asarray(parts[-1])
        headroom, apart = HEADROOM[x.dtype.itemsize], log_limits(x.dtype).apart
        with np.errstate(all="ignore"):
            size = abs(x)
            moves = np.where(size >= 2.0**headroom, 1, np.where(size < 0.5**headroom, -1, 0))
            number = np.ldexp(x, -2 * headroom * moves)
            mantissa, exponent = np.frexp(number)
            power = np.where(x == 0, -FAR, np.where(size < np.inf, 2 * headroom * moves, FAR))
            after = power + exponent + np.floor(4096 * (2 * abs(mantissa) - 2)) / 4096
        ends = np.clip(np.maximum(after, 0), 0, apart), np.clip(np.minimum(after, 0), -apart, 0)
        return (*parts[:-1], *(part[()] for part in (number, power, *ends)))

    def leave(self, state: Any) -> Any:
        """Return the operator's state for a state of the substitute."""
        number, power, largest, smallest = (np.asarray(part) for part in state[self.flags :])
        dtype = self.types.state[self.flags]
        ends = log_limits(dtype)
        with np.errstate(all="ignore"):
            shift = np.clip(power, -(1 << 14), 1 << 14).astype(np.intc)
            answer = np.ldexp(number.astype("f8"), shift)
            answer = np.where(smallest < ends.lowest, number * 0.0, answer)
            answer = np.where(largest >= ends.highest, number * np.inf, answer).astype(dtype)[()]
        return (*state[: self.flags], answer) if self.flags else answer


@lru_cache(maxsize=256)
def stable_product(op: Operator, types_: Signature) -> StableProduct | None:
    """Return the operator that is run instead of `op`, if that is a product of floating-point numbers."""
    number = types_.state[-1]
    if number.kind != "f" or not traits_of(op).is_product:
        return None
    combine, lift, lower = functions(number, compiler().cuda.libdevice)
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
    return StableProduct(product, chosen, flags)
