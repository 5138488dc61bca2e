"""Questions about lists, about values that only Python combines, and about sparse columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from ..types import Array, Column, DType, Lists, Texts, Values


class ListColumns(Protocol):
    """Columns of lists."""

    def item_dtype(self, dtype: DType) -> DType | None:
        """Return the dtype of the items of lists; None if columns of a dtype hold no lists."""

    def list_dtype(self, items: DType, like: DType | None = None) -> DType:
        """Return the dtype of lists of such items: of the kind of a list dtype `like`, if one is given.

        Raises a TypeError for items that the library's lists do not hold.
        """

    def length_dtype(self, dtype: DType) -> DType:
        """Return the dtype of the lengths of lists."""

    def lists(self, array: Array) -> Lists:
        """Show the items of an array of lists, without a copy where they lie in one piece of memory."""

    def with_items(self, array: Array, lists: Lists, items: Array, dtype: DType) -> Array:
        """Return an array of lists of other items, which has the lengths and the nulls of `array`.

        `lists` is the answer of the method `lists` for that array.
        """

    def from_items(self, items: Array, offsets: Values, dtype: DType) -> Array:
        """Return lists without nulls, of items and offsets as in `Lists`; they may share the items' memory."""


class HostValues(Protocol):
    """Columns as NumPy arrays of Python's objects, or of numbers that no kernel takes.

    Decimals are integers, in units of the last digit.
    """

    def combines(self, method: str | None, dtype: DType) -> bool:
        """Return whether Python computes a running method of columns of this dtype."""

    def of_nothing(self, method: str, dtype: DType) -> object:
        """Return the answer of a method for no values; None stands for a null."""

    def holds_decimals(self, dtype: DType) -> bool:
        """Return whether a dtype is of decimals."""

    def limbs(self, array: Array) -> list[np.ndarray]:
        """Return decimals as digits of base 2 ** 32, in integers of 64 bits; sums of digits are digits of the sum."""

    def whole(self, limbs: Sequence[np.ndarray]) -> np.ndarray:
        """Return such digits, or sums of these, as integers of Python."""

    def narrow(self, array: Array) -> np.ndarray:
        """Return decimals as integers of 64 bits; raises an OverflowError for one that takes more."""

    def dtype(self, method: str, dtype: DType) -> DType:
        """Return the dtype of the answers of a method."""

    def state_dtype(self, method: str, dtype: DType) -> DType:
        """Return a dtype that holds what partitions hand on: their sums may not fit where later answers do."""

    def takes_dtype(self, dtype: DType, requested: DType) -> bool:
        """Return whether a column of a dtype may be cast to a requested one for its answers."""

    def values(self, array: Array) -> np.ndarray:
        """Return the values of an array, with any value in the place of a null."""

    def array(self, values: np.ndarray, valid: np.ndarray, dtype: DType) -> Array:
        """Return values as an array of a dtype, null where not `valid`; the values may be written to.

        Raises an OverflowError for decimals that the dtype does not hold.
        """

    def running(self, method: str, values: np.ndarray) -> np.ndarray:
        """Return the running answers of a method; raises a MemoryError for strings that would take too much memory."""

    def total(self, method: str, values: np.ndarray) -> object:
        """Return the last running answer, for at least one value."""

    def joins(self, method: str | None, dtype: DType) -> bool:
        """Return whether a running method joins the bytes of strings of a dtype."""

    def texts(self, arrays: Sequence[Array], rows: np.ndarray) -> Texts:
        """Return these rows of arrays of strings, one array after the other; nulls are empty."""

    def pieces(
        self,
        texts: Texts,
        begin: np.ndarray,
        end: np.ndarray,
        missing: np.ndarray,
        dtype: DType,
    ) -> Array:
        """Return strings that begin and end at these bytes of `texts`, null where `missing`.

        Raises a MemoryError if they would take too much memory, and an OverflowError if the dtype cannot hold them.
        """


class SparseColumns(Protocol):
    """Columns of a sparse dtype."""

    def holds(self, dtype: DType) -> bool:
        """Return whether a dtype is sparse."""

    def dense(self, column: Column) -> Column:
        """Return a sparse column with all values, of the dtype of these; any other column as it is."""

    def array(self, dense: Array, dtype: DType) -> Array:
        """Return an array of all values as one of a sparse dtype."""
