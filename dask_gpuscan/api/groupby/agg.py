"""Several reductions at once, of groups and of runs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, overload

from ...frames.keys import is_name
from ...frames.messages import ColumnError
from ...frames.registry import library_of, names_of
from ...kernels.messages import not_among
from ...ops.core.operation import GroupReduction, Part
from ...ops.groupby.adjacent import RunAggregates
from ...ops.groupby.library_reduction import agg_by_library
from ...ops.groupby.sorted_values import WHOLE_GROUPS
from ...ops.groupby.spec import GroupBySpec
from ...ops.statistics.table import REDUCTIONS
from ..arguments import named_reductions
from ..frame.runs import with_default_index
from ..types import FrameT, Obj, SeriesT
from .columns import EVERY_COLUMN
from .reductions import GroupByReductions

NAMES = (*REDUCTIONS, *WHOLE_GROUPS)
"""The reductions that `agg` takes by name."""


class GroupByAgg(GroupByReductions[Obj, SeriesT, FrameT]):
    """The part of `GroupBy` that does several reductions at once."""

    @overload
    def agg(self, functions: str | Callable[..., Any]) -> Obj: ...
    @overload
    def agg(self, functions: list[Any] | tuple[Any, ...] | Mapping[Any, Any]) -> FrameT: ...
    @overload
    def agg(self, **named: tuple[Hashable, str] | str) -> FrameT: ...
    def agg(self, functions: Any = None, **named: tuple[Hashable, str] | str) -> Any:
        """Return several reductions of each group.

        Parameters
        ----------
        functions : str, callable, list of these or dict, optional
            Names of reductions for all columns, or by column; lists give columns of two levels, as in pandas.
            Functions that have such a name stand for it: ``len``, ``max``, ``numpy.sum``.
            ``"list"`` gives all values of a group as a list of Arrow, in the rows' order.
        **named : (column, name)
            One column of the result each.

        Returns
        -------
        Series or DataFrame

        Raises
        ------
        ValueError
            For unknown columns and reductions.

        See Also
        --------
        reduce : By any operator.
        Gpuscan.explode : One row an item of lists.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({"k": [1, 1, 2], "x": [6, 3, 5]})
        >>> df.gpuscan.groupby("k", clustered=True).agg(low=("x", "min"), rows=("x", "size"))
           low  rows
        k
        1    3     2
        2    5     1
        """
        return self._aggregated(functions, named)

    def _aggregated(self, functions: Any, named: Mapping[Any, Any]) -> Any:
        """Return what `agg` returns; names need not be words of Python."""
        wanted, two_levels = named_reductions(self._columns(), self._as_series, functions, named)
        self._check_reductions(wanted)
        out = None
        if self._may_ask:
            for _, column, _ in wanted:
                self._column(column)
            out = agg_by_library(self._obj, self._by, self._dropna, wanted, bool(named))
        if out is None:
            out = self._reduce_groups(self._parts(wanted), False, named=bool(named))
        if two_levels:
            labels = library_of(self._meta).pair_names(
                self._meta, [label for label, _, _ in wanted]
            )
            out.columns = labels
        if self._as_series and (isinstance(functions, str) or callable(functions)):
            out = out[wanted[0][0]]
        return self._answer(out)

    def _check_reductions(self, wanted: Sequence[tuple[Hashable, Hashable, str]]) -> None:
        """Check that columns and reductions are there."""
        known = self._columns()
        if self._meta.ndim == 2 and self._selected is EVERY_COLUMN:
            known = names_of(self._meta)  # keys too, if they are named
        for _, column, name in wanted:
            if not is_name(column) or column not in known:
                raise ColumnError(f"agg: {not_among(column, known)}")
            if not isinstance(name, str) or name not in NAMES:
                raise ValueError(f"agg: {not_among(name, NAMES, 'a reduction', 'reductions')}")

    def _parts(
        self, wanted: Sequence[tuple[Hashable, Hashable, str]]
    ) -> list[Part[GroupReduction]]:
        return [
            Part(label, (column,), self._operation(name, column)) for label, column, name in wanted
        ]

    def _runs(self, named: Mapping[str, Any]) -> Any:
        """Return one row for each run of the keys: its place, and reductions of columns."""
        wanted, _ = named_reductions(self._columns(), False, None, named)
        self._check_reductions(wanted)
        spec = GroupBySpec(self._by, "rle", tuple(self._parts(wanted)), dropna=False)
        rows = self._needed([column for _, column, _ in wanted])
        return with_default_index(rows, self._meta, RunAggregates(spec))
