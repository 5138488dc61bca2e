"""The outer look-back: partitions look back at the aggregates of earlier partitions, as tiles do in a kernel.

A partition gets two tasks: its aggregate, and its output from the aggregates before it. The aggregates of a window of
partitions are combined once, in one more task, so that no partition looks back at more than a few windows. The order of
combination depends only on positions, so that results do not depend on workers or timing. An output depends only on
earlier partitions, so that partitions stream through memory in order. Persisted partitions need not stream: one task
combines the prefixes of all partitions of a window, and a worker fetches one object for each window instead of each
aggregate. A partition may also look ahead: its output then depends on the aggregates before it and after it.

This module must not know what a carry computes: it takes any object with ``aggregate``, ``combine`` and ``apply``. The
idea is decoupled look-back: Merrill and Garland, NVR-2016-002, section 4.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Sequence
from dataclasses import field, replace
from operator import getitem
from typing import Any, ClassVar
from uuid import uuid4

import dask
from dask.sizeof import sizeof
from dask.task_spec import List, Task, TaskRef
from dask.utils import format_bytes, parse_bytes

from ...frames.registry import EXPLAINED, Schema, common_schema, explain_failure, schema_of
from ...kernels.late_dataclass import dataclass
from ...ops.core.carry import Carry, DataFrameCarry, OverlapCarry, Summary
from .compat import (
    CumulativeAggregations,
    Expr,
    Projection,
    plain_column_projection,
)
from .expressions import ExprMixin, collected, inputs_of, is_held

Key = Any

WINDOW = 16
"""The number of partitions in a window. An output depends on half a window of aggregates on average, and a window costs
one more task: 2.06 tasks for each partition in all, and for 10,000 partitions 17 dependencies for each output.

If one task combines the prefixes of a window, an output depends only on that task. Measured with 256 persisted
partitions of 3,000 rows on a local cluster of two processes, 2 CPU cores: cumsum 1.38 s without and 1.06 s with it,
rolling(100).sum 1.56 and 1.26 s; a worker's event loop for 32 partitions: 0.050 and 0.044 s, 0.058 and 0.045 s."""

CHAIN = 64
"""The largest number of windows for which each prefix is made from the one before; more windows are nested, so that the
longest path through a graph stays short."""


def _combine(carry: Summary, *aggregates: Any) -> Any:
    return carry.combine(aggregates)


def _aggregate(carry: Summary, partition: Any) -> Any:
    return carry.aggregate(partition)


def combined(carry: Summary, aggregates: Sequence[Any]) -> Any:
    """Combine aggregates in scan order to one; return None if there are none."""
    if not aggregates:
        return None
    return aggregates[0] if len(aggregates) == 1 else carry.combine(aggregates)


def _apply(carry: Carry, number: Any, partition: Any, *aggregates: Any) -> Any:
    try:
        return carry.apply(partition, combined(carry, aggregates))
    except ValueError as error:
        if type(error) is not ValueError:
            raise
        raise ValueError(f"partition {number}: {error}") from error


def _follow(carry: Carry, number: Any, partition: Any, before: Any) -> tuple[Any, Any]:
    try:
        return carry.follow(partition, before)
    except ValueError as error:
        if type(error) is not ValueError:
            raise
        raise ValueError(f"partition {number}: {error}") from error


def _running(carry: Summary, *aggregates: Any) -> list[Any]:
    """Return the combinations of the first 0, 1, 2 and so on aggregates.

    Each is combined from the aggregates and not from the previous combination, so that it has the same bits as if an
    output combined them.
    """
    return [combined(carry, aggregates[:count]) for count in range(len(aggregates) + 1)]


def tasks(
    name: str,
    inputs: Sequence[Any],
    outputs: Sequence[Key],
    carry: Carry,
    suffix: Key = (),
    *,
    held: bool = False,
    seen: Any = None,
) -> dict[Key, Task]:
    """Return the tasks that compute ``outputs[i]`` from ``inputs[i]`` and the aggregates before it.

    Parameters
    ----------
    name : str
        A unique name, which the keys of aggregates contain.
    inputs : sequence of TaskRef or List
        One for each partition, in order.
    outputs : sequence of key
    carry : Carry
    suffix : tuple, optional
        Distinguishes the keys of aggregates from those of other chains of this name.
    held : bool, default False
        Whether all inputs stay in memory anyway, so that outputs may wait for their whole window.
    seen : optional
        The aggregate of the rows before the first partition.

    Returns
    -------
    dict of key to Task
        Two tasks for each partition (the last one needs no aggregate) and one for each full window.
    """
    if carry.reverse:
        inputs, outputs = inputs[::-1], outputs[::-1]
    graph: dict[Key, Task] = {}
    before = prefixes(name, inputs, carry, graph, suffix, held=held, seen=seen)
    for partition, key, earlier in zip(inputs, outputs, before, strict=True):
        by = (carry.final or carry) if key == outputs[-1] else carry
        graph[key] = Task(key, _apply, by, key[-1], partition, *earlier)
    return graph


def prefixes(
    name: str,
    inputs: Sequence[Any],
    carry: Summary,
    graph: dict[Key, Task],
    suffix: Key = (),
    *,
    held: bool = False,
    seen: Any = None,
) -> list[list[Any]]:
    """Add the tasks of aggregates and windows to a graph; return, for each partition, the parts of its prefix.

    Parameters are those of `tasks`; inputs are in scan order.
    """
    aggregates: list[Any] = [] if seen is None else [seen]
    for i, partition in enumerate(inputs[:-1]):
        key = (f"aggregate-{name}", i, *suffix)
        graph[key] = Task(key, _aggregate, carry, partition)
        aggregates.append(TaskRef(key))
    shared = held and carry.window is None  # large aggregates are sent only where they are needed
    windows = _Windows(name, carry, suffix, graph, carry.window or WINDOW, shared)
    return windows.prefixes(aggregates)[0 if seen is None else 1 :]


@dataclass(frozen=True)
class _Windows:
    """Tasks that combine the aggregates of windows; if `shared`, one task of a window serves all its positions."""

    name: str
    carry: Summary
    suffix: Key
    graph: dict[Key, Task]
    size: int
    shared: bool

    def add(self, label: str, level: int, number: int, what: Any, aggregates: list[Any]) -> TaskRef:
        """Add a task to the graph; return a reference to it."""
        key = (f"{label}-{self.name}", level, number, *self.suffix)
        self.graph[key] = Task(key, what, self.carry, *aggregates)
        return TaskRef(key)

    def prefixes(self, aggregates: list[Any], level: int = 0) -> list[list[Any]]:
        """Return for each position the aggregates, in order, that combine to its prefix."""
        starts = range(0, max(len(aggregates), 1), self.size)
        windows = [aggregates[start : start + self.size] for start in starts]
        before: list[list[Any]] = [[]]
        chained = len(windows) <= CHAIN
        if not chained:
            full = enumerate(windows[:-1])
            totals = [self.add("window", level, g, _combine, window) for g, window in full]
            before = self.prefixes(totals, level + 1)
        positions: list[list[Any]] = []
        for g, window in enumerate(windows):
            known = before[g] + window
            counts = range(len(before[g]), len(known) + 1)
            found = [known[:count] for count in counts]
            if self.shared and len(known) > 1:
                ref = self.add("prefix", level, g, _running, known)
                found = [[Task(None, getitem, ref, n)] if n else [] for n in counts]
            elif chained and g + 1 < len(windows):
                found[-1] = [self.add("prefix", level, g, _combine, known)]
            positions += found[:-1]
            if chained:
                before.append(found[-1])
        return [*positions, found[-1]]


# --- dataframes --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Aggregate:
    """The schema of a partition, and its aggregate by the carry."""

    schema: Schema
    inner: Any


@dataclass(frozen=True)
class Checked:
    """A carry that refuses partitions with other columns than the others."""

    carry: Any
    checked: Schema | None = None
    """The schema that was checked before."""


@dataclass(frozen=True)
class MatchingSummary(Checked, Summary):
    """A summary of partitions."""

    carry: Summary

    @property
    def window(self) -> int | None:
        return self.carry.window

    def aggregate(self, partition: Any) -> Aggregate:
        try:
            return Aggregate(schema_of(partition), self.carry.aggregate(partition))
        except EXPLAINED:
            explain_failure(self.checked, partition)
            raise

    def combine(self, aggregates: Sequence[Aggregate]) -> Aggregate:
        schema = common_schema([a.schema for a in aggregates])
        return Aggregate(schema, self.carry.combine([a.inner for a in aggregates]))


@dataclass(frozen=True)
class Matching(MatchingSummary):
    """A carry over partitions."""

    carry: DataFrameCarry

    @property
    def reverse(self) -> bool:
        return self.carry.reverse

    @property
    def final(self) -> Matching:
        """The carry for the last partition."""
        return replace(self, carry=self.carry.final or self.carry)

    def apply(self, partition: Any, prefix: Aggregate | None) -> Any:
        if prefix is not None:
            common_schema([prefix.schema, schema_of(partition)])
        try:
            return self.carry.apply(partition, None if prefix is None else prefix.inner)
        except EXPLAINED:
            explain_failure(self.checked, partition)
            raise

    def follow(self, partition: Any, prefix: Aggregate | None) -> tuple[Any, Aggregate]:
        schemas = (
            [schema_of(partition)] if prefix is None else [prefix.schema, schema_of(partition)]
        )
        schema = common_schema(schemas)
        answer, inner = self.carry.follow(partition, None if prefix is None else prefix.inner)
        return answer, Aggregate(schema, inner)


@dataclass(frozen=True)
class Seen:
    """The aggregate of the rows before the first partition; to Dask, no two of them are equal."""

    aggregate: Aggregate
    token: str = field(default_factory=lambda: uuid4().hex)

    def __dask_tokenize__(self) -> str:
        return self.token


class LookBack(ExprMixin, Expr):  # type: ignore[misc]
    """A carry over the partitions of a dataframe or series, as a Dask expression."""

    _parameters = ("frame", "carry", "seen")
    _defaults: ClassVar[dict[str, Any]] = {"seen": None}

    @property
    def _label(self) -> Any:
        return self.carry.label

    @functools.cached_property
    def _meta(self) -> Any:
        return self.carry.meta(self.frame._meta)

    @property
    def carry(self) -> Any:
        """The carry without its checks: an operand, not a column."""
        return self.operand("carry").carry

    @property
    def before(self) -> Aggregate | None:
        """The aggregate of the rows before the first partition, if there are any."""
        seen = self.operand("seen")
        return None if seen is None else seen.aggregate

    def _divisions(self) -> tuple[Any, ...]:
        divisions = self.frame.divisions
        keeps = self.carry.keeps_index or self.carry.keeps_divisions
        return tuple(divisions) if keeps else (None,) * len(divisions)

    def _simplify_up(self, parent: Any, dependents: Any) -> Any:
        if self.before is not None:  # it has states of all columns
            return None
        if isinstance(parent, Projection) and self.carry.columnwise and self.frame.ndim == 2:
            keys = list(self.carry.key_columns)
            if not keys or parent.ndim == 2:
                return plain_column_projection(self, parent, dependents, additional_columns=keys)
            # a key is a column of a frame, even if it is the only chosen column
            asked = Projection(self, list(parent.columns))
            narrow = plain_column_projection(self, asked, dependents, additional_columns=keys)
            return None if narrow is None else Projection(narrow, parent.operand("columns"))
        return None

    def _layer(self) -> dict[Key, Any]:
        count = self.frame.npartitions
        inputs = inputs_of(self.frame)
        outputs = [(self._name, i) for i in range(count)]
        carry = replace(self.operand("carry"), checked=schema_of(self.frame._meta))
        held = is_held(self.frame)
        return tasks(self._name, inputs, outputs, carry, held=held, seen=self.before)

    def __dask_annotations__(self) -> dict[str, dict[Key, int]]:
        """Give prefixes of persisted partitions priority over outputs, as workers wait only for prefixes.

        Dask would order the tasks of a window after all outputs of the previous window. It takes annotations only from
        the computed expression, so that this one collects those of all look-backs in it.
        """
        parts = [p for p in self.walk() if isinstance(p, LookBack) and is_held(p.frame)]
        shared = [t for part in parts for t in part._layer().values() if t.func is _running]
        keys = {key for task in shared for key in (task.key, *task.dependencies)}
        return {"priority": dict.fromkeys(keys, 1)}


class AlignedLookBack(LookBack, CumulativeAggregations):  # type: ignore[misc]
    """A carry whose output has the rows and the index of its input.

    Dask knows that its own cumulative expressions are aligned with their input, so that both can be columns of one
    frame even if divisions are unknown. This class inherits from their base, so that Dask knows it of this class, too.
    """

    def _lower(self) -> None:
        return None


class InTurn(AlignedLookBack):
    """A carry of partitions without aggregates: each waits for what is handed on behind the one before."""

    def _layer(self) -> dict[Key, Any]:
        carry = replace(self.operand("carry"), checked=schema_of(self.frame._meta))
        graph: dict[Key, Any] = {}
        before: Any = self.before
        for i, partition in enumerate(inputs_of(self.frame)):
            both = (f"follow-{self._name}", i)
            graph[both] = Task(both, _follow, carry, i, partition, before)
            graph[self._name, i] = Task((self._name, i), getitem, TaskRef(both), 0)
            before = Task(None, getitem, TaskRef(both), 1)
        return graph


def look_back(obj: Any, carry: DataFrameCarry, seen: Any = None) -> Any:
    """Apply a carry to the rows of a collection; `seen` is the aggregate of the rows before them, if there are any."""
    carry.check(obj._meta)
    expression = AlignedLookBack if carry.keeps_index else LookBack
    if carry.in_turn:
        expression = InTurn
    return collected(expression(obj.expr, Matching(carry), _seen(obj, seen)))


def _seen(obj: Any, seen: Any) -> Seen | None:
    return None if seen is None else Seen(Aggregate(schema_of(obj._meta), seen))


# --- both ways ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MatchingOverlap(Checked):
    """A carry that looks both ways, and raises errors for partitions with different columns."""

    carry: OverlapCarry

    @property
    def before(self) -> Summary | None:
        return self._matching(self.carry.before)

    @property
    def after(self) -> Summary | None:
        return self._matching(self.carry.after)

    def apply(self, partition: Any, before: Aggregate | None, after: Aggregate | None) -> Any:
        around = [side for side in (before, after) if side is not None]
        if around:
            common_schema([*(side.schema for side in around), schema_of(partition)])
        inner = [None if side is None else side.inner for side in (before, after)]
        try:
            return self.carry.apply(partition, *inner)
        except EXPLAINED:
            explain_failure(self.checked, partition)
            raise

    def _matching(self, side: Summary | None) -> Summary | None:
        return None if side is None else MatchingSummary(side, self.checked)


class MapOverlap(LookBack):
    """A carry that looks both ways over the partitions of a dataframe or series, as a Dask expression."""

    def _layer(self) -> dict[Key, Any]:
        carry = replace(self.operand("carry"), checked=schema_of(self.frame._meta))
        name, count = self._name, self.frame.npartitions
        inputs = inputs_of(self.frame)
        graph: dict[Key, Any] = {}
        before: list[list[Any]] = [[]] * count
        after, held, seen = before, is_held(self.frame), self.before
        earlier, later = carry.before, carry.after
        if earlier is not None:
            before = prefixes(f"before-{name}", inputs, earlier, graph, held=held, seen=seen)
        if later is not None:
            behind = prefixes(f"after-{name}", inputs[::-1], later, graph, held=held)
            after = behind[::-1]
        for i, partition in enumerate(inputs):
            sides = [List(*given) for given in (before[i], after[i])]
            graph[name, i] = Task((name, i), _apply_between, carry, i, partition, *sides)
        return graph


class AlignedMapOverlap(MapOverlap, AlignedLookBack):
    """A carry whose output has the rows and the index of its input."""


def _apply_between(
    carry: OverlapCarry, number: int, partition: Any, before: list[Any], after: list[Any]
) -> Any:
    # the carry makes its sides anew each time, and one aggregate needs none
    found = [
        combined(getattr(carry, side), given) if len(given) > 1 else next(iter(given), None)
        for side, given in (("before", before), ("after", after))
    ]
    for side in found:
        _warn_if_large(side)
    try:
        return carry.apply(partition, *found)
    except ValueError as error:
        if type(error) is not ValueError:
            raise
        raise ValueError(f"partition {number}: {error}") from error


def _warn_if_large(side: Any) -> None:
    """Warn if a partition gets a larger aggregate than the size of a chunk in Dask's configuration."""
    limit = parse_bytes(dask.config.get("array.chunk-size"))
    size = sizeof(side.inner) if isinstance(side, Aggregate) else 0
    if size > limit:
        warnings.warn(
            f"windows reach {format_bytes(size)} over a border of partitions, more than array.chunk-size "
            f"({format_bytes(limit)}), and each partition holds as much again; take shorter windows",
            stacklevel=2,
        )


def map_overlap(obj: Any, carry: OverlapCarry, seen: Any = None) -> Any:
    """Apply a carry to each partition of a collection with its halos; `seen` as in `look_back`."""
    carry.check(obj._meta)
    expression = AlignedMapOverlap if carry.keeps_index else MapOverlap
    return collected(expression(obj.expr, MatchingOverlap(carry), _seen(obj, seen)))
