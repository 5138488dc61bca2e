"""Questions about rows with equal keys, and about the order of keys."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Protocol

from ...kernels import Nulls
from ...kernels.keys import KeyTable
from ..types import Array, Column, DType, Frame, GroupIds, Values

NumberKeys = Callable[[KeyTable], tuple[Values, Values]]


class Grouping(Protocol):
    """Rows with equal keys."""

    def factorize(self, column: Column) -> tuple[Values, Nulls]:
        """Return a number for each row, equal where values of a column are, and where it is null if nulls differ.

        Raises a TypeError for values that cannot be hashed.
        """

    def dense_group_ids(self, arrays: list[Array]) -> GroupIds:
        """Return the group of each row, equal where the rows of all arrays are.

        Nulls equal nulls. Some numbers may have no row.
        """

    def shared_group_ids(
        self, arrays: list[Array], others: list[Array]
    ) -> tuple[GroupIds, GroupIds] | None:
        """Return the groups of rows of two kinds, equal where the rows of all arrays are.

        None if keys are not integers, have nulls, or have too wide a range for the number of rows.
        """

    def number_keys(self, array: Array) -> NumberKeys | None:
        """Return a function that numbers keys in a table that lasts, and finds the first rows of new ones.

        Nulls are one key. None if keys are neither fixed-width numbers nor texts, or if this takes long here.
        """

    def own_group_ids(self, array: Array) -> GroupIds | None:
        """Return an array's numbers, without a copy, if they can be group ids; else None."""

    def has_nan_apart(self, column: Column) -> bool:
        """Return whether there is NaN that is not null, for which the library's own reductions of groups are wrong."""
        ...

    def leaves_groups(self, keys: list[DType], dtypes: list[DType], method: str) -> bool:
        """Return whether `reduces_groups` is False for plain frames with such keys and columns, for any values."""
        ...

    def is_plain(self, frame: Frame) -> bool:
        """Return whether a frame has no attributes, flags or class that the library's own reductions keep."""
        ...

    def reduces_groups(
        self, frame: Frame, keys: list[Column], dtypes: list[DType], methods: Sequence[str]
    ) -> bool:
        """Return whether the library's own group-by reduces columns of these dtypes of a frame by these methods.

        It must find the same keys equal, and not be slower than ours.
        """

    def hash_rows(self, columns: list[Column]) -> Values:
        """Return a number for each row, equal in every process where rows of all columns are; nulls equal nulls."""

    def group_reduce(self, method: str, column: Column, ids: Values, exact: bool = False) -> Array:
        """Return the library's own reduction of the rows of each group, in the order of the groups' ids.

        With `exact`, extremes of objects stay what they are, where pandas makes floats of all if each is a number.
        """

    def inferred(self, array: Array) -> Array:
        """Return an array of keys, of the dtype that the library's group-by chooses for the values of objects."""

    def first_last(self, array: Array) -> Array:
        """Return an array whose nulls are those that the library's ``first`` and ``last`` of groups write."""


class Ordering(Protocol):
    """Columns as keys that have an order."""

    def sort_key(self, column: Column) -> tuple[Values, Nulls]:
        """Return an array that has the order of a column, and where it is null.

        Values without a fixed width become their ranks; equal values have one rank. Raises a
        TypeError for a column whose values have no order.
        """

    def rank_values(self, column: Column) -> Column:
        """Return a column whose order is the one in which the library ranks this column."""

    def rank_dtypes(self, frame: Frame, **options: Hashable) -> list[DType]:
        """Return the dtypes of the library's own ranks of the columns of a frame; those of a series may differ."""

    def is_monotonic(self, column: Column, decreasing: bool) -> bool:
        """Return whether a series never decreases, or never increases; never if it holds a null.

        Raises a TypeError or a NotImplementedError for values that have no order.
        """

    def is_column(self, frame: Frame, key: Frame) -> bool:
        """Return whether a series, which has the labels of a frame, counts as the frame's column of that name."""

    def as_key(self, values: Any) -> Column:
        """Return the answer of a user's function for a key as a column."""
