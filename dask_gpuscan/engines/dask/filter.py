"""Filters of Dask collections as expressions: the kept rows, both sides of a predicate, or a mask as a column.

`ops.predicates.filter` filters each partition.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from dask.base import is_dask_collection
from dask.task_spec import Task

from ...frames.registry import library_of
from ...ops.predicates.filter import (
    Predicate,
    append_column,
    append_mask_of,
    filter_rows,
    fused,
    refuse_predicate,
    split_rows,
)
from ...ops.predicates.text import Expression
from .compat import (
    Blockwise,
    Expr,
    FrameBase,
    MaybeAlignPartitions,
    Projection,
    are_co_aligned,
    determine_column_projection,
    meta_nonempty,
    new_collection,
    plain_column_projection,
)
from .expressions import ExprMixin, inputs_of, partition_of


class Filtered(ExprMixin, Blockwise):  # type: ignore[misc]
    """The rows that a predicate keeps, with the divisions of the frame, as in Dask's own filter."""

    _parameters = ("frame", "predicate")
    _label = "filter"
    _preserves_partitioning_information = True
    operation = staticmethod(filter_rows)

    @functools.cached_property
    def _meta(self) -> Any:
        return self.frame._meta

    def _simplify_up(self, parent: Any, dependents: Any) -> Any:
        return _project(self, parent, dependents)


class FilteredAlign(ExprMixin, MaybeAlignPartitions):  # type: ignore[misc]
    """The same for a predicate with known divisions that differ from the frame's."""

    _parameters = ("frame", "predicate")
    _label = "filter-aligned"
    _expr_cls = Filtered


class AppendMask(ExprMixin, Blockwise):  # type: ignore[misc]
    """All rows, and one more column that says which of them a predicate keeps."""

    _parameters = ("frame", "predicate", "name")
    _label = "append-mask"
    _preserves_partitioning_information = True
    operation: ClassVar[Callable[..., Any]] = staticmethod(append_mask_of)

    @functools.cached_property
    def _meta(self) -> Any:
        return self.operation(self.frame._meta, self.predicate._meta, self.operand("name"))

    def _simplify_up(self, parent: Any, dependents: Any) -> Any:
        if not isinstance(parent, Projection) or self.frame.ndim == 1:
            return None
        asked = determine_column_projection(self, parent, dependents)
        asked = set(asked if isinstance(asked, list) else [asked])
        columns = [name for name in self.frame.columns if name in asked]
        if columns == list(self.frame.columns):
            return None
        narrow = type(self)(self.frame[columns], *self.operands[1:])
        return type(parent)(narrow, *parent.operands[1:])


class AppendMaskAlign(ExprMixin, MaybeAlignPartitions):  # type: ignore[misc]
    """The same for a predicate with known divisions that differ from the frame's."""

    _parameters = ("frame", "predicate", "name")
    _label = "append-mask-aligned"
    _expr_cls = AppendMask


class AppendColumn(AppendMask):
    """All rows, and one more column that was computed from them; Dask's own `assign` would sort the columns."""

    _label = "append-column"
    operation = staticmethod(append_column)


class FilterSplit(ExprMixin, Expr):  # type: ignore[misc]
    """Both sides of a predicate: each partition is a pair, and `FilterSide` takes one of the two."""

    _parameters = ("frame", "predicate")
    _label = "split"
    _meta = None

    def _divisions(self) -> Any:
        return self.frame.divisions

    def _layer(self) -> dict[Any, Task]:
        graph = {}
        for i, partition in enumerate(inputs_of(self.frame)):
            predicate = self.predicate
            if isinstance(predicate, Expr):
                predicate = partition_of(predicate, i)
            key = (self._name, i)
            graph[key] = Task(key, split_rows, partition, predicate)
        return graph


def _side(pair: Any, side: int, like: Any) -> Any:
    return pair[side]


class FilterSide(ExprMixin, Blockwise):  # type: ignore[misc]
    """One side of a split."""

    _parameters = ("split", "side", "like")
    _label = "side"
    operation = staticmethod(_side)

    @functools.cached_property
    def _meta(self) -> Any:
        return self.operand("like")


def _project(expr: Any, parent: Any, dependents: Any) -> Any:
    """Return the expression on only the chosen columns and those of the predicate."""
    if not isinstance(parent, Projection) or expr.frame.ndim == 1:
        return None
    named = [] if isinstance(expr.predicate, Expr) else list(expr.predicate.columns)
    return plain_column_projection(expr, parent, dependents, additional_columns=named)


def _operand(obj: Any, predicate: Predicate) -> tuple[Any, bool]:
    """Return a predicate as an operand of an expression on `obj`, and whether partitions must be aligned first."""
    if not isinstance(predicate, FrameBase):
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


def check_mask(obj: Any, mask: Any) -> None:
    """Raise a TypeError unless a mask is a Dask series."""
    if isinstance(mask, FrameBase) and mask.ndim == 1:
        return
    if is_dask_collection(mask):
        raise TypeError(f"predicate must be a Series of bool, found {type(mask).__name__}")
    if getattr(mask, "ndim", 0) == 1 and hasattr(mask, "dtype"):
        raise TypeError(
            f"predicate must be a Dask Series, a string or a function for a Dask collection, "
            f"found {type(mask).__name__}"
        )
    refuse_predicate(mask)


def check_predicate(obj: Any, predicate: Predicate) -> None:
    """Raise the errors that partitions would raise later for a predicate."""
    meta = obj._meta
    if isinstance(predicate, Expression) and fused(library_of(meta), meta, predicate) is not None:
        return  # it compares numbers, whatever the rows
    filter_rows(meta.iloc[:0], predicate._meta if isinstance(predicate, FrameBase) else predicate)
    if not isinstance(predicate, Expression):
        return
    named = meta.to_frame() if meta.ndim == 1 else meta
    named = named[list(predicate.columns)]
    # sample rows find more errors, as libraries compare anything if there are no rows; two dtypes have no samples
    unknown = (np.dtypes.ObjectDType, pd.IntervalDtype)
    if not any(isinstance(d, unknown) for d in named.dtypes):
        filter_rows(meta_nonempty(named), predicate)


def filter(obj: Any, predicate: Predicate) -> Any:
    """Return the rows of a collection that a predicate keeps."""
    operand, aligns = _operand(obj, predicate)
    expression = FilteredAlign if aligns else Filtered
    return new_collection(expression(obj.expr, operand))


def partition(obj: Any, predicate: Predicate) -> tuple[Any, Any]:
    """Return the rows of a collection that a predicate keeps, and the others."""
    operand, aligns = _operand(obj, predicate)
    if aligns:
        raise ValueError("predicate must have the frame's divisions; repartition it first")
    both = FilterSplit(obj.expr, operand)
    kept, others = (new_collection(FilterSide(both, side, obj._meta)) for side in (0, 1))
    return kept, others


def append_mask(obj: Any, mask: Any, name: str) -> Any:
    """Append a column that says where a series is true."""
    operand, aligns = _operand(obj, mask)
    expression = AppendMaskAlign if aligns else AppendMask
    return new_collection(expression(obj.expr, operand, name))


def with_column(obj: Any, column: Any, name: str) -> Any:
    """Append a column of the same rows."""
    return new_collection(AppendColumn(obj.expr, column.expr, name))
