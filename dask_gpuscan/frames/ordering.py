"""What is asked of a dataframe library to put rows in order: keys that kernels sort."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from ..kernels import Nulls

if TYPE_CHECKING:
    from .protocol import Column, Values


class Ordering(Protocol):
    """Columns as keys that have an order."""

    def sort_key(self, column: Column) -> tuple[Values, Nulls]:
        """Return an array that has the order of a column, and where it is null.

        Values that are not of fixed width become their numbers in order, equal ones the same number. Raises a
        TypeError for a column whose values have no order.
        """

    def rank_values(self, column: Column) -> Column:
        """Return a column that has the order in which the library ranks this one."""

    def as_key(self, values: Any) -> Column:
        """Return what a user's function answers for a key as a column."""
