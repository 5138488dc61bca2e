"""Steps of operators that CPUs and GPUs take in different ways: CPUs as written here, GPUs as in `cuda.core.link`."""

import math
from typing import Any

import numpy as np

NORMAL = float(np.finfo(np.float64).tiny)

LEAST = 1e-300
"""Added to a number of at least one, changes nothing."""


def flushed(number: Any) -> Any:
    """Return what has decayed; zero if it is subnormal, as CPUs take a hundred times as long to multiply such.

    Rounding would keep it there: 0.8 times the smallest number is that number. GPUs take no longer, and keep it.
    """
    return number if abs(number) >= NORMAL else 0.0


def quotient(number: Any, weight: Any) -> Any:
    """Return ``number / weight`` in float64, for a finite weight of at least one.

    A GPU then does without the rare cases of a division, for which its threads would take turns. For a weight of zero
    any number may be returned.
    """
    return number / weight


def share(part: Any, whole: Any) -> Any:
    """Return ``part / whole``, of a whole that is at least one, or zero as its part is: then zero."""
    return quotient(part, whole + LEAST)


def root(number: Any) -> Any:
    """Return the square root of a float64; NaN of one that is negative.

    A GPU then takes no branch for rare numbers: with one, the roots of a thread could not overlap.
    """
    return math.sqrt(number) if number >= 0.0 else math.nan


def bits_of(number: Any) -> Any:
    """Return the bits of a number as float64, as an integer."""
    return np.float64(number).view(np.int64)


def from_bits(bits: Any) -> Any:
    """Return the float64 that has these bits."""
    return np.int64(bits).view(np.float64)
