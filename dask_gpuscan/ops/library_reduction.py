"""Reductions of columns that kernels do not reduce, such as strings: rows that are chosen, or answers of the library.

The states of groups are an array of the library's, one row each; that of one group is a row on the host.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .. import kernels
from ..frames.keys import Keys, key_arrays
from ..frames.messages import of_columns
from ..frames.protocol import Library
from ..frames.registry import library_of
from .groups import FORWARD, INT64, AdjacentGroups, CodedGroups, ReducibleGroups, States, merged
from .host_scalar import HostScalar
from .host_scan import check_reproducible
from .operator_facts import REPRODUCIBLE_SUM, operator_for
from .reduce import ReduceColumn, in_kernels
from .reduction_table import COUNT, REDUCTIONS, REPRODUCIBLE, Reduction
from .runs import Runs


@dataclass(frozen=True)
class _ArrayReduction:
    """What reductions to arrays of the library's share."""

    reduction: Reduction

    @property
    def name(self) -> str:
        return self.reduction.name

    def _reduce(self, columns: Sequence[Any], groups: ReducibleGroups) -> Any:
        """Return the value of each group."""
        raise NotImplementedError

    def _reduce_one(self, columns: Sequence[Any]) -> HostScalar:
        """Return the value of all rows."""
        raise NotImplementedError

    def aggregate(self, columns: Sequence[Any], groups: ReducibleGroups) -> Callable[[], States]:
        found = self._reduce_one(columns) if groups.is_one else self._reduce(columns, groups)
        return lambda: (found,)

    def combine(self, states: Sequence[States]) -> States:
        library = states[0][0].library
        array = library.concatenate([s.array for (s,) in states])
        return (self._reduce_one([library.as_column(array)]),)

    def merge(self, library: Library, states: States, groups: ReducibleGroups) -> States:
        return (self._reduce([library.as_column(states[0])], groups),)

    def finalize_runs(
        self, columns: Sequence[Any], states: States, runs: Runs, carried: States | None
    ) -> Any:
        library = library_of(columns[0])
        array = library.slice_array(states[0], 0, len(runs.starts))
        if carried is not None and runs.joined:
            own = self._reduce_one([library.as_column(library.slice_array(array, 0, 1))])
            carried = self.combine([carried, (own,)])
            array = library.slice_array(array, 1, len(array))
        if carried is not None and runs.carried is not None:
            array = library.prepend(carried[0].row, array)
        return self.finalize(columns, (array,))

    def finalize(self, columns: Sequence[Any], states: States) -> Any:
        raise NotImplementedError


class FirstLastReduction(_ArrayReduction):
    """The first or last value of each group that is not null: its row is gathered."""

    def dtype(self, columns: Sequence[Any]) -> Any:
        return columns[0].dtype

    def _reduce(self, columns: Sequence[Any], groups: ReducibleGroups) -> Any:
        library = library_of(columns[0])
        rows = library.xp.arange(len(columns[0]), dtype=INT64)
        nulls = kernels.byte_mask(~library.valid(columns[0]))
        at, seen = groups.reduce(self.reduction.op, rows, nulls=nulls)()
        positions = library.xp.where(seen, at, -1)
        return library.take(library.array(columns[0]), positions, nulls=True)

    def _reduce_one(self, columns: Sequence[Any]) -> HostScalar:
        library = library_of(columns[0])
        at = library.seek_valid(columns[0], from_end=self.reduction.picks == "last")()
        # the first row, a null, where there is no value
        return HostScalar(library, library.host_row(columns[0], at or 0), columns[0].dtype)

    def finalize(self, columns: Sequence[Any], states: States) -> Any:
        """Return the values, and nulls as the library writes them."""
        return library_of(columns[0]).first_last(states[0])


@dataclass(frozen=True)
class CountChanges:
    """How many runs of equal values each group has, nulls passed over, of columns of any dtype.

    The states of groups are the number of runs, and the first and the last value.
    """

    reduction: Reduction

    @property
    def name(self) -> str:
        return self.reduction.name

    def dtype(self, columns: Sequence[Any]) -> Any:
        return INT64

    def aggregate(self, columns: Sequence[Any], groups: ReducibleGroups) -> Callable[[], States]:
        library = library_of(columns[0])
        nulls = kernels.byte_mask(~library.valid(columns[0]))
        codes = key_arrays(columns).arrays[0]
        found = groups.reduce(self.reduction.op, codes, nulls=nulls)
        ends = [end.aggregate(columns, groups) for end in _ENDS]
        return lambda: (found()[0], *(value for end in ends for value in end()))

    def combine(self, states: Sequence[States]) -> States:
        library = states[0][1].library
        counts = library.xp.asarray([int(n) for n, _, _ in states], INT64)
        ends = [library.concatenate([s[k].array for s in states]) for k in (1, 2)]
        values = [end.combine([(s[k],) for s in states])[0] for k, end in enumerate(_ENDS, 1)]
        return (self._joined(library, counts, ends, FORWARD), *values)

    def merge(self, library: Library, states: States, groups: ReducibleGroups) -> States:
        counts, *ends = states
        values = [
            end.merge(library, (each,), groups)[0] for end, each in zip(_ENDS, ends, strict=True)
        ]
        return (self._joined(library, counts, ends, groups), *values)

    def _joined(
        self, library: Library, counts: Any, ends: list[Any], groups: ReducibleGroups
    ) -> Any:
        """Return the number of runs of groups of parts, given that of each part and its first and last value."""
        both = library.as_column(library.concatenate(ends))
        codes = key_arrays([both]).arrays[0]
        fields = counts, codes[: len(counts)], codes[len(counts) :]
        return merged(self.reduction.op, fields, groups)[0]

    def finalize_runs(
        self, columns: Sequence[Any], states: States, runs: Runs, carried: States | None
    ) -> Any:
        library, (counts, *ends) = library_of(columns[0]), states
        counts = counts[: len(runs.starts)].copy()
        if carried is not None and runs.joined:
            own = [HostScalar(library, _row(library, each), each.dtype) for each in ends]
            counts[0] = self.combine([carried, (counts[0].item(), *own)])[0]
        elif carried is not None and runs.before:
            counts = library.prepend_number(carried[0], counts)
        return self.finalize(columns, (counts,))

    def finalize(self, columns: Sequence[Any], states: States) -> Any:
        return library_of(columns[0]).from_integers(states[0])


class LibraryReduction(_ArrayReduction):
    """A reduction by the library's own group-by."""

    def dtype(self, columns: Sequence[Any]) -> Any:
        """Dtype of the answer; raises a TypeError that names the column and the way out."""
        with of_columns(self.name, columns[:1]):
            return library_of(columns[0]).group_dtype(self.name, columns[0].dtype)

    def _reduce(self, columns: Sequence[Any], groups: ReducibleGroups) -> Any:
        """Return the value of each group, null where it has none."""
        library = library_of(columns[0])
        codes = _codes_of(library, groups)
        array = library.group_reduce(self.name, columns[0], codes)
        valid = library.valid(columns[0]).astype(INT64)
        (counts,) = groups.reduce(COUNT, valid)()
        return nulled(library, array, counts == 0)

    def _reduce_one(self, columns: Sequence[Any]) -> HostScalar:
        library = library_of(columns[0])
        one = Keys([library.xp.zeros(len(columns[0]), INT64)], [None])
        array = self._reduce(columns, AdjacentGroups(one))
        return HostScalar(library, library.host_row(library.as_column(array), 0), array.dtype)

    def finalize(self, columns: Sequence[Any], states: States) -> Any:
        """Return what the library says of the values, which for none may be no null."""
        library = library_of(columns[0])
        values = library.as_column(states[0])
        rows = library.xp.arange(len(values), dtype=INT64)
        found, answer = library.group_reduce(self.name, values, rows), self.dtype(columns)
        if library.holds_null(answer) or found.dtype == answer:
            return found
        layout, plain = library.layout(found.dtype), library.layout(answer)
        assert layout is not None
        assert plain is not None
        return plain.wrap(layout.raw(found).values, None, answer)


_ENDS = (FirstLastReduction(REDUCTIONS["first"]), FirstLastReduction(REDUCTIONS["last"]))


def _row(library: Library, array: Any) -> Any:
    """Return the first row of an array on the host."""
    return library.host_row(library.as_column(array), 0)


def _codes_of(library: Library, groups: ReducibleGroups) -> Any:
    """The number of each row's group."""
    if isinstance(groups, CodedGroups):
        return groups.codes.array
    assert isinstance(groups, AdjacentGroups)
    _, lengths = kernels.run_length_encode(groups.keys.arrays, nulls=groups.keys.nulls)
    numbers = library.xp.arange(len(lengths), dtype=INT64)
    (codes,) = kernels.run_length_decode(lengths, [numbers])
    return codes


def nulled(library: Library, array: Any, missing: Any) -> Any:
    """Return an array that is null where `missing`: itself, if that is nowhere."""
    return library.set_null(array, missing) if bool(missing.any()) else array


@dataclass(frozen=True)
class NullIfNone:
    """A reduction that is null for groups without values: they are counted beside, in the last field."""

    inner: ReduceColumn

    @property
    def name(self) -> str:
        return self.inner.name

    def dtype(self, columns: Sequence[Any]) -> Any:
        return self.inner.dtype(columns)

    def aggregate(self, columns: Sequence[Any], groups: ReducibleGroups) -> Callable[[], States]:
        reduced, library = self.inner.aggregate(columns, groups), library_of(columns[0])

        def states() -> States:
            found = (
                reduced()
            )  # which tells whether any value was NaN, so that nobody need look for it now
            if not groups.is_one and library.missing(columns[0]) is None:
                # a group has a row, so none is without a value
                return (*found, library.xp.ones(len(found[0]), INT64))
            return (*found, *_VALUES.aggregate(columns, groups)())

        return states

    def combine(self, states: Sequence[States]) -> States:
        reduced = self.inner.combine([s[:-1] for s in states])
        return (*reduced, *_VALUES.combine([s[-1:] for s in states]))

    def merge(self, library: Library, states: States, groups: ReducibleGroups) -> States:
        reduced = self.inner.merge(library, states[:-1], groups)
        return (*reduced, *_VALUES.merge(library, states[-1:], groups))

    def finalize_runs(
        self, columns: Sequence[Any], states: States, runs: Runs, carried: States | None
    ) -> Any:
        reduced, counted = (None, None) if carried is None else (carried[:-1], carried[-1:])
        array = self.inner.finalize_runs(columns, states[:-1], runs, reduced)
        none_before = runs.before and counted is not None and not counted[0]
        if not none_before and library_of(columns[0]).missing(columns[0]) is None:
            return array
        return self._nulled(columns, array, _VALUES.closed(states[-1:], runs, counted)[0])

    def finalize(self, columns: Sequence[Any], states: States) -> Any:
        return self._nulled(columns, self.inner.finalize(columns, states[:-1]), states[-1])

    def _nulled(self, columns: Sequence[Any], array: Any, counts: Any) -> Any:
        return nulled(library_of(columns[0]), array, counts == 0)


_VALUES = ReduceColumn(REDUCTIONS["count"])


def reproducible(library: Library, dtype: Any, name: str) -> Any:
    """Return how a column of a dtype is reduced to a sum or a mean whose bits depend on its values alone.

    Raises
    ------
    TypeError
        For numbers that kernels do not add.
    """
    check_reproducible(library, dtype)
    layout, table = library.layout(dtype), REDUCTIONS
    if layout is not None and library.is_number(dtype):
        storage = layout.storage(dtype)
        sums_floats = operator_for(REPRODUCIBLE_SUM, storage) is REPRODUCIBLE_SUM
        if sums_floats or (name == "mean" and storage.kind in "biu"):
            table = REPRODUCIBLE
    return reduction_of(library, dtype, table[name])


def reduction_of(library: Library, dtype: Any, reduction: Reduction) -> Any:
    """Return how a column of a dtype is reduced."""
    if reduction.of == "values" and not in_kernels(library, dtype):
        if reduction.picks is not None:
            return FirstLastReduction(reduction)
        if reduction.compares:
            return CountChanges(reduction)
        if reduction.by_library:
            return LibraryReduction(reduction)
    if not library.is_number(dtype):
        checked = reduction.checked_times if library.raises_on_overflow(dtype) else None
        reduction = checked or reduction.times or reduction
    found = ReduceColumn(reduction)
    return NullIfNone(found) if reduction.null_if_none and library.null_sums else found
