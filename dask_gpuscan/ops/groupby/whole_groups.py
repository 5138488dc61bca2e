"""Group-by that needs all rows of a group at once, and the reductions that need them.

Over partitions, rows with equal keys are shuffled to one partition first (`engines.dask.shuffle`). There they are made
adjacent, and groups are reduced like adjacent ones. The answers of all partitions are sorted by key.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from ... import kernels
from ...frames.keys import By, Keys, dense_ids, group_ids_of
from ...frames.messages import name_columns
from ...frames.protocol import Library
from ...frames.registry import Schema, common_schema, library_of, schema_of, stored_numbers
from ...frames.types import Array, Column, DType, Frame, GroupIds, Values
from ...kernels.factorize import arrange_by_code, most_arranged, sort_by_code
from ...kernels.late_dataclass import dataclass
from ...kernels.messages import shown
from ..core.carry import TreeReduction
from ..core.flat_frame import flat_columns
from ..core.groups import INT64, AdjacentGroups, ReducibleGroups, States
from ..core.operation import AnswerRuns, Needs
from ..runs import EndedRuns
from .hashed import NumberedRows, first_rows, in_order
from .spec import GroupBySpec, key_order

INT32 = np.dtype(np.int32)


@dataclass(frozen=True)
class Answers:
    """Keys and answers of whole groups."""

    library: Library
    keys: list[Any]
    arrays: list[Any]
    schema: Schema
    ordered: bool = False
    """Whether groups are known to be in the order of their keys, without null keys."""


@dataclass(frozen=True)
class GroupedRows:
    """Rows brought together by group, otherwise in their order."""

    columns: list[Any]
    groups: AdjacentGroups
    met: Any
    """The row in which each group was met first."""


SPARSE = 1 << 18
"""Most numbers of groups for which the numbers with rows are counted before rows are sorted."""


def together(numbered: NumberedRows, columns: Sequence[Column]) -> GroupedRows:
    """Return columns with the rows of each group together."""
    library, ids = numbered.library, numbered.ids
    most = most_arranged(ids.array)
    flat, arrays = flat_columns(library, columns) if most else ([], [])
    names = [column.name for column in columns]
    if most and all(c.layout is not None for c in flat) and all(a.itemsize <= 8 for a in arrays):
        dense = dense_ids(ids) if ids.groups <= SPARSE else None
        if dense is not None and dense.groups <= most:
            codes, met = dense.array, dense.first_rows
            starts, arrays = arrange_by_code(codes, dense.groups, arrays, check=False)
            moved = [
                library.as_column(c.wrapped(arrays), n) for c, n in zip(flat, names, strict=True)
            ]
            return GroupedRows(moved, AdjacentGroups.at(starts, len(codes)), met)
        codes, rows, arrays = sort_by_code(ids.array, ids.groups, arrays, check=False)
        moved = [library.as_column(c.wrapped(arrays), n) for c, n in zip(flat, names, strict=True)]
        groups = AdjacentGroups(Keys([codes], [None]))
        return GroupedRows(moved, groups, rows[groups.first_rows].astype(INT64, copy=False))
    order, sorted_keys = numbered.sorted()
    groups = AdjacentGroups(sorted_keys)
    met = first_rows(groups, order)
    return GroupedRows(in_order(library, columns, order), groups, met)


def keys_of(numbered: NumberedRows, keys: Sequence[Array], met: Values | None) -> list[Any]:
    """Return the keys of the groups that have rows, given their numbers and the keys of rows."""
    ids = numbered.ids
    if ids.keys_of is not None:
        return ids.keys_of(met)
    first = dense_ids(ids).first_rows
    return [numbered.library.take(key, first) for key in keys]


@dataclass(frozen=True)
class WholeGroupReduce(TreeReduction):
    """One row for each group, in the order of the keys; the rows of a group are in one partition."""

    spec: GroupBySpec

    @property
    def label(self) -> str:
        """Name of the reduction."""
        return self.spec.label

    @property
    def whole_groups(self) -> By:
        """The keys whose rows must share a partition."""
        return self.spec.by

    def check(self, frame: Frame) -> None:
        """Raise the errors that a user should see early."""
        self.spec.check(frame)

    def meta(self, frame: Frame) -> Any:
        """Empty output for an empty input."""
        none = library_of(frame).no_rows(frame)
        return self.finish([self.table(none)], none)

    def table(self, partition: Frame) -> Answers:
        """Return the answers of the groups of a partition."""
        library = library_of(partition)
        with library.acquire(partition):
            series = self.spec.by.series(library, partition)
            keys = [library.array(c) for c in series]
            numbered = NumberedRows(library, group_ids_of(library, series, keys))
            columns = [self.spec.columns(library, partition, part) for part in self.spec.parts]
            found = self._by_number(numbered, columns)
            if found is not None:
                arrays, met = found
                keys = keys_of(numbered, keys, met)
                return Answers(library, keys, arrays, schema_of(partition), numbered.ids.ordered)
            rows = together(numbered, [c for each in columns for c in each])
            moved = iter(rows.columns)
            runs = EndedRuns(library, series, rows.groups.first_rows, None, False)
            arrays = [
                part.operation.reduce_runs([next(moved) for _ in each], rows.groups)(runs, None)
                for part, each in zip(self.spec.parts, columns, strict=True)
            ]
            keys = [library.take(key, rows.met) for key in keys]
        return Answers(library, keys, arrays, schema_of(partition), numbered.ids.ordered)

    def _by_number(
        self, numbered: NumberedRows, columns: Sequence[Sequence[Any]]
    ) -> tuple[list[Any], Any] | None:
        """Return the answers of groups and their numbers; None if a reduction needs rows brought together."""
        library, ids = numbered.library, numbered.ids
        if library.xp is np:
            return None
        found = []
        for part, each in zip(self.spec.parts, columns, strict=True):
            one = part.operation
            if not (isinstance(one, WholeGroupReduction) and one.takes_numbers(each)):
                return None
            found.append((one, each))
        runs = CodeRuns()
        return [one.reduce_numbers(each, ids, runs) for one, each in found], runs.codes

    def merge(self, tables: Sequence[Answers]) -> Answers:
        """Return the answers of several partitions."""
        schema, library = common_schema([t.schema for t in tables]), tables[0].library
        # the first partition of a shuffle knows the categories of keys; one without rows may not
        tables = [tables[0], *(t for t in tables[1:] if len(t.keys[0]))]
        if len(tables) == 1:
            return tables[0]
        keys = [library.concatenate(list(k)) for k in zip(*(t.keys for t in tables), strict=True)]
        pairs = zip(*(t.arrays for t in tables), strict=True)
        return Answers(library, keys, [library.concatenate(list(a)) for a in pairs], schema)

    def finish(self, tables: Sequence[Answers], frame: Frame) -> Any:
        """Return the answers of all groups."""
        spec, found = self.spec, self.merge(tables)
        library = found.library
        keys, arrays = found.keys, found.arrays
        if not found.ordered:
            order = sorted_rows(library, keys, spec.by.columns)
            keys, arrays = spec.taken(library, keys, arrays, order)
        return spec.from_groups(library, frame, keys, arrays)


def sorted_rows(library: Library, keys: list[Array], names: Sequence[Hashable]) -> Any:
    """Return the positions of groups in the order of their keys, nulls last."""
    order = key_order(library, keys)
    if order is not None:
        return order
    index = library.key_index(keys, names)
    rows = library.from_integers(library.xp.arange(len(index), dtype=INT64))
    ordered: Any = library.sort_by_index(library.series(rows, index))
    return stored_numbers(ordered)


# --- reductions --------------------------------------------------------------------------------------


class CodeRuns:
    """The runs of groups in rows that are sorted by code; the same for all columns."""

    starts: Values = None
    counts: Values
    codes: Values
    """The codes of the groups."""

    def find(self, codes: Values) -> None:
        """Find the runs in sorted codes, the first time that it is called."""
        if self.starts is None:
            self.starts, self.counts = kernels.run_length_encode(codes)
            self.codes = kernels.take(codes, self.starts, check=False)


class WholeGroupReduction:
    """A reduction of all values of each group; the state of a group is its library and its values."""

    needs = Needs.WHOLE_GROUPS
    at_borders = False

    @property
    def name(self) -> str:
        """For the names of tasks, and messages."""
        raise NotImplementedError

    def dtype(self, columns: Sequence[Column]) -> Any:
        """Dtype of the answer; raises a TypeError that names the column and the way out."""
        try:
            return self._dtype(library_of(columns[0]), columns[0].dtype)
        except (TypeError, ValueError) as error:
            name_columns(error, self.name, columns[:1])
            raise

    def _dtype(self, library: Library, dtype: DType) -> Any:
        raise NotImplementedError

    def _answers(self, column: Column, array: Array, starts: Values) -> Any:
        """Return the answers of groups whose values are in an array, given where each starts."""
        raise NotImplementedError

    def takes_numbers(self, columns: Sequence[Column]) -> bool:
        """Return whether `reduce_numbers` can reduce these columns, and faster than by adjacent groups."""
        return False

    def reduce_numbers(self, columns: Sequence[Column], ids: GroupIds, runs: CodeRuns) -> Any:
        """Return the answers of the groups that have rows, in the order of their codes; fills in `runs`."""
        raise NotImplementedError

    def aggregate(self, columns: Sequence[Column], groups: ReducibleGroups) -> Callable[[], States]:
        library = library_of(columns[0])
        return lambda: (library, library.copy(library.array(columns[0])))

    def combine(self, states: Sequence[States]) -> States:
        library = states[0][0]
        return library, library.concatenate([array for _, array in states])

    def reduce_runs(self, columns: Sequence[Column], groups: AdjacentGroups) -> AnswerRuns:
        starts = groups.first_rows
        return lambda runs, carried: self._of_runs(columns[0], starts, runs, carried)

    def of_nothing(self, columns: Sequence[Column]) -> Any:
        return None

    def _of_runs(
        self, column: Column, starts: Values, runs: EndedRuns, carried: States | None
    ) -> Any:
        """Return the answers of the runs that end, given where all runs of the partition start."""
        library, closed = library_of(column), len(runs.starts)
        end = int(starts[closed]) if closed < len(starts) else len(column)
        array, starts = library.slice_array(library.array(column), 0, end), starts[:closed]
        if runs.before or runs.joined:
            assert carried is not None
            earlier = carried[1]
            array = library.concatenate([earlier, array])
            later = starts[1:] if runs.joined else starts
            starts = library.prepend_number(INT64.type(0), later + len(earlier))
        return self._answers(column, array, starts)


@dataclass(frozen=True)
class ListOfValues(WholeGroupReduction):
    """The values of each group as a list, nulls among them, in the rows' order."""

    name = "list"

    def _dtype(self, library: Library, dtype: DType) -> Any:
        return library.list_dtype(dtype)

    def _answers(self, column: Column, array: Array, starts: Values) -> Any:
        library = library_of(column)
        if len(array) > np.iinfo(INT32).max:
            raise ValueError(
                f"list of column {shown(column.name)}: lists of a partition hold 2**31 - 1 values at most, found "
                f"{len(array)}; use more partitions"
            )
        offsets = library.xp.append(starts, library.xp.asarray([len(array)], INT64))
        values = library.copy(array)  # users may write to the answer
        return library.from_items(values, offsets.astype(INT32), self.dtype([column]))

    def of_nothing(self, columns: Sequence[Column]) -> Any:
        library = library_of(columns[0])
        none = library.slice_array(library.array(columns[0]), 0, 0)
        return self._answers(columns[0], none, library.xp.zeros(1, INT64))
