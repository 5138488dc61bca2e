"""Where sorted needles belong among sorted values of CuPy arrays: blocks merge tiles of one length, in one pass."""

from typing import Any

import cupy
import numpy as np

from . import launch
from .device_arrays import readable
from .plan import Extent, Plan
from .sort import KINDS
from .sort_pass import KeyCode, SearchPass


def searchsorted_sorted(needles: Any, haystack: Any, *, right: bool) -> Any:
    """Return where needles would be inserted; see `kernels.searchsorted_sorted`."""
    needles, haystack = readable(needles), readable(haystack)
    out = cupy.ndarray(len(needles), np.int64)
    lengths = len(needles), len(haystack)
    if len(needles):
        code = KeyCode(needles.dtype.itemsize, KINDS[needles.dtype.kind])
        plan = Plan((SearchPass(code, right),))
        begun = launch.Launch(launch.current_space(plan, Extent(sum(lengths))), False)
        begun.run(0, [a.data.ptr for a in (needles, haystack, out)], (), (), lengths, b"", b"")
    return out
