"""The built-in operators, and further traits of some of them."""

# Numba reads the operators' functions.
# mypy: disable-error-code="no-untyped-def"

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from ..compiler.function_fingerprint import fingerprint
from ..late_dataclass import dataclass
from ..nulls import NAT
from . import compensated
from .numerics import quotient, share
from .operator import BUILT_IN as BUILT_IN  # from here to everyone
from .operator import Operator
from .product import product, walked
from .reproducible import FINITE_MEAN, FINITE_SUM, MEAN, SIGNED, add_reproducible
from .segments import segmented


def _lowest(dtype):
    if dtype.kind == "b":
        return False
    return -np.inf if dtype.kind in "fc" else np.iinfo(dtype).min


def _highest(dtype):
    if dtype.kind == "b":
        return True
    return np.inf if dtype.kind in "fc" else np.iinfo(dtype).max


def _ones(dtype):
    return (
        True if dtype.kind == "b" else dtype.type(0) if dtype.kind not in "iu" else ~dtype.type(0)
    )


def _add(a, b):
    return a + b


def _multiply(a, b):
    return a * b


def _minimum(a, b):  # NaN wins, as in np.minimum
    return a if (a < b) | (a != a) else b


def _maximum(a, b):
    return a if (a > b) | (a != a) else b


def _bitwise_and(a, b):
    return a & b


def _bitwise_or(a, b):
    return a | b


def _bitwise_xor(a, b):
    return a ^ b


def _truth(x):
    return x != 0


def _first(a, b):
    return a if a[1] else b


def _last(a, b):
    return b if b[1] else a


def _seen(x):
    return (x, True)


def _value(s):
    return s[0]


def _affine(a, b):
    # a slope of many elements may be infinite: a zero that it multiplies stays zero
    return (a[0] * b[0], (b[0] * a[1] if a[1] != 0 else a[1]) + b[1])


def _offset(s):
    return s[1]


def _welford(a, b):
    n = a[0] + b[0]
    weight = share(b[0], n)
    delta = b[1] - a[1]
    # an infinite element has no distance from the mean, in whatever order elements are combined
    spread = a[2] + b[2] + delta * delta * a[0] * weight + (delta - delta)
    return (n, a[1] + delta * weight, spread)


def _observed(x):
    return (1.0, x * 1.0, 0.0)


def observed_if_finite(x):
    """Lift an element to a state of `welford`; infinite elements and NaN are skipped."""
    seen = x - x == 0.0
    return (1.0 if seen else 0.0, x if seen else 0.0, 0.0)


def _sample_variance(s):
    return quotient(s[2], s[0] - 1.0)


def _unseen(dtype):
    return (dtype.type(0), False)


add = Operator(_add, 0, name="add")
multiply = Operator(_multiply, 1, name="multiply", in_order=True)
minimum = Operator(_minimum, _highest, name="minimum", inputs=1, null_identity=True)
maximum = Operator(_maximum, _lowest, name="maximum", inputs=1, null_identity=True)
bitwise_and = Operator(_bitwise_and, _ones, name="bitwise_and", inputs=1)
bitwise_or = Operator(_bitwise_or, 0, name="bitwise_or")
bitwise_xor = Operator(_bitwise_xor, 0, name="bitwise_xor")
logical_any = Operator(_bitwise_or, False, lift=_truth, name="logical_any")
logical_all = Operator(_bitwise_and, True, lift=_truth, name="logical_all")
first = Operator(_first, _unseen, _seen, _value, name="first", null_identity=True)
last = Operator(_last, _unseen, _seen, _value, name="last", null_identity=True)
LAST_NUMBER = Operator(lambda a, b: a if b != b else b, np.nan, name="last-number", inputs=1)
"""`last` of floats: NaN is the identity, so that the state is one number, which is faster."""
LAST_TIME = Operator(lambda a, b: a if b == NAT else b, NAT, name="last-time", inputs=1)
"""`last` of times, likewise: NaT is the identity."""
affine = Operator(_affine, (1, 0), lower=_offset, name="affine")
welford = Operator(
    _welford, (0.0, 0.0, 0.0), _observed, _sample_variance, name="welford", null_identity=True
)

BUILT_IN.update(
    (op.name, op)
    for op in (
        add,
        add_reproducible,
        multiply,
        minimum,
        maximum,
        bitwise_and,
        bitwise_or,
        bitwise_xor,
        logical_any,
        logical_all,
        first,
        last,
        affine,
        welford,
    )
)


@dataclass(frozen=True)
class Traits:
    """Traits of an operator other than its functions; the defaults hold for operators without a row.

    Parameters
    ----------
    carry_operator : callable, optional
        ``carry_operator(dtype)`` combines the states between pieces of a scan with floating-point answers of this
        dtype, if states of `op` itself would overflow; only if `op` is `in_order`. By default they are the operator's
        own states.
    carry_answer : callable, optional
        ``carry_answer(state, dtype)`` returns the operator's state for a state of `carry_operator`.
    exact : str, default ""
        Kinds of dtypes of states that have the same bits in any order of combination.
    is_product : bool, default False
        Whether (the last field of) its state is a product of the elements.
    int128_identity : int or tuple, optional
        The identity over 128-bit integers (`INT128`). Without one, it does not take them.
    adds_digits : bool, default False
        Whether its states are sums of digits (`reproducible`), perhaps after a count of elements.
    skips_infinite : bool, default False
        Whether infinite numbers and NaN do not change such states.
    as_bits : str, default ""
        Kinds of dtypes that its functions treat as unsigned integers of the same bits.
    """

    carry_operator: Callable[[np.dtype], Operator] | None = None
    carry_answer: Callable[[Any, np.dtype], Any] | None = None
    exact: str = ""
    is_product: bool = False
    int128_identity: int | tuple[int, bool] | None = None
    adds_digits: bool = False
    skips_infinite: bool = False
    as_bits: str = ""


INTEGERS, NUMBERS = "iu", "iuf"
WHOLE, ANY = "iub", "iubfc"
"""The kinds of dtypes with exact sums, and all kinds."""

TRAITS: dict[Operator, Traits] = {
    add: Traits(exact=WHOLE, int128_identity=0, as_bits=INTEGERS),
    multiply: Traits(
        exact=WHOLE, carry_operator=product, carry_answer=walked, is_product=True, as_bits=INTEGERS
    ),
    **{op: Traits(adds_digits=True) for op in (add_reproducible, SIGNED, MEAN)},
    **{op: Traits(adds_digits=True, skips_infinite=True) for op in (FINITE_SUM, FINITE_MEAN)},
    segmented(multiply): Traits(is_product=True),
    minimum: Traits(exact=ANY, int128_identity=(1 << 127) - 1),
    maximum: Traits(exact=ANY, int128_identity=-(1 << 127)),
    **{op: Traits(exact=WHOLE, as_bits=INTEGERS) for op in (bitwise_and, bitwise_or, bitwise_xor)},
    **{op: Traits(exact=WHOLE) for op in (logical_any, logical_all)},
    **{op: Traits(exact=ANY, int128_identity=(0, False), as_bits=NUMBERS) for op in (first, last)},
    **{
        replace(op, lower=None): Traits(exact=ANY, as_bits=NUMBERS) for op in (first, last)
    },  # of states
    **{op: Traits(exact=ANY) for op in (LAST_NUMBER, LAST_TIME)},
}

_NONE = Traits()


def traits_of(op: Operator) -> Traits:
    """Return the traits of an operator; an operator that equals a built-in one has the same traits.

    Examples
    --------
    >>> traits_of(Operator(lambda a, b: a + b, 0, name="plus")).int128_identity
    0
    """
    return TRAITS.get(op, _NONE)


@lru_cache(maxsize=256)
def commutes(op: Operator) -> bool:
    """Return whether states may be combined in any order, so that lanes of rows can lie side by side.

    Compensated sums are an example.

    Examples
    --------
    >>> commutes(compensated.MEAN), commutes(welford)
    (True, False)
    """
    return fingerprint(op.combine) in _commuting()


@lru_cache(maxsize=1)
def _commuting() -> list[str]:
    return [fingerprint(op.combine) for op in (compensated.SUM, compensated.MEAN)]


@lru_cache(maxsize=256)
def has_moments(op: Operator) -> bool:
    """Return whether states are lifted and combined like those of `welford`: counts, means, sums of squared distances.

    Examples
    --------
    >>> has_moments(welford), has_moments(add)
    (True, False)
    """
    lifts = map(fingerprint, (welford.lift, observed_if_finite))
    return fingerprint(op.combine) == fingerprint(welford.combine) and fingerprint(op.lift) in lifts
