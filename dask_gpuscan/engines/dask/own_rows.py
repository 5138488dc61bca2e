"""Answers of rows in another order go back to the partitions and places that their rows have."""

from __future__ import annotations

import functools
from typing import Any, ClassVar

from dask.task_spec import Task

from ...frames.registry import names_of, unused_name
from ...ops.sort.own_rows import ByPlace, back, placed
from ...ops.sort.sort import Order
from .compat import Blockwise, CumulativeAggregations, new_collection
from .expressions import Aside, ExprMixin, collected, partition_of, select
from .filter import with_column
from .shuffle import Shuffled, sorted_by


class Placed(ExprMixin, Blockwise):  # type: ignore[misc]
    """Rows with the number of their partition, and their number in it."""

    _parameters = ("frame", "names")
    _label = "place"
    _preserves_partitioning_information = True

    @functools.cached_property
    def _meta(self) -> Any:
        return placed(self.frame._meta, 0, self.operand("names"))

    def _task(self, name: Any, index: int) -> Task:
        return Task(name, placed, self._input(self.frame, index), index, self.operand("names"))


class Restored(ExprMixin, CumulativeAggregations):  # type: ignore[misc]
    """Answers in the order of their rows; `AlignedLookBack` explains the base class, and `CompletedRanks` `Aside`."""

    _parameters = ("frame", "answers", "like")
    _label = "own-rows"
    _defaults: ClassVar[dict[str, Any]] = {}

    @functools.cached_property
    def _meta(self) -> Any:
        return self.operand("like")

    def _divisions(self) -> Any:
        return self.frame.divisions

    def _lower(self) -> None:
        return None

    def _simplify_up(self, parent: Any, dependents: Any) -> None:
        return None

    def _task(self, name: Any, index: int) -> Task:
        answers = partition_of(self.operand("answers"), index)
        return Task(name, back, answers, self.operand("like"))


class InOrder:
    """The rows of a collection in an order."""

    def __init__(self, obj: Any, order: Order) -> None:
        order.check(obj._meta)
        known = [str(name) for name in names_of(obj._meta)]
        self._obj, self._names = obj, [unused_name(name, known) for name in ("partition", "row")]
        placed_rows = sorted_by(new_collection(Placed(obj.expr, self._names)), order)
        self._rows = select(placed_rows, [True] * len(known) + [False] * 2)
        self._places = placed_rows

    def rows(self, columns: Any = None) -> Any:
        """Return the rows in order; of the given columns, if they are named."""
        return self._rows if columns is None else self._rows[columns]

    def answer(self, found: Any) -> Any:
        """Return the answers of rows in order with the index, the order and the partitions of the rows."""
        like = found._meta
        found = found.to_frame(name="answer") if found.ndim == 1 else found
        for name in self._names:
            found = with_column(found, self._places[name], name)
        if self._obj.npartitions > 1:
            found = new_collection(Shuffled(found.expr, ByPlace()))
        return collected(Restored(self._obj.expr, Aside(found.expr), like))
