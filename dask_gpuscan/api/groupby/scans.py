"""Scans within groups: the methods of `GroupBy` that give one row a row, in the rows' own order."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from typing import Any, overload

from ...engines.run import meta_of, run
from ...frames.registry import names_of
from ...kernels import Operator
from ...ops.core.operation import GroupScan, Part
from ...ops.core.plans import made_once
from ...ops.scan.column_scan import Scan
from ...ops.scan.fill import Fill
from ...ops.scan.kernel_scan import ScanArguments
from ...ops.scan.row_number import CountRows
from ..arguments import (
    check_limit,
    checked_options,
    cumulative,
    raise_with_hint,
    with_initial,
)
from ..family import family
from ..frame.fold import chosen_columns, folded, restarted
from ..frame.inputs import with_rows_told
from ..frame.operator_scans import check_scan, scan_parts
from ..frame.resets import in_segments
from ..frame.rows import with_row_numbers
from ..types import FrameT, Names, Obj, Reset, SeriesT
from .rows import GroupByRows


class GroupByScans(GroupByRows[Obj, SeriesT, FrameT]):
    """The part of `GroupBy` that scans."""

    _in_groups = True

    def _in_segments(
        self, reset: Any, ask: Callable[[Any], Any], local_dict: Mapping[str, Any] | None = None
    ) -> Any:
        return in_segments(self._obj, reset, ask, local_dict, self)

    def _fill(self, reverse: bool, limit: Any, reset: Any = None) -> Any:
        if reset is not None:
            return self._in_segments(reset, lambda groups: groups._fill(reverse, limit))
        fill = made_once(Fill, reverse, check_limit(limit), in_groups=True)
        return self._scan_columns(
            fill.label,
            fill,
            lambda: [Part(n, (n,), fill) for n in self._columns()],
            self._as_series,
        )

    def _numbers(self, name: str | None, from_last: bool = False) -> Any:
        count = made_once(CountRows, from_last)
        label = "row-number" if name else "cumcount"
        return self._scan_columns(label, count, lambda: [Part(name, (), count)], True, name is None)

    def _accumulate(self, label: str, reset: Any, numeric_only: bool | None, *given: Any) -> Any:
        scan = made_once(cumulative, label, True, numeric_only, *given)
        return self._cumulate(scan, numeric_only, reset)

    def _cumulate(self, scan: Scan, numeric_only: bool | None, reset: Any = None) -> Any:
        """Scan each column; `numeric_only` is None where a method has none."""
        if reset is not None:
            return self._in_segments(reset, lambda groups: groups._cumulate(scan, numeric_only))
        scan = with_initial(scan, self._columns)
        numeric = bool(numeric_only)

        def parts() -> list[Part[GroupScan]]:
            return [Part(n, (n,), scan.of_column(n)) for n in self._columns(numeric)]

        as_series = self._as_series
        try:
            return self._scan_columns(scan.label, scan, parts, as_series, numeric)
        except TypeError as error:
            raise_with_hint(error, as_series, numeric_only)
            raise

    def fold(
        self,
        step: Callable[..., tuple[Any, Any]],
        of: Names | None = None,
        *,
        initial: Any,
        names: Names | None = None,
    ) -> Any:
        """Go through the rows of each group in order with a state; parameters as for `Gpuscan.fold`.

        Examples
        --------
        Bars of at least 10 units for each share:

        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({"share": list("ababaa"), "units": [6, 9, 5, 3, 8, 4]})
        >>> def bar(total, units):
        ...     total += units
        ...     return (0, True) if total >= 10 else (total, False)
        >>> df.gpuscan.groupby("share").fold(bar, "units", initial=0).tolist()
        [False, False, True, True, False, True]
        """
        known = self._columns()
        chosen = chosen_columns(
            known if of is None and self._as_series else of, names_of(self._meta)
        )
        fold = folded(
            self._by,
            step,
            chosen,
            initial,
            names,
            None,
            dropna=self._dropna,
            null_keys=self._null_keys,
        )
        return self._named(run(self._needed(list(chosen)), fold))

    def cumsum(
        self,
        numeric_only: bool = False,
        *,
        exclusive: bool = False,
        initial: Any = None,
        reverse: bool = False,
        skipna: bool = True,
        dtype: Any = None,
        reproducible: bool = False,
        lower: float | None = None,
        upper: float | None = None,
        reset: Reset[SeriesT] = None,
        restart_at: float | None = None,
        restart_above: float | None = None,
    ) -> Obj:
        """Return the running sum within each group, with integers in 64 bits.

        Parameters
        ----------
        numeric_only, exclusive, reverse, skipna, dtype, reproducible, lower, upper
            As for `Gpuscan.cumsum`.
        initial : scalar or dict of column to scalar, optional
            Start each group from this value rather than from zero.
        reset : name, str, function or Series of bool, optional
            Start the group of a row anew after it where this is true; see `Gpuscan.cumsum`.
        restart_at, restart_above : number, optional
            Of one column: when the sum starts anew; see `Gpuscan.cumsum`.

        Returns
        -------
        Series or DataFrame
            With the rows, the order and the index of the frame; null in rows whose key is null.

        See Also
        --------
        GroupBy.sum : One row a group.
        GroupBy.scan : The same by any operator.
        GroupBy.expanding : The mean and other statistics of all rows so far.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({"k": [1, 2, 1], "x": [6, 3, 5]})
        >>> df.gpuscan.groupby("k")["x"].cumsum(exclusive=True, initial=100).tolist()
        [100, 100, 106]
        """
        given = exclusive, reverse, initial, skipna, dtype, reproducible, lower, upper
        if restart_at is not None or restart_above is not None:
            return restarted(self, self._as_series, restart_at, restart_above, (*given, reset))
        return self._accumulate("cumsum", reset, numeric_only, *given)

    @family(
        """
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({{"k": [1, 2, 1, 1], "x": [6, 3, 5, 7]}})
        >>> df.gpuscan.groupby("k")["x"].{name}().tolist()
        {0}
        """
    )
    def _running(
        self,
        numeric_only: bool = False,
        *,
        exclusive: bool = False,
        initial: Any = None,
        reverse: bool = False,
        skipna: bool = True,
        dtype: Any = None,
        reset: Reset[SeriesT] = None,
    ) -> Obj:
        """Return the running product or extreme within each group; parameters as for `cumsum`."""
        given = exclusive, reverse, initial, skipna, dtype
        return self._accumulate("_running", reset, numeric_only, *given)

    cumprod = _running(
        "Return the running product within each group, with integers in 64 bits; parameters as for `cumsum`.",
        [6, 3, 30, 210],
    )
    cummax = _running(
        "Return the running maximum within each group; parameters as for `cumsum`.", [6, 3, 6, 7]
    )
    cummin = _running(
        "Return the running minimum within each group; parameters as for `cumsum`.", [6, 3, 5, 5]
    )

    @overload
    def scan(
        self,
        op: Operator,
        *,
        exclusive: bool = False,
        initial: Any = None,
        reverse: bool = False,
        skipna: bool = True,
        dtype: Any = None,
        positions: bool = False,
        reset: Reset[SeriesT] = None,
    ) -> Obj | SeriesT: ...
    @overload
    def scan(
        self,
        op: Mapping[Hashable, Any] | Mapping[str, Any],
        *,
        exclusive: bool = False,
        initial: Any = None,
        reverse: bool = False,
        skipna: bool = True,
        dtype: Any = None,
        where: SeriesT | str | Callable[..., Any] | None = None,
        local_dict: Mapping[str, Any] | None = None,
        reset: Reset[SeriesT] = None,
    ) -> FrameT: ...
    def scan(
        self,
        op: Any,
        *,
        exclusive: bool = False,
        initial: Any = None,
        reverse: bool = False,
        skipna: bool = True,
        dtype: Any = None,
        positions: bool = False,
        where: SeriesT | str | Callable[..., Any] | None = None,
        local_dict: Mapping[str, Any] | None = None,
        reset: Reset[SeriesT] = None,
    ) -> Any:
        """Scan within groups by any operator, or by several in one pass.

        Parameters
        ----------
        op : Operator or dict
            An operator of several inputs takes the columns in their order, and answers with one Series; a dict is as
            for `Gpuscan.scan`, of any columns of the frame.
        exclusive, initial, reverse, skipna, dtype, positions, where, local_dict, reset
            As for `Gpuscan.scan`. Each group starts from `initial`; positions are those in the whole collection.

        Returns
        -------
        Series or DataFrame
            With the rows, the order and the index of the frame.

        See Also
        --------
        GroupBy.reduce : One row a group.
        operator : Make an operator.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({"k": [1, 2, 1], "x": [6, 3, 5]})
        >>> df.gpuscan.groupby("k")["x"].scan(dask_gpuscan.bitwise_xor).tolist()
        [6, 3, 3]
        """
        options = ScanArguments(exclusive, initial, reverse, skipna, dtype)
        check_scan(op, positions, reset, local_dict, where=where)
        if reset is not None:
            given = {**vars(options), "positions": positions}
            if isinstance(op, Mapping):
                given |= {"where": where, "local_dict": local_dict}
            return self._in_segments(reset, lambda groups: groups.scan(op, **given), local_dict)
        if isinstance(op, Mapping):
            frame, where = with_rows_told(self._obj, where)
            meta = meta_of(frame)
            several = scan_parts(self._meta, op, options, where, local_dict, meta, in_groups=True)
            of_frame = self if frame is self._obj else self._of(frame)
            return of_frame._scan("scan-fused", several, False, named=True)
        if positions:
            return self._numbered().scan(op, **vars(options))
        options = checked_options(options, self._columns)
        operation = Scan(f"scan-{op.name}", op, options, in_groups=True)
        parts, joint = self._op_parts(op, operation)
        if not joint:
            parts = [replace(p, operation=operation.of_column(p.name)) for p in parts]
        return self._scan(operation.label, parts, joint or self._as_series)

    def _numbered(self) -> Any:
        """The same groups, of the same columns and one of row numbers."""
        frame, name = with_row_numbers(self._obj)
        # a series without a name has one in a frame
        columns = names_of(meta_of(frame))[:1] if self._meta.ndim == 1 else self._columns()
        return self._of(frame)[[*columns, name]]
