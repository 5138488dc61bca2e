"""Filter and partition: rows that a predicate keeps, compacted in their order with all their columns.

Columns of fixed width go through one fused pass of the kernels, together with the positions of the kept rows, at
which the others and the index are gathered. This module must never loop over rows.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from dask.base import is_dask_collection
from dask.dataframe.dask_expr import new_collection
from dask.dataframe.dask_expr._expr import (
    Blockwise,
    Expr,
    MaybeAlignPartitions,
    Projection,
    are_co_aligned,
    plain_column_projection,
)
from dask.dataframe.utils import meta_nonempty
from dask.task_spec import Task, TaskRef

from . import kernels
from .columns import Library, column_of, each, layout_of, library_of, moved_layout, names_of
from .functions import Function, compiled, function_of, shown
from .lookback import is_lazy, meta_of
from .predicates import Expression
from .rebalance import rebalanced

Predicate = Any
"""An `Expression`, a `Function`, or a series or array of bool."""


def check_predicate(obj: Any, predicate: Any) -> Predicate:
    """Return a predicate in the form that partitions are given it; raises what a user should see early."""
    meta = meta_of(obj)
    names = names_of(meta)
    checked: Predicate
    if isinstance(predicate, str):
        checked = Expression(predicate)
        checked.check(names)
    elif is_dask_collection(predicate):
        if not is_lazy(obj):
            raise TypeError("predicate is a Dask collection and the frame is not; compute it first")
        if getattr(predicate, "ndim", 0) != 1 or not hasattr(predicate, "divisions"):
            raise TypeError(f"predicate must be a Series of bool, found {type(predicate).__name__}")
        checked = predicate
    elif inspect.isfunction(predicate) or hasattr(predicate, "py_func"):
        checked = function_of(predicate, names, meta.ndim)
    elif getattr(predicate, "ndim", 0) == 1 and hasattr(predicate, "dtype"):
        if is_lazy(obj):
            raise TypeError(
                f"predicate of a Dask collection must be a Dask Series, a string or a function, "
                f"found {type(predicate).__name__}"
            )
        checked = predicate
    else:
        raise TypeError(
            f"predicate must be a boolean Series, a string or a function, "
            f"found {type(predicate).__name__}"
        )
    if not is_lazy(obj):
        return checked  # others are told at once, when the rows are chosen
    filter_rows(meta.iloc[:0], meta_of(checked))
    if isinstance(checked, Expression):
        named = meta.to_frame() if meta.ndim == 1 else meta
        named = named[list(checked.columns)]
        if not any(
            isinstance(d, np.dtype) and d.kind == "O" for d in named.dtypes
        ):  # whose values may be anything
            filter_rows(meta_nonempty(named), checked)  # some libraries compare what has no rows
    return checked


# --- one partition -----------------------------------------------------------------------------------


def _keep(frame: Any, predicate: Predicate) -> Any:
    """Return which rows of a frame a predicate keeps, in a form that kernels take."""
    library = library_of(frame)
    if isinstance(predicate, Function):
        title = f"predicate {predicate.function.__name__}"
        views = shown(library, frame, predicate.columns, title)
        return compiled(predicate.function, views, [], title)
    if isinstance(predicate, Expression):
        found = _fused(library, frame, predicate)
        if found is not None:
            return found
        predicate = predicate.evaluate({n: _series(frame, n) for n in predicate.columns})
    if len(predicate) != len(frame):
        raise ValueError(
            f"predicate must have as many rows as the frame, found {len(predicate)} for {len(frame)}"
        )
    if not hasattr(predicate, "iloc"):
        if predicate.dtype.kind != "b":
            raise TypeError(f"predicate must be boolean, found dtype {predicate.dtype}")
        return library.numbers.asarray(predicate)
    if predicate.index is not frame.index and not predicate.index.equals(frame.index):
        raise ValueError("predicate must have the index of the frame; align it first, with reindex")
    return truth(predicate)


def _series(frame: Any, name: Any) -> Any:
    return frame if frame.ndim == 1 else frame[name]


def _fused(library: Library, frame: Any, predicate: Expression) -> Any:
    """A text as a predicate that kernels compile; None if they might decide otherwise than the library."""
    dtypes = {name: column_of(frame, name).dtype for name in predicate.columns}
    if not all(isinstance(d, np.dtype) for d in dtypes.values()):
        return None
    function = predicate.function(dtypes)
    if function is None:
        return None
    views = shown(library, frame, predicate.columns, predicate.title)
    if any(view.nulls is not None for view in views):
        function = predicate.function(dtypes, nulls=True)
    return None if function is None else compiled(function[0], views, function[1], predicate.title)


def truth(column: Any) -> Any:
    """Return where a boolean series is true, as an array of bool; nulls are not."""
    library = library_of(column)
    layout = layout_of(library, column.dtype)
    if layout is None or layout.storage(column.dtype) != np.bool_:
        raise TypeError(
            f"predicate must be boolean, found dtype {column.dtype}; cast it with astype('boolean')"
        )
    view = layout.raw(library.array(column))
    return view.values if view.nulls is None else view.values & ~view.missing()


def compact(frame: Any, choose: Callable[[list[Any]], list[list[Any]]]) -> list[Any]:
    """Return frames of some rows of a frame, each in the rows' order.

    Parameters
    ----------
    frame : DataFrame or Series
    choose : callable
        Takes the arrays of numbers of the columns of fixed width; returns, for each frame to be made,
        the chosen elements of each array and the positions of the chosen rows, last.
    """
    library = library_of(frame)
    columns = each(frame)
    flat: list[Any] = []
    plans = []
    for column in columns:
        array = library.array(column)
        layout = moved_layout(library, column.dtype)
        masked = False
        if layout is not None:
            view = layout.raw(array)
            flat.append(view.values)
            masked = layout.nulls == "mask" and view.nulls is not None
            if masked:
                flat.append(view.missing())
        plans.append((array, layout, masked, column.dtype))
    frames = []
    for *parts, positions in choose(flat):
        left = iter(parts)
        arrays = []
        for array, layout, masked, dtype in plans:
            if layout is None:
                arrays.append(library.take(array, positions))
            else:
                values = next(left)
                arrays.append(layout.wrap(values, next(left) if masked else None, dtype))
        index = library.take_index(frame.index, positions)
        frames.append(library.rebuild(frame, arrays, index))
    return frames


def filter_rows(frame: Any, predicate: Predicate) -> Any:
    """Return the rows of a frame that a predicate keeps."""
    with library_of(frame).reading(frame):
        keep = _keep(frame, predicate)
        return compact(frame, lambda flat: [kernels.select(flat, keep, positions=True)])[0]


def split_rows(frame: Any, predicate: Predicate) -> tuple[Any, Any]:
    """Return the rows that a predicate keeps, and the others."""
    with library_of(frame).reading(frame):
        keep = _keep(frame, predicate)
        kept, rest = compact(
            frame, lambda flat: list(kernels.partition(flat, keep, positions=True))
        )
    return kept, rest


# --- Dask collections --------------------------------------------------------------------------------


class Filtered(Blockwise):  # type: ignore[misc]
    """The rows that a predicate keeps, partition by partition; divisions hold, as for Dask's own filter."""

    _parameters = ("frame", "predicate")
    _preserves_partitioning_information = True
    operation = staticmethod(filter_rows)

    @functools.cached_property
    def _name(self) -> str:
        return f"filter-{self.deterministic_token}"

    @functools.cached_property
    def _meta(self) -> Any:
        return self.frame._meta

    def _simplify_up(self, parent: Any, dependents: Any) -> Any:
        return _project(self, parent, dependents)


class FilteredAlign(MaybeAlignPartitions):  # type: ignore[misc]
    """The same for a predicate whose divisions are known, and others than the frame's."""

    _parameters = ("frame", "predicate")
    _expr_cls = Filtered


class Split(Expr):  # type: ignore[misc]
    """Both sides of a predicate: partitions are pairs, of which `Side` takes one."""

    _parameters = ("frame", "predicate")

    @functools.cached_property
    def _name(self) -> str:
        return f"split-{self.deterministic_token}"

    @functools.cached_property
    def _meta(self) -> Any:
        return self.frame._meta

    def _divisions(self) -> Any:
        return self.frame.divisions

    def _layer(self) -> dict[Any, Task]:
        graph = {}
        for i in range(self.frame.npartitions):
            predicate = self.predicate
            if isinstance(predicate, Expr):
                predicate = TaskRef((predicate._name, i))
            key = (self._name, i)
            graph[key] = Task(key, split_rows, TaskRef((self.frame._name, i)), predicate)
        return graph


def _side(pair: Any, side: int) -> Any:
    return pair[side]


class Side(Blockwise):  # type: ignore[misc]
    """One side of a split."""

    _parameters = ("split", "side")
    operation = staticmethod(_side)

    @functools.cached_property
    def _meta(self) -> Any:
        return self.split._meta


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


def run_filter(obj: Any, predicate: Any, rebalance: bool) -> Any:
    """Return what a predicate keeps of a frame or series, of any kind."""
    predicate = check_predicate(obj, predicate)
    if not is_lazy(obj):
        return filter_rows(obj, predicate)
    operand, aligns = _operand(obj, predicate)
    expression = FilteredAlign if aligns else Filtered
    kept = new_collection(expression(obj.expr, operand))
    return rebalanced(kept) if rebalance else kept


def run_partition(obj: Any, predicate: Any) -> tuple[Any, Any]:
    """Return what a predicate keeps of a frame or series, of any kind, and the rest."""
    predicate = check_predicate(obj, predicate)
    if not is_lazy(obj):
        return split_rows(obj, predicate)
    operand, aligns = _operand(obj, predicate)
    if aligns:
        raise ValueError("predicate must have the frame's divisions; repartition it first")
    split = Split(obj.expr, operand)
    return new_collection(Side(split, 0)), new_collection(Side(split, 1))
