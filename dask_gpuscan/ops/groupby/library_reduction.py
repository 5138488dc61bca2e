"""Reductions that kernels do not do: of columns such as strings, and of whole frames by the library's own group-by.

For columns, the states of groups are an array of the library, one row each; one group's state is a row on the host.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from ... import kernels
from ...frames.keys import By, Keys, key_arrays
from ...frames.messages import FLAG, name_columns
from ...frames.protocol import Library
from ...frames.registry import choose_columns, column_of, library_of
from ...frames.types import Array, Column, Frame, Missing, Values
from ...kernels.late_dataclass import dataclass
from ..core.groups import (
    FORWARD,
    INT64,
    AdjacentGroups,
    NumberedGroups,
    ReducibleGroups,
    States,
    merged,
)
from ..core.operation import StateReduction
from ..runs import EndedRuns
from ..scan.value_scan import HostScalar
from ..statistics.groups import COUNT, Reduction
from ..statistics.table import REDUCTIONS, STATISTICS


@dataclass(frozen=True)
class ArrayReduction(StateReduction):
    """The base of reductions whose states are arrays of the library."""

    reduction: Reduction

    @property
    def name(self) -> str:
        return self.reduction.name

    def _reduce(self, columns: Sequence[Column], groups: ReducibleGroups) -> Any:
        """Return the value of each group."""
        raise NotImplementedError

    def _reduce_one(self, columns: Sequence[Column]) -> HostScalar:
        """Return the value of all rows."""
        raise NotImplementedError

    def aggregate(self, columns: Sequence[Column], groups: ReducibleGroups) -> Callable[[], States]:
        found = self._reduce_one(columns) if groups.is_one else self._reduce(columns, groups)
        return lambda: (found,)

    def combine(self, states: Sequence[States]) -> States:
        library = states[0][0].library
        array = library.concatenate([s.array for (s,) in states])
        return (self._reduce_one([library.as_column(array)]),)

    def merge(self, library: Library, states: States, groups: ReducibleGroups) -> States:
        return (self._reduce([library.as_column(states[0])], groups),)

    def finalize_runs(
        self, columns: Sequence[Column], states: States, runs: EndedRuns, carried: States | None
    ) -> Any:
        return self.finalize(columns, self.closed(columns, states, runs, carried))

    def closed(
        self, columns: Sequence[Column], states: States, runs: EndedRuns, carried: States | None
    ) -> States:
        """Return the states of runs, given the state of the run that was open before."""
        library = library_of(columns[0])
        array = library.slice_array(states[0], 0, len(runs.starts))
        if carried is not None and runs.joined:
            own = self._reduce_one([library.as_column(library.slice_array(array, 0, 1))])
            carried = self.combine([carried, (own,)])
            array = library.slice_array(array, 1, len(array))
        if carried is not None and runs.carried is not None:
            array = library.prepend(carried[0].row, array)
        return (array,)


class FirstLastReduction(ArrayReduction):
    """The first or last value of each group that is not null: its row is gathered."""

    def dtype(self, columns: Sequence[Column]) -> Any:
        return columns[0].dtype

    def _reduce(self, columns: Sequence[Column], groups: ReducibleGroups) -> Any:
        library = library_of(columns[0])
        rows = library.xp.arange(len(columns[0]), dtype=INT64)
        nulls = kernels.byte_mask(~library.valid(columns[0]))
        at, seen = groups.reduce(self.reduction.op, rows, nulls=nulls)()
        positions = library.xp.where(seen, at, -1)
        return library.take(library.array(columns[0]), positions, nulls=True)

    def _reduce_one(self, columns: Sequence[Column]) -> HostScalar:
        library = library_of(columns[0])
        at = library.seek_valid(columns[0], from_end=self.reduction.picks == "last")()
        # the first row, a null, where there is no value
        return HostScalar(library, library.host_row(columns[0], at or 0), columns[0].dtype)

    def finalize(self, columns: Sequence[Column], states: States) -> Any:
        """Return the values, with the library's own nulls."""
        return library_of(columns[0]).first_last(states[0])


@dataclass(frozen=True)
class CountChanges(StateReduction):
    """The number of runs of equal values in each group, of columns of any dtype; nulls are skipped.

    The states of groups are the number of runs, and the first and the last value.
    """

    reduction: Reduction

    @property
    def name(self) -> str:
        return self.reduction.name

    def dtype(self, columns: Sequence[Column]) -> Any:
        return INT64

    def aggregate(self, columns: Sequence[Column], groups: ReducibleGroups) -> Callable[[], States]:
        library = library_of(columns[0])
        nulls = kernels.byte_mask(~library.valid(columns[0]))
        codes = key_arrays(library, columns).arrays[0]
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
        self, library: Library, counts: Values, ends: list[Any], groups: ReducibleGroups
    ) -> Any:
        """Return the number of runs of groups of parts, given that of each part and its first and last value."""
        both = library.as_column(library.concatenate(ends))
        codes = key_arrays(library, [both]).arrays[0]
        fields = counts, codes[: len(counts)], codes[len(counts) :]
        return merged(self.reduction.op, fields, groups)[0]

    def finalize_runs(
        self, columns: Sequence[Column], states: States, runs: EndedRuns, carried: States | None
    ) -> Any:
        library, (counts, *ends) = library_of(columns[0]), states
        counts = counts[: len(runs.starts)].copy()
        if carried is not None and runs.joined:
            own = [HostScalar(library, _row(library, each), each.dtype) for each in ends]
            counts[0] = self.combine([carried, (counts[0].item(), *own)])[0]
        elif carried is not None and runs.before:
            counts = library.prepend_number(carried[0], counts)
        return self.finalize(columns, (counts,))

    def finalize(self, columns: Sequence[Column], states: States) -> Any:
        return library_of(columns[0]).from_integers(states[0])

    def of_nothing(self, columns: Sequence[Column]) -> Any:
        library = library_of(columns[0])
        return library.from_integers(library.xp.zeros(1, INT64))


class LibraryReduction(ArrayReduction):
    """A reduction by the library's own group-by."""

    def dtype(self, columns: Sequence[Column]) -> Any:
        """Dtype of the answer; raises a TypeError that names the column and the way out."""
        try:
            return library_of(columns[0]).group_dtype(self.name, columns[0].dtype)
        except (TypeError, ValueError) as error:
            name_columns(error, self.name, columns[:1])
            raise

    def _reduce(self, columns: Sequence[Column], groups: ReducibleGroups) -> Any:
        """Return the answer of each group; without values a null, or the identity if the dtype has no null."""
        library = library_of(columns[0])
        codes = _codes_of(library, groups)
        array = library.group_reduce(self.name, columns[0], codes, exact=True)
        if not library.holds_null(array.dtype):
            return array
        valid = library.valid(columns[0]).astype(INT64)
        (counts,) = groups.reduce(COUNT, valid)()
        return nulled(library, array, counts == 0)

    def _reduce_one(self, columns: Sequence[Column]) -> HostScalar:
        library = library_of(columns[0])
        one = Keys([library.xp.zeros(len(columns[0]), INT64)], [None])
        array = self._reduce(columns, AdjacentGroups(one))
        return HostScalar(library, library.host_row(library.as_column(array), 0), array.dtype)

    def finalize(self, columns: Sequence[Column], states: States) -> Any:
        """Return the library's answer for each value alone: for a null, that may be a value."""
        library = library_of(columns[0])
        values = library.as_column(states[0])
        rows = library.xp.arange(len(values), dtype=INT64)
        return library.group_reduce(self.name, values, rows)

    def of_nothing(self, columns: Sequence[Column]) -> Any:
        """Return the library's answer for one null; None if the statistic has none."""
        library = library_of(columns[0])
        if STATISTICS[self.name].of_none is None:
            return None
        row = library.xp.full(1, -1, INT64)
        null = library.as_column(library.take(library.array(columns[0]), row, nulls=True))
        return library.group_reduce(self.name, null, library.xp.zeros(1, INT64))


_ENDS = (FirstLastReduction(REDUCTIONS["first"]), FirstLastReduction(REDUCTIONS["last"]))


def _row(library: Library, array: Array) -> Any:
    """Return the first row of an array on the host."""
    return library.host_row(library.as_column(array), 0)


def _codes_of(library: Library, groups: ReducibleGroups) -> Any:
    """Return the number of each row's group."""
    if isinstance(groups, NumberedGroups):
        return groups.codes.array
    assert isinstance(groups, AdjacentGroups)
    _, lengths = kernels.run_length_encode(groups.keys.arrays, nulls=groups.keys.nulls)
    numbers = library.xp.arange(len(lengths), dtype=INT64)
    (codes,) = kernels.run_length_decode(lengths, [numbers])
    return codes


def nulled(library: Library, array: Array, missing: Missing) -> Any:
    """Return an array with nulls where `missing` is true; the array itself if it is true nowhere."""
    return library.set_null(array, missing) if bool(missing.any()) else array


# --- the library's own group-by ----------------------------------------------------------------------


def reduce_by_library(
    obj: Frame, by: By, dropna: bool, chosen: Any, method: str, options: dict[str, Any]
) -> Any:
    """Return the answer of a method of the library's group-by for one column, by name, or for a list of columns.

    None if the library refuses, or may misread the names.
    """
    names = chosen if isinstance(chosen, list) else [chosen]
    is_name_apart = obj.ndim == 2 and (chosen is None or isinstance(chosen, tuple))
    if is_name_apart or not _is_right(obj, [method]):
        return None  # pandas takes a tuple for a list of names, and None for no name

    def ask(groups: Any) -> Any:
        return getattr(groups, method)(**options)

    return _asked(obj, by, dropna, names, [method], ask, chosen)


def agg_by_library(
    obj: Frame, by: By, dropna: bool, wanted: Sequence[tuple[Hashable, Hashable, str]], named: bool
) -> Any:
    """Return a frame of reductions, each given as its label, column and name; None as for `reduce_by_library`.

    With `named`, labels are the caller's rather than those of the frame's columns.
    """
    if any(isinstance(column, tuple) for _, column, _ in wanted) or not wanted:
        return None  # pandas takes a tuple for a list of names
    labels, columns, names = zip(*wanted, strict=True)
    if not _is_right(obj, names):
        return None

    def ask(groups: Any) -> Any:
        pairs = zip(columns, names, strict=True)
        methods = [getattr(groups if obj.ndim == 1 else groups[c], name) for c, name in pairs]
        return [method() for method in methods]  # only if all exist

    found = _asked(obj, by, dropna, list(dict.fromkeys(columns)), names, ask)
    if found is None:
        return None
    library = library_of(obj)
    arrays = [library.array(series) for series in found]
    like = None if named or obj.ndim == 1 else obj
    return library.frame(arrays, list(labels), library.index(found[0]), like)


def _is_right(obj: Frame, names: Sequence[str]) -> bool:
    """Return whether the library has reductions of these names that are right for any values.

    For no rows it may answer with other dtypes.
    """
    if not len(obj):
        return False
    return not [n for n in names if n in REDUCTIONS and not REDUCTIONS[n].library_has]


def _asked(
    obj: Any,
    by: By,
    dropna: bool,
    names: Sequence[Hashable],
    methods: Sequence[str],
    ask: Callable[[Any], Any],
    chosen: Any = ...,
) -> Any:
    """Return what `ask` returns for the library's groups of these columns, or of the `chosen` ones; None if refused."""
    if obj.ndim == 2 and not set(FLAG).isdisjoint(map(type, (*by.columns, *names))):
        return None  # pandas takes a list of True and False for a mask of rows
    key = by.columns[0] if len(by.columns) == 1 else list(by.columns)
    try:
        library = library_of(obj)
        keys = by.series(library, obj)
        dtypes: list[Any] = [obj.dtype] if obj.ndim == 1 else library.dtypes(obj)
        if obj.ndim == 2:
            pairs = zip(library.names(obj), dtypes, strict=True)
            dtypes = [dtype for name, dtype in pairs if name in names]
        if len(dtypes) > len(names):  # ours refuse columns of one name
            dtypes.append(object)
        if not library.reduces_groups(obj, keys, dtypes, methods):
            return None
        floats = [
            d for d in dtypes if getattr(d, "kind", "") == "f" and not isinstance(d, np.dtype)
        ]
        if floats and any(library.has_nan_apart(column_of(obj, name)) for name in names):
            return None
        if obj.ndim == 1:
            return ask(obj.groupby(level=key, dropna=dropna))
        if not (by.levels or chosen is ... or isinstance(chosen, list)):
            # a series is grouped sooner than a frame
            index = library.index(obj)
            rows: Any = [library.series(library.array(k), index, k.name) for k in keys]
            rows = rows if len(rows) > 1 else rows[0]
            return ask(obj[chosen].groupby(rows, sort=True, dropna=dropna, observed=True))
        kept = [n for n in dict.fromkeys([*by.columns, *names]) if n not in by.levels]
        groups = choose_columns(obj, kept).groupby(key, sort=True, dropna=dropna, observed=True)
        # choosing all columns would change nothing, and takes pandas long
        are_all = isinstance(chosen, list) and not set(chosen).intersection(by.columns)
        return ask(groups if are_all or chosen is ... else groups[chosen])
    except (TypeError, ValueError, NotImplementedError, AttributeError, RuntimeError, KeyError):
        return None
