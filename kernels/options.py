"""The options of a primitive, as one object that travels from the public functions to a kernel's launch."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .nulls import Nulls


@dataclass(frozen=True)
class ScanOptions:
    """How arrays are scanned or reduced; the parameters are those of `kernels.scan`.

    Parameters
    ----------
    nulls : InBand, Mask or None
        Which elements are missing.
    axis : int, default -1
        The axis that is walked along; by key and by code there is one.
    exclusive : bool, default False
        Write the state before each element rather than after it.
    reverse : bool, default False
        Walk from the last element to the first.
    dtype : dtype, optional
        Of the answer, and of the state where the element itself is the state.
    mark_nulls : bool, default False
        Write a null at missing elements rather than the state.

    Notes
    -----
    Options that differ in `nulls` alone are equal and have one hash: a mask is data, and no part of a cache's key.
    """

    nulls: Nulls = field(default=None, compare=False)
    axis: int = -1
    exclusive: bool = False
    reverse: bool = False
    dtype: np.dtype | None = None
    mark_nulls: bool = False

    def without_nulls(self) -> "ScanOptions":
        """Return these options as the key of a cache, which keeps no mask's memory."""
        return self if self.nulls is None else replace(self, nulls=None)


WAYS = {"backward": (False,), "forward": (True,), "nearest": (False, True)}
"""Whether an as-of match looks forward; "nearest" takes the nearer of two, the earlier one if both are as near."""


class Unsorted(ValueError):
    """What must not decrease does, or holds NaN."""


@dataclass(frozen=True)
class AsOfOptions:
    """Which row of the right side matches a row of the left; the parameters are those of `kernels.asof`.

    Parameters
    ----------
    direction : str
        One of `WAYS`.
    exact : bool
        Whether equal values match.
    tolerance : number, optional
        How far away a match may be, not negative.
    """

    direction: str = "backward"
    exact: bool = True
    tolerance: float | None = None

    @property
    def ways(self) -> tuple[bool, ...]:
        """Which ways are looked, each as whether it is forward."""
        return WAYS[self.direction]

    def limit(self, dtype: np.dtype) -> Any:
        """Return the tolerance as kernels compare it with a distance of values of a dtype; None if there is none."""
        if self.tolerance is None:
            return None
        if dtype.kind == "f":
            return dtype.type(self.tolerance)
        return np.uint64(min(int(self.tolerance), 2**64 - 1))


@dataclass(frozen=True)
class Shifted:
    """Which rows of an array get those so many rows before.

    Parameters
    ----------
    rows, periods : int

    Examples
    --------
    >>> Shifted(5, 2).to, Shifted(5, 2).of, Shifted(5, 2).rest
    (slice(2, 5, None), slice(0, 3, None), slice(0, 2, None))
    """

    rows: int
    periods: int

    @property
    def to(self) -> slice:
        """The rows that get one."""
        return self._inner(self.periods)

    @property
    def of(self) -> slice:
        """The rows that they get."""
        return self._inner(-self.periods)

    @property
    def rest(self) -> slice:
        """The rows that get none."""
        none = min(abs(self.periods), self.rows)
        return slice(0, none) if self.periods > 0 else slice(self.rows - none, self.rows)

    def _inner(self, periods: int) -> slice:
        return slice(min(max(periods, 0), self.rows), max(min(self.rows + periods, self.rows), 0))
