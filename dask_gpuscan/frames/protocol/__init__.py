"""What a dataframe library must answer: `Library`, a protocol in parts, one for each theme.

A part states questions and holds no code; the objects of `frames/pandas/` and `frames/cudf/` answer them.
Read `arrays` first, then `schema` (dtypes, labels of rows), `keys` (equal keys, order) and `columns` (lists, strings,
objects, sparse columns).
"""

from __future__ import annotations

from typing import Protocol

from .arrays import Arrays
from .columns import HostValues, ListColumns, SparseColumns
from .keys import Grouping, Ordering
from .schema import DTypes, Index


class Library(DTypes, Arrays, Index, Grouping, Ordering, ListColumns, Protocol):
    """The questions to the library that a frame belongs to: pandas, cuDF or another."""

    @property
    def host_values(self) -> HostValues | None:
        """The methods for columns that Python combines; None if columns stay on a GPU."""

    @property
    def sparse(self) -> SparseColumns | None:
        """The methods that make columns dense; None if the library has no sparse ones."""

    def __hash__(self) -> int: ...
