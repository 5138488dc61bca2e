"""The options of primitives: one object each, from the front doors to the launch of a kernel."""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Literal, NamedTuple

import numpy as np

from .arrays import Array, brief
from .late_dataclass import dataclass
from .messages import shown
from .nulls import NULLS, Nulls
from .scalars import FLAG, is_number

USUAL = {(nulls, bool, bool, bool) for nulls in NULLS}
"""The types of nulls, `exclusive`, `reverse` and `mark_nulls` that need no check."""

Exclusive = bool | tuple[bool, ...]
"""Whether a scan writes the state before each element, in all of its outputs or in each of them."""


class ScanOptions(NamedTuple):
    """How arrays are scanned or reduced; the parameters are those of `kernels.scan`.

    Parameters
    ----------
    nulls : InBand, Mask or None
        Which elements are missing.
    axis : int, default -1
        The axis of the scan; arrays by key and by code have only one.
    exclusive : bool or tuple of bool, default False
        Write the state before each element rather than after it; a tuple says so of each output.
    reverse : bool, default False
        Walk from the last element to the first.
    dtype : dtype, optional
        Of the answer, and of the state where the element itself is the state.
    mark_nulls : bool, default False
        Write a null at missing elements rather than the state.

    Notes
    -----
    Options that differ only in `nulls` are equal: a mask is data and not a part of a cache's key.
    """

    nulls: Nulls = None
    axis: int = -1
    exclusive: Exclusive = False
    reverse: bool = False
    dtype: np.dtype | None = None
    mark_nulls: bool = False

    def __eq__(self, other: object) -> bool:
        return type(other) is ScanOptions and self[1:] == other[1:]

    def __ne__(self, other: object) -> bool:  # that of tuples would compare nulls
        return not self == other

    def __hash__(self) -> int:
        return hash(self[1:])

    def check(self) -> None:
        """Raise a TypeError for nulls of another type, and for flags that are neither True nor False."""
        if type(self.nulls) not in NULLS:
            raise TypeError(f"nulls must be InBand, Mask or None, found {shown(self.nulls)}")
        for name in ("exclusive", "reverse", "mark_nulls"):
            found = getattr(self, name)
            each = found if name == "exclusive" and isinstance(found, tuple) else (found,)
            if not all(isinstance(flag, FLAG) for flag in each):
                raise TypeError(f"{name} must be True or False, found {shown(found)}")


def check_exclusive(exclusive: Exclusive, outputs: int) -> None:
    """Raise a ValueError if `exclusive` is a tuple that does not have one flag for each of `outputs` outputs."""
    if isinstance(exclusive, tuple) and len(exclusive) != outputs:
        raise ValueError(
            f"exclusive must be True, False or a tuple of {outputs}, one for each output, found {exclusive}"
        )


WAYS = {"backward": (False,), "forward": (True,), "nearest": (False, True)}
"""Whether an as-of match looks forward; "nearest" takes the nearer of two, the earlier one if both are equally near."""


class Unsorted(ValueError):
    """Raised for values that decrease but must not, or hold NaN."""


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
        """The ways to look, each as whether it is forward."""
        return WAYS[self.direction]

    def limit(self, dtype: np.dtype) -> Any:
        """Return the tolerance in the dtype of distances of values of a dtype; None without a tolerance."""
        if self.tolerance is None:
            return None
        if dtype.kind == "f":
            return dtype.type(self.tolerance)
        return np.uint64(int(min(self.tolerance, 2**64 - 1)))


INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")
"""Rules for quantiles that lie between two values; kernels know each by its number."""


RANKS = {"average": (0.5, 0.5), "min": (1.0, 0.0), "max": (0.0, 1.0)}
"""For each method (a, b): the rank of n equal values is the number of values before them plus a + b * n."""


@dataclass(frozen=True)
class Quantile:
    """A quantile: the value at the fraction `q` of the sorted values.

    Parameters
    ----------
    q : float
        From 0 to 1.
    interpolation : str, default "linear"
        One of `INTERPOLATIONS`.

    Raises
    ------
    ValueError
        For other arguments.

    Examples
    --------
    >>> Quantile(0.25)
    Quantile(q=0.25, interpolation='linear')
    """

    q: float
    interpolation: str = "linear"

    def __post_init__(self) -> None:
        if not is_number(self.q) or not 0.0 <= self.q <= 1.0:
            raise ValueError(f"q must be from 0 to 1, found {shown(self.q)}")
        _check_choice("interpolation", self.interpolation, INTERPOLATIONS)

    @property
    def way(self) -> int:
        """The number of the interpolation in kernels."""
        return INTERPOLATIONS.index(self.interpolation)


@dataclass(frozen=True)
class Rank:
    """The rank of the value of a window's last row among its values, from 1 on; null if that row has no value.

    Parameters
    ----------
    method : str, default "average"
        The rank of equal values, a key of `RANKS`.
    ascending : bool, default True
    pct : bool, default False
        Divide by the number of values.

    Raises
    ------
    ValueError
        For another `method`.

    Examples
    --------
    >>> Rank("min")
    Rank(method='min', ascending=True, pct=False)
    """

    method: str = "average"
    ascending: bool = True
    pct: bool = False

    def __post_init__(self) -> None:
        _check_choice("method", self.method, tuple(RANKS))


@dataclass(frozen=True)
class Distinct:
    """The number of distinct values.

    Examples
    --------
    >>> Distinct()
    Distinct()
    """


OrderStatistic = Quantile | Rank | Distinct
"""Statistics of the values of a window in order."""

QUANTILE, RANK, DISTINCT = range(3)
"""The numbers of the kinds of order statistics in kernels."""


def as_numbers(statistic: OrderStatistic) -> tuple[int, float, float, int, bool, bool]:
    """Return an order statistic as the numbers that kernels of short windows take.

    Returns
    -------
    kind : int
    first, second : float
        For a quantile, `q` first; for a rank, the item of `RANKS`.
    way : int
        The interpolation of a quantile.
    ascending, pct : bool
        Those of a rank.

    Examples
    --------
    >>> as_numbers(Quantile(0.25)), as_numbers(Rank("min", pct=True)), as_numbers(Distinct())
    ((0, 0.25, 0.0, 0, False, False), (1, 1.0, 0.0, 0, True, True), (2, 0.0, 0.0, 0, False, False))
    """
    if isinstance(statistic, Quantile):
        return QUANTILE, float(statistic.q), 0.0, statistic.way, False, False
    if isinstance(statistic, Rank):
        return RANK, *RANKS[statistic.method], 0, statistic.ascending, statistic.pct
    return DISTINCT, 0.0, 0.0, 0, False, False


def _check_choice(name: str, found: str, accepted: tuple[str, ...]) -> None:
    if found not in accepted:
        raise ValueError(
            f"{name} must be one of {', '.join(map(repr, accepted))}, found {shown(found)}"
        )


@dataclass(frozen=True)
class Shifted:
    """Which rows of an array get the rows `periods` before them.

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
        """The rows that get another row."""
        return self._inner(self.periods)

    @property
    def of(self) -> slice:
        """The other rows that they get."""
        return self._inner(-self.periods)

    @property
    def rest(self) -> slice:
        """The rows that get no other row."""
        none = min(abs(self.periods), self.rows)
        return slice(0, none) if self.periods > 0 else slice(self.rows - none, self.rows)

    def _inner(self, periods: int) -> slice:
        return slice(min(max(periods, 0), self.rows), max(min(self.rows + periods, self.rows), 0))


class Intervals(NamedTuple):
    """Intervals of arrays as a backend walks them; the parameters are those of `kernels.interval_move`."""

    counts: Any
    gather: Any
    """Offsets in the source, or None: items are read in their order."""
    scatter: Any
    """Offsets in the output, or None: items are written in their order."""
    starts: Any
    """The number of items before each chunk of intervals."""
    total: int
    """The number of items, at most `arrays.MOST`; -1 if a count or an offset is wrong."""


def _folded(at: np.ndarray, period: int) -> np.ndarray:
    """Return positions on a line that continues by its mirror images, with a period."""
    return np.minimum(at % period, -at % period) if period else at * 0


EDGES: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "reflect": lambda at, length: _folded(2 * at + 1, 4 * length) // 2,
    "mirror": lambda at, length: _folded(at, 2 * length - 2),
    "nearest": lambda at, length: at.clip(0, length - 1),
    "wrap": lambda at, length: at % length,
    "constant": lambda at, length: np.full_like(at, -1),
}
"""For each mode of SciPy, a function of the elements that continue a line beyond its ends; -1 for a constant."""


def edges_of(mode: str, radius: int, length: int) -> np.ndarray:
    """Return the elements that continue a line of this length before it and after it, in the order of their places.

    Examples
    --------
    >>> edges_of("reflect", 2, 10), edges_of("wrap", 2, 10)
    (array([1, 0, 9, 8]), array([8, 9, 0, 1]))
    """
    places = [np.arange(-radius, 0), np.arange(length, length + radius)]
    return EDGES[mode](np.concatenate(places), length)


@dataclass(frozen=True)
class Box:
    """The box around each element, over which the mean is taken.

    Parameters
    ----------
    radii : tuple of (int, int)
        The axes, and how many elements on either side along each.
    mode : str
        One of `EDGES`.
    outside : number
        The value beyond the ends if the mode is "constant".
    dtype : dtype
        Of the answer.
    state : dtype
        Of sums.

    Examples
    --------
    >>> box = Box(((0, 1), (1, 2)), "nearest", 0.0, np.dtype("f4"), np.dtype("f8"))
    >>> box.count
    15
    """

    radii: tuple[tuple[int, int], ...]
    mode: str
    outside: Any
    dtype: np.dtype
    state: np.dtype

    @property
    def count(self) -> int:
        """Elements of a box."""
        return prod(2 * radius + 1 for _, radius in self.radii)


Positions = bool | Literal["narrow"]
"""Whether positions of rows are wanted as well, and in which dtype."""

Kth = tuple[Any, Sequence[float]]
"""The number of values of each segment that count, and quantiles: only at their places values must be in order."""


@dataclass(frozen=True, eq=False)
class SortKey:
    """A key to sort rows by.

    Parameters
    ----------
    values : array
        1-d, of bool, integers, floats of 16 to 64 bits, `INT128`, datetime64 or timedelta64.
    nulls : InBand, Mask or None
        Which elements are null. NaN and NaT are found without it; `InBand` marks int64 as times.
    descending : bool, default False
    nulls_first : bool, default False
        Whether nulls, and NaN and NaT, come before all values rather than after, whatever the direction. NaN is
        nearer to the values than nulls of a mask.
    """

    values: Array
    nulls: Nulls = None
    descending: bool = False
    nulls_first: bool = False

    def __repr__(self) -> str:
        order = "descending" if self.descending else "ascending"
        return f"SortKey({brief(self.values)}, {order}, nulls {'first' if self.nulls_first else 'last'})"
