"""As-of merges of a stream with another, which is read as far as the rows of the first one reach."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary

from ...ops.asof.asof import AsOf
from ...ops.asof.in_turn import RightRows, end_of, merged_in_turn, read_to_the_end
from ..dask.expressions import map_partitions
from .options import described
from .passes import Pass
from .sources import rows_behind
from .steps import Seen, Step
from .stream import Stream


@dataclass(frozen=True)
class AsOfStep(Step):
    """Each row with its match in another stream.

    What was seen says how many rows of the other stream were read. Its batches come from an iterator that stands behind
    these; what was seen and has none begins the other stream again, and leaves out the rows that were read.
    """

    right: Stream
    question: AsOf
    readers: WeakKeyDictionary[RightRows, Iterator[Any]] = field(default_factory=WeakKeyDictionary)

    label = "merge_asof"

    @property
    def options(self) -> str:
        return described(self.question)

    def advance(self, batches: Sequence[Any], seen: Seen, ends: bool) -> tuple[Any, Seen]:
        (left,), (seen, reader) = batches, self._reader(seen)
        answer, found = merged_in_turn(self.question, left, seen, lambda: next(reader, None))
        self.readers[found] = reader
        return answer, found

    def finished(self, seen: Seen) -> Seen:
        seen, reader = self._reader(seen)
        found = read_to_the_end(self.question, seen, lambda: next(reader, None))
        self.readers[found] = reader
        return found

    def _reader(self, seen: Seen) -> tuple[RightRows, Iterator[Any]]:
        """Return what was seen, and the batches of the other stream behind it."""
        seen = seen or RightRows(self.right._meta)
        reader = self.readers.pop(seen, None)
        if reader is None:
            reader = rows_behind((batch for (batch,) in Pass([self.right])), seen.count)
        return seen, reader

    def of_others(self, seen: Seen) -> Seen:
        return seen and replace(seen, count=0)

    def on_collection(self, inputs: Sequence[Any], seen: Seen, keeps_rows: bool) -> Any:
        raise NotImplementedError(
            "merge_asof of two streams (or resample at edges of buckets) is no collection; ask Dask collections"
        )


@dataclass(frozen=True)
class LookUp(Step):
    """Each row with its match in a frame; what was seen is the last key, as keys must not decrease."""

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
        return map_partitions(left, self._matched, keeps_divisions=keeps_rows)
