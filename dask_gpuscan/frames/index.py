"""What is asked of a dataframe library for the labels of rows."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from .protocol import Array, Column, DType, Frame, Labels, Values


def check_one_level(index: Labels, names: Labels) -> None:
    """Raise a ValueError if labels of rows, or names of columns, have several levels."""
    for what, labels in (("the index", index), ("names of columns", names)):
        if labels.nlevels > 1:
            raise ValueError(
                f"{what} must have one level where all pairs of columns are rows, found {labels.nlevels}"
            )


class Index(Protocol):
    """The labels of rows."""

    def index(self, frame: Frame) -> Labels:
        """Return the index of a frame or series."""

    def index_names(self, frame: Frame) -> list[Hashable]:
        """Return the names of the levels of the index of a frame."""

    def index_level(self, frame: Frame, number: int) -> Column:
        """Return the level of the index of a frame or series that has this number."""

    def is_sorted(self, index: Labels) -> bool:
        """Tell whether an index never decreases."""

    def same_index(self, index: Labels, other: Labels) -> bool:
        """Tell whether two indexes have the same labels."""

    def key_index(
        self, arrays: list[Array], names: Sequence[Hashable], levels: bool = False
    ) -> Labels:
        """Return an index of one level an array; with `levels`, of a kind that has several, for one array too."""

    def index_of_pairs(self, index: Labels, frame: Frame) -> Labels:
        """Return an index of each label with the name of each column of a frame; raises a ValueError.

        It is raised where the index, or the names of the columns, have several levels.
        """

    def range_index(self, start: int, stop: int) -> Labels:
        """Return an index of consecutive numbers."""

    def index_of_times(self, times: Any, dtype: DType, name: Hashable) -> Labels:
        """Return times, as an index of pandas, as an index of a dtype of times."""

    def take_index(self, index: Labels, positions: Values) -> Labels:
        """Return the rows of an index at these positions."""

    def argsort_index(self, index: Labels) -> Values:
        """Return the positions of an index' rows in the order of its values, equal ones as they are."""

    def sort_by_index(self, frame: Frame) -> Frame:
        """Return a frame or series in the order of its index, nulls last."""

    def reset_index(self, frame: Frame, start: int, drop: bool) -> Frame:
        """Return a frame whose index counts from `start`; the old one becomes columns, or with `drop` goes."""
