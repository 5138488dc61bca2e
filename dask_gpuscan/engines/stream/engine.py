"""The functions of `..run.Engine` for streams."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, NoReturn

from ...forks import importing
from ...frames.registry import library_of
from ...kernels.messages import shown
from ...ops.asof.asof import AsOf
from ...ops.core.carry import DataFrameCarry, OverlapCarry, TreeReduction
from ...ops.core.columnwise import join_columns
from ...ops.predicates.filter import (
    append_column,
    append_mask_of,
    filter_rows,
    refuse_predicate,
    split_rows,
)
from ...ops.scan.row_number import ResetIndex
from ...ops.time.shift_labels import ShiftLabels
from .asof import AsOfStep, LookUp
from .passes import Pass
from .steps import LookAhead, LookBack, Step, Tables
from .stream import Stream

IN_PARTS = True

WAY_OUT = "compute() the rows first, or read them as a Dask collection"


def _refuse(label: str, why: str = "needs rows that come later") -> NoReturn:
    raise NotImplementedError(
        f"{label} {why}, and a stream sees each row once, in order; {WAY_OUT}"
    )


# --- operations --------------------------------------------------------------------------------------


def look_back(obj: Stream, carry: DataFrameCarry) -> Stream:
    """Apply a carry to the rows of a stream."""
    return _stepped(obj, carry, carry.reverse)


def map_overlap(obj: Stream, carry: OverlapCarry) -> Stream:
    """Apply a carry that sees the rows around each batch."""
    return _stepped(obj, carry, carry.after is not None)


def _stepped(obj: Stream, carry: Any, ahead: bool) -> Stream:
    """Apply a carry to a stream; if `ahead`, rows wait for later rows."""
    carry.check(obj._meta)
    if ahead and carry.settled(obj._meta) is None:
        _refuse(carry.label)
    step, rows = LookAhead if ahead else LookBack, obj._rows if carry.keeps_index else None
    return obj.then(step(carry), carry.meta(obj._meta), rows=rows, waits=ahead)


def tree_reduce(obj: Stream, reduction: TreeReduction) -> Any:
    """Read a stream to its end and reduce its rows."""
    reduction.check(obj._meta)
    if reduction.whole_groups is not None:
        _refuse(reduction.label, "needs all rows of a group at once")
    tables = Tables(reduction)
    for (batch,) in Pass([obj]):
        tables.add(reduction.table(batch))
    return tables.finish(obj._meta)


def rank(obj: Stream, ranking: Any) -> NoReturn:
    """Refuse to rank rows."""
    _refuse(getattr(ranking, "label", "rank"))


def sort(obj: Stream, order: Any, ignore_index: bool) -> NoReturn:
    """Refuse to sort rows."""
    _refuse("sort_values")


def in_order(obj: Stream, order: Any) -> NoReturn:
    """Refuse to look at rows in another order."""
    _refuse("order_by")


def move_labels(obj: Stream, move: ShiftLabels) -> Stream:
    """Shift the labels of a stream."""
    move.check(obj._meta)
    return obj.map_batches(move.apply, label=move.label)


def map_partitions(
    obj: Stream,
    function: Callable[..., Any],
    *given: Any,
    keeps_divisions: bool = True,
    typed_by_rows: bool = False,
) -> Stream:
    """Apply a function to each batch, with more arguments."""
    label = function.__name__.lstrip("_")
    asked: tuple[Any, ...] = (function,)
    if typed_by_rows:
        with importing:
            from ..dask.expressions import with_rows

        asked = with_rows, function
    return obj.map_batches(*asked, *given, keeps_rows=keeps_divisions, label=label)


def broadcast(
    label: str, obj: Any, reduced: Callable[[], Any], function: Callable[..., Any], *given: Any
) -> NoReturn:
    """Refuse to combine rows with a reduction of all rows."""
    _refuse(label)


def filter(obj: Stream, predicate: Any) -> Stream:
    """Return the rows that a predicate keeps."""
    return obj.map_batches(filter_rows, predicate, keeps_rows=False, label="filter")


def partition(obj: Stream, predicate: Any) -> tuple[Stream, Stream]:
    """Return the rows that a predicate keeps, and the others."""
    kept, rest = (
        obj.map_batches(_side, predicate, side, keeps_rows=False, label="partition")
        for side in (0, 1)
    )
    return kept, rest


def _side(batch: Any, predicate: Any, side: int) -> Any:
    return split_rows(batch, predicate)[side]


def append_mask(obj: Stream, mask: Any, name: str) -> Stream:
    """Append a column that says where a series is true."""
    return obj.map_batches(append_mask_of, mask, name)


def with_column(obj: Stream, column: Any, name: str) -> Stream:
    """Append a column of the same rows."""
    return obj.map_batches(append_column, column, name, label="assign")


def align_columns(
    obj: Stream, others: Sequence[Any], names: Sequence[Hashable], what: str, by_label: bool
) -> Stream:
    """Join the columns of streams of the same rows."""
    for other in others:
        obj.check_rows(other, what)
    return obj.map_batches(join_columns, names, what, by_label, *others)


def merge_asof(left: Any, right: Any, question: AsOf) -> Any:
    """Return each row of a stream with its match in a frame, or in another stream."""
    if not isinstance(left, Stream):
        _refuse("merge_asof (or resample at edges of buckets)", "looks rows of a stream up")
    keeps, question = question.plan.keeps_index, question.over_partitions()
    if isinstance(right, Stream):
        if question.direction != "backward":
            _refuse(
                f"merge_asof of two streams (or resample at edges of buckets) with direction={question.direction!r}"
            )
        step: Step = AsOfStep(right.beside(left), question, left._source is right._source)
        meta = question.merged(left._meta, right._meta)
    else:
        step, meta = LookUp(right, question), question.merged(left._meta, right)
    found = left.then(step, meta, rows=left._rows if keeps else None)
    return found if keeps else renumber(found)


# --- what is known of a stream -----------------------------------------------------------------------


def meta(obj: Any) -> Any:
    """Return a stream's frame without rows; a frame in memory, such as one side of a join, is returned as it is."""
    return obj._meta if isinstance(obj, Stream) else obj


def accepted(obj: Any) -> Any:
    """Return a stream in dtypes that operations take; raises a ValueError for a label that cannot name a column."""
    native = library_of(meta(obj)).native
    return obj if native(meta(obj)) is meta(obj) else map_partitions(obj, native)


def check_mask(obj: Stream, mask: Any) -> None:
    """Check that a mask is a stream of the same rows."""
    if isinstance(mask, Stream) and mask.ndim == 1:
        obj.check_rows(mask, "predicate")
    elif getattr(mask, "ndim", 0) == 1 and hasattr(mask, "dtype"):
        raise TypeError(f"predicate of a stream must be a stream, found {type(mask).__name__}")
    else:
        refuse_predicate(mask)


def check_predicate(obj: Stream, predicate: Any) -> None:
    """Apply a predicate to no rows, which raises errors before batches are read."""
    filter_rows(obj._meta, predicate._meta if isinstance(predicate, Stream) else predicate)


def is_sorted_by_index(obj: Stream) -> bool:
    """Return False: the order of labels is not known."""
    return False


# --- rows, columns and joins -------------------------------------------------------------------------


def collection(side: Any, keeps_index: bool) -> Any:
    """Return a side of a join unchanged."""
    return side


def read_once(obj: Stream) -> Stream:
    """Return a stream unchanged."""
    return obj


def rebalance(obj: Stream) -> NoReturn:
    """Refuse to spread rows over parts."""
    raise NotImplementedError(
        "rebalance is for Dask collections; batches of a stream may be of any length"
    )


def renumber(obj: Stream) -> Stream:
    """Number the rows from 0 over all batches."""
    return look_back(obj, ResetIndex(drop=True))


def select(obj: Stream, flags: Sequence[bool]) -> Stream:
    """Return the columns whose flag is true."""
    return obj.map_batches(_selected, list(flags), label="select")


def _selected(batch: Any, flags: list[bool]) -> Any:
    return library_of(batch).select(batch, flags)


def choose(obj: Stream, names: Iterable[Hashable]) -> Stream:
    """Return the columns of these names; a series is returned unchanged."""
    return obj if obj.ndim == 1 else obj[list(dict.fromkeys(names))]


narrow = choose


def is_column(obj: Stream, name: Hashable, series: Stream) -> bool:
    """Return whether a column of a stream and another stream are the same column of one stream."""
    (of, own), (of_other, other) = obj[name].origin(), series.origin()
    return of is of_other and own == other


def as_series(like: Any, values: Any) -> Stream:
    """Return a stream of values unchanged; raises a TypeError for anything else."""
    if not isinstance(values, Stream):
        raise TypeError(f"expected a stream of values, one a row, found {shown(values)}")
    return values
