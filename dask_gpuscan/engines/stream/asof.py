"""As-of merges of a stream with a frame or another stream, which is read only as far as the left rows need it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from typing import Any
from weakref import WeakKeyDictionary

from ...frames.registry import library_of
from ...kernels.late_dataclass import dataclass
from ...ops.asof.asof import AsOf
from ...ops.asof.in_turn import RightRows, end_of, merged_in_turn, read_on
from .options import described
from .passes import Pass
from .sources.fragments import ChangedSourceError, Fragment
from .sources.marks import rows_behind
from .states.operations import Operation
from .states.state import State
from .steps import Seen, Step, dask_engine
from .stream import Stream

Reader = tuple[Pass, Iterator[Any]]
"""A pass over the right stream, and an iterator over its remaining batches."""


@dataclass(frozen=True)
class AsOfStep(Step):
    """Adds to each row its match in another stream.

    The state says how many rows of the right stream were read. A pass over the right stream stays open between batches;
    for a state without a pass, a new one begins after the rows that were read.
    """

    right: Stream
    question: AsOf
    of_one_source: bool
    """Whether both streams have the same source."""
    readers: WeakKeyDictionary[RightRows, Reader] = field(default_factory=WeakKeyDictionary)

    label = "merge_asof"

    @property
    def options(self) -> str:
        return described(self.question)

    def advance(self, batches: Sequence[Any], seen: Seen, ends: bool) -> tuple[Any, Seen]:
        (left,), (seen, reader) = batches, self._reader(seen)
        answer, found = merged_in_turn(self.question, left, seen, lambda: next(reader[1], None))
        return answer, self._behind(found, reader, 0)

    def finished(self, seen: Seen, rows: int | None) -> Seen:
        if rows is not None and not self.of_one_source:
            return seen
        seen, reader = self._reader(seen)
        passing, batches = reader

        def read() -> Any:
            return next(batches, None) if rows is None or passing.rows < rows else None

        found = read_on(self.question, seen, read)
        return self._behind(found, reader, 0 if rows is None else passing.rows - rows)

    def _behind(self, seen: RightRows, reader: Reader, ahead: int) -> RightRows:
        """Return the state with the progress of the right stream's source, and keep its reader for the next batch."""
        passing, _ = reader
        state = passing.state
        steps = [(one.name, one.options, one.seen) for one in state.operations]
        files = (list(state.fragments), state.part)
        found = replace(seen, source=(state.rows, ahead, state.ended, steps, *files))
        self.readers[found] = reader
        return found

    def _reader(self, seen: Seen) -> tuple[RightRows, Reader]:
        """Return the state, and a reader of the right stream's batches after it."""
        seen = seen or RightRows(self.right._meta)
        reader = self.readers.pop(seen, None)
        if reader is None:
            passing = Pass([self.right], self._state(seen))
            batches = (batch for (batch,) in passing)
            reader = passing, rows_behind(batches, 0 if seen.source else seen.count)
        return seen, reader

    def _state(self, seen: RightRows) -> State | None:
        """Return the state that the right stream goes on from; None for that of its source."""
        if seen.source is None:
            return None
        source, (rows, _, ended, steps, files, part) = self.right._source, seen.source
        return State(
            source.schema,
            tuple([Operation(*one) for one in steps]),
            rows,
            ended=ended,
            library=library_of(source.meta),
            fragments=tuple([Fragment(*one) for one in files]),
            part=part,
            root=source.root,
        )

    def difference(self, seen: Seen) -> ChangedSourceError | None:
        if seen is None or seen.source is None:
            return None
        return Pass([self.right], self._state(seen)).difference()

    def gone(self, seen: Seen, again: Seen) -> Sequence[str]:
        files = self.right._source.files
        if seen is None or seen.source is None or files is None:
            return ()
        known = [Fragment(*one) for one in seen.source[4]]
        before = 0 if again is None or again.source is None else len(again.source[4])
        archived = files.compare(known).archived
        return [one.path for one in known[before:] if one.path in archived]

    def of_others(self, seen: Seen) -> Seen:
        if seen is None:
            return None
        if seen.source is None or self.right._source.state is not None:
            return replace(seen, count=0, source=None)
        rows, ahead, ended, known, files, part = seen.source
        state = self._state(seen)
        if state is not None and self.right._source.goes_on(state):
            ahead = rows
        else:
            files, part = [], -1
        steps = [
            (name, options, step.of_others(one))
            for step, (name, options, one) in zip(Pass([self.right]).steps, known, strict=False)
        ]
        return replace(seen, count=0, source=(ahead, 0, ended, steps, files, part))

    def on_collection(self, inputs: Sequence[Any], seen: Seen, keeps_rows: bool) -> Any:
        raise NotImplementedError(
            "merge_asof of two streams (or resample at edges of buckets) is no collection; ask Dask collections"
        )


@dataclass(frozen=True)
class LookUp(Step):
    """Adds to each row its match in a frame; the state is the last key, as keys must not decrease."""

    right: Any
    question: AsOf

    label = "merge_asof"

    @property
    def options(self) -> str:
        return described((self.right, self.question))

    def advance(self, batches: Sequence[Any], seen: Seen, ends: bool) -> tuple[Any, Seen]:
        (left,) = batches
        answer = self._matched(left)
        return answer, end_of(self.question.left, left, seen)

    def _matched(self, left: Any) -> Any:
        return self.question.merged(left, self.right)

    def on_collection(self, inputs: Sequence[Any], seen: Seen, keeps_rows: bool) -> Any:
        (left,) = inputs
        return dask_engine().map_partitions(left, self._matched, keeps_divisions=keeps_rows)
