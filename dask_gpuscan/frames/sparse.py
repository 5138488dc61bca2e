"""What is asked of a dataframe library for columns that keep only the values that differ from one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from .protocol import Array, Column, DType


class SparseColumns(Protocol):
    """Columns of a sparse dtype."""

    def holds(self, dtype: DType) -> bool:
        """Tell whether a dtype is sparse."""

    def dense(self, column: Column) -> Column:
        """Return a sparse column with all values, of the dtype of these; any other column as it is."""

    def array(self, dense: Array, dtype: DType) -> Array:
        """Return an array of all values as one of a sparse dtype."""
