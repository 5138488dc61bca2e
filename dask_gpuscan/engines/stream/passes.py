"""Passes over a source: what computes one stream, or several of the same source together."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from ...frames.registry import library_of, names_of
from ...ops.windows.halo import joined_rows
from .operations import Operation
from .progress import shown
from .state import State
from .steps import Each, Seen

Stream = Any
"""A `Stream`, whose methods call this module."""


class Pass:
    """One pass over a source, which computes some streams.

    Parameters
    ----------
    outputs : sequence of Stream
        Of one source.
    state : State, optional
        As for `Stream.begin`.
    """

    def __init__(self, outputs: Sequence[Stream], state: State | None = None) -> None:
        self.outputs, self.source = outputs, outputs[0]._source
        self.nodes = in_order(outputs)
        pairs = [(node._step, node._inputs) for node in self.nodes if node._step is not None]
        self.steps = [step for step, _ in pairs]
        self.operations = [(step.label, step.options) for step in self.steps]
        self.kept_by = [step.kept_by(inputs[0]._meta) for step, inputs in pairs]
        self.depends = [any(map(keeps_something, in_order(inputs))) for _, inputs in pairs]
        self.seen: list[Seen] = [None] * len(self.steps)
        self.rows, self.ended, self.is_read = 0, False, False
        self.library = library_of(self.source.meta)
        before = self.source.state
        known = 0 if before is None else before.rows
        before = before if state is None else state
        if before is not None:
            columns = [step.columns_in_states for step in self.steps]
            self.seen = before.start(self.source.schema, self.operations, self.library, columns)
            self.rows, self.ended = before.rows, before.ended
        if state is None:
            each = zip(self.steps, self.seen, strict=True)
            self.seen = [step.of_others(seen) for step, seen in each]
        self.known, self.behind = known, self.rows - known

    @property
    def state(self) -> State:
        """What was seen with the last batches."""
        rows = None if self.is_read else self.rows - self.known
        each = zip(self.steps, self.seen, strict=True)
        self.seen = [step.finished(seen, rows) for step, seen in each]
        found = zip(self.operations, self.seen, self.kept_by, strict=True)
        operations = tuple(
            replace(Operation(*what, seen, *kept_by), depends=depends)
            for (what, seen, kept_by), depends in zip(found, self.depends, strict=True)
        )
        schema, library = self.source.schema, self.library
        return State(schema, operations, self.rows, ended=self.ended, library=library)

    def __iter__(self) -> Iterator[list[Any]]:
        """Yield the batches of the outputs, together; they may have no rows."""
        with shown(self.source, self.behind) as add:
            for frame in self.source.frames(self.behind, self._columns()):
                if self.ended and len(frame):
                    raise ValueError(
                        "state is of rows that ended, and what was open has been answered; read those with ends=False"
                    )
                yield self._advance(frame, False)
                add(frame)
        self.is_read = True
        if self.source.ends and not self.ended and any(step.has_end for step in self.steps):
            self.ended = True
            yield self._advance(self.source.meta, True)

    def _columns(self) -> list[Hashable] | None:
        """Return the columns of the source that are read; None if these are all."""
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
            inputs = [batches[one] for one in node._inputs]
            batches[node], seen = node._step.advance(inputs, next(before), ends)
            behind.append(seen)
        self.seen = behind
        self.rows += len(frame)
        return [batches[output] for output in self.outputs]


def keeps_something(node: Stream) -> bool:
    """Tell whether what computes a stream depends on rows before."""
    return type(node._step) not in (Each, type(None))


def in_order(outputs: Iterable[Stream]) -> list[Stream]:
    """Return streams and all that they are computed of, each behind its inputs."""
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


def begun(streams: Sequence[Stream], state: State | None = None) -> Pass:
    """Return a new pass over the source of some streams, whose state is from now on that of each of them."""
    passing = Pass(streams, state)
    for one in streams:
        one._pass = passing
    return passing


def computed(streams: Sequence[Stream]) -> list[Any]:
    """Return all rows of streams of one source, as frames of its kind."""
    passing = begun(streams)
    write = passing.source.format.write
    batches = list(passing) or [[one._meta for one in streams]]
    return [
        write(joined_rows(part) if part[1:] else part[0]) for part in zip(*batches, strict=True)
    ]
