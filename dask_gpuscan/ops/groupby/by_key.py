"""What was seen of many keys, which a stream updates in place: a batch costs what its own keys cost.

A table of keys numbers them as they are met. Rows of states lie one behind the other in a log, in which each key has
its rows together: new ones are written behind the last, and the key points to them from then on. So a batch takes the
rows of its own keys, goes on from these, and writes them anew. Now and then the log is written without old rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from ...frames.keys import By
from ...frames.protocol import Library
from ...frames.protocol.keys import NumberKeys
from ...frames.registry import library_of
from ...frames.types import Array, Frame, Values
from ...kernels.keys import KeyTable
from ..core.groups import INT64
from .hashed import joined_arrays, rows_at

MANY = 4
"""Kept rows for each row of a batch from which on they are updated in place: to write fewer anew takes no longer."""

MANY_KEYS = 4096
"""Kept rows up to which they are written anew in any case."""

OLD = 0.5
"""Old rows of a log for each row of a key from which on it is written without them."""

SPARE = 1 << 16
"""Old rows that any log may have."""

RATIO = 4
"""How many times as many rows as the next chunk a chunk of a log has at least."""


class Kept(Protocol):
    """Rows that are kept for keys, as a value."""

    library: Library
    keys: Any
    """The keys of the rows: an array for each column."""

    def arrays(self) -> list[Any]:
        """Return the arrays of the rows, without keys."""

    def of(self, keys: list[Array], arrays: list[Array], count: int) -> Any:
        """Return other rows of the same kind."""


class KeyedCarry(Protocol):
    """A carry that keeps rows for keys."""

    @property
    def by(self) -> By:
        """The keys."""

    def follow_all(self, partition: Frame, prefix: Any) -> tuple[Any, Any]:
        """Return the answer for a partition and the rows that are kept, given those of all keys before."""

    def follow_part(
        self, partition: Frame, before: Any, known: Values, codes: Values, groups: int
    ) -> tuple[Any, Any, Values]:
        """Return the answer for a partition, the rows that are kept of its own keys, and the code of each.

        Parameters
        ----------
        partition : frame or series
        before : Kept
            The rows that were kept of these keys, without the keys.
        known, codes : array of int64
            The code of each row that was kept, and of each row of the partition. Each code has a row there.
        groups : int
        """


# --- numbers of keys ---------------------------------------------------------------------------------


class Numbers:
    """Numbers of the keys so far, of one column or of several: pairs of numbers are keys, too."""

    def __init__(self, columns: int) -> None:
        self._tables = [KeyTable() for _ in range(columns)]
        self._pairs = [KeyTable() for _ in range(columns - 1)]

    @classmethod
    def of(
        cls, library: Library, arrays: Sequence[Array]
    ) -> tuple[Numbers, tuple[Values, Values]] | None:
        """Return the numbers of keys, given as an array for each column, and what `number` returns for these.

        None if keys cannot be numbered by a table.
        """
        ways = ways_to_number(library, arrays)
        if ways is None:
            return None
        numbers = cls(len(ways))
        return numbers, numbers.number(ways)

    def __len__(self) -> int:
        return len((self._pairs or self._tables)[-1])

    def number(self, ways: Sequence[NumberKeys]) -> tuple[Any, Any]:
        """Return the numbers of rows, and the first rows of new keys, given a function for each column."""
        found = ways[0](self._tables[0])
        for way, table, pairs in zip(ways[1:], self._tables[1:], self._pairs, strict=True):
            other, _ = way(table)
            words = found[0].astype(np.uint64) << np.uint64(32) | other.astype(np.uint64)
            found = pairs.number_words(words)
        return found


def ways_to_number(library: Library, arrays: Sequence[Array]) -> list[NumberKeys] | None:
    """Return a function for each column that numbers it by a table; None if one cannot be numbered so."""
    ways = []
    for array in arrays:
        way = library.number_keys(array)
        if way is None:
            return None
        ways.append(way)
    return ways


# --- rows by key -------------------------------------------------------------------------------------


class Log:
    """Rows one behind the other, in chunks that are never changed: each is at least `RATIO` times as long as the next.

    Parameters
    ----------
    library : Library
    arrays : list of arrays
        Of the first rows.
    count : int
    """

    def __init__(self, library: Library, arrays: list[Array], count: int) -> None:
        self.library = library
        self._chunks = [(0, count, arrays)]

    def __len__(self) -> int:
        return self._chunks[-1][1]

    def append(self, arrays: list[Array], count: int) -> None:
        """Add rows behind the last."""
        begin = len(self)
        chunks, last = list(self._chunks), [arrays]
        end = begin + count
        while chunks and chunks[-1][1] - chunks[-1][0] < RATIO * (end - begin):
            begin, _, found = chunks.pop()
            last.append(found)
        parts = zip(*last[::-1], strict=True)
        joined = [joined_arrays(self.library, list(same)) for same in parts]
        self._chunks = [*chunks, (begin, end, joined)]

    def take(self, positions: Values) -> list[Any]:
        """Return the rows at some positions."""
        library, chunks = self.library, self._chunks
        ends = np.array([end for _, end, _ in chunks[:-1]], INT64)
        which = np.searchsorted(ends, positions, side="right").astype(np.uint8)
        order = np.argsort(which, kind="stable")
        stops = np.cumsum(np.bincount(which, minlength=len(chunks)))
        parts, start = list[list[Any]](), 0
        for (begin, _, arrays), stop in zip(chunks, stops.tolist(), strict=True):
            if stop > start or (arrays is chunks[-1][2] and not parts):
                some = positions[order[start:stop]] - begin
                parts.append([rows_at(library, array, some) for array in arrays])
            start = stop
        found = [joined_arrays(library, list(same)) for same in zip(*parts, strict=True)]
        if len(parts) == 1:
            return found
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        return [rows_at(library, array, back) for array in found]


class Store:
    """The rows of all keys, of which each has a number: its slot.

    Parameters
    ----------
    kept : Kept
        The rows so far.
    numbers : Numbers
        Of their keys.
    slots, new : array
        The slot of each row, and the first row of each slot.
    """

    def __init__(self, kept: Any, numbers: Numbers, slots: Values, new: Values) -> None:
        library, arrays = kept.library, kept.arrays()
        if not np.array_equal(slots, np.arange(len(slots))):
            order = np.argsort(slots, kind="stable")
            arrays = [rows_at(library, array, order) for array in arrays]
        self.library, self.version = library, 0
        self._numbers: Numbers | None = numbers
        self._keys = Log(library, [library.take(key, new) for key in kept.keys], len(new))
        self._marks = np.empty(0, np.int32)
        self._write(arrays, np.bincount(slots, minlength=len(new)))
        self.like = kept.of([], [array[:0] for array in arrays], 0)

    def _write(self, arrays: list[Array], counts: Values) -> None:
        """Begin a log with the rows of all slots, of which each has so many."""
        ends = counts.cumsum()
        count = int(ends[-1]) if len(ends) else 0
        self._most = int((1 + OLD) * count) + SPARE
        self._rows = Log(self.library, arrays, count), ends - counts, counts.astype(np.int32)

    def number(self, arrays: list[Array]) -> Values | None:
        """Return the slots of keys, of which some may be new; None if they cannot be numbered."""
        ways = ways_to_number(self.library, arrays)
        if ways is None:
            return None
        numbers, self._numbers = self._numbers, None  # which an error would leave with other keys
        if numbers is None:
            known = Numbers.of(self.library, self._keys.take(np.arange(len(self._keys))))
            assert known is not None
            numbers, _ = known
        slots, new = numbers.number(ways)
        if len(new):
            self._keys.append([self.library.take(array, new) for array in arrays], len(new))
            log, starts, counts = self._rows
            self._rows = log, _with_room(starts, len(numbers)), _with_room(counts, len(numbers))
        self._numbers = numbers
        return slots

    def codes(self, slots: Values) -> tuple[Values, Values]:
        """Return the slots of some rows without repeats, and the place of each row's among them."""
        rows = np.arange(len(slots), dtype=np.int32)
        self._marks = marks = _with_room(self._marks, len(self._keys))
        marks[slots[::-1]] = rows[::-1]
        met = slots[marks[slots] == rows]
        marks[met] = rows[: len(met)]
        return met, marks[slots].astype(INT64)

    def take(self, slots: Values) -> tuple[list[Any], Values]:
        """Return the rows of some slots, and the place of each row's slot among these."""
        log, starts, counts = self._rows
        lengths = counts[slots]
        places = np.repeat(np.arange(len(slots)), lengths)
        first = lengths.cumsum() - lengths
        return log.take((starts[slots] - first)[places] + np.arange(len(places))), places

    def put(self, slots: Values, kept: Any, places: Values) -> None:
        """Write the rows of some slots anew, given the place of each row's slot; to repeat it does no harm."""
        arrays = kept.arrays()
        if bool((places[1:] < places[:-1]).any()):
            order = np.argsort(places, kind="stable")
            arrays = [rows_at(self.library, array, order) for array in arrays]
        lengths = np.bincount(places, minlength=len(slots))
        log, starts, counts = self._rows
        begin = len(log)
        log.append(arrays, len(places))
        starts[slots] = begin + lengths.cumsum() - lengths
        counts[slots] = lengths
        self.like = kept.of([], [array[:0] for array in arrays], 0)
        if len(log) > self._most:
            every = np.arange(len(self._keys))
            self._most = int((1 + OLD) * int(counts[every].sum())) + SPARE
            if len(log) > self._most:
                self._write(self.take(every)[0], counts[every].astype(INT64))

    def whole(self) -> Any:
        """Return the rows of all keys as a value."""
        arrays, places = self.take(np.arange(len(self._keys)))
        return self.like.of(self._keys.take(places), arrays, len(places))


def _with_room(array: Values, count: int) -> Values:
    """Return an array with at least `count` items, those behind its own being 0: itself, or a longer copy."""
    if count <= len(array):
        return array
    larger = np.zeros(count + count // 2, array.dtype)
    larger[: len(array)] = array
    return larger


class ByKey:
    """What a stream keeps for keys behind a batch: a version of a store, and what is written there to get the next.

    Each is written when it is used: if a batch fails, what was before is used again, and has not changed.
    """

    def __init__(self, store: Store, version: int = 0, written: Any = None) -> None:
        self.store, self._version, self._written = store, version, written

    @classmethod
    def of(cls, kept: Any) -> ByKey | None:
        """Return what goes on from a value; None if its keys cannot be numbered."""
        if hasattr(kept, "unpack"):
            kept = kept.unpack()
        found = Numbers.of(kept.library, kept.keys)
        if found is None:
            return None
        numbers, slots = found
        return cls(Store(kept, numbers, *slots))

    def opened(self) -> Store:
        """Return the store, which stands at this version."""
        if self._written is not None:
            assert self.store.version == self._version - 1, "a later version was used"
            self.store.put(*self._written)
            self.store.version, self._written = self._version, None
        assert self.store.version == self._version, "a later version was used"
        return self.store

    def follow(self, carry: KeyedCarry, partition: Frame) -> tuple[Any, ByKey] | None:
        """Return the answer for a partition, and what is kept behind it; None if its keys cannot be numbered."""
        library, store = library_of(partition), self.opened()
        with library.acquire(partition):
            slots = store.number([library.array(c) for c in carry.by.series(library, partition)])
            if slots is None:
                return None
            met, codes = store.codes(slots)
            arrays, known = store.take(met)
            before = store.like.of([], arrays, len(known))
        answer, kept, places = carry.follow_part(partition, before, known, codes, len(met))
        return answer, ByKey(store, self._version + 1, (met, kept, places))

    def whole(self) -> Any:
        """Return what is kept as a value, which lasts."""
        return self.opened().whole()


def value_of(seen: Any) -> Any:
    """Return what is kept for keys, in place or not, as a value."""
    return seen.whole() if isinstance(seen, ByKey) else seen


def followed(carry: KeyedCarry, partition: Frame, prefix: Any) -> tuple[Any, Any]:
    """Return the answer for a partition and what is kept for keys: in place, if that is of many more than it has."""
    kept = prefix
    if prefix is not None and not isinstance(prefix, ByKey):
        rows = len(prefix.keys[0])
        is_long = rows > max(MANY * len(partition), MANY_KEYS) and len(partition)
        kept = ByKey.of(prefix) if is_long else None
    if kept is None:
        return carry.follow_all(partition, prefix)
    if not len(partition):
        return carry.follow_all(partition, None)[0], kept
    found = kept.follow(carry, partition)
    return carry.follow_all(partition, kept.whole()) if found is None else found
