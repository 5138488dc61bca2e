"""Questions about dtypes, and about the labels of rows."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Protocol

from ..types import Array, Column, DType, Frame, Labels, Layout, Values


class DTypes(Protocol):
    """Facts about dtypes."""

    null_sums: bool
    """Whether the sum and the product of a group without values are null."""
    asks_groups: bool
    """Whether the library's own group-by may compute reductions, where `reduces_groups` says so."""

    def layout(self, dtype: DType) -> Layout | None:
        """Return the layout of a dtype; None if its columns hold no numbers of fixed width."""

    def moved_layout(self, dtype: DType) -> Layout | None:
        """Return the layout of a dtype whose numbers kernels compare and move; None for decimals of 128 bits."""

    def is_number(self, dtype: DType) -> bool:
        """Return whether columns of a dtype hold numbers or bool that can be scanned, and not times."""

    def is_real(self, dtype: DType) -> bool:
        """Return whether columns of a dtype hold real numbers or bool, which `floats` returns."""

    def is_numeric(self, dtype: DType) -> bool:
        """Return whether `numeric_only` keeps a column of a dtype."""

    def raises_on_overflow(self, dtype: DType) -> bool:
        """Return whether sums of a dtype raise, rather than wrapping around."""

    def rounds_products(self, dtype: DType) -> bool:
        """Return whether each step of a product of a dtype is rounded to its digits, as that of decimals is."""

    def holds_null(self, dtype: DType) -> bool:
        """Return whether columns of a dtype can have nulls."""

    def nullable(self, dtype: DType) -> DType:
        """Return the dtype of answers of a dtype that may be null: itself, if it has a null."""

    def masked(self, dtype: DType) -> DType:
        """Return a dtype that holds all values of a dtype exactly, and nulls, for intermediate results."""

    def time_unit(self, dtype: DType) -> str:
        """Return the unit in which a dtype of times stores them."""

    def stored_number(self, value: object, dtype: DType) -> int:
        """Return the number that a column of times or decimals stores for a value; raises a TypeError for others."""

    def answer_dtype(self, method: str, dtype: DType, /, **options: Hashable) -> DType:
        """Return the dtype of the library's own answer of a method; raises a TypeError if the library has no answer."""

    def group_dtype(self, method: str, dtype: DType, /, **options: Hashable) -> DType:
        """Return the dtype of an answer of a method of the library's group-by; raises as `answer_dtype`.

        The library may choose it by the values; the returned one holds the answers for all values.
        """


class Index(Protocol):
    """The labels of rows."""

    def index(self, frame: Frame) -> Labels:
        """Return the index of a frame or series."""

    def index_names(self, frame: Frame) -> list[Hashable]:
        """Return the names of the levels of the index of a frame."""

    def index_dtypes(self, frame: Frame) -> list[DType]:
        """Return the dtypes of the levels of the index of a frame."""

    def index_level(self, frame: Frame, number: int) -> Column:
        """Return the level of the index of a frame or series that has this number."""

    def is_sorted(self, index: Labels) -> bool:
        """Return whether an index never decreases."""

    def same_index(self, index: Labels, other: Labels) -> bool:
        """Return whether two indexes have the same labels."""

    def key_index(
        self, arrays: list[Array], names: Sequence[Hashable], levels: bool = False
    ) -> Labels:
        """Return an index with a level for each array; with `levels`, one array makes an index of levels, too."""

    def index_of_pairs(self, index: Labels, frame: Frame) -> Labels:
        """Return an index of all pairs of a label and the name of a column of a frame.

        Raises a ValueError if the index or the names of the columns have several levels.
        """

    def range_index(self, start: int, stop: int) -> Labels:
        """Return an index of consecutive numbers."""

    def index_of_times(self, times: Any, dtype: DType, name: Hashable) -> Labels:
        """Return an index of pandas' times as an index of this library, of a dtype of times."""

    def take_index(self, index: Labels, positions: Values) -> Labels:
        """Return the rows of an index at these positions."""

    def argsort_index(self, index: Labels) -> Values:
        """Return the positions of an index' rows in the order of its values; the sort is stable."""

    def text_order(self, array: Array) -> Values | None:
        """Return the positions of texts in their order, nulls last; None for other values, or without a quick way."""

    def sort_by_index(self, frame: Frame) -> Frame:
        """Return a frame or series in the order of its index, nulls last."""

    def reset_index(self, frame: Frame, start: int, drop: bool) -> Frame:
        """Return a frame whose index counts from `start`; the old index becomes columns, or with `drop` is left out."""
