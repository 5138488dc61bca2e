"""Rows that go to other partitions: all are cut into pieces, which are moved as those of sorted rows are."""

from __future__ import annotations

import functools
from typing import Any

from dask.dataframe.dask_expr import new_collection
from dask.dataframe.dask_expr._expr import Expr
from dask.task_spec import Task

from ..frames.keys import By
from ..ops.pieces import ByKey, Cut
from .named import Named, input_of
from .sort_expressions import brought_together, packed_rows


class Moved(Named, Expr):  # type: ignore[misc]
    """As many partitions of the pieces of all, in `order`, or as they come from the first partition to the last."""

    _parameters = ("frame", "cut", "order")
    _label = "move"

    @functools.cached_property
    def _meta(self) -> Any:
        return self.frame._meta

    def _divisions(self) -> Any:
        return (None,) * (self.frame.npartitions + 1)

    def _lower(self) -> Any:
        operands = [self.frame, self.operand("cut")]
        return brought_together(CutPieces, PackedCutPieces, operands, self.operand("order"))


class CutPieces(Named, Expr):  # type: ignore[misc]
    """Each partition cut into pieces, one for each new partition."""

    _parameters = ("frame", "cut")

    @property
    def _label(self) -> str:
        return f"cut-{self.operand('cut').label}"

    @functools.cached_property
    def _meta(self) -> Any:
        return self.frame._meta

    def _divisions(self) -> Any:
        return (None,) * (self.frame.npartitions + 1)

    @staticmethod
    def _pieces(frame: Any, cut: Cut, count: int, number: int) -> Any:
        return cut.pieces(frame, count)

    def _layer(self) -> dict[Any, Task]:
        count, cut = self.frame.npartitions, self.operand("cut")
        graph: dict[Any, Task] = {}
        for i in range(count):
            key, frame = (self._name, i), input_of(self.frame, i)
            graph[key] = Task(key, self._pieces, frame, cut, count, i)
        return graph


class PackedCutPieces(CutPieces):
    """The same as rows of a frame that Dask shuffles."""

    @property
    def _label(self) -> str:
        return f"pack-{self.operand('cut').label}"

    @functools.cached_property
    def _meta(self) -> Any:
        return packed_rows([], 0)

    @staticmethod
    def _pieces(frame: Any, cut: Cut, count: int, number: int) -> Any:
        return packed_rows(cut.pieces(frame, count).filled(), number)


def together(collection: Any, by: By) -> Any:
    """Return a Dask collection with its rows where rows with equal keys share a partition, in their order."""
    if collection.npartitions == 1:
        return collection
    return new_collection(Moved(collection.expr, ByKey(by), None))
