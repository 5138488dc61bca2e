"""Ranks: the place of each value among all, or among those of its group, in order.

Rows are sorted, by group first; runs of equal values are found in one pass; ranks of runs are repeated for their rows
and written where the rows stand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from .. import kernels
from ..frames.keys import By, any_null, key_arrays, named_keys
from ..frames.messages import of_columns
from ..frames.protocol import Library, Values
from ..frames.registry import each, library_of
from .columnwise import numeric_columns
from .rank_runs import FLOAT64, SortedRuns

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
        with of_columns(self.label, [column]):
            return ask("rank", column.dtype, method=self.method, pct=self.pct)

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
        if (
            self._shares_places
            and groups is None
            and missing is None
            and kernels.takes_ranks(values.dtype)
        ):
            ranks = kernels.tied_ranks(keys[0], self.method)
            return kernels.put(ranks / count if self.pct else ranks, order)
        if values.dtype.kind == "V":  # of 128 bits, which only codes tell apart
            keys[-1] = library.group_codes([library.array(column)])[order]
        null = None if missing is None else missing[order]
        found = self._runs(xp, keys[0] if outer else None, keys[-1], nulls, null)
        ranks = found.ranks(self.method, self.pct)
        return kernels.put(ranks.astype(FLOAT64, copy=False), order)

    @property
    def _shares_places(self) -> bool:
        """Whether equal values share one of their places, or the average of these."""
        return self.method in kernels.RANKS

    def runs_of_sorted(self, library: Library, column: Any, groups: Values | None) -> SortedRuns:
        """Return the runs of rows that are sorted already, by group and value; at least one row."""
        missing = library.missing(column)
        values, nulls = self._key(library, column, missing)
        if values.dtype.kind == "V":
            values = library.group_codes([library.array(column)])
        return self._runs(library.xp, groups, values, nulls, missing)

    def _runs(
        self,
        xp: Any,
        groups: Values | None,
        values: Values,
        nulls: kernels.Nulls,
        missing: Values | None,
    ) -> SortedRuns:
        left_out = missing if self.nulls == "keep" else None
        if isinstance(nulls, kernels.Mask):  # it tells of rows as they were before they were sorted
            return SortedRuns.of(xp, groups, [values, missing], [None, None], left_out)
        return SortedRuns.of(xp, groups, [values], [nulls], left_out)

    def _key(
        self, library: Library, column: Any, missing: Values | None
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
        if not self.numeric_only:
            return frame
        if frame.ndim == 2:
            return numeric_columns(frame)
        if not library_of(frame).is_numeric(frame.dtype):
            raise TypeError(
                f"rank of the series: dtype {frame.dtype} is not a number; numeric_only=True leaves nothing to rank"
            )
        return frame

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
                with named_keys(series):
                    codes, _ = library.dense_codes([library.array(c) for c in series])
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
