"""What streams compute of one batch: a step takes batches and what it has seen before, and returns a batch and that.

A step returns what was seen anew and does not change what it was given, so that a batch that fails can be computed
again. What is kept for many keys is updated in place once the next batch comes: `Step.value` returns it as a value that
can be kept. This module must never know what a carry computes.
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
"""What a step keeps of the batches before; None before the first one."""


def dask_engine() -> Any:
    """Return the engine of collections, imported when a stream is made one."""
    with importing:
        from ..dask import engine

    return engine


class Step:
    """What is computed of batches that have the same rows."""

    label: str
    """For messages, and the name of the operation in a state."""
    has_end = False
    """Whether rows may follow once the source has ended."""
    columns_in_states: Sequence[Sequence[int]] | None = None
    """Which states of the parts of a scan of groups are values of a column, not numbers of an operator."""
    chosen: Sequence[Hashable] | None = None
    """The columns of its input that it takes, if it does nothing else."""

    @property
    def options(self) -> str:
        """What else than its name says what it computes."""
        raise NotImplementedError

    def kept_by(self, meta: Any) -> tuple[Any, ...]:
        """Return what an `Operation` of a state says of it behind what it has seen.

        `meta` is an input without rows.
        """
        return (), None

    def advance(self, batches: Sequence[Any], seen: Seen, ends: bool) -> tuple[Any, Seen]:
        """Return the answer for batches, and what was seen with them.

        Parameters
        ----------
        batches : sequence of frames or series
            One for each input of the step.
        seen : Seen
        ends : bool
            Whether no rows follow.
        """
        raise NotImplementedError

    def check_seen(self, metas: Sequence[Any], seen: Seen) -> None:
        """Raise a ValueError if what was seen is of other code, such as that of an earlier version.

        `metas` are the inputs without rows.
        """

    def finished(self, seen: Seen, rows: int | None) -> Seen:
        """Return what was seen once so many rows of its source are read, or all, for rows of others that follow."""
        return seen

    def value(self, seen: Seen) -> Any:
        """Return what was seen, which may change with later batches, as a value that does not."""
        return seen

    def difference(self, seen: Seen) -> ChangedSourceError | None:
        """Return the error of a source that it reads itself, if that is not as it was."""
        return None

    def gone(self, seen: Seen, again: Seen) -> Sequence[str]:
        """Return the files of a source that it reads itself that are gone, of those seen behind `again`."""
        return ()

    def of_others(self, seen: Seen) -> Seen:
        """Return what was seen, where the sources are others, whose rows follow."""
        return seen

    def on_collection(self, inputs: Sequence[Any], seen: Seen, keeps_rows: bool) -> Any:
        """Return the answer for Dask collections, lazily; what was seen is of the rows before the first partition."""
        raise NotImplementedError


@dataclass(frozen=True)
class Input:
    """Stands for the batch of one of the inputs among the arguments of a function."""

    number: int


@dataclass(frozen=True)
class Each(Step):
    """A function that looks at each row by itself."""

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
    """Return what stands for the rows so far and those of a batch."""
    aggregate = summary.aggregate(batch)
    return aggregate if seen is None else summary.combine([seen, aggregate])


@dataclass(frozen=True)
class LookBack(Step):
    """A carry that looks at the rows before."""

    carry: Any
    """A `DataFrameCarry`, or an `OverlapCarry`."""

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
        except ImportError:  # of the compiler
            raise
        except Exception as error:  # whatever kernels say of other numbers
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
    """A carry that looks at a bounded number of rows behind each row, which is answered once they are there.

    The carry is of reverse order, or an `OverlapCarry`; its `settled` says how many rows wait. What was seen are the
    rows that wait, and what stands for those before them.
    """

    has_end = True

    def kept_by(self, meta: Any) -> tuple[Any, ...]:
        return super().kept_by(meta)[:2]

    def check_seen(self, metas: Sequence[Any], seen: Seen) -> None:
        pass  # rows are of every version

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
    """A function of streams of the same rows, some of which come later: rows wait until all are there."""

    has_end = True

    def advance(self, batches: Sequence[Any], seen: Seen, ends: bool) -> tuple[Any, Seen]:
        pairs = zip(seen or [[]] * len(batches), batches, strict=True)
        rows = [joined_rows([*waiting, batch]) for waiting, batch in pairs]
        library, count = library_of(rows[0]), min(map(len, rows))
        first = [library.rows(one, slice(0, count)) for one in rows]
        answer, _ = super().advance(first, None, ends)
        return answer, [[library.rows(one, slice(count, None))] for one in rows]


FAN_IN = 16
"""Tables that are merged at once, as in a tree of Dask's tasks: bits are the same."""


@dataclass()
class Tables:
    """The tables of a reduction so far, some of them merged: a tree that grows from the left.

    Its nodes are those of the tree that Dask's engine builds over as many partitions.
    """

    reduction: TreeReduction
    levels: list[list[Any]] = field(default_factory=lambda: [[]])

    def add(self, table: Any, level: int = 0) -> None:
        """Take the table of the next rows."""
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
