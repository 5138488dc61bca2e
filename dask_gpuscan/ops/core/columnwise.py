"""From columns to frames: an operation on columns as a carry, done on each column or on all of them together."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from ...frames.protocol import Library
from ...frames.registry import column_of, columns_of, is_frame, library_of, names_of
from ...frames.types import Array, Column, Frame, Series
from ...kernels.late_dataclass import dataclass
from .carry import DataFrameCarry
from .groups import BACKWARD, FORWARD, OneGroup, States
from .operation import ColumnOperation, GroupScan, MultiOutput, Part
from .plans import Planned, PlannedOperation, refuse


class FrameColumns:
    """The base of all carries over frames: operations, each on some columns."""

    keeps_index = True

    def inputs(self, library: Library, frame: Frame) -> list[list[Any]]:
        """Columns of `frame` by the operation that takes them."""
        raise NotImplementedError

    def operations(self, count: int) -> Sequence[Any]:
        """Return the operations; there are `count`."""
        raise NotImplementedError

    def build(self, library: Library, frame: Frame, arrays: list[Array]) -> Any:
        """Make the result of the operations' arrays."""
        raise NotImplementedError

    def check(self, frame: Frame) -> None:
        self.planned(library_of(frame), frame)

    def at_once(self, frame: Frame) -> Any:
        """Return the answer for all rows if there are functions of arrays for that; else None."""
        return None

    def planned(
        self, library: Library, frame: Frame, checks: bool = True
    ) -> tuple[list[tuple[Any, list[Any]]], list[Any]]:
        """Return planned operations with columns, and dtypes of answers; without checks, None for what has no plan."""
        pairs, dtypes, inputs = [], [], self.inputs(library, frame)
        for operation, columns in zip(self.operations(len(inputs)), inputs, strict=True):
            if isinstance(operation, PlannedOperation):
                operation, dtype = operation.planned(columns)
            else:
                dtype = operation.dtype(columns) if checks else None
            pairs.append((operation, columns))
            dtypes.append(dtype)
        return pairs, dtypes

    def meta(self, frame: Frame) -> Any:
        library = library_of(frame)
        _, dtypes = self.planned(library, frame)
        arrays = [map_outputs(library.empty, dtype) for dtype in dtypes]
        return self.build(library, library.no_rows(frame), arrays)


class OneOperation(FrameColumns):
    """One operation for all."""

    operation: ColumnOperation

    @property
    def label(self) -> str:
        return self.operation.label

    def operations(self, count: int) -> Sequence[Any]:
        return [self.operation] * count


class EachColumn(OneOperation):
    """An operation on each column of a frame, or on a series."""

    numeric_only: bool
    beside: Hashable = None
    """The name of a column that stays as it is."""
    columnwise = True

    def _kept(self, frame: Frame) -> Any:
        if not self.numeric_only or frame.ndim == 1:
            return frame
        return numeric_columns(frame)

    def inputs(self, library: Library, frame: Frame) -> list[list[Any]]:
        return [[column] for column in self._columns(library, frame)]

    def _columns(self, library: Library, frame: Frame) -> list[Any]:
        kept = self._kept(frame) if self.numeric_only else frame
        columns: list[Any] = [kept] if kept.ndim == 1 else library.columns(kept)
        return [c for c in columns if c.name != self.beside] if self.beside is not None else columns

    def planned(
        self, library: Library, frame: Frame, checks: bool = True
    ) -> tuple[list[tuple[Any, list[Any]]], list[Any]]:
        if not isinstance(self.operation, PlannedOperation):
            return super().planned(library, frame, checks)
        columns = self._columns(library, frame)
        plans, dtypes = self.operation.planned_each(columns)
        inputs: Any = zip(columns, strict=True)
        return list(zip(plans, inputs, strict=True)), dtypes

    def at_once(self, frame: Frame) -> Any:
        operation, library = self.operation, library_of(frame)
        if not isinstance(operation, Planned) or operation.by_name:
            return None
        pairs = []
        for column in self._columns(library, frame):
            array = library.array(column)
            if type(array) is not np.ndarray:
                return None
            answer = operation.plans.get(array.dtype)
            if answer is None:
                answer = operation.plans.store(array.dtype, operation.bound(column) or refuse)
            if answer is refuse:
                return None
            pairs.append((answer, array))
        arrays = []
        for answer, array in pairs:
            found = answer(array)
            if found is None:
                return None
            arrays.append(found)
        if self.numeric_only or self.beside is not None:
            return self.build(library, frame, arrays)
        return library.rebuild(frame, arrays)

    def build(self, library: Library, frame: Frame, arrays: list[Array]) -> Any:
        if self.beside is None:
            return library.rebuild(self._kept(frame), arrays)
        others = [name for name in library.names(frame) if name != self.beside]
        computed = dict(zip(others, arrays, strict=True))
        own = library.array(library.column(frame, self.beside))
        computed[self.beside] = library.copy(own)  # the answer may be written to
        names = [name for name in library.names(frame) if name in computed]
        return library.frame([computed[n] for n in names], names, library.index(frame), frame)


class AllColumns(OneOperation):
    """An operation that takes all columns of a frame as its inputs and gives one series."""

    columnwise = False

    def inputs(self, library: Library, frame: Frame) -> list[list[Any]]:
        return [columns_of(frame)]

    def build(self, library: Library, frame: Frame, arrays: list[Array]) -> Any:
        return library.series(arrays[0], library.index(frame))


class NamedColumns(FrameColumns):
    """Operations that are each made of some columns of a frame, or of a series, and give one column."""

    label: str
    parts: Sequence[Part[Any]]
    as_series: bool
    columnwise = False

    def operations(self, count: int) -> Sequence[Any]:
        return [part.operation for part in self.parts]

    def inputs(self, library: Library, frame: Frame) -> list[list[Any]]:
        return [[column_of(frame, name) for name in part.sources] for part in self.parts]

    def build(self, library: Library, frame: Frame, arrays: list[Array]) -> Any:
        index = library.index(frame)
        names, arrays = named_answers(self.parts, arrays)
        if self.as_series:
            return library.series(arrays[0], index, names[0])
        # names have the kind of the frame's only if all columns are answers for columns of the frame
        own = frame.ndim == 2 and all(len(set(part.sources)) == 1 for part in self.parts)
        return library.frame(arrays, names, index, frame if own else None)


class FrameCarry(FrameColumns, DataFrameCarry):
    """Scans as a carry."""

    def aggregate(self, partition: Frame) -> tuple[States, ...]:
        library, one = library_of(partition), BACKWARD if self.reverse else FORWARD
        pairs, _ = self.planned(library, partition, False)
        with library.acquire(partition):
            # begin all before waiting for one
            begun = [operation.aggregate(columns, one) for operation, columns in pairs]
            return tuple([wait() for wait in begun])

    def combine(self, aggregates: Sequence[tuple[States, ...]]) -> tuple[States, ...]:
        states = list(zip(*aggregates, strict=True))
        pairs = zip(self.operations(len(states)), states, strict=True)
        return tuple(operation.combine(each_state) for operation, each_state in pairs)

    def apply(self, partition: Frame, prefix: tuple[States, ...] | None) -> Any:
        return self._answer(partition, prefix, False)

    def whole(self, frame: Frame) -> Any:
        found = self.at_once(frame)
        return self._answer(frame, None, True) if found is None else found

    def _answer(self, partition: Frame, prefix: tuple[States, ...] | None, checks: bool) -> Any:
        library = library_of(partition)
        pairs, _ = self.planned(library, partition, checks)
        with library.acquire(partition):
            arrays = _applied(pairs, BACKWARD if self.reverse else FORWARD, prefix)
        return self.build(library, partition, arrays)

    def follow(
        self, partition: Frame, prefix: tuple[States, ...] | None
    ) -> tuple[Any, tuple[States, ...]]:
        library, one = library_of(partition), BACKWARD if self.reverse else FORWARD
        pairs, _ = self.planned(library, partition, False)
        states = prefix or [None] * len(pairs)
        with library.acquire(partition):
            found = [
                _followed(operation, columns, one, state, general.combine)
                for (operation, columns), state, general in zip(
                    pairs, states, self.operations(len(pairs)), strict=True
                )
            ]
            seen = tuple([wait() for _, wait in found])
        return self.build(library, partition, [array for array, _ in found]), seen

    def last(self, frame: Frame, seen: tuple[States, ...]) -> Any:
        library = library_of(frame)
        pairs, _ = self.planned(library, frame, False)
        if not all(hasattr(operation, "last") for operation, _ in pairs):
            return None
        arrays = [
            operation.last(columns, of_one_group(library, states))
            for (operation, columns), states in zip(pairs, seen, strict=True)
        ]
        none = [map_outputs(lambda a: library.empty(a.dtype), each) for each in arrays]
        names = names_of(self.build(library, library.no_rows(frame), none))
        if isinstance(self, NamedColumns):
            _, arrays = named_answers(self.parts, arrays)
        return one_table(library, names, arrays)


def _applied(
    pairs: Sequence[tuple[Any, list[Any]]], one: OneGroup, prefix: tuple[States, ...] | None
) -> list[Any]:
    """Return the answers of operations for rows that are one group, given their earlier states."""
    states = prefix or [None] * len(pairs)
    return [
        operation.apply(columns, one, state)
        for (operation, columns), state in zip(pairs, states, strict=True)
    ]


def _followed(
    operation: Any,
    columns: list[Column],
    one: OneGroup,
    before: States | None,
    combine: Callable[[list[States]], States],
) -> tuple[Any, Callable[[], States]]:
    """Return the answers of an operation, and a function that waits for the states of all rows so far."""
    if hasattr(operation, "follow"):  # one pass does both
        found: tuple[Any, States] | None = operation.follow(columns, one, before)
        if found is not None:
            return found[0], lambda: found[1]
    wait = operation.aggregate(columns, one)
    array = operation.apply(columns, one, before)
    if before is None:
        return array, wait
    return array, lambda: combine([before, wait()])


@dataclass(frozen=True)
class ColumnCarry(EachColumn, FrameCarry):
    """A scan of each column of a frame, or of a series."""

    operation: GroupScan
    numeric_only: bool = False

    @property
    def reverse(self) -> bool:
        return self.operation.reverse


@dataclass(frozen=True)
class JointCarry(AllColumns, FrameCarry):
    """A scan that takes all columns of a frame as its inputs and gives one series."""

    operation: GroupScan

    @property
    def reverse(self) -> bool:
        return self.operation.reverse


@dataclass(frozen=True)
class NamedCarry(NamedColumns, FrameCarry):
    """Scans that each give a column."""

    label: str
    parts: tuple[Part[GroupScan], ...]
    as_series: bool

    @property
    def reverse(self) -> bool:
        return any(part.operation.reverse for part in self.parts)


def of_one_group(library: Library, states: States) -> States:
    """Return the states of one group as arrays of one row; values of columns as they are."""
    xp = library.xp
    return tuple([xp.asarray([x]) if isinstance(x, np.generic) else x for x in states])


def one_table(library: Library, names: Sequence[Hashable], arrays: Sequence[Array]) -> Any:
    """Return a frame of arrays; a column without a name is called "value"."""
    named = ["value" if name is None else name for name in names]
    return library.frame(list(arrays), named, library.range_index(0, len(arrays[0])))


def map_outputs(function: Callable[[Any], Any], answer: Any) -> Any:
    """Apply a function to an operation's answer, or to each of several."""
    return [function(one) for one in answer] if isinstance(answer, list) else function(answer)


def named_answers(parts: Sequence[Part[Any]], answers: list[Any]) -> tuple[list[Any], list[Any]]:
    """Return the names of a result's columns, and their arrays."""
    if MultiOutput not in map(type, parts):
        return [part.name for part in parts], answers
    found: dict[int, tuple[Any, Any]] = {}
    for part, answer in zip(parts, answers, strict=True):
        assert isinstance(part, MultiOutput)
        arrays = answer if isinstance(answer, list) else [answer]
        found |= dict(zip(part.places, zip(part.name, arrays, strict=True), strict=True))  # type: ignore[call-overload]
    pairs = [found[place] for place in sorted(found)]
    return [name for name, _ in pairs], [array for _, array in pairs]


def join_columns(
    frame: Frame, names: Sequence[Hashable], what: str, by_label: bool, *others: Any
) -> Any:
    """Return a frame of the columns of a frame or series and of other series, row by row.

    Raises
    ------
    TypeError, ValueError
        If the others are of another library, or have other rows; messages call them `what`.
    """
    library = library_of(frame)
    index = library.index(frame)
    for other in others:
        if not is_frame(other) or library_of(other) is not library:
            raise TypeError(
                f"{what} must be of the library of its frame, found {type(other).__name__}"
            )
        if len(other) != len(frame):
            raise ValueError(
                f"{what} must have as many rows as its frame, {len(frame)}, found {len(other)}"
            )
        if by_label and not library.same_index(index, library.index(other)):
            raise ValueError(f"{what} must have the index of its frame; align them first")
    arrays = [library.array(column) for column in (*columns_of(frame), *others)]
    return library.frame(arrays, names, index)


def labelled_columns(frame: Frame, names: Sequence[Hashable], like: Frame) -> Any:
    """Return these columns of a frame, under the labels that another frame has for them."""
    library = library_of(frame)
    own = names_of(frame)
    columns = columns_of(frame) if own == names else [column_of(frame, name) for name in names]
    arrays = [library.array(column) for column in columns]
    return library.frame(arrays, list(names), library.index(frame), like)


def without_name(series: Series) -> Any:
    """Return a series without its name."""
    library = library_of(series)
    return library.series(library.array(series), library.index(series))


def pair_rows(frame: Frame, own: Frame, others: Frame, places: Sequence[Sequence[int]]) -> Any:
    """Return the answers for pairs, with a column for each own column, and a row for each row and each other column.

    Parameters
    ----------
    frame : frame
        The answers, of float64: a column a pair, in any order.
    own, others : frame
        The pairs are of their columns; their rows do not matter.
    places : sequence of sequences of int
        For each own column and each other one, which column of `frame` has the answers for both.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"aa": [1.0, 2.0], "ab": [3.0, 4.0], "bb": [5.0, 6.0]}, index=["x", "y"])
    >>> own = pd.DataFrame(columns=["a", "b"])
    >>> pair_rows(frame, own, own, [[0, 1], [1, 2]])
           a    b
    x a  1.0  3.0
      b  3.0  5.0
    y a  2.0  4.0
      b  4.0  6.0
    """
    library = library_of(frame)
    answers = [library.floats(column) for column in columns_of(frame)]
    rows = [library.xp.stack([answers[k] for k in some], axis=1).reshape(-1) for some in places]
    arrays = [library.from_floats(values) for values in rows]
    index = library.index_of_pairs(library.index(frame), others)
    return library.frame(arrays, library.names(own), index, own)


def numeric_columns(frame: Frame) -> Any:
    """Return the columns that `numeric_only` keeps."""
    library = library_of(frame)
    return library.select(frame, [library.is_numeric(column.dtype) for column in columns_of(frame)])
