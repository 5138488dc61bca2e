"""What is asked of a dataframe library for rows with equal keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ..kernels import Nulls

if TYPE_CHECKING:
    from .protocol import Array, Column, Values


class GroupBy(Protocol):
    """Rows with equal keys."""

    reduces_groups: bool
    """Whether the library's own reductions of groups are asked for, where they are right: on GPUs ours are faster."""

    def codes(self, column: Column) -> tuple[Values, Nulls]:
        """Return an array of integers, equal where values of a column are, and where nulls are if not one value.

        Raises a TypeError for values that cannot be hashed.
        """

    def group_codes(self, arrays: list[Array]) -> Values:
        """Return an array of integers, equal where the rows of all arrays are; nulls equal nulls."""

    def dense_codes(self, arrays: list[Array]) -> tuple[Values, int]:
        """Return such an array, and a number that is above all codes; not every number below it need be a code."""

    def own_codes(self, array: Array) -> tuple[Values, int] | None:
        """Return the numbers of an array if they are codes as they are, without a copy, and a number above all."""

    def parts_keys(self, column: Column) -> bool:
        """Tell whether the library's own groups part keys that are the same to the methods of this protocol."""

    def hash_rows(self, columns: list[Column]) -> Values:
        """Return a number for each row, equal in every process where rows of all columns are; nulls equal nulls."""

    def group_reduce(self, method: str, column: Column, codes: Values) -> Array:
        """Return the library's own reduction of the rows with equal codes, in the codes' order."""

    def first_last(self, array: Array) -> Array:
        """Return an array with its nulls as the library's ``first`` and ``last`` of groups write them."""
