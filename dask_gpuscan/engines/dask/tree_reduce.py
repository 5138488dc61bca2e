"""A tree of tasks that reduces all partitions to one: it merges the tables of partitions, `FAN_IN` at a time.

It takes any `TreeReduction` and knows no columns.
"""

from __future__ import annotations

import functools
from typing import Any

from dask.task_spec import List, Task, TaskRef

from ...frames.registry import EXPLAINED, Schema, explain_failure, schema_of
from ...ops.core.carry import TreeReduction
from .compat import Expr, new_collection
from .expressions import ExprMixin, inputs_of
from .shuffle import shuffle_by_key

FAN_IN = 16
"""The number of tables that one task merges."""


def _merge(reduction: TreeReduction, tables: list[Any]) -> Any:
    return reduction.merge(tables)


def _table(reduction: TreeReduction, partition: Any, checked: Schema) -> Any:
    try:
        return reduction.table(partition)
    except EXPLAINED:
        explain_failure(checked, partition)
        raise


def _finish(reduction: TreeReduction, tables: list[Any], frame: Any) -> Any:
    return reduction.finish(tables, frame)


class TreeReduce(ExprMixin, Expr):  # type: ignore[misc]
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
        for i, partition in enumerate(inputs_of(self.frame)):
            key = (f"table-{self._name}", 0, i)
            graph[key] = Task(key, _table, reduction, partition, checked)
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
    """Reduce the rows of a collection."""
    reduction.check(obj._meta)
    if reduction.whole_groups is not None:
        obj = shuffle_by_key(obj, reduction.whole_groups)
    return new_collection(TreeReduce(obj.expr, reduction))
