"""Runs of equal keys over partition borders, as starts and lengths.

A partition hands on the run that is open after its last row. It writes the runs that end in it; the last partition
also writes the run that nothing follows. This module must never loop over rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .. import kernels
from ..frames.keys import (
    BoundaryKey,
    By,
    boundary_key,
    first_end,
    key_arrays,
    last_head,
    last_start,
)
from ..frames.protocol import Library
from ..frames.registry import column_of, library_of, stored_numbers
from ..frames.types import Column, DType, Frame, Values
from ..kernels.late_dataclass import dataclass
from .core.carry import Aggregate, DataFrameCarry
from .core.flat_frame import flat_frame
from .core.groups import INT64, fields_of


@dataclass(frozen=True)
class RunCount:
    """The number of runs of some rows, and the keys of the first and the last one; None without rows."""

    runs: int
    first: BoundaryKey | None = None
    last: BoundaryKey | None = None

    def joins(self, later: RunCount) -> bool:
        """Return whether the last run continues in later rows."""
        if self.last is None or later.first is None:
            return False
        return self.last.values == later.first.values

    @classmethod
    def of_parts(cls, parts: Sequence[RunCount]) -> RunCount:
        """Return the number of runs of parts one after the other."""
        total = cls(0)
        for piece in parts:
            runs = total.runs + piece.runs - total.joins(piece)
            total = cls(runs, total.first or piece.first, piece.last or total.last)
        return total


@dataclass(frozen=True)
class Open:
    """What later rows need to know of some rows: the run that is open after the last one."""

    rows: int
    border: BoundaryKey | None
    """Keys of the open run; None if there are no rows."""
    start: int
    """Where it starts; 0 if it covers all rows."""
    states: tuple[Any, ...] = ()
    """The states of the open run, one entry an operation."""

    @property
    def fits(self) -> bool:
        """Whether it starts among the rows, as may not be in a file."""
        return self.start <= self.rows


class OpenRuns(DataFrameCarry):
    """The base of carries over runs: the aggregate of a partition is its open run."""

    if TYPE_CHECKING:

        @property
        def by(self) -> By:
            """The keys."""

    def check(self, frame: Frame) -> None:
        self.by.check(frame)

    def states(self, partition: Frame, start: int, stop: int) -> tuple[Any, ...]:
        """Return the states of one run, the rows from `start` to `stop`."""
        return ()

    def join(self, states: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
        """Return the states of neighbouring parts of one run as one."""
        return ()

    def aggregate(self, partition: Frame) -> Open:
        if not len(partition):
            return Open(0, None, 0)
        library = library_of(partition)
        with library.acquire(partition):
            return self.open_run(library, partition, self.by.series(library, partition))

    def open_run(
        self, library: Library, partition: Frame, series: list[Column], start: int | None = None
    ) -> Open:
        """Return the open run of a partition that has rows, given its keys; `start` is its first row, if known."""
        count = len(partition)
        if self.reverse:
            stop = first_end(library, series)
            states = self.states(partition, 0, stop)
            return Open(count, boundary_key(library, series, 0), count - stop, states)
        start = last_start(library, series) if start is None else start
        states = self.states(partition, start, count)
        return Open(count, boundary_key(library, series, start), start, states)

    def combine(self, aggregates: Sequence[Open]) -> Open:
        rows = 0
        last: Open | None = None
        parts: list[tuple[Any, ...]] = []
        for piece in aggregates:
            if piece.border is not None:
                if last is not None and not piece.start and last.border is not None:
                    same = piece.border.values == last.border.values
                else:
                    same = False
                if same:
                    assert last is not None
                    parts.append(piece.states)
                else:
                    last, parts = replace(piece, start=rows + piece.start), [piece.states]
            rows += piece.rows
        if last is None:
            return Open(0, None, 0)
        states = parts[0] if len(parts) == 1 else self.join(parts)
        return Open(rows, last.border, last.start, states)

    def try_prefix(self, no_rows: Frame, prefix: Aggregate) -> None:
        super().try_prefix(no_rows, prefix)
        known = self.open_in(prefix).states  # without rows, nothing else checks these
        own = self.states(no_rows, 0, 0) if known else ()
        if [len(fields_of(one)) for one in known] != [len(fields_of(one)) for one in own]:
            raise ValueError(f"{len(known)} states of an open run")

    def open_in(self, aggregate: Aggregate) -> Open:
        """Return the open run of an aggregate."""
        found: Open = aggregate
        return found


@dataclass(frozen=True)
class EndedRuns:
    """The runs that end in a partition: perhaps the one that was open before, and the partition's own."""

    library: Library
    series: list[Column]
    """Key columns of the partition."""
    starts: Any
    """Where the partition's own runs start, as an array; row 0 counts as a start, whatever was open before."""
    carried: BoundaryKey | None
    """Keys of the run that was open before, if it ends here."""
    joined: bool
    """Whether the partition's first run continues the one that was open before."""

    @property
    def before(self) -> bool:
        """Whether the run that was open before comes before the partition's own."""
        return self.carried is not None and not self.joined

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.starts) + self.before

    def keys(self) -> list[Any]:
        """Return an array for each key column, one row a run."""
        arrays, library = [], self.library
        for i, column in enumerate(self.series):
            array, starts = library.array(column), self.starts
            if self.carried is None:
                arrays.append(library.take(array, starts))
                continue
            if self.joined and not _same_if_equal(column.dtype, self.carried.values[i]):
                starts = starts[1:]
            taken = library.take(array, starts)
            if len(starts) < self.count:
                taken = library.prepend(self.carried.rows[i], taken)
            arrays.append(taken)
        return arrays


def _same_if_equal(dtype: DType, value: Any) -> bool:
    """Return whether a key that equals `value` can be taken for it: 0.0 and -0.0, or 1 and True, look different."""
    kind = dtype.kind
    return kind in "biumM" or (kind == "f" and value != 0) or (kind != "c" and type(value) is str)


def runs_of(
    library: Library,
    series: list[Column],
    starts: Values,
    carried: BoundaryKey | None,
    ends: bool,
) -> EndedRuns:
    """Return the runs that end in a partition.

    Parameters
    ----------
    library : Library
    series : list of columns
        Its keys.
    starts : array
        Where equal keys start in it.
    carried : BoundaryKey or None
        The keys of the run that was open before.
    ends : bool
        Whether nothing follows; otherwise the last run stays open.
    """
    joined = False
    if carried is not None and len(starts):
        joined = carried.values == boundary_key(library, series, 0).values
    if not ends:
        if len(starts) <= joined:  # the run that was open before stays open
            carried, joined = None, False
        starts = starts[:-1]
    return EndedRuns(library, series, starts, carried, joined)


@dataclass(frozen=True)
class RunLengths(OpenRuns):
    """Runs as their keys, the number of their first row, and how many rows they have."""

    by: By
    ends: bool = False
    """Whether nothing follows, so that the open run ends too."""
    label = "rle"

    @property
    def final(self) -> RunLengths:
        """The carry for the partition that nothing follows."""
        return RunLengths(self.by, ends=True)

    def meta(self, frame: Frame) -> Any:
        return self.apply(library_of(frame).no_rows(frame), None)

    def apply(self, partition: Frame, prefix: Open | None) -> Any:
        library = library_of(partition)
        prefix = prefix or Open(0, None, 0)
        with library.acquire(partition):
            series = self.by.series(library, partition)
            keys = key_arrays(library, series)
            starts, lengths = kernels.run_length_encode(keys.arrays, nulls=keys.nulls)
            runs = runs_of(library, series, starts, prefix.border, self.ends)
            first, lengths = places(library, runs, lengths, prefix)
            arrays = [*runs.keys(), library.from_integers(first), library.from_integers(lengths)]
            names = self.by.columns or (("value" if series[0].name is None else series[0].name),)
            columns = [*names, "run_start", "run_length"]
            return library.frame(arrays, columns, library.range_index(0, runs.count))


def places(library: Library, runs: EndedRuns, lengths: Values, before: Open) -> tuple[Any, Any]:
    """Return the numbers of the first rows of runs, and how many rows runs have.

    Parameters
    ----------
    library : Library
    runs : EndedRuns
        Those that end in a partition.
    lengths : array
        Of the partition's own runs, in it; may be written to.
    before : Open
        The rows before the partition.
    """
    first, lengths = runs.starts, lengths[: len(runs.starts)]
    if not before.rows:
        return first, lengths
    first, so_far = first + before.rows, before.rows - before.start
    if runs.joined:
        first[0] = before.start
        lengths[0] += so_far
    elif runs.before:
        first = library.prepend_number(before.start, first)
        lengths = library.prepend_number(so_far, lengths)
    return first, lengths


@dataclass(frozen=True)
class NumberedRuns(DataFrameCarry):
    """One row a run, as `carry` makes them, under one default index over all partitions."""

    carry: OpenRuns

    @property
    def label(self) -> str:
        return self.carry.label

    @property
    def final(self) -> NumberedRuns:
        """The carry for the partition that nothing follows."""
        return NumberedRuns(self.carry.final)

    def check(self, frame: Frame) -> None:
        self.carry.check(frame)

    def meta(self, frame: Frame) -> Any:
        return self.carry.meta(frame)

    def aggregate(self, partition: Frame) -> tuple[Open, RunCount]:
        if not len(partition):
            return Open(0, None, 0), RunCount(0)
        library = library_of(partition)
        series = self.carry.by.series(library, partition)
        with library.acquire(partition):
            heads = key_arrays(library, series).head_flags()
            # look for the last run while a GPU counts
            count = library.xp.count_nonzero(heads)
            start = last_head(library, heads)
            open_ = self.carry.open_run(library, partition, series, start)
            first = boundary_key(library, series, 0)
        return open_, RunCount(int(count), first, open_.border)

    def combine(self, aggregates: Sequence[tuple[Open, RunCount]]) -> tuple[Open, RunCount]:
        opens, counts = zip(*aggregates, strict=True)
        return self.carry.combine(opens), RunCount.of_parts(counts)

    def apply(self, partition: Frame, prefix: tuple[Open, RunCount] | None) -> Any:
        open_, count = prefix or (None, RunCount(0))
        out = self.carry.apply(partition, open_)
        if count.runs < 2:  # the open run is not written yet
            return out
        return library_of(out).reset_index(out, count.runs - 1, drop=True)


def decoded(frame: Frame) -> Any:
    """Repeat each row of one partition as often as its run length says."""
    library = library_of(frame)
    lengths = column_of(frame, "run_length")
    with library.acquire(frame):
        wrong = ValueError("column 'run_length' must hold no nulls and nothing below zero")
        if library.missing(lengths) is not None:
            raise wrong
        counts = stored_numbers(lengths).astype(INT64, copy=False)
        kept = [name not in ("run_start", "run_length") for name in library.names(frame)]
        flat = flat_frame(library, library.select(frame, kept))
        try:
            return flat.repeated(counts, new_index=True)
        except ValueError as error:
            raise wrong from error
