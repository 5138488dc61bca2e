"""Partitions that look at the aggregates of the partitions before them, of those behind them, or of both."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import dask
from dask.dataframe.dask_expr import new_collection
from dask.sizeof import sizeof
from dask.task_spec import List, Task
from dask.utils import format_bytes, parse_bytes

from ..frames.registry import Schema, common_schema, held_to, schema_of
from ..ops.carry import Summary, SurroundedCarry
from .lookback import (
    Aggregate,
    AlignedLookBack,
    Collection,
    Key,
    LookBack,
    MatchingSummary,
    combined,
    prefixes,
)
from .named import input_of, is_held


@dataclass(frozen=True)
class MatchingSurroundings:
    """A carry that refuses partitions whose columns differ from those of the partitions around."""

    carry: SurroundedCarry
    checked: Schema | None = None
    """The columns that were checked before."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "carry":
            raise AttributeError(name)
        return getattr(self.carry, name)

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
        with held_to(self.checked, partition):
            return self.carry.apply(partition, *inner)

    def _matching(self, side: Summary | None) -> Summary | None:
        return None if side is None else MatchingSummary(side, self.checked)


class LookAround(LookBack):
    """A carry over the partitions of a dataframe or series that looks both ways, as a Dask expression."""

    def _layer(self) -> dict[Key, Any]:
        carry = replace(self.carry, checked=schema_of(self.frame._meta))
        name, count = self._name, self.frame.npartitions
        inputs = [input_of(self.frame, i) for i in range(count)]
        graph: dict[Key, Any] = {}
        before: list[list[Any]] = [[]] * count
        after, held = before, is_held(self.frame)
        if carry.before is not None:
            before = prefixes(f"before-{name}", inputs, carry.before, graph, held=held)
        if carry.after is not None:
            behind = prefixes(f"after-{name}", inputs[::-1], carry.after, graph, held=held)
            after = behind[::-1]
        for i, partition in enumerate(inputs):
            sides = [List(*given) for given in (before[i], after[i])]
            graph[name, i] = Task((name, i), _apply, carry, i, partition, *sides)
        return graph


class AlignedLookAround(LookAround, AlignedLookBack):
    """A carry whose output has the rows and the index of its input."""


def _apply(
    carry: SurroundedCarry, number: int, partition: Any, before: list[Any], after: list[Any]
) -> Any:
    sides = [(carry.before, before), (carry.after, after)]
    found = [None if side is None else combined(side, given) for side, given in sides]
    for side in found:
        _warn_if_large(side)
    try:
        return carry.apply(partition, *found)
    except ValueError as error:
        raise ValueError(f"partition {number}: {error}") from error


def _warn_if_large(side: Any) -> None:
    """Warn of what partitions hand on, if it takes more memory than Dask would give a chunk."""
    limit = parse_bytes(dask.config.get("array.chunk-size"))
    size = sizeof(side.inner) if isinstance(side, Aggregate) else 0
    if size > limit:
        warnings.warn(
            f"windows reach {format_bytes(size)} over a border of partitions, more than array.chunk-size "
            f"({format_bytes(limit)}), and each partition holds as much again; take shorter windows",
            stacklevel=2,
        )


def look_around(obj: Any, carry: SurroundedCarry) -> Any:
    """Return `carry` over a frame or series: computed at once, or lazily for a Dask collection."""
    if isinstance(obj, Collection):
        carry.check(obj._meta)
        expression = AlignedLookAround if carry.keeps_index else LookAround
        return new_collection(expression(obj.expr, MatchingSurroundings(carry)))
    carry.check(obj)
    return carry.apply(obj, None, None)
