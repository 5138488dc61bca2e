"""What all kinds of windows have in common: how statistics are asked for, and agg."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Generic, overload

from ..frames.messages import ways_out
from ..frames.registry import library_of
from ..graph.lookback import meta_of
from ..kernels.messages import not_among
from ..ops.operation import ColumnOperation, Part
from .arguments import check_flags, named_reductions
from .object_types import FrameT, Obj, SeriesT
from .statistic_pairs import of_pairs
from .window_rows import Rows


class Statistics(Generic[Obj, SeriesT, FrameT]):
    """What all windows have in common: who inherits says how a statistic is computed (`_operation`)."""

    _rows: Rows
    _label: str
    """What kind of windows they are, for messages."""
    _named: tuple[str, ...]
    """The statistics that `agg` takes."""

    def _operation(self, name: str, **options: Any) -> ColumnOperation:
        """Return what computes a statistic of one column, or of a pair."""
        raise NotImplementedError

    def _statistic(self, name: str, numeric_only: bool = False, **options: Any) -> Any:
        check_flags(numeric_only=numeric_only)
        windows = self._windows_of([name])
        with ways_out(self._rows.as_series, numeric_only):
            return windows._rows.each(windows._operation(name, **options), bool(numeric_only))

    def _windows_of(self, names: Sequence[str]) -> Statistics[Any, Any, Any]:
        """Return the windows that have these statistics together."""
        return self

    def _pairs(
        self, name: str, other: Any, pairwise: bool | None, numeric_only: bool, **options: Any
    ) -> Any:
        """Return a statistic of each column and another one, or of all pairs of columns."""
        check_flags(numeric_only=numeric_only)
        if pairwise is not None:
            check_flags(pairwise=pairwise)
        operation = self._operation(name, **options)
        with ways_out(self._rows.as_series, numeric_only):
            return of_pairs(self._rows, operation, other, pairwise, bool(numeric_only))

    @overload
    def agg(self, func: str) -> Obj: ...
    @overload
    def agg(self, func: list[str] | tuple[str, ...] | Mapping[Any, Any]) -> FrameT: ...
    def agg(self, func: Any) -> Any:
        """Return several statistics.

        Parameters
        ----------
        func : str, list of str or dict
            Names of statistics for all columns, or by column; lists give columns of two levels, as in pandas.

        Returns
        -------
        Series or DataFrame

        Raises
        ------
        ValueError
            For unknown columns and statistics.
        TypeError
            For functions.

        See Also
        --------
        sum : One statistic; says which rows are null.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series([1.0, 2.0]).gpuscan.expanding().agg(["min", "max"])
           min  max
        0  1.0  1.0
        1  1.0  2.0
        """
        columns, as_series = self._rows.names(), self._rows.as_series
        wanted, two_levels = named_reductions(columns, as_series, func, {})
        for _, column, name in wanted:
            if column not in columns:
                raise ValueError(f"agg: {not_among(column, columns)}")
            if name not in self._named:
                listed = not_among(name, self._named, "a statistic", "statistics")
                raise ValueError(f"agg: {listed}")
        one = as_series and isinstance(func, str)
        windows = self._windows_of([name for _, _, name in wanted])
        parts = [Part(label, (c,), windows._operation(name)) for label, c, name in wanted]
        out = windows._rows.parts(f"{self._label}-agg", parts, one)
        if two_levels:
            meta = meta_of(self._rows.obj)
            out.columns = library_of(meta).pair_names(meta, [label for label, _, _ in wanted])
        return out

    aggregate = agg
