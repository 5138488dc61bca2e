"""What is asked of a dataframe library for columns of lists: their items, and where each list begins and ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from .protocol import Array, DType, Values


@dataclass(frozen=True, eq=False)
class Lists:
    """A column of lists.

    Parameters
    ----------
    items : array of the library
        Those of all lists, one list after the other; of null lists too, where memory has any.
    offsets : array of int32 or int64
        Where each list begins among the items, from 0 on, and at last where the last one ends.
    find_missing : callable
        Returns which lists are null, as an array of bool; None if none is.
    """

    items: Array
    offsets: Values
    find_missing: Callable[[], Values | None]

    @cached_property
    def missing(self) -> Values | None:
        """Which lists are null, as an array of bool; None if none is."""
        return self.find_missing()

    @property
    def lengths(self) -> Values:
        """Items of each list, in the dtype of the offsets."""
        return self.offsets[1:] - self.offsets[:-1]


class ListColumns(Protocol):
    """Columns of lists."""

    def item_dtype(self, dtype: DType) -> DType | None:
        """Return the dtype of the items of lists; None if columns of a dtype hold no lists."""

    def list_dtype(self, items: DType, like: DType | None = None) -> DType:
        """Return the dtype of lists of such items, kept as those of another dtype are, if one is given.

        Raises a TypeError for items that the library's lists do not hold.
        """

    def length_dtype(self, dtype: DType) -> DType:
        """Return the dtype of the lengths of lists."""

    def lists(self, array: Array) -> Lists:
        """Show the items of an array of lists, without a copy where they lie in one piece of memory."""

    def with_items(self, array: Array, lists: Lists, items: Array, dtype: DType) -> Array:
        """Return an array of lists as long as those of another, and null where they are, of other items.

        `lists` is what was shown of that array.
        """

    def from_items(self, items: Array, offsets: Values, dtype: DType) -> Array:
        """Return lists of items, of which none is null; as `Lists` has them. Memory of the items may be shared."""
