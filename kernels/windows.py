"""The windows of rolling computations: rows around each row, or rows between two bounds."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from .arrays import brief, check_integer, check_one_length, is_array
from .late_dataclass import dataclass

FAR = 1 << 61
"""A number larger than any number of rows."""


@dataclass(frozen=True)
class RowWindows:
    """Windows of a number of rows around each row.

    The window of row i is rows i - `before` to i + `after`, both included, clipped to the array.

    Parameters
    ----------
    before, after : int
        The number of rows before and after each row. Negative numbers leave rows out: ``RowWindows(3, -1)`` is the
        three rows before each row.
    first : int, default 0
        The first row that has a window.
    count : int, optional
        The number of rows that have one; by default, all from `first` on. Other rows are only in windows.

    Raises
    ------
    TypeError
        If a parameter is not an integer.

    Examples
    --------
    >>> RowWindows(before=2)
    RowWindows(before=2, after=0, first=0, count=None)
    """

    before: int
    after: int = 0
    first: int = 0
    count: int | None = None

    def __post_init__(self) -> None:
        for name in ("before", "after", "first", "count"):
            given = getattr(self, name)
            if type(given) is not int and (name != "count" or given is not None):
                check_integer(name, given)

    def within(self, rows: int) -> "RowWindows":
        """Return the same windows of an array of `rows` rows, with a count and bounds that cannot overflow.

        Raises
        ------
        ValueError
            If `first` and `count` name rows that the array does not have.

        Examples
        --------
        >>> RowWindows(10**30, -1, first=2).within(5)
        RowWindows(before=5, after=-1, first=2, count=3)
        """
        first, count = int(self.first), self.count
        if {int}.issuperset(map(type, (self.before, self.after, self.first, count))):
            fits = -rows <= self.before <= rows and -rows <= self.after <= rows
            if fits and 0 <= first <= first + (count or 0) <= rows:
                return self
        if not 0 <= first <= rows:
            raise ValueError(f"first must be from 0 to {rows}, found {first}")
        count = rows - first if count is None else int(count)
        if not 0 <= count <= rows - first:
            raise ValueError(f"count must be from 0 to {rows - first}, found {count}")
        before, after = (
            min(max(int(self.before), -rows), rows),
            min(max(int(self.after), -rows), rows),
        )
        return RowWindows(before, after, first, count)

    @property
    def number(self) -> int:
        """The number of windows, for windows `within` an array."""
        return int(self.count or 0)

    @property
    def bounds(self) -> list[Any]:
        """The arrays of bounds, of which there are none."""
        return []

    @property
    def around(self) -> tuple[int, int]:
        """The most rows that window j has, as (shift, width): `width` rows from row j + shift on.

        Examples
        --------
        >>> RowWindows(before=3, after=-1, first=5).around
        (2, 3)
        """
        before, after = (min(max(int(x), -FAR), FAR) for x in (self.before, self.after))
        return int(self.first) - before, max(before + after + 1, 0)

    def limits(self, windows: Any, rows: int) -> tuple[Any, Any]:
        """Return the first row of some windows, given by number, and the row after their last one, of `rows` rows.

        Examples
        --------
        >>> RowWindows(before=2, first=1).limits(np.array([0, 3]), 6)
        (array([0, 2]), array([2, 5]))
        """
        shift, width = self.around
        starts = (windows + shift).clip(0, rows)
        return starts, (windows + (shift + width)).clip(starts, rows)


@dataclass(frozen=True, eq=False)
class BoundWindows:
    """Windows of the rows between two bounds.

    Parameters
    ----------
    starts, stops : arrays of int64
        1-d and of one length; window j is rows ``starts[j]`` to ``stops[j] - 1``, and may be empty. Neither array
        decreases. If `stops` is None, windows have all rows from their starts on.
    before, after : int, optional
        Window j has at most rows j - `before` to j + `after` of these: for bounds of the group of each row, or windows
        that end with their row. By default it has all.

    Raises
    ------
    TypeError, ValueError
        For other arrays.

    Examples
    --------
    >>> BoundWindows(np.array([0, 0, 1]), np.array([1, 2, 3]))
    BoundWindows(starts=int64[3], stops=int64[3], before=None, after=None)
    >>> BoundWindows(np.array([0, 0, 1]), None, after=0)
    BoundWindows(starts=int64[3], stops=None, before=None, after=0)
    """

    starts: Any
    stops: Any | None
    before: int | None = None
    after: int | None = None

    def __post_init__(self) -> None:
        for name in ("before", "after"):
            if getattr(self, name) is not None:
                check_integer(name, getattr(self, name))
        for name, found in zip(("starts", "stops"), self.bounds, strict=False):
            if not is_array(found) or found.dtype != np.int64:
                raise TypeError(f"{name} must be an array of int64, found {brief(found)}")
        check_one_length("starts and stops", self.bounds)

    def __repr__(self) -> str:
        stops = None if self.stops is None else brief(self.stops)
        bounds = f"starts={brief(self.starts)}, stops={stops}"
        return f"BoundWindows({bounds}, before={self.before}, after={self.after})"

    @property
    def number(self) -> int:
        """The number of windows."""
        return len(self.starts)

    @property
    def bounds(self) -> list[Any]:
        """The arrays of bounds: starts, then stops unless they are None."""
        return [self.starts] if self.stops is None else [self.starts, self.stops]

    @property
    def around(self) -> tuple[int, int]:
        """The most rows that window j has, as (shift, width): `width` rows from row j + shift on.

        Examples
        --------
        >>> BoundWindows(np.array([0, 0]), np.array([2, 2]), before=3, after=-1).around
        (-3, 3)
        """
        shift = -FAR if self.before is None else min(max(-int(self.before), -FAR), FAR)
        end = FAR if self.after is None else min(max(int(self.after) + 1, -FAR), FAR)
        return shift, max(end - shift, 0)

    def tightened(self, rows: int, arange: Callable[..., Any]) -> "BoundWindows":
        """Return the same windows of `rows` rows with the least `before` and `after`; waits for a GPU.

        Examples
        --------
        >>> BoundWindows(np.array([0, 0, 1]), None, after=0).tightened(3, np.arange).around
        (-1, 2)
        """
        own = arange(self.number)
        starts, stops = self.limits(own, rows)
        own, starts, stops = (each[stops > starts] for each in (own, starts, stops))
        if not len(own):
            return replace(self, before=0, after=-1)
        before, after = int((own - starts).max()), int((stops - own).max()) - 1
        return replace(self, before=before, after=after)

    def limits(self, windows: Any, rows: int) -> tuple[Any, Any]:
        """Return the first row of some windows, given by number, and the row after their last one, of `rows` rows.

        Examples
        --------
        >>> BoundWindows(np.array([0, 0]), np.array([2, 2]), before=0).limits(np.array([0, 1]), 2)
        (array([0, 1]), array([2, 2]))
        """
        least = self.starts[windows].clip(0, rows)
        most = rows if self.stops is None else self.stops[windows].clip(least, rows)
        shift, width = self.around
        starts = (windows + shift).clip(least, most)
        return starts, (windows + (shift + width)).clip(starts, most)


Windows = RowWindows | BoundWindows


def pieces(
    windows: Windows, rows: int, size: int, arange: Callable[..., Any]
) -> list[tuple[int, int, int, int]]:
    """Cut windows into pieces of at least `size` windows, such that the rows of pieces overlap little.

    Returns
    -------
    list of (first, last, low, high)
        The first window of each piece and the one after its last, and the first row of the piece and the one after its
        last.

    Examples
    --------
    >>> pieces(RowWindows(1).within(9), 9, 5, np.arange)
    [(0, 5, 0, 5), (5, 9, 4, 9)]
    """
    count = windows.number
    while True:
        firsts = arange(0, count, size)
        lasts = (firsts + size).clip(0, count)
        lows, highs = windows.limits(firsts, rows)[0], windows.limits(lasts - 1, rows)[1]
        if size >= count or 4 * int((highs - lows).sum()) <= 5 * rows:
            bounds = (each.tolist() for each in (firsts, lasts, lows, highs))
            return list(zip(*bounds, strict=True))
        size *= 2
