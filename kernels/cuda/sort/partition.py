"""Rows of CuPy arrays in parts, by the leading bits of their codes, and back in their old order.

Parts are made by digits of a radix sort. To restore the old order, these are undone, the last one first, so no row
needs its position.
"""

from functools import cached_property, lru_cache
from typing import Any

import cupy
import numpy as np

from .permute import CARRIED
from .radix_sort import Word, begin, begin_count, move, position_dtype, rows_at
from .sort_pass import DigitPass, KeyCode
from .tuning import PART_BITS, PART_ROWS

DIGIT = 8
"""Bits of a digit."""


def leading_bits(length: int) -> int:
    """Return the most leading bits of codes by which this many rows are partitioned."""
    return min(PART_BITS, (length // PART_ROWS).bit_length())


class Partition:
    """Rows in the order of the leading bits of their codes; rows with equal bits keep their order.

    Parameters
    ----------
    codes : array of int32 or int64
        From 0 to `groups` - 1, which is not checked; at least one.
    groups : int
    room : int, default 0
        Bits of a code that may be left within a part; if one digit leaves no more, there is no second.
    """

    def __init__(self, codes: Any, groups: int, room: int = 0) -> None:
        self._length = len(codes)
        bits = (groups - 1).bit_length()
        leading = min(bits, leading_bits(self._length))
        if bits - DIGIT <= room:
            leading = min(leading, DIGIT)
        self.low = bits - leading
        """Bits of a code that are left within a part."""
        self.parts = (groups - 1 >> self.low) + 1
        self._key = KeyCode(codes.itemsize)
        # the codes before each digit, and after the last one
        self._levels = [codes.view(f"u{codes.itemsize}")]
        self._digits = range(-(-leading // DIGIT))
        _, self._starts = begin_count(Word(self._levels[0], self._key), self.low, waits=False)
        self._known = None
        if leading <= DIGIT:  # read before more work is queued, which the read would wait for
            starts = self._starts[0].get()[: self.parts].astype(np.int64)
            self._known = np.append(starts, self._length)

    @property
    def codes(self) -> Any:
        """The codes of the rows in the order of parts."""
        for digit in self._digits[len(self._levels) - 1 :]:
            self._move(digit, None)
        return self._levels[-1]

    @cached_property
    def bounds(self) -> Any:
        """Where each part starts, and where the last one ends: an int64 array, of NumPy if there is one digit."""
        if self._known is not None:
            return self._known
        bounds = cupy.ndarray(self.parts + 1, np.int64)
        _find_bounds()(self.codes, np.int64(self._length), np.int32(self.low), bounds)
        return bounds

    def arrange(self, values: Any) -> Any:
        """Return values, one for each row, in the order of parts."""
        if values.itemsize not in CARRIED:
            return rows_at(values, self._positions)
        found = values.view(f"u{values.itemsize}")
        for digit in self._digits:
            found = self._move(digit, found)
        return found.view(values.dtype)

    def restore(self, values: Any) -> Any:
        """Return values that are in the order of parts in the rows' old order."""
        if values.itemsize not in CARRIED:
            out = cupy.ndarray(self._length, values.dtype)
            return move(values, self._positions, out, puts=True)
        found = values.view(f"u{values.itemsize}")
        for digit in reversed(self._digits):
            found = self._move(digit, found, restores=True)
        return found.view(values.dtype)

    @cached_property
    def _positions(self) -> Any:
        return self.arrange(cupy.arange(self._length, dtype=position_dtype(self._length)))

    def _move(self, digit: int, values: Any, restores: bool = False) -> Any:
        """Return values sorted by a digit, or from before that sort; codes are moved along the first time."""
        writes = digit + 1 == len(self._levels) and not restores
        value = 0 if values is None else values.itemsize
        wide = self._length >= 1 << 30
        each = DigitPass(self._key, value, writes_keys=writes, wide=wide, restores=restores)
        keys = self._levels[digit]
        out = None if values is None else cupy.ndarray(self._length, values.dtype)
        pointers = [keys.data.ptr, 0, 0, 0, self._starts[digit].data.ptr]
        if writes:
            self._levels.append(cupy.ndarray(self._length, keys.dtype))
            pointers[1] = self._levels[-1].data.ptr
        if out is not None:
            pointers[2:4] = values.data.ptr, out.data.ptr
        shift = self.low + DIGIT * digit
        begin((each,), self._length).run(0, pointers, options=(shift,))
        return out


@lru_cache(maxsize=1)
def _find_bounds() -> Any:
    text = """
    long long first = 0, end = length;
    while (first < end) {
        const long long middle = (first + end) / 2;
        if ((long long)(codes[middle] >> low) < i) first = middle + 1; else end = middle;
    }
    bound = first
    """
    return cupy.ElementwiseKernel(
        "raw C codes, int64 length, int32 low", "int64 bound", text, "find_bounds"
    )
