"""Where the missing elements of an array are: nowhere, in band (NaN, NaT), or in a mask."""

from typing import Any, ClassVar

import numpy as np

from .arrays import brief, check_integer, is_array
from .late_dataclass import dataclass

NAT = np.iinfo(np.int64).min
"""The integer that NumPy and pandas store for a missing time."""


@dataclass(frozen=True)
class InBand:
    """Missing elements are NaN in floating-point data and NaT in 64-bit integer data."""

    args: ClassVar[bool] = True
    """Its form in kernels of the CPU."""


def missing_in_band(values: Any) -> Any:
    """Return which elements are NaN or NaT, as an array of bool.

    Examples
    --------
    >>> missing_in_band(np.array([1.0, np.nan]))
    array([False,  True])
    """
    return values == NAT if values.dtype == np.int64 else values != values


@dataclass(frozen=True, eq=False)
class Mask:
    """Missing elements are those of a mask: bits, as in Arrow, or bytes, as in pandas.

    Parameters
    ----------
    buffer : array of uint8
        The mask's bytes.
    offset : int
        Position of element 0, in bits for a bitmap and in bytes for a byte mask.
    shift : {0, 3}
        Elements a byte, as a power of two: 3 for a bitmap, 0 for a byte mask.
    null : {0, 1}
        The bit that says "missing".

    Raises
    ------
    TypeError
        For a buffer that is not an array of uint8.
    ValueError
        For an offset that is negative, and for another shift or null.
    """

    buffer: Any
    offset: int
    shift: int
    null: int

    @property
    def args(self) -> tuple[Any, int, int, int]:
        """Its form in kernels of the CPU."""
        return (self.buffer, self.offset, self.shift, self.null)

    def __post_init__(self) -> None:
        if not is_array(self.buffer) or self.buffer.dtype != np.uint8:
            raise TypeError(
                f"buffer of a mask must be an array of uint8, found {brief(self.buffer)}"
            )
        check_integer("offset of a mask", self.offset)
        if self.offset < 0:
            raise ValueError(f"offset of a mask must not be negative, found {self.offset}")
        if self.shift not in (0, 3) or self.null not in (0, 1):
            raise ValueError(
                f"a mask has shift 0 or 3 and null 0 or 1, found {self.shift!r} and {self.null!r}"
            )

    def check_length(self, name: str, length: int) -> None:
        """Raise a ValueError if the array called `name` has more elements than the mask after its offset."""
        there = (self.buffer.nbytes << self.shift) - self.offset
        if there < length:
            raise ValueError(
                f"nulls: the mask of {name} must have {length} elements, found {max(there, 0)}"
            )

    def __repr__(self) -> str:
        return f"Mask({brief(self.buffer)}, offset={self.offset}, shift={self.shift}, null={self.null})"


Nulls = InBand | Mask | None
NULLS = {InBand, Mask, type(None)}
"""The types that are accepted for nulls."""


def bitmap(buffer: Any, offset: int = 0) -> Mask:
    """Describe an Arrow validity bitmap (bit 1 is valid, least significant bit first).

    Examples
    --------
    >>> bitmap(np.array([0b101], np.uint8)).shift
    3
    """
    return Mask(buffer, offset, 3, 0)


def byte_mask(mask: Any) -> Mask:
    """Describe a pandas mask, an array of bool in which True is missing."""
    if not is_array(mask) or mask.dtype.kind not in "bu" or mask.itemsize != 1:
        raise TypeError(f"a mask must be an array of bool, found {brief(mask)}")
    return Mask(mask.view(np.uint8), 0, 0, 1)
