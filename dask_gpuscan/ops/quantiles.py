"""Quantiles of groups, exact: values are picked from the sorted values of each group, and interpolated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..frames.messages import WAY_OUT
from ..frames.protocol import Library, Values
from ..frames.registry import library_of, stored_numbers
from ..kernels.messages import shown
from .gathered_groups import GatheredReduction, ListOfValues
from .groupby_clustered import ClusteredReduce
from .groups import INT64
from .reduction_table import FLOAT64
from .sorted_groups import CountDistinct, SortedReduction, SortedValues


@dataclass(frozen=True)
class Quantiles(SortedReduction):
    """One quantile of each group or several, one after the other."""

    qs: tuple[float, ...]
    interpolation: str = "linear"
    method: str = "quantile"
    """The library's method, which is asked for the dtype of the answer."""

    @property
    def name(self) -> str:
        return self.method

    def _dtype(self, library: Library, dtype: Any) -> Any:
        layout = library.layout(dtype)
        if layout is None or layout.storage(dtype).kind not in "biuf":
            raise TypeError(f"dtype {dtype} has no quantiles; {WAY_OUT}")
        options = {"interpolation": self.interpolation} if self.method == "quantile" else {}
        return library.group_dtype(self.method, dtype, **options)

    def numbers(self, column: Any) -> Values:
        return stored_numbers(column)

    def answer(self, found: SortedValues, dtype: Any) -> tuple[Values, Values | None]:
        xp, values, counts = found.library.xp, found.values, found.counts
        out = [self._at(xp, values, found.starts, counts, q, dtype) for q in self.qs]
        if not len(counts):
            return out[0], None
        return xp.stack(out, axis=1).ravel(), xp.repeat(counts == 0, len(self.qs))

    def _at(
        self, xp: Any, values: Values, starts: Values, counts: Values, q: float, dtype: Any
    ) -> Values:
        """One quantile of each group; anything where it has no values."""
        last = xp.maximum(counts - 1, 0)
        place = q * last.astype(FLOAT64)
        lower = place.astype(INT64)
        part = place - lower
        at = xp.minimum(starts + lower, max(len(values) - 1, 0))
        if not len(values):
            return xp.zeros(len(starts), values.dtype)
        below, above = values[at], values[xp.minimum(at + (part > 0), len(values) - 1)]
        if self.interpolation == "lower":
            return below
        if self.interpolation == "higher":
            return above
        if self.interpolation == "nearest":  # of two as near the one at an even place
            return xp.where((part > 0.5) | ((part == 0.5) & (lower % 2 == 1)), above, below)
        if dtype.kind in "mM":
            return _between_times(xp, below, above, part, self.interpolation == "midpoint")
        below, above = below.astype(FLOAT64), above.astype(FLOAT64)
        if self.interpolation == "midpoint":
            return xp.where(part > 0, (below + above) / 2, below)
        return xp.where(part > 0, below + (above - below) * part, below)


def _between_times(xp: Any, below: Values, above: Values, part: Values, midpoint: bool) -> Values:
    """Interpolate integers without going through floats that cannot hold them; towards zero, as pandas does."""
    if midpoint:
        floor = (below >> 1) + (above >> 1) + (below & above & 1)
        odd = ((below ^ above) & 1).astype(bool)
        return xp.where(part > 0, floor + ((floor < 0) & odd), below)
    exact = (above - below) * part
    whole = xp.floor(exact)
    out = below + whole.astype(INT64)
    return out + ((out < 0) & (exact > whole))


@dataclass(frozen=True)
class QuantileLevel(ClusteredReduce):
    """Several quantiles of each group, which are the last level of the index."""

    qs: tuple[float, ...] = ()

    def build_groups(self, frame: Any, keys: list[Any], arrays: list[Any]) -> Any:
        library = library_of(frame)
        xp, count, each = library.xp, len(keys[0]), len(self.qs)
        groups = xp.repeat(xp.arange(count, dtype=INT64), each)
        level = library.from_floats(xp.tile(xp.asarray(self.qs, FLOAT64), count))
        index = library.key_index(
            [*(library.take(a, groups) for a in keys), level], [*self.by.columns, None]
        )
        return self.build(frame, arrays, index)

    def take_groups(self, library: Library, array: Any, groups: Values) -> Any:
        each = len(self.qs)
        rows = groups[:, None] * each + library.xp.arange(each, dtype=INT64)
        return library.take(array, rows.ravel())


MEDIAN = Quantiles((0.5,), "midpoint", "median")

_EVERY: tuple[GatheredReduction, ...] = (MEDIAN, CountDistinct(), ListOfValues())

GATHERED = {r.name: r for r in _EVERY}
"""Reductions of all values of groups that `agg` takes by name."""


def checked_quantiles(q: Any) -> tuple[tuple[float, ...], bool]:
    """Return quantiles, and whether there is only one; raises what the user should see.

    Raises
    ------
    TypeError
        If `q` is neither a number nor several.
    ValueError
        For one that is not between 0 and 1, and if there is none.
    """
    several = isinstance(q, Sequence) and not isinstance(q, str)
    several = several or getattr(q, "ndim", 0) == 1
    qs = list(q) if several else [q]
    for one in qs:
        if isinstance(one, (bool, np.bool_)) or not isinstance(one, (int, float, np.number)):
            raise TypeError(
                f"q must be a number between 0 and 1 or a list of them, found {shown(q)}"
            )
        if not 0 <= one <= 1:
            raise ValueError(f"q must be between 0 and 1, found {shown(one)}")
    if not qs:
        raise ValueError("q must hold at least one quantile, found none")
    return tuple(map(float, qs)), not several
