"""Ranks: the place of each value among all, or among those of its group, in order.

Rows are sorted, by group first; runs of equal values are found in one pass; ranks of runs are repeated for their rows
and written in the rows' own order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Any, Protocol

import numpy as np

from ... import kernels
from ...frames.keys import By, any_null, group_ids_of, key_arrays
from ...frames.messages import name_columns
from ...frames.protocol import Library
from ...frames.registry import columns_of, library_of
from ...frames.types import Array, ArrayModule, Column, DType, Frame, Values
from ...kernels.late_dataclass import dataclass
from ...kernels.options import RANKS
from ...kernels.sorted_values import takes_ranks, tied_ranks
from ..core.columnwise import numeric_columns
from ..core.groups import INT64

NULLS = ("keep", "top", "bottom")

FLOAT64 = np.dtype(np.float64)


@dataclass(frozen=True)
class Ties:
    """Runs of equal values, in order of the values."""

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
"""The rank of a run's rows, by the name of the method; for "first", that of its first row, from which rows count on."""


@dataclass(frozen=True)
class SortedRuns:
    """Runs of equal values in sorted rows, and groups of runs."""

    xp: Any
    count: int
    """Rows."""
    starts: Values
    lengths: Values
    heads: Values
    """The first run of each group."""
    runs: Values
    """The number of runs of each group."""
    is_left_out: Values | None
    """Whether the last run of each group is of nulls that have no rank."""

    @staticmethod
    def of(
        xp: ArrayModule,
        groups: Values | None,
        keys: list[Values],
        nulls: list[kernels.Nulls],
        left_out: Values | None,
    ) -> SortedRuns:
        """Find the runs of rows; at least one.

        Parameters
        ----------
        xp : module
        groups : array of integers, optional
            The group of each row; by default all are one group.
        keys, nulls : list
            Arrays that differ where values differ.
        left_out : array of bool, optional
            Rows that have no rank, the last of their groups.
        """
        outer = [] if groups is None else [groups]
        every = [*(None for _ in outer), *nulls]
        starts, lengths = kernels.run_length_encode([*outer, *keys], nulls=every)
        heads, runs = xp.zeros(1, INT64), xp.full(1, len(starts), INT64)
        if groups is not None:
            heads, runs = kernels.run_length_encode(groups[starts])
        flags = None if left_out is None else left_out[starts[heads + runs - 1]]
        return SortedRuns(xp, len(keys[0]), starts, lengths, heads, runs, flags)

    @property
    def rows(self) -> Values:
        """Rows of each group."""
        first = self.starts[self.heads]
        return self.xp.append(first[1:], self.xp.asarray([self.count], INT64)) - first

    def sizes(self, method: str) -> Values:
        """Return the divisor of ``pct`` for each group, counting these rows only."""
        sizes = self.runs if method == "dense" else self.rows
        if self.is_left_out is None:
            return sizes
        last = 1 if method == "dense" else self.lengths[self.heads + self.runs - 1]
        return sizes - self.xp.where(self.is_left_out, last, 0)

    def of_runs(self, of_groups: Values) -> Values:
        """Repeat values of groups for their runs; that of one group is broadcast."""
        if len(self.heads) == 1:
            return of_groups
        return kernels.run_length_decode(self.runs, [of_groups])[0]

    def ranks(self, method: str, sizes: Values | None = None) -> Values:
        """Return the ranks of the rows, in their order, divided by a size for each group if there are sizes."""
        xp = self.xp
        if sizes is None and len(self.heads) == 1 and len(self.starts) == self.count:
            return xp.arange(1, self.count + 1, dtype=FLOAT64)  # without ties all methods agree
        start = self.starts - self.of_runs(self.starts[self.heads])
        number = xp.arange(len(start)) - self.of_runs(self.heads)
        found = METHODS[method](Ties(start, self.lengths, number))
        counts_on = method == "first"
        per_run = [found - self.starts if counts_on else found]
        if sizes is not None:
            sizes = xp.maximum(sizes, 1)
            per_run.append(xp.broadcast_to(self.of_runs(sizes), found.shape))
        rows = per_run
        if len(self.starts) < self.count:
            arrays = [xp.ascontiguousarray(array) for array in per_run]
            rows = kernels.run_length_decode(self.lengths, arrays)
        out = rows[0] + xp.arange(self.count) if counts_on else rows[0]
        return out if sizes is None else out / rows[1]


@dataclass(frozen=True)
class RankOptions:
    """How values are ranked."""

    method: str = "average"
    ascending: bool = True
    nulls: str = "keep"
    pct: bool = False
    in_groups: bool = False

    label = "rank"

    def dtype(self, column: Column) -> Any:
        """Return the dtype of ranks of a column; raises a TypeError that names it if its values have no order."""
        library = library_of(column)
        ask = library.group_dtype if self.in_groups else library.answer_dtype
        try:
            return ask("rank", column.dtype, method=self.method, pct=self.pct)
        except (TypeError, ValueError) as error:
            name_columns(error, self.label, [column])
            raise

    def of(
        self,
        column: Column,
        dtype: DType,
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
            The group of each row; by default all are one group.
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
        dtype: DType,
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
        self, library: Library, column: Column, groups: Values | None, missing: Values | None
    ) -> Values:
        xp, count = library.xp, len(column)
        if not count:
            return xp.empty(count, FLOAT64)
        values, nulls = self._key(library, column, missing)
        outer = [] if groups is None else [groups]
        keys, (order,) = kernels.sort_pairs(
            [*outer, values],
            [],
            nulls=[*(None for _ in outer), nulls],
            descending=[*(False for _ in outer), not self.ascending],
            nulls_first=self.nulls == "top",
            positions="narrow",
        )
        if self._takes_ranks(values.dtype, nulls, missing, groups):
            ranks = tied_ranks(keys[-1], self.method, keys[0] if outer else None)
            return kernels.put(ranks / count if self.pct else ranks, order, check=False)
        if values.dtype.kind == "V":  # 128 bits, which can only be compared as codes
            keys[-1] = library.dense_group_ids([library.array(column)]).array[order]
        null = None if missing is None else missing[order]
        found = self._runs(xp, keys[0] if outer else None, keys[-1], nulls, null)
        ranks = found.ranks(self.method, found.sizes(self.method) if self.pct else None)
        return kernels.put(ranks.astype(FLOAT64, copy=False), order, check=False)

    def _takes_ranks(
        self, dtype: np.dtype, nulls: kernels.Nulls, missing: Values | None, groups: Values | None
    ) -> bool:
        """Return whether `kernels.sorted_values.tied_ranks` gives the ranks of all values that are not null."""
        if missing is not None and (
            self.pct or self.nulls != "keep" or isinstance(nulls, kernels.Mask)
        ):
            return False
        if groups is not None and self.pct:
            return False
        return self.method in RANKS and takes_ranks(dtype)

    def runs_of_sorted(self, library: Library, column: Column, groups: Values | None) -> SortedRuns:
        """Return the runs of rows that are sorted already, by group and value; at least one row."""
        missing = library.missing(column)
        values, nulls = self._key(library, column, missing)
        if values.dtype.kind == "V":
            values = library.dense_group_ids([library.array(column)]).array
        return self._runs(library.xp, groups, values, nulls, missing)

    def _runs(
        self,
        xp: ArrayModule,
        groups: Values | None,
        values: Values,
        nulls: kernels.Nulls,
        missing: Values | None,
    ) -> SortedRuns:
        left_out = missing if self.nulls == "keep" else None
        if isinstance(nulls, kernels.Mask):  # the mask is in the order before the sort
            return SortedRuns.of(xp, groups, [values, missing], [None, None], left_out)
        return SortedRuns.of(xp, groups, [values], [nulls], left_out)

    def _key(
        self, library: Library, column: Column, missing: Values | None
    ) -> tuple[Values, kernels.Nulls]:
        """An array in the order of a column, in which nulls of a mask are equal, and where it is null."""
        values, nulls = library.sort_key(column)
        if not isinstance(nulls, kernels.Mask):
            return values, nulls
        if missing is None:
            return values, None
        if values.dtype.kind != "V":
            values = library.xp.where(missing, values.dtype.type(0), values)
        return values, nulls


class Ranking(Protocol):
    """The columns that are ranked, and the groups that they are ranked in."""

    @property
    def kind(self) -> str: ...

    @property
    def rank(self) -> RankOptions: ...

    @property
    def by(self) -> By | None:
        """Keys of the groups; None if all rows are one."""

    @property
    def clustered(self) -> bool:
        """Whether groups are runs of equal keys."""

    def columns(self, frame: Frame) -> list[Any]:
        """Return the columns that are ranked."""

    def dtypes(self, frame: Frame) -> list[Any]:
        """Return the dtypes of their ranks; raises a TypeError that names one whose values have no order."""

    def no_group(self, frame: Frame) -> Values | None:
        """Return which rows are in no group; None if all are in one."""

    def apply(self, frame: Frame) -> Any:
        """Return the ranks of the rows of a frame in memory."""

    def build(self, frame: Frame, arrays: list[Array]) -> Any:
        """Return the result, given arrays of ranks."""


@dataclass(frozen=True)
class RankColumns:
    """Ranks of each column of a frame, or of a series."""

    rank: RankOptions
    numeric_only: bool = False
    kind = "rank"
    by = None
    clustered = False

    def _kept(self, frame: Frame) -> Any:
        if not self.numeric_only:
            return frame
        if frame.ndim == 2:
            return numeric_columns(frame)
        (column,) = columns_of(frame)
        if not library_of(frame).is_numeric(column.dtype):
            raise TypeError(
                f"rank of the series: dtype {column.dtype} is not a number; numeric_only=True leaves nothing to rank"
            )
        return frame

    def columns(self, frame: Frame) -> list[Any]:
        return columns_of(self._kept(frame))

    def dtypes(self, frame: Frame) -> list[Any]:
        own = [self.rank.dtype(column) for column in self.columns(frame)]
        if frame.ndim == 1:
            return own
        # pandas has other dtypes for a frame than for a series
        options = {"method": self.rank.method, "pct": self.rank.pct}
        return library_of(frame).rank_dtypes(self._kept(frame), **options)

    def no_group(self, frame: Frame) -> None:
        return None

    def apply(self, frame: Frame) -> Any:
        with library_of(frame).acquire(frame):
            pairs = zip(self.columns(frame), self.dtypes(frame), strict=True)
            return self.build(frame, [self.rank.of(*pair) for pair in pairs])

    def build(self, frame: Frame, arrays: list[Array]) -> Any:
        return library_of(frame).rebuild(self._kept(frame), arrays)


@dataclass(frozen=True)
class RankGroups:
    """Ranks of columns within groups."""

    by: By
    names: tuple[Any, ...]
    rank: RankOptions
    as_series: bool = False
    clustered: bool = False
    dropna: bool = True
    label: str = field(default="rank", repr=False, compare=False)
    """The name for messages."""
    kind = "rank"

    def columns(self, frame: Frame) -> list[Any]:
        library = library_of(frame)
        return [self.by.column(library, frame, name) for name in self.names]

    def dtypes(self, frame: Frame) -> list[Any]:
        return [self.rank.dtype(column) for column in self.columns(frame)]

    def no_group(self, frame: Frame) -> Values | None:
        library = library_of(frame)
        return any_null(library, self.by.series(library, frame)) if self.dropna else None

    def apply(self, frame: Frame) -> Any:
        library = library_of(frame)
        series = self.by.series(library, frame)
        with library.acquire(frame):
            if self.clustered:
                codes = library.xp.cumsum(key_arrays(library, series).head_flags())
            else:
                codes = group_ids_of(library, series, [library.array(c) for c in series]).array
            null = self.no_group(frame)
            pairs = zip(self.columns(frame), self.dtypes(frame), strict=True)
            arrays = [self.rank.of(column, dtype, codes, null) for column, dtype in pairs]
            return self.build(frame, arrays)

    def build(self, frame: Frame, arrays: list[Array]) -> Any:
        library = library_of(frame)
        index = library.index(frame)
        if self.as_series:
            return library.series(arrays[0], index, self.names[0])
        return library.frame(arrays, self.names, index, frame if frame.ndim == 2 else None)
