"""The outer look-back: partitions look back at the aggregates of earlier partitions, as tiles do in a kernel.

A partition gets two tasks: its aggregate, and its output from the aggregates before it. Aggregates of a
window of partitions are combined once, in one more task, so that no partition looks back at more than
a few windows. The order of combination is fixed by positions, so results do not depend on workers or
timing; an output depends on earlier partitions only, so partitions stream through memory in order.
Partitions that are in memory anyway need not stream: one task combines the prefixes of all those of a
window, so that a worker fetches one object a window rather than each aggregate.

This module must never know what a carry computes: it takes any object with ``aggregate``, ``combine``
and ``apply``. The idea is decoupled look-back: Merrill and Garland, NVR-2016-002, section 4.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from operator import getitem
from typing import Any

from dask.array.core import Array, unify_chunks
from dask.dataframe.dask_expr import new_collection
from dask.dataframe.dask_expr._collection import FrameBase
from dask.dataframe.dask_expr._cumulative import CumulativeAggregations
from dask.dataframe.dask_expr._expr import Expr, Projection, plain_column_projection
from dask.highlevelgraph import HighLevelGraph, MaterializedLayer
from dask.task_spec import GraphNode, List, Task, TaskRef
from dask.tokenize import tokenize

from ..frames.registry import Schema, aligned, common_schema, held_to, names_of, schema_of
from ..ops.carry import Carry, DataFrameCarry, Summary
from .named import Named, input_of, is_held

Collection = FrameBase
"""The type of frames and series that are Dask collections; Dask itself asks cuDF's for a column of that name."""

Key = Any

WINDOW = 16
"""Partitions a window. An output depends on half a window of aggregates on average; a window costs one
more task: 2.06 tasks a partition in all, and for 10,000 partitions 17 dependencies an output.

Where one task combines the prefixes of a window, an output depends on that task alone. Measured with 256 persisted
partitions of 3,000 rows on a local cluster of two processes, 2 CPU cores: cumsum 1.38 s without, 1.06 s with it,
rolling(100).sum 1.56 and 1.26 s; a worker's event loop for 32 partitions: 0.050 and 0.044 s, 0.058 and 0.045 s."""

CHAIN = 64
"""Windows up to which prefixes are chained, each from the one before; beyond, windows nest, so that the
longest path through a graph stays short."""


def _combine(carry: Summary, *aggregates: Any) -> Any:
    return carry.combine(aggregates)


def _aggregate(carry: Summary, partition: Any) -> Any:
    return carry.aggregate(partition)


def combined(carry: Summary, aggregates: Sequence[Any]) -> Any:
    """Return one aggregate of several in scan order; None of none."""
    if not aggregates:
        return None
    return aggregates[0] if len(aggregates) == 1 else carry.combine(aggregates)


def _apply(carry: Carry, partition: Any, *aggregates: Any) -> Any:
    return carry.apply(partition, combined(carry, aggregates))


def _running(carry: Summary, *aggregates: Any) -> list[Any]:
    """Return what the first none, one, two and so on of some aggregates combine to.

    Each is combined from all of them, not from the one before: its bits are those of an output that does so itself.
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
) -> dict[Key, Task]:
    """Return the tasks that make ``outputs[i]`` of ``inputs[i]`` and the aggregates before it.

    Parameters
    ----------
    name : str
        Unique name; the aggregates' keys start with it.
    inputs : sequence of TaskRef or List
        One a partition, in order.
    outputs : sequence of key
    carry : Carry
    suffix : tuple, optional
        What tells this chain from others of the same name, in the aggregates' keys.
    held : bool, default False
        Whether all inputs are in memory anyway, so that outputs may wait for their whole window.

    Returns
    -------
    dict of key to Task
        Two tasks a partition (the last needs no aggregate) and one for each full window.
    """
    if carry.reverse:
        inputs, outputs = inputs[::-1], outputs[::-1]
    graph: dict[Key, Task] = {}
    before = prefixes(name, inputs, carry, graph, suffix, held=held)
    for partition, key, earlier in zip(inputs, outputs, before, strict=True):
        by = final(carry) if key == outputs[-1] else carry
        graph[key] = Task(key, _apply, by, partition, *earlier)
    return graph


def prefixes(
    name: str,
    inputs: Sequence[Any],
    carry: Summary,
    graph: dict[Key, Task],
    suffix: Key = (),
    *,
    held: bool = False,
) -> list[list[Any]]:
    """Add the tasks of aggregates and windows to a graph; return, a partition, what combines to its prefix.

    Parameters are those of `tasks`; inputs are in scan order.
    """
    aggregates: list[Any] = []
    for i, partition in enumerate(inputs[:-1]):
        key = (f"aggregate-{name}", i, *suffix)
        graph[key] = Task(key, _aggregate, carry, partition)
        aggregates.append(TaskRef(key))
    size = getattr(carry, "window", None)
    shared = held and size is None  # large aggregates are sent only to who needs them
    return _Windows(name, carry, suffix, graph, size or WINDOW, shared).prefixes(aggregates)


def final(carry: Carry) -> Carry:
    """Return the carry that applies to the partition that nothing follows."""
    return getattr(carry, "final", carry)


@dataclass(frozen=True)
class _Windows:
    """Tasks that combine the aggregates of windows; if `shared`, one a window does so for all its positions."""

    name: str
    carry: Summary
    suffix: Key
    graph: dict[Key, Task]
    size: int
    shared: bool

    def add(self, label: str, level: int, number: int, what: Any, aggregates: list[Any]) -> TaskRef:
        """Add a task to the graph; return what refers to it."""
        key = (f"{label}-{self.name}", level, number, *self.suffix)
        self.graph[key] = Task(key, what, self.carry, *aggregates)
        return TaskRef(key)

    def prefixes(self, aggregates: list[Any], level: int = 0) -> list[list[Any]]:
        """For each position up to the last, what combines, in order, to its prefix."""
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
    """What stands for a partition: the schema of its columns, and what its carry says of it."""

    schema: Schema
    inner: Any


@dataclass(frozen=True)
class MatchingSummary:
    """A summary that refuses partitions whose columns differ from those of the others."""

    carry: Summary
    checked: Schema | None = None
    """The columns that were checked before."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "carry":
            raise AttributeError(name)
        return getattr(self.carry, name)  # what it says of itself, where it says it

    def aggregate(self, partition: Any) -> Aggregate:
        with held_to(self.checked, partition):
            return Aggregate(schema_of(partition), self.carry.aggregate(partition))

    def combine(self, aggregates: Sequence[Aggregate]) -> Aggregate:
        schema = common_schema([a.schema for a in aggregates])
        return Aggregate(schema, self.carry.combine([a.inner for a in aggregates]))


@dataclass(frozen=True)
class Matching(MatchingSummary):
    """A carry that refuses partitions whose columns differ from those of the partitions before."""

    carry: DataFrameCarry

    @property
    def final(self) -> Matching:
        """The carry for the partition that nothing follows."""
        last: Any = final(self.carry)
        return replace(self, carry=last)

    def apply(self, partition: Any, prefix: Aggregate | None) -> Any:
        if prefix is not None:
            common_schema([prefix.schema, schema_of(partition)])
        with held_to(self.checked, partition):
            return self.carry.apply(partition, None if prefix is None else prefix.inner)


class LookBack(Named, Expr):  # type: ignore[misc]
    """A carry over the partitions of a dataframe or series, as a Dask expression."""

    _parameters = ("frame", "carry")

    @property
    def _label(self) -> Any:
        return self.carry.label

    @functools.cached_property
    def _meta(self) -> Any:
        return self.carry.meta(self.frame._meta)

    @property
    def carry(self) -> Any:
        """The carry: an operand, not a column."""
        return self.operand("carry")

    def _divisions(self) -> tuple[Any, ...]:
        divisions = self.frame.divisions
        keeps = self.carry.keeps_index or getattr(self.carry, "keeps_divisions", False)
        return tuple(divisions) if keeps else (None,) * len(divisions)

    def _simplify_up(self, parent: Any, dependents: Any) -> Any:
        if isinstance(parent, Projection) and self.carry.columnwise and self.frame.ndim == 2:
            keys = list(getattr(self.carry, "key_columns", ()))
            if not keys or parent.ndim == 2:
                return plain_column_projection(self, parent, dependents, additional_columns=keys)
            # keys are columns of a frame, even one that alone is asked for
            asked = Projection(self, list(parent.columns))
            narrow = plain_column_projection(self, asked, dependents, additional_columns=keys)
            return None if narrow is None else Projection(narrow, parent.operand("columns"))
        return None

    def _layer(self) -> dict[Key, Any]:
        count = self.frame.npartitions
        inputs = [input_of(self.frame, i) for i in range(count)]
        outputs = [(self._name, i) for i in range(count)]
        carry = replace(self.carry, checked=schema_of(self.frame._meta))
        return tasks(self._name, inputs, outputs, carry, held=is_held(self.frame))

    def __dask_annotations__(self) -> dict[str, dict[Key, int]]:
        """Let workers make the prefixes of persisted partitions before any output, which no worker waits for.

        Dask's order has what belongs to a window behind all outputs of the window before. It asks only the expression
        that is computed, not those that it is made of, so this asks these.
        """
        parts = [p for p in self.walk() if isinstance(p, LookBack) and is_held(p.frame)]
        shared = [t for part in parts for t in part._layer().values() if t.func is _running]
        keys = {key for task in shared for key in (task.key, *task.dependencies)}
        return {"priority": dict.fromkeys(keys, 1)}


class AlignedLookBack(LookBack, CumulativeAggregations):  # type: ignore[misc]
    """A carry whose output has the rows and the index of its input.

    Dask knows of its own cumulative expressions that they are aligned with their input, so that both can be
    columns of one frame though divisions are unknown. Being one of them says the same of this.
    """

    def _lower(self) -> None:
        return None


def meta_of(obj: Any) -> Any:
    """Return the empty frame or series that stands for a Dask collection; anything else is its own."""
    return obj._meta if isinstance(obj, Collection) else obj


def by_partition(obj: Any, function: Callable[..., Any], *given: Any, **options: Any) -> Any:
    """Return what a function makes of each partition of a Dask collection; options are those of `map_partitions`.

    Dask does not compare the columns with those of `meta`, as it takes one NaN for another label than the next.
    """
    names = names_of(obj._meta)
    return obj.map_partitions(
        _on_aligned, function, names, *given, enforce_metadata=False, **options
    )


def _on_aligned(partition: Any, function: Any, known: Any, /, *given: Any, **options: Any) -> Any:
    return function(aligned(partition, known), *given, **options)


def look_back(obj: Any, carry: DataFrameCarry) -> Any:
    """Return `carry` over a frame or series: computed at once, or lazily for a Dask collection."""
    if isinstance(obj, Collection):
        carry.check(obj._meta)
        expression = AlignedLookBack if carry.keeps_index else LookBack
        return new_collection(expression(obj.expr, Matching(carry)))
    carry.check(obj)
    return final(carry).apply(obj, None)


def over_blocks(
    arrays: Sequence[Array], carry: Carry, axis: int, meta: Any, beside: Array | None = None
) -> Array:
    """Return `carry` over the blocks of Dask arrays along an axis.

    Parameters
    ----------
    arrays : sequence of dask.array.Array
        Of one shape; several are given to the carry as a list of blocks.
    carry : Carry
    axis : int
    meta : array
        Empty array of the result's type and number of dimensions.
    beside : dask.array.Array, optional
        One item a place along the axis; its block is given to the carry last.
    """
    indices = tuple(range(arrays[0].ndim))
    along = [] if beside is None else [beside, (axis,)]
    _, arrays = unify_chunks(*(part for array in arrays for part in (array, indices)), *along)
    name, held = f"{carry.label}-{tokenize(carry, *arrays)}", all(map(_was_persisted, arrays))
    blocks = list(arrays[0].numblocks)
    count, blocks[axis] = blocks[axis], 1
    graph: dict[Key, Any] = {}
    for first in product(*map(range, blocks)):
        line = [(*first[:axis], i, *first[axis + 1 :]) for i in range(count)]
        inputs = [_block(arrays, at, axis) for at in line]
        outputs = [(name, *at) for at in line]
        graph |= tasks(name, inputs, outputs, carry, suffix=first, held=held)
    layers = HighLevelGraph.from_collections(name, graph, dependencies=arrays)
    return Array(layers, name, arrays[0].chunks, meta=meta, dtype=meta.dtype)


def _was_persisted(array: Array) -> bool:
    """Tell whether the blocks of an array are in memory whatever is computed."""
    layer = array.dask.layers[array.name]
    return isinstance(layer, MaterializedLayer) and not any(
        isinstance(block, (GraphNode, tuple)) for block in layer.values()
    )


def _block(arrays: Sequence[Array], at: tuple[int, ...], axis: int) -> Any:
    places = [at if array.ndim == len(at) else (at[axis],) for array in arrays]
    refs = [TaskRef((array.name, *place)) for array, place in zip(arrays, places, strict=True)]
    return refs[0] if len(refs) == 1 else List(*refs)
