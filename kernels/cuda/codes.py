"""Codes of groups of CuPy arrays, numbered anew."""

from typing import Any

import cupy
import numpy as np

from ..built_in import BUILT_IN
from ..options import ScanOptions
from .multi_scan import by_code


def number_codes(codes: Any, groups: int) -> tuple[Any, Any]:
    """Return codes without gaps, and the first row of each; see `kernels.number_codes`."""
    some = cupy.zeros(groups, np.bool_)
    some[codes] = True
    numbers = cupy.cumsum(some)
    count = int(numbers[-1]) if groups else 0
    if count < groups:
        codes = (numbers - 1).astype(codes.dtype)[codes]
    rows = (cupy.arange(len(codes)),)
    first = by_code(BUILT_IN["minimum"], codes, rows, count, ScanOptions(), None, None, write=False)
    return codes, first[1]
