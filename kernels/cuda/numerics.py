"""Steps of operators as GPUs take them (kernels/numerics.py)."""

# Numba reads these functions.
# mypy: disable-error-code="no-untyped-def"

from collections.abc import Callable
from types import CodeType
from typing import Any

import numpy as np
from numba import cuda

from .. import numerics

_reciprocal = cuda.declare_device("__nv_rcp64h", "float64(float64)", abi="c")
"""libdevice's approximation, of the upper half of a number alone."""


def _flushed(number):
    return number


def _quotient(number, weight):
    # Newton's iteration, then one step of Markstein's (IBM Journal of Research and Development 34, 1990)
    r = _reciprocal(weight)
    r = cuda.fma(r, cuda.fma(-weight, r, 1.0), r)
    r = cuda.fma(r, cuda.fma(-weight, r, 1.0), r)
    q = number * r
    exact = cuda.fma(cuda.fma(-weight, q, number), r, q)
    return exact if exact == exact else q  # an infinite number has no remainder


def _bits_of(number):
    return cuda.libdevice.double_as_longlong(np.float64(number))


def _from_bits(bits):
    return cuda.libdevice.longlong_as_double(np.int64(bits))


_OWN: dict[CodeType, Callable[..., Any]] = {
    numerics.flushed.__code__: _flushed,
    numerics.quotient.__code__: _quotient,
    numerics.bits_of.__code__: _bits_of,
    numerics.from_bits.__code__: _from_bits,
}


def on_device(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return what a GPU does instead of a function, which may be a copy; by default, itself."""
    return _OWN.get(function.__code__, function)
