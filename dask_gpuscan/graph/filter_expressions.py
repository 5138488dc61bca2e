"""Filters of Dask collections as expressions: partition by partition, both sides of a predicate, or it as a column.

They know no column: `ops.filter` chooses the rows of a partition.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ClassVar

from dask.base import is_dask_collection
from dask.dataframe.dask_expr import new_collection
from dask.dataframe.dask_expr._expr import (
    Blockwise,
    Expr,
    MaybeAlignPartitions,
    Projection,
    _convert_to_list,
    are_co_aligned,
    determine_column_projection,
    plain_column_projection,
)
from dask.task_spec import Task

from ..ops.filter import Predicate, filter_rows, split_rows, with_truth
from .lookback import Collection
from .named import Named, input_of, partition_of


class Filtered(Named, Blockwise):  # type: ignore[misc]
    """The rows that a predicate keeps, partition by partition; divisions hold, as for Dask's own filter."""

    _parameters = ("frame", "predicate")
    _label = "filter"
    _preserves_partitioning_information = True
    operation = staticmethod(filter_rows)

    @functools.cached_property
    def _meta(self) -> Any:
        return self.frame._meta

    def _simplify_up(self, parent: Any, dependents: Any) -> Any:
        return _project(self, parent, dependents)


class FilteredAlign(Named, MaybeAlignPartitions):  # type: ignore[misc]
    """The same for a predicate whose divisions are known, and others than the frame's."""

    _parameters = ("frame", "predicate")
    _label = "filter-aligned"
    _expr_cls = Filtered


class Told(Named, Blockwise):  # type: ignore[misc]
    """All rows, and a column of those that a predicate keeps."""

    _parameters = ("frame", "predicate", "name")
    _label = "told"
    _preserves_partitioning_information = True
    operation: ClassVar[Callable[..., Any]] = staticmethod(with_truth)

    @functools.cached_property
    def _meta(self) -> Any:
        return self.operation(self.frame._meta, self.predicate._meta, self.operand("name"))

    def _simplify_up(self, parent: Any, dependents: Any) -> Any:
        if not isinstance(parent, Projection) or self.frame.ndim == 1:
            return None
        asked = set(_convert_to_list(determine_column_projection(self, parent, dependents)))
        columns = [name for name in self.frame.columns if name in asked]
        if columns == list(self.frame.columns):
            return None
        told = type(self)(self.frame[columns], *self.operands[1:])
        return type(parent)(told, *parent.operands[1:])


class ToldAlign(Named, MaybeAlignPartitions):  # type: ignore[misc]
    """The same for a predicate whose divisions are known, and others than the frame's."""

    _parameters = ("frame", "predicate", "name")
    _label = "told-aligned"
    _expr_cls = Told


def _assigned(frame: Any, column: Any, name: str) -> Any:
    return frame.assign(**{name: column})


class Widened(Told):
    """All rows, and one more column, which was made of them: Dask's own would sort the labels of columns."""

    _label = "widened"
    operation = staticmethod(_assigned)


class Split(Named, Expr):  # type: ignore[misc]
    """Both sides of a predicate: partitions are pairs, of which `Side` takes one."""

    _parameters = ("frame", "predicate")
    _label = "split"
    _meta = None

    def _divisions(self) -> Any:
        return self.frame.divisions

    def _layer(self) -> dict[Any, Task]:
        graph = {}
        for i in range(self.frame.npartitions):
            predicate = self.predicate
            if isinstance(predicate, Expr):
                predicate = partition_of(predicate, i)
            key = (self._name, i)
            graph[key] = Task(key, split_rows, input_of(self.frame, i), predicate)
        return graph


def _side(pair: Any, side: int) -> Any:
    return pair[side]


class Side(Named, Blockwise):  # type: ignore[misc]
    """One side of a split."""

    _parameters = ("split", "side")
    _label = "side"
    operation = staticmethod(_side)

    @functools.cached_property
    def _meta(self) -> Any:
        return self.split.frame._meta


def _project(expr: Any, parent: Any, dependents: Any) -> Any:
    """Read only the columns that are asked for and those of the predicate."""
    if not isinstance(parent, Projection) or expr.frame.ndim == 1:
        return None
    named = [] if isinstance(expr.predicate, Expr) else list(expr.predicate.columns)
    return plain_column_projection(expr, parent, dependents, additional_columns=named)


def _operand(obj: Any, predicate: Predicate) -> tuple[Any, bool]:
    """A predicate as an operand of an expression over `obj`, and whether partitions must be aligned first."""
    if not is_dask_collection(predicate):
        return predicate, False
    expr = predicate.expr
    same = are_co_aligned(obj.expr, expr) and expr.npartitions == obj.npartitions
    known = obj.known_divisions and predicate.known_divisions
    if same or (known and obj.divisions == predicate.divisions):
        return expr, False
    if not known:
        raise ValueError(
            "predicate has other partitions than the frame, and divisions are unknown; make it of the "
            "frame itself, or set an index on both"
        )
    return expr, True


def filtered(obj: Any, predicate: Predicate) -> Any:
    """Return the rows of a Dask collection that a predicate keeps."""
    operand, aligns = _operand(obj, predicate)
    expression = FilteredAlign if aligns else Filtered
    return new_collection(expression(obj.expr, operand))


def keep_rows(obj: Any, predicate: Predicate) -> Any:
    """Return the rows of a frame or series that a predicate keeps: at once, or lazily for a Dask collection."""
    return (filtered if isinstance(obj, Collection) else filter_rows)(obj, predicate)


def tell_rows(obj: Any, predicate: Any, name: str) -> Any:
    """Return a frame with one more column, of the rows that a series keeps: lazily for a Dask collection."""
    if not isinstance(obj, Collection):
        return with_truth(obj, predicate, name)
    operand, aligns = _operand(obj, predicate)
    expression = ToldAlign if aligns else Told
    return new_collection(expression(obj.expr, operand, name))


def with_column(frame: Any, column: Any, name: str) -> Any:
    """Return a frame with one more column, which has its rows: lazily for a Dask collection."""
    if not isinstance(frame, Collection):
        return _assigned(frame, column, name)
    return new_collection(Widened(frame.expr, column.expr, name))


def split(obj: Any, predicate: Predicate) -> tuple[Any, Any]:
    """Return the rows of a Dask collection that a predicate keeps, and the others."""
    operand, aligns = _operand(obj, predicate)
    if aligns:
        raise ValueError("predicate must have the frame's divisions; repartition it first")
    both = Split(obj.expr, operand)
    return new_collection(Side(both, 0)), new_collection(Side(both, 1))
