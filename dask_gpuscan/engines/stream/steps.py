"""Steps of streams: a step takes batches and its state before them, and returns an answer and its state after them.

A step returns a new state and leaves the old one unchanged, so that a batch that fails can be computed again. A state
of many keys is updated in place when the next batch comes: `Step.value` returns one that does not change. This module
must not know what a carry computes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import field
from operator import getitem
from typing import Any

from ...forks import importing
from ...frames.messages import first_line
from ...frames.registry import is_rows, library_of
from ...kernels.late_dataclass import dataclass
from ...kernels.messages import shown
from ...ops.core.carry import OverlapCarry, Summary, TreeReduction
from ...ops.windows.halo import joined_rows
from .options import described
from .sources.fragments import ChangedSourceError

Seen = Any
"""The state of a step: what it keeps of earlier batches; None before the first one."""


def dask_engine() -> Any:
    """Return the engine of Dask collections, which is imported when the first stream becomes a collection."""
    with importing:
        from ..dask import engine

    return engine


class Step:
    """A computation on batches of the same rows."""

    label: str
    """The name of the operation in messages and states."""
    has_end = False
    """Whether the step may answer more rows when the source ends."""
    columns_in_states: Sequence[Sequence[int]] | None = None
    """For each part of a scan of groups, which of its states are values of a column, not numbers of an operator."""
    chosen: Sequence[Hashable] | None = None
    """The names of the columns that the step selects, if it does nothing else."""

    @property
    def options(self) -> str:
        """The options of the operation as a text."""
        raise NotImplementedError

    def kept_by(self, meta: Any) -> tuple[Any, ...]:
        """Return the fields of `Operation` that follow `seen`; `meta` is an input without rows."""
        return (), None

    def advance(self, batches: Sequence[Any], seen: Seen, ends: bool) -> tuple[Any, Seen]:
        """Return the answer for batches, and the state after them.

        Parameters
        ----------
        batches : sequence of frames or series
            One for each input of the step.
        seen : Seen
            The state before the batches.
        ends : bool
            Whether no more rows follow.
        """
        raise NotImplementedError

    def check_seen(self, metas: Sequence[Any], seen: Seen) -> None:
        """Raise a ValueError if a state is not one of this version; `metas` are the inputs without rows."""

    def finished(self, seen: Seen, rows: int | None) -> Seen:
        """Return the state after reading the step's own source up to `rows` rows, or to its end for None."""
        return seen

    def value(self, seen: Seen) -> Any:
        """Return the state as a value that later batches do not change."""
        return seen

    def difference(self, seen: Seen) -> ChangedSourceError | None:
        """Return the error for changed files of a source that only this step reads; None if none changed."""
        return None

    def gone(self, seen: Seen, again: Seen) -> Sequence[str]:
        """Return the removed files of a source that only this step reads, if they were read after the state `again`."""
        return ()

    def of_others(self, seen: Seen) -> Seen:
        """Return the state to go on from with the rows of other sources."""
        return seen

    def on_collection(self, inputs: Sequence[Any], seen: Seen, keeps_rows: bool) -> Any:
        """Return the lazy answer for Dask collections; `seen` is the state before the first partition."""
        raise NotImplementedError


@dataclass(frozen=True)
class Input:
    """A placeholder for the batch of an input among the arguments of a function."""

    number: int


@dataclass(frozen=True)
class Each(Step):
    """A function that treats each row independently of the others."""

    function: Callable[..., Any]
    given: tuple[Any, ...]
    label: str
    keeps_rows: bool = False

    @property
    def options(self) -> str:
        return described((self.function, *self.given))

    @property
    def chosen(self) -> Sequence[Hashable] | None:  # type: ignore[override]
        if self.function is not getitem:
            return None
        names = self.given[1]
        return names if isinstance(names, list) else [names]

    def advance(self, batches: Sequence[Any], seen: Seen, ends: bool) -> tuple[Any, Seen]:
        given = [batches[g.number] if isinstance(g, Input) else g for g in self.given]
        answer = self.function(*given)
        if not is_rows(answer):
            raise TypeError(
                f"{self.label} of a stream: function must return a frame or a series, found {shown(answer)}"
            )
        if self.keeps_rows and len(answer) != len(batches[0]):
            raise ValueError(
                f"{self.label} of a stream: function must return as many rows as a batch has, {len(batches[0])}, "
                f"found {len(answer)}; with keeps_rows=False it may return others"
            )
        return answer, None

    def on_collection(self, inputs: Sequence[Any], seen: Seen, keeps_rows: bool) -> Any:
        first, *others = inputs
        return dask_engine().map_partitions(
            first, self._on_partition, *others, keeps_divisions=keeps_rows
        )

    def _on_partition(self, *partitions: Any) -> Any:
        return self.advance(partitions, None, False)[0]


def _following(summary: Summary, seen: Seen, batch: Any) -> Seen:
    """Return the state after a batch, given the state before it."""
    aggregate = summary.aggregate(batch)
    return aggregate if seen is None else summary.combine([seen, aggregate])


@dataclass(frozen=True)
class LookBack(Step):
    """A carry that depends on earlier rows."""

    carry: Any
    """A `DataFrameCarry` or an `OverlapCarry`."""

    @property
    def label(self) -> str:  # type: ignore[override]
        return str(self.carry.label)

    @property
    def options(self) -> str:
        return described(self.carry)

    @property
    def has_end(self) -> bool:  # type: ignore[override]
        return self.carry.final is not None

    @property
    def columns_in_states(self) -> Sequence[Sequence[int]] | None:  # type: ignore[override]
        found: Sequence[Sequence[int]] | None = self.carry.columns_in_states
        return found

    def kept_by(self, meta: Any) -> tuple[Any, ...]:
        return tuple(self.carry.grouped_by), self.carry.time_dtype(meta), self.carry, meta

    def check_seen(self, metas: Sequence[Any], seen: Seen) -> None:
        if seen is None:
            return
        try:
            self.carry.try_prefix(metas[0], seen)
        except ImportError:  # the compiler is not installed
            raise
        except Exception as error:  # kernels raise errors of many types for other numbers
            raise ValueError(
                f"state of {self.label} is not one of this version ({first_line(error)}): an earlier one kept other "
                f"numbers. Begin anew, in a new directory or table"
            ) from error

    def advance(self, batches: Sequence[Any], seen: Seen, ends: bool) -> tuple[Any, Seen]:
        carry, (batch,) = self.carry, batches
        if ends and carry.final is not None:
            return carry.final.apply(batch, seen), _following(carry, seen, batch)
        found: tuple[Any, Seen] = carry.follow(batch, seen)
        return found

    def value(self, seen: Seen) -> Any:
        return self.carry.value(seen)

    def on_collection(self, inputs: Sequence[Any], seen: Seen, keeps_rows: bool) -> Any:
        return getattr(dask_engine(), self.carry.kind)(inputs[0], self.carry, seen)


@dataclass(frozen=True)
class LookAhead(LookBack):
    """A carry that depends on a bounded number of later rows: a row is answered once they have come.

    The carry is of reverse order, or an `OverlapCarry`; its `settled` returns how many rows can be answered. The state
    is the waiting rows and the aggregate of the rows before them.
    """

    has_end = True

    def kept_by(self, meta: Any) -> tuple[Any, ...]:
        return super().kept_by(meta)[:2]

    def check_seen(self, metas: Sequence[Any], seen: Seen) -> None:
        pass  # rows are the same in every version

    def advance(self, batches: Sequence[Any], seen: Seen, ends: bool) -> tuple[Any, Seen]:
        carry, (before, waiting) = self.carry, seen or (None, [])
        rows = joined_rows([*waiting, *batches])
        library, count = library_of(rows), len(rows) if ends else carry.settled(rows)
        first, rest = library.rows(rows, slice(0, count)), library.rows(rows, slice(count, None))
        around = isinstance(carry, OverlapCarry)
        after = carry.after if around else carry
        behind = after.aggregate(rest) if after and len(rest) else None
        answer = carry.apply(first, *([before] if around else []), behind)
        looks_back = around and carry.before is not None
        return answer, (_following(carry.before, before, first) if looks_back else None, [rest])

    def on_collection(self, inputs: Sequence[Any], seen: Seen, keeps_rows: bool) -> Any:
        if seen is not None:
            raise ValueError(
                f"state of {self.label} has rows that wait for others, and a collection has none"
            )
        return super().on_collection(inputs, None, keeps_rows)


@dataclass(frozen=True)
class EachWaiting(Each):
    """A function of streams of the same rows; if some are delayed, rows wait until all streams have them."""

    has_end = True

    def advance(self, batches: Sequence[Any], seen: Seen, ends: bool) -> tuple[Any, Seen]:
        pairs = zip(seen or [[]] * len(batches), batches, strict=True)
        rows = [joined_rows([*waiting, batch]) for waiting, batch in pairs]
        library, count = library_of(rows[0]), min(map(len, rows))
        first = [library.rows(one, slice(0, count)) for one in rows]
        answer, _ = super().advance(first, None, ends)
        return answer, [[library.rows(one, slice(count, None))] for one in rows]


FAN_IN = 16
"""How many tables are merged at once: as many as in Dask's engine, so that the bits are the same."""


@dataclass()
class Tables:
    """The tables of a reduction so far, merged in a tree that grows from the left.

    Dask's engine builds the same tree over as many partitions.
    """

    reduction: TreeReduction
    levels: list[list[Any]] = field(default_factory=lambda: [[]])

    def add(self, table: Any, level: int = 0) -> None:
        """Add the table of the next rows."""
        if level == len(self.levels):
            self.levels.append([])
        tables = self.levels[level]
        if len(tables) == FAN_IN:
            self.add(self.reduction.merge(tables), level + 1)
            tables.clear()
        tables.append(table)

    def finish(self, like: Any) -> Any:
        """Return the answer; `like` is an input without rows."""
        if not self.levels[0]:
            self.add(self.reduction.table(like))
        level = 0
        while level + 1 < len(self.levels):
            self.add(self.reduction.merge(self.levels[level]), level + 1)
            level += 1
        return self.reduction.finish(self.levels[level], like)
