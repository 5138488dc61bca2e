"""The engine of Dask collections: the functions of `..run.Engine`, from the modules that implement them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from ...ops.core.columnwise import join_columns
from ...ops.scan.row_number import ResetIndex
from .asof import collection, merge_asof
from .compat import FrameBase, new_collection
from .expressions import (
    Aside,
    accepted,
    as_series,
    choose,
    is_column,
    is_sorted_by_index,
    map_partitions,
    meta,
    narrow,
    read_once,
    select,
)
from .filter import append_mask, check_mask, check_predicate, filter, partition, with_column
from .labels import move_labels
from .lookback import look_back, map_overlap
from .own_rows import InOrder as in_order
from .ranks import rank
from .rebalance import rebalance
from .shuffle import sort
from .tree_reduce import tree_reduce

__all__ = [
    "IN_PARTS",
    "accepted",
    "align_columns",
    "append_mask",
    "as_series",
    "broadcast",
    "check_mask",
    "check_predicate",
    "choose",
    "collection",
    "filter",
    "in_order",
    "is_column",
    "is_sorted_by_index",
    "look_back",
    "map_overlap",
    "map_partitions",
    "merge_asof",
    "meta",
    "move_labels",
    "narrow",
    "partition",
    "rank",
    "read_once",
    "rebalance",
    "renumber",
    "select",
    "sort",
    "tree_reduce",
    "with_column",
]

IN_PARTS = True


def broadcast(
    label: str, obj: Any, reduced: Callable[[], Any], function: Callable[..., Any], *given: Any
) -> Any:
    """Apply a function to each partition and the one partition of a reduction."""
    return map_partitions(obj, function, new_collection(Aside(reduced().expr)), *given)


def renumber(obj: Any) -> Any:
    """Number the rows from 0 over all partitions."""
    return look_back(obj, ResetIndex(drop=True))


def align_columns(
    obj: Any, others: Sequence[Any], names: Sequence[Hashable], what: str, by_label: bool
) -> Any:
    """Join the columns of a collection and of others with the same partitions."""
    for other in others:
        if not isinstance(other, FrameBase):
            raise TypeError(
                f"{what} must be of a Dask collection, as its frame is, found {type(other).__name__}"
            )
        if other.npartitions != obj.npartitions:
            raise ValueError(
                f"{what} must have the {obj.npartitions} partitions of its frame, found {other.npartitions}; make it "
                f"a column of the frame first"
            )
    return map_partitions(obj, join_columns, names, what, by_label, *others)
