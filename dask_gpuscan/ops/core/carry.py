"""The interfaces of operations for engines: how rows are summarised, and what is answered given the summaries.

Each kind of operation is a base class here, and an engine has one function of the name that `kind` gives. Where a base
class has a default, classes may have a field or a property.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from ...frames.keys import By
from ...frames.types import Frame

Partition: TypeAlias = Any
"""A frame or series of a library, or a block of an array."""

Aggregate: TypeAlias = Any
"""What a carry makes of partitions, and hands on to later ones."""


class Labelled:
    """An operation with a name, as a field or as a property."""

    if TYPE_CHECKING:

        @property
        def label(self) -> str:
            """For the names of tasks."""


class Summary:
    """Aggregates of partitions, and of neighbouring partitions together."""

    if TYPE_CHECKING:

        @property
        def window(self) -> int | None:
            """How many partitions look back at the same aggregate, if these may be large; None if they are small."""

    else:
        window = None

    def aggregate(self, partition: Partition) -> Any:
        """Small host value that stands for a partition."""
        raise NotImplementedError

    def combine(self, aggregates: Sequence[Aggregate]) -> Any:
        """One aggregate for one or more neighbouring partitions, given in scan order."""
        raise NotImplementedError


class Carry(Summary, Labelled):
    """A summary, and the answer for a partition given the aggregate of all before it."""

    kind = "look_back"

    if TYPE_CHECKING:

        @property
        def reverse(self) -> bool:
            """Whether partitions look at the later ones instead."""

        @property
        def final(self) -> Any:
            """The carry for the partition that nothing follows, if it has more to write; else None."""

        @property
        def in_turn(self) -> bool:
            """Whether partitions have no aggregates, and each follows the one before; the index is kept."""

    else:
        reverse, final, in_turn = False, None, False

    def apply(self, partition: Partition, prefix: Aggregate) -> Any:
        """Output of a partition; `prefix` is the aggregate of all before it, None for the first."""
        raise NotImplementedError

    def follow(self, partition: Partition, prefix: Aggregate) -> tuple[Any, Any]:
        """Output of a partition, and the aggregate of all rows so far."""
        answer, aggregate = self.apply(partition, prefix), self.aggregate(partition)
        return answer, aggregate if prefix is None else self.combine([prefix, aggregate])

    def try_prefix(self, no_rows: Partition, prefix: Aggregate) -> None:
        """Raise any error if the aggregate of rows before does not fit this carry."""
        self.follow(no_rows, prefix)


class FrameOperation:
    """Facts about an operation on frames that are known before there are rows."""

    if TYPE_CHECKING:

        @property
        def columnwise(self) -> bool:
            """Whether each column of the output depends on the column of that name alone."""

        @property
        def keeps_index(self) -> bool:
            """Whether the output has its input's index, so that divisions hold."""

        @property
        def keeps_divisions(self) -> bool:
            """Whether divisions hold though rows are left out."""

        @property
        def key_columns(self) -> Sequence[Hashable]:
            """Which columns are read with a chosen one, if operations are columnwise."""

        @property
        def grouped_by(self) -> Sequence[Hashable]:
            """The names of the keys, if aggregates have an entry for each key."""

        @property
        def columns_in_states(self) -> Sequence[Sequence[int]] | None:
            """For each part of a scan of groups, which states are values of a column rather than numbers."""

    else:
        columnwise = keeps_index = keeps_divisions = False
        key_columns = grouped_by = ()
        columns_in_states = None

    def check(self, frame: Frame) -> None:
        """Raise the errors that a user should see early."""

    def meta(self, frame: Frame) -> Any:
        """Empty output for an empty input, which has been checked."""
        raise NotImplementedError

    def time_dtype(self, frame: Frame) -> Any:
        """Dtype of the times by which an aggregate gets old; None if it does not."""
        return None

    def last(self, frame: Frame, seen: Aggregate) -> Any:
        """Frame of the last answers, or of the rows that are kept, given the aggregate of the rows so far.

        `frame` is an input, and may have no rows. None if the aggregate is not a table.
        """
        return None

    def value(self, seen: Aggregate) -> Any:
        """Aggregate of the rows so far as a value that can be kept: later rows may change what `follow` returned."""
        return seen

    def settled(self, frame: Frame) -> int | None:
        """How many of the first rows are answered whatever follows; None if all rows that follow may count."""
        return None


class DataFrameCarry(FrameOperation, Carry):
    """A carry over frames."""

    def whole(self, frame: Frame) -> Any:
        """Output of one partition that is all rows, checked first."""
        self.check(frame)
        return (self.final or self).apply(frame, None)


class OverlapCarry(FrameOperation, Labelled):
    """The answer for a partition given the rows before it, behind it, or both."""

    kind = "map_overlap"
    final = None

    @property
    def before(self) -> Summary | None:
        """The summary of the partitions before; None if it does not look there."""
        return None

    @property
    def after(self) -> Summary | None:
        """The summary of the partitions behind, from the last to the next one; None if it does not look there."""
        return None

    def combine(self, aggregates: Sequence[Aggregate]) -> Any:
        """One aggregate of what lies before, for those of neighbouring partitions."""
        return self.before.combine(aggregates) if self.before else None

    def follow(self, partition: Partition, before: Aggregate) -> tuple[Any, Any]:
        """Output of a partition behind which it does not look, and the aggregate of all rows so far."""
        answer = self.apply(partition, before, None)
        aggregate = self.before.aggregate(partition) if self.before else None
        return answer, aggregate if before is None else self.combine([before, aggregate])

    def try_prefix(self, no_rows: Partition, before: Aggregate) -> None:
        """Raise an error of any kind if the aggregate of rows before is not one of this carry."""
        self.follow(no_rows, before)

    def apply(self, partition: Partition, before: Aggregate, after: Aggregate) -> Any:
        """Output of a partition, given the aggregates on either side; None where there are no rows."""
        raise NotImplementedError

    def whole(self, frame: Frame) -> Any:
        """Output of one partition that is all rows, checked first."""
        self.check(frame)
        return self.apply(frame, None, None)


class TreeReduction(Labelled):
    """A reduction of all partitions to one: tables that stand for partitions, merged some at a time."""

    kind = "tree_reduce"

    if TYPE_CHECKING:

        @property
        def whole_groups(self) -> By | None:
            """The keys whose rows must share a partition; None if rows may stay where they are."""

    else:
        whole_groups = None

    def check(self, frame: Frame) -> None:
        """Raise the errors that a user should see early."""

    def meta(self, frame: Frame) -> Any:
        """Empty output for an empty input, which has been checked."""
        raise NotImplementedError

    def table(self, partition: Partition) -> Any:
        """Table that stands for a partition."""
        raise NotImplementedError

    def merge(self, tables: Sequence[Any]) -> Any:
        """One table for several, given in the order of their partitions."""
        raise NotImplementedError

    def finish(self, tables: Sequence[Any], frame: Frame) -> Any:
        """Output of all partitions, given their tables; `frame` is an input, and may have no rows."""
        raise NotImplementedError

    def whole(self, frame: Frame) -> Any:
        """Output of one partition that is all rows, checked first."""
        self.check(frame)
        return self.finish([self.table(frame)], frame)
