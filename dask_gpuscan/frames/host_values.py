"""What is asked of a dataframe library for values that only Python combines, such as objects and strings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from .protocol import Array, DType


class Texts(NamedTuple):
    """Strings: their bytes in UTF-8, one string after the other, and where each begins and the last one ends."""

    data: np.ndarray
    offsets: np.ndarray


class HostValues(Protocol):
    """Columns as NumPy arrays of Python's objects, or of numbers that no kernel takes."""

    def combines(self, method: str | None, dtype: DType) -> bool:
        """Tell whether a running method of a column of this dtype is Python's to compute."""

    def of_nothing(self, method: str, dtype: DType) -> object:
        """Return the answer of a method for no values; None if it is a null."""

    def values(self, array: Array) -> np.ndarray:
        """Return the values of an array; what stands for nulls is any value."""

    def array(self, values: np.ndarray, valid: np.ndarray, dtype: DType) -> Array:
        """Return values, which may be written to, as an array of a dtype, null where not `valid`."""

    def running(self, method: str, values: np.ndarray) -> np.ndarray:
        """Return the running answers of a method; raises a MemoryError for strings that would take too much."""

    def total(self, method: str, values: np.ndarray) -> object:
        """Return the last of them, of some values."""

    def joins(self, method: str | None, dtype: DType) -> bool:
        """Tell whether a running method joins the bytes of strings of a dtype."""

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
        """Return strings that begin and end at these bytes of others, null where `missing`.

        Raises a MemoryError where they would take too much, and an OverflowError where they do so for the dtype.
        """
