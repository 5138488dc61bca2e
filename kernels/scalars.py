"""Checks whether arguments are flags, integers or numbers."""

import operator
from numbers import Real
from typing import Any

import numpy as np

FLAG = (bool, np.bool_)
"""The types of flags."""


def is_integer(given: Any) -> bool:
    """Return whether an argument is an integer of any library; False for a flag, a class and an array of several.

    Examples
    --------
    >>> [is_integer(given) for given in (3, np.int8(3), True, int, 3.0)]
    [True, True, False, False, False]
    """
    if isinstance(given, FLAG) or bool(getattr(given, "ndim", 0)):
        return False
    try:
        operator.index(given)
    except TypeError:
        return False
    return True


def is_number(given: Any) -> bool:
    """Return whether an argument is a real number; False for a flag, a duration and a class.

    Examples
    --------
    >>> [is_number(given) for given in (0.5, np.int8(3), True, np.timedelta64(1, "s"), float)]
    [True, True, False, False, False]
    """
    return isinstance(given, Real) and not isinstance(given, (*FLAG, np.timedelta64))
