"""The wavelet matrix of the places of values, on a GPU: see `kernels.cpu.wavelet`."""

from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import cupy
import numpy as np

from ..sort_key import SortKey
from .sort import put, sort

THREADS = 256
"""Of a block; one row, or one window, each."""

SOURCE = Path(__file__).parent / "device" / "wavelet.cuh"


class Matrix(NamedTuple):
    """The order of values."""

    codes: Any
    """The place of each row's value among the distinct values, as uint32."""
    distinct: Any
    """These, in order."""

    def levels(self) -> tuple[Any, Any, np.uint64, np.int32]:
        """Return what kernels take: words, zeros of each level, words a level, and how many levels."""
        rows, count = len(self.codes), max(len(self.distinct) - 1, 0).bit_length()
        stride = rows // 32 + 1
        words = cupy.empty((count, stride), np.uint64)
        zeros, counts = cupy.empty(count, np.uint64), cupy.empty(stride, np.uint32)
        codes, buffers = self.codes, [cupy.empty_like(self.codes) for _ in range(min(count, 2))]
        for level in range(count):
            asked = codes, np.uint64(rows), np.int32(count - 1 - level)
            run("count_zeros", rows + 1, *asked, counts)
            before, parted = cupy.cumsum(counts, dtype=np.uint32), buffers[level % 2]
            run("part_rows", rows + 1, *asked, before, words[level], zeros[level:], parted)
            codes = parted
        return words, zeros, np.uint64(stride), np.int32(count)


def matrix(values: Any) -> Matrix:
    """Return the order of values, of which none is NaN."""
    ordered, rows = sort([SortKey(values)], [values], None, positions=True)
    is_first = cupy.ones(len(ordered), bool)
    is_first[1:] = ordered[1:] != ordered[:-1]
    places = cupy.cumsum(is_first, dtype=np.uint32) - np.uint32(1)
    return Matrix(put(places, rows), ordered[is_first])


def run(name: str, threads: int, *given: Any) -> None:
    """Launch a kernel of `SOURCE` with so many threads, or a few more."""
    if threads > 0:
        _kernel(name)((-(-threads // THREADS),), (THREADS,), given)


@lru_cache(maxsize=8)
def _kernel(name: str) -> Any:
    # the answers are those of CPUs bit by bit, so products and sums are rounded one by one
    return cupy.RawKernel(SOURCE.read_text(), name, ("--fmad=false",))
