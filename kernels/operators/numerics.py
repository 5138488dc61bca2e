"""Steps of operators that differ between CPUs (as written here) and GPUs (as in `cuda.core.link`)."""

import math
from typing import Any

import numpy as np

NORMAL = float(np.finfo(np.float64).tiny)

LEAST = 1e-300
"""A number that does not change a number of at least one if it is added."""


def flushed(number: Any) -> Any:
    """Return a decaying number; zero if it is subnormal, as CPUs multiply subnormal numbers a hundred times slower.

    Rounding would keep it subnormal: 0.8 times the smallest number is that number. GPUs are not slower, and keep it.
    """
    return number if abs(number) >= NORMAL else 0.0


def quotient(number: Any, weight: Any) -> Any:
    """Return ``number / weight`` in float64, for a finite weight of at least one.

    A GPU then skips the rare cases of a division, for which threads would diverge. For a weight of zero any number may
    be returned.
    """
    return number / weight


def share(part: Any, whole: Any) -> Any:
    """Return ``part / whole`` for a whole of at least one; zero if both are zero."""
    return quotient(part, whole + LEAST)


def root(number: Any) -> Any:
    """Return the square root of a float64; NaN if it is negative.

    A GPU then takes no branch for rare numbers, so that the roots of a thread overlap.
    """
    return math.sqrt(number) if number >= 0.0 else math.nan


def bits_of(number: Any) -> Any:
    """Return the bits of a float64 as an integer."""
    return np.float64(number).view(np.int64)


def from_bits(bits: Any) -> Any:
    """Return the float64 that has these bits."""
    return np.int64(bits).view(np.float64)
