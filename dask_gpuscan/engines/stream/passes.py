"""Passes over a source, which compute one stream or several streams of the same source together."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import pandas as pd

from ...frames.messages import HINT
from ...frames.registry import library_of, names_of
from ...ops.windows.halo import joined_rows
from .progress import shown
from .sources.files import Place
from .sources.fragments import ChangedSourceError, Fragment
from .sources.marks import NO_MARK, mark_of
from .sources.source import Start
from .states.operations import Operation
from .states.state import State
from .steps import Each, LookAhead, Seen

Stream = Any
"""A `Stream`; its methods call this module."""


class Pass:
    """One pass over a source, which computes streams.

    Parameters
    ----------
    outputs : sequence of Stream
        Streams of one source.
    state, start : State and Start, optional
        As for `Stream.begin`.
    """

    def __init__(
        self, outputs: Sequence[Stream], state: State | None = None, start: Start | None = None
    ) -> None:
        self.outputs, self.source = outputs, outputs[0]._source
        self.nodes = in_order(outputs)
        pairs = [(node._step, node._inputs) for node in self.nodes if node._step is not None]
        self.steps = [step for step, _ in pairs]
        self.operations = [(step.label, step.options) for step in self.steps]
        self.kept_by = [step.kept_by(inputs[0]._meta) for step, inputs in pairs]
        self.depends = [any(map(keeps_something, in_order(inputs))) for _, inputs in pairs]
        self.seen: list[Seen] = [None] * len(self.steps)
        self.rows, self.ended, self.is_read = 0, False, False
        self._number = 0
        """The number of batches that were read, for messages."""
        self.library = library_of(self.source.meta)
        before = self.source.state if state is None else state
        if before is not None:
            columns = [step.columns_in_states for step in self.steps]
            self.seen = before.start(self.source.schema, self.operations, self.library, columns)
            self.rows, self.ended = before.rows, before.ended
        if state is None:
            each = zip(self.steps, self.seen, strict=True)
            self.seen = [step.of_others(seen) for step, seen in each]
        self._behind, self._known = state, start
        self.joins = True
        """Whether short files are read as one batch."""
        self._mark = NO_MARK if before is None else before.mark
        self._last: Any = None
        """The last batch with rows of a source without files."""
        base = self.source.state
        self.known = 0 if base is None else base.rows
        """The number of rows in the source's own state."""
        self.place: Place | None = None
        """How far a source of files was read; None for other sources."""

    @cached_property
    def start(self) -> Start:
        """Where the pass begins; raises a ChangedSourceError if files that were read have changed."""
        found: Start = self._known or self.source.start(self._behind)
        if found.comparison.error is not None:
            raise found.comparison.error
        return found

    def difference(self, of_sides: bool = False) -> ChangedSourceError | None:
        """Return the error for changed files of the source, unless `of_sides`, or of the sources that steps read."""
        try:
            _ = of_sides or self.start
        except ChangedSourceError as error:
            return error
        each = zip(self.steps, self.seen, strict=True)
        found = (step.difference(seen) for step, seen in each)
        return next((error for error in found if error is not None), None)

    @cached_property
    def _read(self) -> list[Fragment]:
        """The files that were read to their ends."""
        return list(self.start.seen)

    @property
    def state(self) -> State:
        """The state after the last batches."""
        rows = None if self.is_read else self.rows - self.known
        each = zip(self.steps, self.seen, strict=True)
        self.seen = [step.finished(seen, rows) for step, seen in each]
        values = [step.value(seen) for step, seen in zip(self.steps, self.seen, strict=True)]
        found = zip(self.operations, values, self.kept_by, strict=True)
        operations = tuple(
            replace(Operation(*what, seen, *kept_by), depends=depends)
            for (what, seen, kept_by), depends in zip(found, self.depends, strict=True)
        )
        schema, library, place = self.source.schema, self.library, self.place
        part = -1 if place is None or place.is_whole else place.rows
        fragments = tuple(self._read) + (() if part < 0 else (place.fragment._replace(place=""),))  # type: ignore[union-attr]
        return State(
            schema,
            operations,
            self.rows,
            ended=self.ended,
            library=library,
            fragments=fragments,
            part=part,
            root=self.source.root,
            mark=self._mark if self._last is None else mark_of([self._last]),
        )

    def __iter__(self) -> Iterator[list[Any]]:
        """Yield lists with a batch for each output; batches may have no rows."""
        with shown(self.source, self.start.skipped) as add:
            for frame, place in self.source.frames(self.start, self._columns(), self.joins):
                if self.ended and len(frame):
                    raise ValueError(
                        "state is of rows that ended, and what was open has been answered: begin anew, with "
                        "ends=False as long as rows follow"
                    )
                answers = self._advance(frame, False)
                self._number += 1
                self.place = place
                if place is None and len(frame):
                    self._last = frame
                if place is not None:
                    whole = [*place.before, *([place.fragment] if place.is_whole else [])]
                    self._read += [one._replace(place="") for one in whole]
                yield answers
                add(frame)
        self.is_read = True
        if self.source.ends and not self.ended and any(step.has_end for step in self.steps):
            self.ended = True
            yield self._advance(self.source.meta, True)

    def _columns(self) -> list[Hashable] | None:
        """Return the names of the columns to read; None for all columns."""
        if any(output._step is None for output in self.outputs):
            return None
        asked = list[Hashable]()
        for node in self.nodes:
            if node._step is not None and any(one._step is None for one in node._inputs):
                if not node._step.chosen:
                    return None
                asked += node._step.chosen
        return [name for name in names_of(self.source.meta) if name in asked]

    def _advance(self, frame: Any, ends: bool) -> list[Any]:
        batches: dict[Any, Any] = {}
        before, behind = iter(self.seen), list[Seen]()
        for node in self.nodes:
            if node._step is None:
                batches[node] = frame
                continue
            inputs, known = [batches[one] for one in node._inputs], next(before)
            try:
                batches[node], seen = node._step.advance(inputs, known, ends)
            except Exception as error:
                if not str(error).endswith(HINT):  # the hint is about a column, not about a state
                    node._step.check_seen([one._meta for one in node._inputs], known)
                if type(error) is not ValueError:
                    raise
                waits = " or before it" if isinstance(node._step, LookAhead) else ""
                raise ValueError(f"batch {self._number - ends}{waits}: {error}") from error
            behind.append(seen)
        self.seen = behind
        self.rows += len(frame)
        return [_given(batches[output], output) for output in self.outputs]


def _given(batch: Any, output: Stream) -> Any:
    """Return a batch that the user may change: a batch of the source itself is copied, as it may be a user's frame."""
    if output._step is not None:
        return batch
    is_lazy = isinstance(batch, (pd.DataFrame, pd.Series))
    return batch.copy(deep=None if is_lazy else True)


def keeps_something(node: Stream) -> bool:
    """Return whether the step of a stream depends on earlier rows."""
    return type(node._step) not in (Each, type(None))


def in_order(outputs: Iterable[Stream]) -> list[Stream]:
    """Return streams and all their inputs, each after its own inputs."""
    found: dict[Stream, None] = {}

    def visit(node: Stream) -> None:
        if id(node) not in met:
            met.add(id(node))
            for one in node._inputs:
                visit(one)
            found[node] = None

    met = set[int]()
    for output in outputs:
        visit(output)
    return list(found)


def begun(
    streams: Sequence[Stream], state: State | None = None, start: Start | None = None
) -> Pass:
    """Return a new pass over the source of some streams; their state is that of this pass from now on."""
    passing = Pass(streams, state, start)
    for one in streams:
        one._pass = passing
    return passing


def computed(streams: Sequence[Stream]) -> list[Any]:
    """Return all rows of streams of one source, as frames of its library."""
    passing = begun(streams)
    write = passing.source.format.write
    batches = list(passing) or [[one._meta for one in streams]]
    return [
        write(joined_rows(part) if part[1:] else part[0]) for part in zip(*batches, strict=True)
    ]
