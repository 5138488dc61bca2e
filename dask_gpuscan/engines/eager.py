"""The engine of one frame in memory: an operation takes all rows at once and returns its answer."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from ..frames.registry import choose_columns, library_of
from ..kernels.messages import shown
from ..ops.asof.asof import AsOf
from ..ops.core.carry import DataFrameCarry, OverlapCarry, TreeReduction
from ..ops.core.columnwise import join_columns
from ..ops.predicates.filter import (
    append_column,
    append_mask_of,
    filter_rows,
    refuse_predicate,
    split_rows,
)
from ..ops.sort.own_rows import RowsInOrder
from ..ops.sort.rank import Ranking
from ..ops.sort.sort import sort_rows
from ..ops.time.shift_labels import ShiftLabels

IN_PARTS = False

# --- operations --------------------------------------------------------------------------------------


def look_back(obj: Any, carry: DataFrameCarry) -> Any:
    """Apply a carry to all rows."""
    return carry.whole(obj)


def map_overlap(obj: Any, carry: OverlapCarry) -> Any:
    """Apply a carry that looks both ways to all rows."""
    return carry.whole(obj)


def tree_reduce(obj: Any, reduction: TreeReduction) -> Any:
    """Reduce all rows."""
    return reduction.whole(obj)


def rank(obj: Any, ranking: Ranking) -> Any:
    """Return the ranks of all rows."""
    return ranking.apply(obj)


def in_order(obj: Any, order: Any) -> RowsInOrder:
    """Return the rows in order, and the way back."""
    return RowsInOrder(obj, order)


def move_labels(obj: Any, move: ShiftLabels) -> Any:
    """Shift the labels of all rows."""
    move.check(obj)
    return move.apply(obj)


def map_partitions(
    obj: Any,
    function: Callable[..., Any],
    *given: Any,
    keeps_divisions: bool = True,
    typed_by_rows: bool = False,
) -> Any:
    """Apply a function to all rows."""
    return function(obj, *given)


def broadcast(
    label: str, obj: Any, reduced: Callable[[], Any], function: Callable[..., Any], *given: Any
) -> Any:
    """Apply a function to all rows and a reduction of them."""
    return function(obj, reduced(), *given)


filter, partition, choose, sort = filter_rows, split_rows, choose_columns, sort_rows

append_mask, with_column = append_mask_of, append_column


def merge_asof(left: Any, right: Any, question: AsOf) -> Any:
    """Return each row of the left side with its match."""
    return question.merged(left, right)


def align_columns(
    obj: Any, others: Sequence[Any], names: Sequence[Hashable], what: str, by_label: bool
) -> Any:
    """Join the columns of frames and series."""
    return join_columns(obj, names, what, by_label, *others)


# --- facts about a frame -----------------------------------------------------------------------------


def meta(obj: Any) -> Any:
    """Return the frame itself."""
    return obj


def accepted(obj: Any) -> Any:
    """Return a frame in dtypes that operations take; raises a ValueError for a label that cannot name a column."""
    return library_of(obj).native(obj)


def check_mask(obj: Any, mask: Any) -> None:
    """Raise a TypeError unless a mask is a series or an array in memory."""
    if hasattr(mask, "__dask_graph__"):
        raise TypeError("predicate is a Dask collection and the frame is not; compute it first")
    if getattr(mask, "ndim", 0) != 1 or not hasattr(mask, "dtype"):
        refuse_predicate(mask)


def check_predicate(obj: Any, predicate: Any) -> None:
    """Do nothing: rows are filtered at once, which raises the errors."""


def is_sorted_by_index(obj: Any) -> bool:
    """Return False: the order of labels is not known."""
    return False


# --- rows, columns and joins ---------------------------------------------------------------------------


def collection(side: Any, keeps_index: bool) -> Any:
    """Return the frame unchanged."""
    return side


def read_once(obj: Any) -> Any:
    """Return a frame unchanged."""
    return obj


def rebalance(obj: Any) -> Any:
    """Return the frame unchanged: it has one part."""
    return obj


def renumber(obj: Any) -> Any:
    """Return the frame unchanged: its rows are numbered from 0 already."""
    return obj


def select(obj: Any, flags: Sequence[bool]) -> Any:
    """Return the columns whose flag is true."""
    return library_of(obj).select(obj, list(flags))


def narrow(obj: Any, names: Iterable[Hashable]) -> Any:
    """Return the frame unchanged: its other columns are already there."""
    return obj


def is_column(obj: Any, name: Hashable, series: Any) -> bool:
    """Return whether a series is the column of this name: values are equal, and the library says so, too."""
    return bool(obj[name].equals(series) and library_of(obj).is_column(obj, series))


def as_series(like: Any, values: Any) -> Any:
    """Return values, one a row, as a series of the library of a frame; raises a TypeError for anything else."""
    if (values.ndim if hasattr(values, "ndim") else np.ndim(values)) == 0:  # cuDF refuses np.ndim
        raise TypeError(f"expected values, one a row, found {shown(values)}")
    return library_of(like).as_key(values)
