"""Windows of the rows of each group: ``rolling``, ``expanding`` and ``ewm`` of groups."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any, Self, SupportsIndex

from numpy.typing import ArrayLike

from ...kernels.late_dataclass import dataclass
from ...ops.core.operation import Part
from ..types import Closed, Duration, FrameT, Obj, SeriesT
from ..windows.arguments import Weights
from ..windows.expanding import Ewm, Expanding
from ..windows.rolling import Rolling, window_shape
from ..windows.windows import aligned_columns, is_kept, without
from .scans import GroupByScans


@dataclass(frozen=True)
class GroupRows:
    """The rows of groups."""

    groups: GroupByScans[Any, Any, Any]

    @property
    def obj(self) -> Any:
        """The frame or series that is grouped."""
        return self.groups._obj

    @property
    def as_series(self) -> bool:
        """Whether the answer for one column is a series."""
        return self.groups._as_series

    def names(self, numeric_only: bool = False) -> list[Hashable]:
        """Names of the columns."""
        names = self.groups._columns(numeric_only)
        if not numeric_only or self.as_series:
            return names
        return [n for n in names if is_kept(self.groups._column(n))]

    def choose(self, columns: Any) -> Self:
        """Return the same rows of some columns."""
        groups: Any = self.groups
        return replace(self, groups=groups[columns])

    def each(self, operation: Any, numeric_only: bool) -> Any:
        """Return the answers of an operation on each column."""
        parts = [Part(n, (n,), operation) for n in self.names(numeric_only)]
        return self._answers(operation.label, parts, self.as_series, named=False)

    def parts(self, label: str, parts: Sequence[Part[Any]], as_series: bool) -> Any:
        """Return the answers of operations, one column each."""
        return self._answers(label, parts, as_series, named=True)

    def scans_of(self, obj: Any, names: list[Hashable]) -> Any:
        """Return the same groups of another frame or series with the same rows."""
        groups = self.groups._of(obj)
        return groups if obj.ndim == 1 else groups[names[0] if self.as_series else names]

    def _answers(self, label: str, parts: Sequence[Part[Any]], as_series: bool, named: bool) -> Any:
        return self.groups._scan(label, parts, as_series, named)

    def align_columns(
        self, names: list[Hashable], others: Sequence[Any], what: str, by_label: bool
    ) -> tuple[Self, list[Hashable], list[Hashable]]:
        """Return the same rows with more columns, and how these and the others are called there."""
        groups, obj = self.groups, self.obj
        frame, own, theirs = aligned_columns(obj, others, what, by_label)
        own = names if obj.ndim == 2 else own
        return replace(self, groups=groups._of(frame)[[*own, *theirs]]), own, theirs


@dataclass(frozen=True)
class GroupNeighbours(GroupRows):
    """The rows of groups, with a column of times."""

    on: Hashable = None

    def names(self, numeric_only: bool = False) -> list[Hashable]:
        """Names of the columns that are in windows."""
        return without(super().names(numeric_only), self.on)

    def _answers(self, label: str, parts: Sequence[Part[Any]], as_series: bool, named: bool) -> Any:
        return self.groups._around(label, parts, as_series, named)


class GroupByWindows(GroupByScans[Obj, SeriesT, FrameT]):
    """The part of `GroupBy` that makes windows."""

    def ewm(
        self,
        com: float | None = None,
        span: float | None = None,
        halflife: float | Duration | None = None,
        alpha: float | None = None,
        min_periods: SupportsIndex | None = 0,
        adjust: bool = True,
        ignore_na: bool = False,
        times: Hashable | SeriesT | ArrayLike | None = None,
    ) -> Ewm[Obj, SeriesT, FrameT]:
        """Return exponentially weighted windows of each group's rows so far.

        Parameters
        ----------
        com, span, halflife, alpha, min_periods, adjust, ignore_na, times
            As for `Gpuscan.ewm`; `times` in the rows' own order.

        Returns
        -------
        Ewm
            Its answers have the rows, the order and the index of the frame; those of pandas are ordered by group.
            Rows whose key is null are null.

        See Also
        --------
        GroupBy.expanding : All rows so far with equal weights.
        Gpuscan.ewm : Without groups; says what the arguments mean.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({"k": [1, 2, 1], "x": [1.0, 5.0, 2.0]})
        >>> df.gpuscan.groupby("k")["x"].ewm(alpha=0.5, adjust=False).mean().tolist()
        [1.0, 5.0, 1.5]
        """
        weights = Weights(com, span, halflife, alpha, adjust, ignore_na)
        return Ewm(GroupRows(self), weights, min_periods, times)

    def expanding(self, min_periods: SupportsIndex = 1) -> Expanding[Obj, SeriesT, FrameT]:
        """Return windows of each group's rows so far.

        Parameters
        ----------
        min_periods : int, default 1
            Rows with fewer values so far in their group are null.

        Returns
        -------
        Expanding
            Its answers have the rows, the order and the index of the frame; those of pandas are ordered by group.
            Rows whose key is null are null.

        See Also
        --------
        GroupBy.rolling : The last rows only.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({"k": [1, 2, 1], "x": [1.0, 5.0, 2.0]})
        >>> df.gpuscan.groupby("k")["x"].expanding().mean().tolist()
        [1.0, 5.0, 1.5]
        """
        return Expanding(GroupRows(self), GroupNeighbours(self), min_periods)

    def rolling(
        self,
        window: SupportsIndex | Duration,
        min_periods: SupportsIndex | None = None,
        center: bool = False,
        on: Hashable = None,
        closed: Closed | None = None,
    ) -> Rolling[Obj, SeriesT, FrameT]:
        """Return windows around each row, of rows of its group; arguments as for `Gpuscan.rolling`.

        Answers have the rows, the order and the index of the frame, so they can be columns of it; those of
        pandas are ordered by group.

        See Also
        --------
        GroupBy.expanding : All rows so far.
        Gpuscan.rolling : Without groups; says what the arguments mean.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({"k": list("abaa"), "x": [1.0, 2.0, 3.0, 5.0]})
        >>> df.gpuscan.groupby("k")["x"].rolling(2).sum().tolist()
        [nan, nan, 4.0, 8.0]
        """
        shape, least = window_shape(self._meta, window, min_periods, center, on, closed)
        return Rolling(GroupNeighbours(self, on), shape, least)
