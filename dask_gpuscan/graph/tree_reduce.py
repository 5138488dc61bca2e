"""A tree of tasks that reduces all partitions to one: what partitions answer is merged, some at a time.

It knows no column: it takes any object with ``table``, ``merge`` and ``finish``.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, Protocol

from dask.dataframe.dask_expr import new_collection
from dask.dataframe.dask_expr._expr import Expr
from dask.task_spec import List, Task, TaskRef

from ..frames.registry import Schema, held_to, library_of, schema_of
from .lookback import Collection
from .named import Named, input_of

FAN_IN = 16
"""Tables that one task merges."""


class TreeReduction(Protocol):
    """What a feature tells the tree."""

    @property
    def label(self) -> str:
        """For the names of tasks."""

    def check(self, frame: Any) -> None:
        """Raise the errors that a user should see early."""

    def meta(self, frame: Any) -> Any:
        """Empty output for an empty input, which has been checked."""

    def table(self, partition: Any) -> Any:
        """What stands for a partition."""

    def merge(self, tables: Sequence[Any]) -> Any:
        """One table for several, given in the order of their partitions."""

    def finish(self, tables: Sequence[Any], frame: Any) -> Any:
        """Output of all partitions, given their tables; `frame` is an input without rows."""


def _merge(reduction: TreeReduction, tables: list[Any]) -> Any:
    return reduction.merge(tables)


def _table(reduction: TreeReduction, partition: Any, checked: Schema) -> Any:
    with held_to(checked, partition):
        return reduction.table(partition)


def _finish(reduction: TreeReduction, tables: list[Any], frame: Any) -> Any:
    return reduction.finish(tables, frame)


class TreeReduce(Named, Expr):  # type: ignore[misc]
    """A reduction of all partitions to one, as a Dask expression."""

    _parameters = ("frame", "reduction")

    @property
    def _label(self) -> Any:
        return self.operand("reduction").label

    @functools.cached_property
    def _meta(self) -> Any:
        return self.operand("reduction").meta(self.frame._meta)

    def _divisions(self) -> tuple[None, None]:
        return (None, None)

    def _layer(self) -> dict[Any, Task]:
        reduction = self.operand("reduction")
        checked = schema_of(self.frame._meta)
        graph: dict[Any, Task] = {}
        keys: list[Any] = []
        for i in range(self.frame.npartitions):
            key = (f"table-{self._name}", 0, i)
            graph[key] = Task(key, _table, reduction, input_of(self.frame, i), checked)
            keys.append(key)
        level = 0
        while len(keys) > FAN_IN:
            level += 1
            above = []
            for i in range(0, len(keys), FAN_IN):
                key = (f"table-{self._name}", level, i // FAN_IN)
                refs = List(*map(TaskRef, keys[i : i + FAN_IN]))
                graph[key] = Task(key, _merge, reduction, refs)
                above.append(key)
            keys = above
        out = (self._name, 0)
        graph[out] = Task(out, _finish, reduction, List(*map(TaskRef, keys)), self.frame._meta)
        return graph


def tree_reduce(obj: Any, reduction: TreeReduction) -> Any:
    """Return `reduction` of a frame or series: computed at once, or lazily for a Dask collection."""
    if isinstance(obj, Collection):
        reduction.check(obj._meta)
        return new_collection(TreeReduce(obj.expr, reduction))
    reduction.check(obj)
    return reduction.finish([reduction.table(obj)], library_of(obj).no_rows(obj))
