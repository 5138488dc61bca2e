"""Shifts the labels of collections; rows stay in their partitions."""

from __future__ import annotations

import functools
from typing import Any

from ...ops.time.shift_labels import ShiftLabels
from .compat import Blockwise, new_collection
from .expressions import ExprMixin


class MovedLabels(ExprMixin, Blockwise):  # type: ignore[misc]
    """Rows with shifted labels; divisions are shifted, too, unless several labels may become one."""

    _parameters = ("frame", "move")
    _label = "shift-labels"

    @staticmethod
    def operation(partition: Any, move: ShiftLabels) -> Any:
        """Shift the labels of a partition."""
        return move.apply(partition)

    @functools.cached_property
    def _meta(self) -> Any:
        return self.operand("move").apply(self.frame._meta)

    def _divisions(self) -> tuple[Any, ...]:
        divisions, move = self.frame.divisions, self.operand("move")
        if not self.frame.known_divisions or not move.keeps_gaps(self.frame._meta):
            return (None,) * len(divisions)
        return tuple(map(move.moved, divisions))


def move_labels(obj: Any, move: ShiftLabels) -> Any:
    """Shift the labels of a collection."""
    move.check(obj._meta)
    return new_collection(MovedLabels(obj.expr, move))
