"""Codes of several keys made into one. How the codes of one key are made is a library's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np

from .protocol import Array, Values

Codes = tuple[Values, int]
"""Codes of rows, and a number that is above all of them."""


def mixed_codes(
    arrays: Sequence[Array],
    codes_of: Callable[[Array, int], Codes | None],
    most: int,
    dtype: type[np.integer],
) -> Codes | None:
    """Return codes that are equal where the rows of all arrays are, and a number that is above all of them.

    None if an array has no codes, or there would be more than `most`. Of several arrays, codes are of `dtype`.
    """
    found: list[Codes] = []
    product = 1
    for array in arrays:
        one = codes_of(array, most)
        if one is None or product * one[1] > most:
            return None
        found.append(one)
        product *= one[1]
    return reduce(
        lambda a, b: (a[0].astype(dtype, copy=False) * dtype(b[1]) + b[0], a[1] * b[1]), found
    )
