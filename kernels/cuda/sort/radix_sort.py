"""Radix sort of one key on a GPU: the choice of digits to sort by, and the launches.

Digits in which all keys agree are skipped if a pass takes longer than finding them. The leading digits of wide keys may
differ in nearly all rows. Then rows are sorted by these alone, and the few that tie are sorted by all their digits and
put back in their places.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import cupy
import numpy as np

from ...late_dataclass import dataclass
from ..columns.compact import compact
from ..core import launch
from ..core.plan import Extent, Plan
from .sort_pass import BINS, CountPass, DigitPass, FewPass, KeyCode, MovePass, TiesPass
from .tuning import ASKED_FROM, FEW, SPARE_FROM, SPARED_FROM, TIES_AT_MOST


@dataclass(frozen=True, eq=False)
class Word:
    """Keys as contiguous unsigned integers, and how they become codes."""

    keys: Any
    code: KeyCode

    def __len__(self) -> int:
        return len(self.keys)

    def take(self, positions: Any) -> "Word":
        """Return the keys at these positions."""
        return Word(rows_at(self.keys, positions), self.code)


def position_dtype(length: int) -> np.dtype:
    """Return the dtype of positions of this many rows while they are moved."""
    return np.dtype(np.uint32 if length <= 1 << 32 else np.uint64)


def radix_sort(
    word: Word,
    values: Any = None,
    *,
    positions: bool = False,
    wants_keys: bool = True,
    widens: bool = False,
    spare: bool = True,
) -> tuple[Any, Any]:
    """Sort keys, and move a value of each key along.

    Parameters
    ----------
    word : Word
        At least one.
    values : array, optional
        Of 1, 2, 4 or 8 bytes each.
    positions : bool, default False
        Move the rows' positions along, instead of values.
    wants_keys : bool, default True
        Whether the sorted keys are needed.
    widens : bool, default False
        Whether positions are wanted as int64 rather than `position_dtype`.
    spare : bool, default True
        Whether rows may be sorted by leading digits first.

    Returns
    -------
    keys, values : array or None
    """
    length = len(word)
    if length <= FEW:
        return _sort_few(word, values, positions, wants_keys, widens)
    may_spare = spare and word.code.size >= SPARED_FROM and length >= SPARE_FROM
    asks = length >= ASKED_FROM[word.code.size]
    counting, starts = begin_count(word, waits=asks)
    sorting = Sorting(word, starts, values, positions, wants_keys or may_spare, widens)
    if not asks:
        return sorting.run(range(word.code.size))
    if not may_spare:
        # all keys seldom agree in the lowest digit; if they do, sorting by it moves no row
        sorting.begin()
    counts = counting.read()["digits"][0]  # the next steps were prepared in the meantime
    digits = [d for d in range(word.code.size) if counts[d].max() < length]
    left_out = _spared(counts[digits], length) if may_spare else 0
    keys, moved = sorting.run(digits[left_out:])
    if not left_out:
        return keys, moved
    slots = tied_slots(Word(keys, word.code), 8 * digits[left_out])
    if len(slots) > length * TIES_AT_MOST * 2:
        # digits are not independent, and all of them are needed
        return Sorting(word, starts, values, positions, wants_keys, widens).run(digits)
    if len(slots):
        tied = Word(rows_at(keys, slots), word.code)
        again, back = radix_sort(
            tied, None if moved is None else rows_at(moved, slots), spare=False
        )
        move(again, slots, keys, puts=True)
        if moved is not None:
            move(back, slots, moved, puts=True)
    return keys, moved


def _sort_few(
    word: Word, values: Any, positions: bool, wants_keys: bool, widens: bool
) -> tuple[Any, Any]:
    """Sort few rows in one pass; the parameters are those of `radix_sort`."""
    length = len(word)
    dtype = position_dtype(length) if values is None else values.dtype
    has_values = positions or values is not None
    each = FewPass(word.code, dtype.itemsize * has_values, positions, wants_keys, widens)
    keys = cupy.ndarray(length, word.keys.dtype) if wants_keys else None
    moved = cupy.ndarray(length, np.int64 if widens else dtype) if has_values else None
    pointers = [0 if a is None else a.data.ptr for a in (word.keys, keys, values, moved)]
    begin((each,), length).run(0, pointers)
    return keys, moved


def tied_slots(word: Word, shift: int = 0) -> Any:
    """Return the positions of sorted keys with the code of a neighbour, apart from the lowest `shift` bits."""
    tied = cupy.ndarray(len(word), np.bool_)
    begun = begin((TiesPass(word.code),), len(word))
    begun.run(0, [word.keys.data.ptr, tied.data.ptr], options=(shift,))
    kept, _ = compact([], tied, False, True, False)
    return kept[-1]


def move(column: Any, positions: Any, out: Any, *, puts: bool) -> Any:
    """Take rows of a column from positions, as many as `out` has rows, or put them there."""
    if len(positions):
        each = MovePass(column.itemsize, positions.itemsize, puts)
        pointers = [column.data.ptr, positions.data.ptr, out.data.ptr]
        begin((each,), len(positions)).run(0, pointers)
    return out


def rows_at(column: Any, positions: Any) -> Any:
    """Return the rows of an array at these positions, which must be valid."""
    return move(column, positions, cupy.ndarray(len(positions), column.dtype), puts=False)


def begin(passes: Sequence[Any], length: int, waits: bool = False) -> launch.Launch:
    """Return the launch of passes over `length` rows."""
    return launch.Launch(launch.current_space(Plan(tuple(passes)), Extent(length)), waits)


def begin_count(word: Word, shift: int = 0, waits: bool = True) -> tuple[launch.Launch, Any]:
    """Count the values of all digits from a bit on; return the launch, and where each value starts, on the device."""
    starts = cupy.zeros((word.code.size, BINS), np.uint64)
    begun = begin((CountPass(word.code),), len(word), waits)
    begun.run(0, [word.keys.data.ptr, starts.data.ptr], options=(shift,))
    return begun, starts


def _spared(counts: np.ndarray, length: int) -> int:
    """Return how many of the lowest digits may be left out at first.

    The counts of a digit give the probability that two rows agree in it. If digits are independent, the remaining
    digits must distinguish rows, except for a share of ties.
    """
    same = ((counts / length) ** 2).sum(1)
    ties = length * np.cumprod(same[::-1])[::-1]  # of a row, if it is sorted from each digit on
    enough = np.flatnonzero(ties <= TIES_AT_MOST)
    return int(enough[-1]) if len(enough) and enough[-1] > 1 else 0


@lru_cache(maxsize=1024)
def _plan(
    code: KeyCode, value: int, positions: bool, wants_keys: bool, widens: bool, wide: bool
) -> Plan:
    """Return a pass for each digit: the first makes positions, the last widens them or does not write keys."""
    last = code.size - 1
    return Plan(
        tuple(
            DigitPass(
                code, value, positions and i == 0, wants_keys or i < last,
                widens and 0 < i == last, wide,
            )
            for i in range(code.size)
        )
    )  # fmt: skip


class Sorting:
    """A sort with its memory, which gets its digits later."""

    def __init__(
        self,
        word: Word,
        starts: Any,
        values: Any,
        positions: bool,
        wants_keys: bool,
        widens: bool,
    ) -> None:
        self._word, self._starts, self._values = word, starts, values
        self._wants_keys, self._widens = wants_keys, widens
        self._read: list[Any] = [word.keys, values]
        self._at: int | None = None  # the buffer that was written last
        self._done = 0  # passes so far; each has its own memory to look back in
        length, dtypes = len(word), [word.keys.dtype]
        if positions:
            dtypes.append(position_dtype(length))
        elif values is not None:
            dtypes.append(values.dtype)
        value = dtypes[1].itemsize if len(dtypes) > 1 else 0
        plan = _plan(word.code, value, positions, wants_keys, widens, length >= 1 << 30)
        self._begun = launch.Launch(launch.current_space(plan, Extent(length)), False)
        # two buffers in turn, so that the last pass writes to the first if the passes are as expected
        count = min(2, word.code.size)
        self._buffers = [[cupy.ndarray(length, d) for _ in range(count)] for d in dtypes]
        if widens:
            self._wide = cupy.ndarray(length, np.int64)
            self._buffers[1][0] = self._wide.view(dtypes[1])[:length]

    def begin(self) -> None:
        """Sort by the lowest digit, before the other digits are known."""
        self._step(0, (self._word.code.size - 1) % 2, 0, self._starts[0])

    def run(self, digits: Sequence[int]) -> tuple[Any, Any]:
        """Sort by digits, the lowest first; return the keys, if they are wanted, and the values."""
        return self.run_shifts([8 * d for d in digits], [self._starts[d] for d in digits])

    def run_shifts(self, shifts: Sequence[int], starts: Sequence[Any]) -> tuple[Any, Any]:
        """Sort by the eight bits from each shift on, given where each value of these starts."""
        word, ends = self._word, False
        if self._at is not None and shifts[:1] == [0]:
            shifts, starts = shifts[1:], starts[1:]
        if self._at is None and not shifts:
            if len(self._buffers) > 1 and self._values is None:
                dtype = np.dtype(np.int64) if self._widens else self._buffers[1][0].dtype
                return word.keys.copy(), cupy.arange(len(word), dtype=dtype)
            return word.keys.copy(), None if self._values is None else self._values.copy()
        for left, shift, start in zip(range(len(shifts))[::-1], shifts, starts, strict=True):
            if self._at is None:
                self._step(0, left % 2, shift, start)
                continue
            to = 1 - self._at
            ends = not left and (to == 0 or not self._widens)
            self._step(word.code.size - 1 if ends else self._done, to, shift, start)
        keys = self._read[0] if self._wants_keys else None
        moved: Any = self._read[1] if len(self._buffers) > 1 else None
        if self._widens:
            return keys, self._wide if ends else moved.astype(np.int64)
        return keys, moved

    def _step(self, which: int, to: int, shift: int, starts: Any) -> None:
        """Sort the rows that were written last by one digit, with one of the passes, into one of two buffers."""
        write = [pair[to] for pair in self._buffers]
        pointers = []
        for source, target in zip(self._read[: len(write)], write, strict=True):
            pointers += [0 if source is None else source.data.ptr, target.data.ptr]
        pointers += [0, 0] * (2 - len(write)) + [starts.data.ptr]
        self._begun.run(which, pointers, options=(shift,))
        self._read, self._at = write, to
        self._done += 1
