"""Ranks: the place of each value among all, or among those of its group, in order.

Rows are sorted, by group first; runs of equal values are found in one pass; ranks of runs are repeated for their rows
and written where the rows stand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from .. import kernels
from ..frames.keys import By, any_null, key_arrays
from ..frames.messages import column_title
from ..frames.protocol import Library, Values
from ..frames.registry import each, library_of
from .columnwise import numeric_columns
from .groups import INT64

FLOAT64 = np.dtype(np.float64)


@dataclass(frozen=True)
class Ties:
    """Runs of equal values in order."""

    start: Values
    """Rows before each in its group."""
    length: Values
    number: Values
    """Runs before each in its group."""


METHODS: dict[str, Callable[[Ties], Values]] = {
    "average": lambda ties: ties.start + (ties.length + 1) / 2,
    "min": lambda ties: ties.start + 1,
    "max": lambda ties: ties.start + ties.length,
    "first": lambda ties: ties.start + 1,
    "dense": lambda ties: ties.number + 1,
}
"""The rank of a run's rows, by the name of the method; of its first row, where rows of a run count on."""

NULLS = ("keep", "top", "bottom")


@dataclass(frozen=True)
class Rank:
    """How values are ranked."""

    method: str = "average"
    ascending: bool = True
    nulls: str = "keep"
    pct: bool = False
    in_groups: bool = False

    label = "rank"

    def dtype(self, column: Any) -> Any:
        """Return the dtype of ranks of a column; raises a TypeError that names it if its values have no order."""
        library = library_of(column)
        ask = library.group_dtype if self.in_groups else library.answer_dtype
        try:
            return ask("rank", column.dtype, method=self.method, pct=self.pct)
        except TypeError as error:
            raise TypeError(f"rank of {column_title(column)}: {error}") from error

    def of(
        self,
        column: Any,
        dtype: Any,
        groups: Values | None = None,
        no_group: Values | None = None,
    ) -> Any:
        """Return the ranks of a column as an array.

        Parameters
        ----------
        column : column
        dtype : dtype
            Of the ranks.
        groups : array of integers, optional
            The group of each row; by default all are one.
        no_group : array of bool, optional
            Which rows are in no group, so that their ranks are null.
        """
        library = library_of(column)
        column = library.rank_values(column)
        missing = library.missing(column)
        ranks = self._ranks(library, column, groups, missing)
        return self.wrap(library, ranks, dtype, missing, no_group)

    def wrap(
        self,
        library: Library,
        ranks: Values,
        dtype: Any,
        missing: Values | None,
        no_group: Values | None,
    ) -> Any:
        """Return ranks as an array of the library, given where values are null."""
        layout = library.layout(dtype)
        assert layout is not None
        null = missing if self.nulls == "keep" else None
        if no_group is not None:
            null = no_group if null is None else null | no_group
        return layout.wrap(ranks.astype(layout.storage(dtype), copy=False), null, dtype)

    def _ranks(
        self, library: Library, column: Any, groups: Values | None, missing: Values | None
    ) -> Values:
        xp, count = library.xp, len(column)
        ranks = xp.empty(count, FLOAT64)
        if not count:
            return ranks
        order, keys, nulls = self._sorted(library, column, groups, missing)
        starts, lengths = kernels.run_length_encode(keys, nulls=nulls)
        if (
            groups is None and len(starts) == count and not self.pct
        ):  # without ties all methods agree
            ranks[order] = xp.arange(1, count + 1, dtype=FLOAT64)
            return ranks
        # of groups: their first run, and how many runs they have
        heads, runs = xp.zeros(1, INT64), xp.full(1, len(starts), INT64)
        if groups is not None:
            heads, runs = kernels.run_length_encode(keys[0][starts])
        first = starts[heads]

        def of_runs(of_groups: Values) -> Values:
            """Repeat what is known of groups for their runs; of one group it is broadcast."""
            if groups is None:
                return of_groups
            return kernels.run_length_decode(runs, [of_groups])[0]

        number = xp.arange(len(starts)) - of_runs(heads)
        found = METHODS[self.method](Ties(starts - of_runs(first), lengths, number))
        counts_on = self.method == "first"
        if counts_on:
            found = found - starts
        if self.pct:
            sizes = runs if self.method == "dense" else xp.append(first[1:], count) - first
            if self.nulls == "keep" and missing is not None:  # they come last
                last = heads + runs - 1
                of_nulls = 1 if self.method == "dense" else lengths[last]
                sizes = sizes - xp.where(missing[order[starts[last]]], of_nulls, 0)
            sizes = xp.maximum(sizes, 1)
            per_run = [found, xp.broadcast_to(of_runs(sizes), found.shape)]
        else:
            per_run = [found]
        rows = per_run
        if len(starts) < count:
            rows = kernels.run_length_decode(lengths, [xp.ascontiguousarray(a) for a in per_run])
        out = rows[0] + xp.arange(count) if counts_on else rows[0]
        ranks[order] = out / rows[1] if self.pct else out
        return ranks

    def _sorted(
        self, library: Library, column: Any, groups: Values | None, missing: Values | None
    ) -> tuple[Values, list[Values], list[kernels.Nulls]]:
        """The positions of rows in order, and keys in it whose runs are equal values of one group, and their nulls."""
        values, nulls = library.sort_key(column)
        masked = isinstance(nulls, kernels.Mask)
        if masked and missing is None:
            nulls, masked = None, False
        if masked and values.dtype.kind != "V":  # whatever is behind nulls, they are equal
            values = library.xp.where(missing, values.dtype.type(0), values)
        outer = [] if groups is None else [groups]
        keys, (order,) = kernels.sort_pairs(
            [*outer, values],
            [],
            nulls=[*[None] * len(outer), nulls],
            descending=[*[False] * len(outer), not self.ascending],
            nulls_first=self.nulls == "top",
            positions=True,
        )
        if values.dtype.kind == "V":  # of 128 bits, which only codes tell apart
            keys[-1] = library.group_codes([library.array(column)])[order]
        run_nulls = [None if masked else n for n in [*[None] * len(outer), nulls]]
        if masked:
            assert missing is not None
            return order, [*keys, missing[order]], [*run_nulls, None]
        return order, keys, run_nulls


class Ranking(Protocol):
    """Which columns are ranked, within which groups."""

    @property
    def rank(self) -> Rank: ...

    @property
    def by(self) -> By | None:
        """Keys of the groups; None if all rows are one."""

    @property
    def clustered(self) -> bool:
        """Whether groups are runs of equal keys."""

    def columns(self, frame: Any) -> list[Any]:
        """Return the columns that are ranked."""

    def dtypes(self, frame: Any) -> list[Any]:
        """Return the dtypes of their ranks; raises a TypeError that names one whose values have no order."""

    def no_group(self, frame: Any) -> Values | None:
        """Return which rows are in no group; None if all are in one."""

    def apply(self, frame: Any) -> Any:
        """Return the ranks of rows that are no Dask collection."""

    def build(self, frame: Any, arrays: list[Any]) -> Any:
        """Make arrays of ranks the result."""


@dataclass(frozen=True)
class RankColumns:
    """Ranks of each column of a frame, or of a series."""

    rank: Rank
    numeric_only: bool = False
    by = None
    clustered = False

    def _kept(self, frame: Any) -> Any:
        return numeric_columns(frame) if self.numeric_only and frame.ndim == 2 else frame

    def columns(self, frame: Any) -> list[Any]:
        return each(self._kept(frame))

    def dtypes(self, frame: Any) -> list[Any]:
        own = [self.rank.dtype(column) for column in self.columns(frame)]
        if frame.ndim == 1:
            return own
        # pandas has others in a frame than in a series
        empty: Any = library_of(frame).no_rows(self._kept(frame))
        return [c.dtype for c in each(empty.rank(method=self.rank.method, pct=self.rank.pct))]

    def no_group(self, frame: Any) -> None:
        return None

    def apply(self, frame: Any) -> Any:
        with library_of(frame).reading(frame):
            pairs = zip(self.columns(frame), self.dtypes(frame), strict=True)
            return self.build(frame, [self.rank.of(*pair) for pair in pairs])

    def build(self, frame: Any, arrays: list[Any]) -> Any:
        return library_of(frame).rebuild(self._kept(frame), arrays)


@dataclass(frozen=True)
class RankGroups:
    """Ranks of columns within groups."""

    by: By
    names: tuple[Any, ...]
    rank: Rank
    as_series: bool = False
    clustered: bool = False
    dropna: bool = True

    def columns(self, frame: Any) -> list[Any]:
        return [self.by.column(frame, name) for name in self.names]

    def dtypes(self, frame: Any) -> list[Any]:
        return [self.rank.dtype(column) for column in self.columns(frame)]

    def no_group(self, frame: Any) -> Values | None:
        return any_null(self.by.series(frame)) if self.dropna else None

    def apply(self, frame: Any) -> Any:
        library, series = library_of(frame), self.by.series(frame)
        with library.reading(frame):
            if self.clustered:
                codes = library.xp.cumsum(key_arrays(series).head_flags())
            else:
                codes = library.group_codes([library.array(c) for c in series])
            null = self.no_group(frame)
            pairs = zip(self.columns(frame), self.dtypes(frame), strict=True)
            arrays = [self.rank.of(column, dtype, codes, null) for column, dtype in pairs]
            return self.build(frame, arrays)

    def build(self, frame: Any, arrays: list[Any]) -> Any:
        library = library_of(frame)
        index = library.index(frame)
        if self.as_series:
            return library.series(arrays[0], index, self.names[0])
        return library.frame(arrays, self.names, index, frame if frame.ndim == 2 else None)
