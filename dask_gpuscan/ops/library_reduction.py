"""Reductions of columns of any dtype: values that are picked, answers of the library's own, and which is taken.

The states of runs are arrays of the library's, one row each, or counts beside another reduction's. This module must
never know which partition it works on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .. import kernels
from ..frames.columns import is_number
from ..frames.keys import Keys
from ..frames.messages import title
from ..frames.protocol import Library
from ..frames.registry import library_of
from ..kernels import BUILT_IN
from .reduce import ReduceColumn, in_kernels
from .reduction_table import CHECKED_OF_TIMES, COUNT, OF_TIMES, REDUCTIONS, Reduction, States
from .runs import INT64, Runs

PICKING = ("first", "last")
"""Reductions that choose a value of a column of any dtype."""

BY_LIBRARY = ("sum", "prod", "min", "max", "any", "all")
"""Reductions that a library may have of columns that are no numbers, and that reduce their own answers."""


@dataclass(frozen=True)
class Held:
    """A value as its library keeps it on the host, so that it can become a column again."""

    library: Library
    kept: Any
    dtype: Any

    @property
    def array(self) -> Any:
        """The value as an array of one row."""
        return self.library.repeat(self.kept, 1, self.dtype)


@dataclass(frozen=True)
class HeldColumn:
    """What reductions to values share: arrays of the library's are the states of runs, one row each."""

    name: str

    def dtype(self, columns: Sequence[Any]) -> Any:
        """Dtype of the answer."""
        raise NotImplementedError

    def runs(self, columns: Sequence[Any], keys: Keys, starts: bool) -> tuple[Any, States]:
        """Return the value of each run, and where the runs start."""
        raise NotImplementedError

    def state(self, columns: Sequence[Any]) -> Held:
        """Return the value of the rows of one run."""
        raise NotImplementedError

    def join(self, states: Sequence[Held]) -> Held:
        """Return the value of neighbouring parts of one run."""
        library = states[0].library
        array = library.concatenate([s.array for s in states])
        return self.state([library.unnamed(array)])

    def close(self, columns: Sequence[Any], states: States, runs: Runs, carried: Any) -> Any:
        """Return the values of runs as an array."""
        library = library_of(columns[0])
        array = library.part(states[0], 0, len(runs.starts))
        if runs.joined:
            own = self.state([library.unnamed(library.part(array, 0, 1))])
            carried = self.join([carried, own])
            array = library.part(array, 1, len(array))
        if runs.carried is not None:
            array = library.prepend(carried.kept, array)
        return self.answer(columns, (array,))

    def merge(self, library: Library, states: States, keys: Keys) -> States:
        """Return one value for those of equal keys."""
        return self.runs([library.unnamed(states[0])], keys, False)[1]

    def answer(self, columns: Sequence[Any], states: States) -> Any:
        """Return the values as they are."""
        return states[0]


class PickColumn(HeldColumn):
    """The first or last value of each run that is not null: its row is gathered."""

    def dtype(self, columns: Sequence[Any]) -> Any:
        """Dtype of the answer."""
        return columns[0].dtype

    def runs(self, columns: Sequence[Any], keys: Keys, starts: bool) -> tuple[Any, States]:
        """Return the value of each run, and where the runs start."""
        library = library_of(columns[0])
        rows = library.numbers.arange(len(columns[0]), dtype=INT64)
        nulls = kernels.byte_mask(~library.valid(columns[0]))
        options: dict[str, Any] = {"key_nulls": keys.nulls, "nulls": nulls, "starts": starts}
        first, (at, seen) = kernels.reduce_by_key(BUILT_IN[self.name], keys.arrays, rows, **options)
        positions = library.numbers.where(seen, at, -1)
        return first, (library.take(library.array(columns[0]), positions, nulls=True),)

    def state(self, columns: Sequence[Any]) -> Held:
        """Return the value of one run; its first row, a null, where there is none."""
        library = library_of(columns[0])
        at = library.seek_valid(columns[0], from_end=self.name == "last")()
        return Held(library, library.keep(columns[0], at or 0), columns[0].dtype)

    def answer(self, columns: Sequence[Any], states: States) -> Any:
        """Return the values, and nulls as the library writes them."""
        return library_of(columns[0]).picked(states[0])


class LibraryColumn(HeldColumn):
    """A reduction of columns that kernels do not take, such as strings: by the library's own group-by of runs."""

    def dtype(self, columns: Sequence[Any]) -> Any:
        """Dtype of the answer; raises a TypeError that names the column and the way out."""
        try:
            return library_of(columns[0]).grouped(self.name, columns[0].dtype)
        except TypeError as error:
            raise TypeError(f"{self.name} of {title(columns[0])}: {error}") from error

    def runs(self, columns: Sequence[Any], keys: Keys, starts: bool) -> tuple[Any, States]:
        """Return the value of each run, null where it has none, and where the runs start."""
        library = library_of(columns[0])
        first, lengths = kernels.run_length_encode(keys.arrays, nulls=keys.nulls)
        numbers = library.numbers.arange(len(first), dtype=INT64)
        (codes,) = kernels.run_length_decode(lengths, [numbers])
        array = library.group(self.name, columns[0], codes)
        valid = library.valid(columns[0]).astype(INT64)
        _, counts = kernels.reduce_by_key(COUNT, [codes], valid, starts=False)
        return first, (nulled(library, array, counts == 0),)

    def state(self, columns: Sequence[Any]) -> Held:
        """Return the value of the rows of one run."""
        library = library_of(columns[0])
        one = Keys([library.numbers.zeros(len(columns[0]), INT64)], [None])
        _, (array,) = self.runs(columns, one, False)
        return Held(library, library.keep(library.unnamed(array), 0), array.dtype)

    def answer(self, columns: Sequence[Any], states: States) -> Any:
        """Return what the library says of the values, which for none may be no null."""
        library = library_of(columns[0])
        values = library.unnamed(states[0])
        return library.group(self.name, values, library.numbers.arange(len(values), dtype=INT64))


def nulled(library: Library, array: Any, missing: Any) -> Any:
    """Return an array that is null where `missing`: itself, if that is nowhere."""
    return library.nulled(array, missing) if bool(missing.any()) else array


@dataclass(frozen=True)
class NullIfNone:
    """A reduction that is null for groups without values: they are counted beside."""

    reduction: ReduceColumn

    @property
    def name(self) -> str:
        """Name of the reduction."""
        return self.reduction.name

    def dtype(self, columns: Sequence[Any]) -> Any:
        """Dtype of the answer."""
        return self.reduction.dtype(columns)

    def runs(self, columns: Sequence[Any], keys: Keys, starts: bool) -> tuple[Any, States]:
        """Reduce each run and count its values."""
        first, states = self.reduction.runs(columns, keys, starts)
        library = library_of(columns[0])
        if library.missing(columns[0]) is None:  # a run has a row, so none is without a value
            return first, (*states, library.numbers.ones(len(states[0]), INT64))
        return first, (*states, *_VALUES.runs(columns, keys, False)[1])

    def state(self, columns: Sequence[Any]) -> Any:
        """Reduce and count the rows of one run."""
        return self.reduction.state(columns), _VALUES.state(columns)

    def join(self, states: Sequence[Any]) -> Any:
        """Reduce and count neighbouring parts of one run."""
        reduced, counted = zip(*states, strict=True)
        return self.reduction.join(reduced), _VALUES.join(counted)

    def close(self, columns: Sequence[Any], states: States, runs: Runs, carried: Any) -> Any:
        """Return the answers of runs as an array."""
        reduced, counted = (None, None) if carried is None else carried
        array = self.reduction.close(columns, states[:-1], runs, reduced)
        none_before = runs.before and not carried[1][1][0]
        if not none_before and library_of(columns[0]).missing(columns[0]) is None:
            return array
        return self._nulled(columns, array, _VALUES.closed(states[-1:], runs, counted)[0])

    def merge(self, library: Library, states: States, keys: Keys) -> States:
        """Reduce and count states of equal keys to one."""
        reduced = self.reduction.merge(library, states[:-1], keys)
        return (*reduced, *_VALUES.merge(library, states[-1:], keys))

    def answer(self, columns: Sequence[Any], states: States) -> Any:
        """Make states a column of answers."""
        return self._nulled(columns, self.reduction.answer(columns, states[:-1]), states[-1])

    def _nulled(self, columns: Sequence[Any], array: Any, counts: Any) -> Any:
        return nulled(library_of(columns[0]), array, counts == 0)


_VALUES = ReduceColumn(REDUCTIONS["count"])


def operation_of(library: Library, dtype: Any, reduction: Reduction) -> Any:
    """Return how a column of a dtype is reduced."""
    name = reduction.name
    if reduction.of == "values" and not in_kernels(library, dtype):
        if name in PICKING:
            return PickColumn(name)
        if name in BY_LIBRARY:
            return LibraryColumn(name)
    if not is_number(library, dtype):
        reduction = OF_TIMES.get(name, reduction)
        if library.raises_on_overflow(dtype):
            reduction = CHECKED_OF_TIMES.get(name, reduction)
    found = ReduceColumn(reduction)
    return NullIfNone(found) if name in ("sum", "prod") and library.null_sums else found
