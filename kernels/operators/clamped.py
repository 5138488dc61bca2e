"""The operator of running sums that are clamped at each step between two bounds.

Adding an element and clamping is a function of the sum before, and such functions combine to functions of the same
kind: constant, then rising with slope 1, then constant. States are these functions.

For integers a state is ``(start, low, high)``: up to `start` the function is `low`, and from there on it rises to
`high`. All three are integers of the type, so that nothing overflows. A missing bound is that of the type.

For floating-point numbers a state is ``(shift, low, high)``: the sum of the elements, and both bounds. An infinite
shift does not change, and a sum of infinity and -infinity is NaN and stays NaN, as in a scan in order.
"""

# Numba reads the operators' functions.
# mypy: disable-error-code="no-untyped-def"

from functools import lru_cache
from typing import Any

import numpy as np

from ..messages import shown
from .operator import Operator


@lru_cache(maxsize=256)
def clamped_add(dtype: np.dtype, lower: Any = None, upper: Any = None) -> Operator:
    """Return the operator of sums that are clamped at each step.

    Parameters
    ----------
    dtype : dtype
        The dtype of the answers: integers or real floating-point numbers.
    lower, upper : number, optional
        The bounds; by default those of `dtype`.

    Raises
    ------
    TypeError
        For another dtype, and for a bound that the dtype cannot hold.
    ValueError
        If the lower bound is greater than the upper one.

    Examples
    --------
    >>> import numpy as np
    >>> from dask_gpuscan.kernels import scan
    >>> scan(clamped_add(np.dtype("i8"), 0, 4), np.array([3, 3, -9, 1]))[0]
    array([3, 4, 0, 1])
    """
    dtype = np.dtype(dtype)
    if dtype.kind not in "iuf":
        raise TypeError(f"answers of {dtype} cannot be clamped")
    if dtype.kind == "f":
        wide: type[np.generic] = np.float64 if dtype.itemsize == 8 else np.float32
        ends: tuple[Any, Any] = (-np.inf, np.inf)
    else:
        wide, ends = np.uint64 if dtype.kind == "u" else np.int64, _limits(dtype)
    bounds = [_bound(*named, dtype) for named in (("lower", lower), ("upper", upper))]
    if None not in bounds and bounds[0] > bounds[1]:
        raise ValueError(f"lower must not be greater than upper, found {lower} and {upper}")
    found = [wide(end if given is None else given) for given, end in zip(bounds, ends, strict=True)]
    return _of_floats(*found) if dtype.kind == "f" else _of_integers(*found)


def _limits(dtype: Any) -> tuple[int, int]:
    limits = np.iinfo(dtype)
    return int(limits.min), int(limits.max)


def _bound(name: str, given: Any, dtype: np.dtype) -> Any:
    """Return a bound as a number of a dtype; None if there is none."""
    if given is None:
        return None
    infinite = given in (np.inf, -np.inf)
    if dtype.kind == "f":
        fits = infinite or abs(given) <= float(np.finfo(dtype).max)
    else:
        least, most = _limits(dtype)
        fits = not infinite and least <= given <= most and given == int(given)
    if not fits:
        raise TypeError(f"{name} must be a number of dtype {dtype}, found {shown(given)}")
    return given


# --- integers ----------------------------------------------------------------------------------------


def _of_integers(lower: Any, upper: Any) -> Operator:
    wide = type(lower)
    least, most = map(wide, _limits(wide))
    zero = wide(0)

    # differences are unsigned: those of signed integers may leave the type, which compilers take for impossible

    def applied(f, x):
        start, low, high = f
        if x <= start:
            return low
        beyond = np.uint64(x) - np.uint64(start)
        if beyond >= np.uint64(high) - np.uint64(low):
            return high
        return wide(np.uint64(low) + beyond)

    def after(f, g):
        low, high = applied(g, f[1]), applied(g, f[2])
        if g[0] <= f[1]:
            return (f[0], low, high)
        return (wide(np.uint64(f[0]) + (np.uint64(g[0]) - np.uint64(f[1]))), low, high)

    def added(x):
        number = wide(x)
        if number < zero:
            plus = (least - number, least, most + number)
        else:
            plus = (least, least + number, most)
        return after(plus, (lower, lower, upper))

    def at_zero(f):
        return applied(f, zero)

    return Operator(after, (least, least, most), added, at_zero, name="clamped_add", inputs=1)


# --- floating-point numbers --------------------------------------------------------------------------


def _between(y, low, high):
    if y < low:
        return low
    if y > high:
        return high
    return y if (y >= low) & (y <= high) else y + low + high  # NaN, as one of them is NaN


def _value(f, x):
    shift, low, high = f
    return low if (low == high) & (x == x) else _between(x + shift, low, high)


def _later(f, g):
    if (f[1] == -np.inf) & (f[2] == np.inf):  # nothing was added
        return g
    shift = f[0] if (f[0] == np.inf) | (f[0] == -np.inf) else f[0] + g[0]
    return (shift, _value(g, f[1]), _value(g, f[2]))


def _of_floats(lower: Any, upper: Any) -> Operator:
    wide = type(lower)
    zero, infinite = wide(0), wide(np.inf)

    def added(x):
        number = wide(x)
        if number != number:
            return (number, number, number)
        # NaN if a sum before may be infinite, the other way; no branch depends on bounds alone, which would make
        # them constants of the code
        low, high = lower + number, upper + number
        return (number, lower if low == low else low, upper if high == high else high)

    def at_zero(f):
        return _value(f, zero)

    return Operator(
        _later, (zero, -infinite, infinite), added, at_zero, name="clamped_add", inputs=1
    )
