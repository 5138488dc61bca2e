"""The outer look-back: partitions look back at the aggregates of earlier partitions, as tiles do in a kernel.

A partition gets two tasks: its aggregate, and its output from the aggregates before it. Aggregates of a
window of partitions are combined once, in one more task, so that no partition looks back at more than
a few windows. The order of combination is fixed by positions, so results do not depend on workers or
timing; an output depends on earlier partitions only, so partitions stream through memory in order.

This module must never know what a carry computes: it takes any object with ``aggregate``, ``combine``
and ``apply``. The idea is decoupled look-back: Merrill and Garland, NVR-2016-002, section 4.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from dask.array.core import Array, unify_chunks
from dask.dataframe.dask_expr import new_collection
from dask.dataframe.dask_expr._collection import FrameBase
from dask.dataframe.dask_expr._cumulative import CumulativeAggregations
from dask.dataframe.dask_expr._expr import Expr, Projection, plain_column_projection
from dask.highlevelgraph import HighLevelGraph
from dask.task_spec import List, Task, TaskRef
from dask.tokenize import tokenize

from ..frames.registry import Schema, common_schema, schema_of
from ..ops.carry import Carry, DataFrameCarry, Summary
from .named import Named, partition_of

Collection = FrameBase
"""The type of frames and series that are Dask collections; Dask itself asks cuDF's for a column of that name."""

Key = Any

WINDOW = 16
"""Partitions a window. An output depends on half a window of aggregates on average; a window costs one
more task: 2.06 tasks a partition in all, and for 10,000 partitions 17 dependencies an output."""

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


def tasks(
    name: str, inputs: Sequence[Any], outputs: Sequence[Key], carry: Carry, suffix: Key = ()
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

    Returns
    -------
    dict of key to Task
        Two tasks a partition (the last needs no aggregate) and one for each full window.
    """
    if carry.reverse:
        inputs, outputs = inputs[::-1], outputs[::-1]
    graph: dict[Key, Task] = {}
    before = prefixes(name, inputs, carry, graph, suffix)
    for partition, key, earlier in zip(inputs, outputs, before, strict=True):
        by = final(carry) if key == outputs[-1] else carry
        graph[key] = Task(key, _apply, by, partition, *map(TaskRef, earlier))
    return graph


def prefixes(
    name: str, inputs: Sequence[Any], carry: Summary, graph: dict[Key, Task], suffix: Key = ()
) -> list[list[Key]]:
    """Add the tasks of aggregates and windows to a graph; return, a partition, the keys that combine to its prefix.

    Parameters are those of `tasks`; inputs are in scan order.
    """
    aggregates: list[Key] = []
    for i, partition in enumerate(inputs[:-1]):
        key = (f"aggregate-{name}", i, *suffix)
        graph[key] = Task(key, _aggregate, carry, partition)
        aggregates.append(key)
    return _prefixes(name, aggregates, carry, suffix, graph, 0)


def final(carry: Carry) -> Carry:
    """Return the carry that applies to the partition that nothing follows."""
    return getattr(carry, "final", carry)


def _prefixes(
    name: str, keys: list[Key], carry: Summary, suffix: Key, graph: dict[Key, Task], level: int
) -> list[list[Key]]:
    """For each position up to the last, the keys whose values combine, in order, to its prefix."""
    size = getattr(carry, "window", WINDOW)
    windows = [keys[at : at + size] for at in range(0, len(keys), size)] or [[]]
    before: list[list[Key]]
    if len(windows) <= CHAIN:
        before = [[]]
        for g, window in enumerate(windows[:-1]):
            key = (f"prefix-{name}", level, g, *suffix)
            graph[key] = Task(key, _combine, carry, *map(TaskRef, before[-1] + window))
            before.append([key])
    else:
        combined = []
        for g, window in enumerate(windows[:-1]):
            key = (f"window-{name}", level, g, *suffix)
            graph[key] = Task(key, _combine, carry, *map(TaskRef, window))
            combined.append(key)
        before = _prefixes(name, combined, carry, suffix, graph, level + 1)
    positions = [before[g] + w[:i] for g, w in enumerate(windows) for i in range(len(w))]
    return [*positions, before[-1] + windows[-1]]


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

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "carry":
            raise AttributeError(name)
        return getattr(self.carry, name)  # what it says of itself, where it says it

    def aggregate(self, partition: Any) -> Aggregate:
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
        if prefix is None:
            return self.carry.apply(partition, None)
        common_schema([prefix.schema, schema_of(partition)])
        return self.carry.apply(partition, prefix.inner)


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
        inputs = [partition_of(self.frame, i) for i in range(count)]
        outputs = [(self._name, i) for i in range(count)]
        return tasks(self._name, inputs, outputs, self.carry)


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
    name = f"{carry.label}-{tokenize(carry, *arrays)}"
    blocks = list(arrays[0].numblocks)
    count, blocks[axis] = blocks[axis], 1
    graph: dict[Key, Any] = {}
    for first in product(*map(range, blocks)):
        line = [(*first[:axis], i, *first[axis + 1 :]) for i in range(count)]
        inputs = [_block(arrays, at, axis) for at in line]
        outputs = [(name, *at) for at in line]
        graph |= tasks(name, inputs, outputs, carry, suffix=first)
    layers = HighLevelGraph.from_collections(name, graph, dependencies=arrays)
    return Array(layers, name, arrays[0].chunks, meta=meta, dtype=meta.dtype)


def _block(arrays: Sequence[Array], at: tuple[int, ...], axis: int) -> Any:
    places = [at if array.ndim == len(at) else (at[axis],) for array in arrays]
    refs = [TaskRef((array.name, *place)) for array, place in zip(arrays, places, strict=True)]
    return refs[0] if len(refs) == 1 else List(*refs)
