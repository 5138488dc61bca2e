"""Scans by any operator, and several scans of a frame in one pass, given as a dict."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from typing import Any, Literal, overload

from ...engines.run import engine_of, meta_of, methods_of, run
from ...frames.registry import names_of
from ...kernels import Operator
from ...kernels.messages import shown
from ...ops.core.columnwise import ColumnCarry, JointCarry, NamedCarry
from ...ops.core.operation import GroupScan, Part
from ...ops.scan.column_scan import Scan
from ...ops.scan.fused.plan import Entry, entitled, fused_parts
from ...ops.scan.inputs import Input, PlainColumn
from ...ops.scan.kernel_scan import ScanArguments
from ..arguments import check_flags, check_inputs, check_operator, checked_options, hints
from ..types import FrameT, Methods, Names, Obj, Reset, SeriesT
from .filter import check_local_dict
from .inputs import input_of, with_rows_told
from .resets import in_segments
from .rows import with_row_numbers

WHICH = ("inclusive", "exclusive")
"""What the last item of an entry may be."""

ACCEPTED = "(operator, column, text or function) or (operator, ..., 'exclusive')"


class OperatorScans(Methods[Obj, SeriesT, FrameT]):
    """The part of `Gpuscan` that scans by any operator."""

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
        by: Names | None = None,
        clustered: bool | Literal["check"] | None = None,
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
        by: Names | None = None,
        clustered: bool | Literal["check"] | None = None,
        local_dict: Mapping[str, Any] | None = None,
        reset: Reset[SeriesT] = None,
    ) -> Any:
        """Scan by any operator, or by several in one pass.

        Parameters
        ----------
        op : Operator or dict
            A built-in one, or one made by `dask_gpuscan.operator`. An operator of several inputs takes the
            columns of a DataFrame in their order, and answers with one Series. Or several scans as a dict of names to
            ``(operator, of)``, where `of` is a column, a text of columns such as ``"price * volume"``, or a Python
            function of columns that is compiled, both as in `filter` but with an answer of numbers; of an operator of
            several inputs, a list of these. ``(operator, of, "exclusive")`` answers with what comes before each row,
            whatever `exclusive` says, and ``"inclusive"`` with the row as well.
        exclusive, reverse, skipna, dtype
            As for `cumsum`.
        initial : state, optional
            Start from this state of the operator; if the state is a tuple, also from an element. For a dict, also a
            dict of its names to these.
        positions : bool, default False
            Give the operator one more input, last: the number of each row in the whole collection, from 0. Not for a
            dict.
        where : str, function or Series of bool, optional
            For a dict: which rows are scanned, as `filter` takes it, or the name of a column of bool. The others are
            null in the answer and leave the state as it is, as nulls do. A Series has the index of the collection; a
            Dask Series has its partitions, or known divisions.
        by, clustered
            For a dict: scan within groups, as `groupby` makes them.
        local_dict : mapping, optional
            As for `filter`.
        reset : name, str, function or Series of bool, optional
            Start anew after each row where this is true; see `cumsum`.

        Returns
        -------
        Series or DataFrame
            For a dict a DataFrame with its names as columns.

        Raises
        ------
        TypeError, ValueError
            If `op` is not an operator, or if its functions cannot be compiled for a column or raise an error. For a
            dict, also for texts, functions and columns that cannot be scanned; the error names the entry.

        See Also
        --------
        operator : Make an operator.
        segmented : Restart an operator where a flag is true.
        Gpuscan.rolling : Its method ``scan`` combines the rows of windows.

        Notes
        -----
        The scans of a dict are one operator, whose state is theirs side by side: one read of the columns, and texts of
        ``+ - * /`` and comparisons are computed in it. Products of floating-point numbers, and sums and products of
        integers that raise on overflow, take a pass each. Answers that are NumPy's integers are float64, and its
        bool objects, where `where` leaves rows out. Multi-scan and visiting logic: Merrill and Grimshaw,
        *Revisiting sorting for GPGPU stream architectures* (UVA CS2010-03).

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> xor = dask_gpuscan.operator(lambda a, b: a ^ b, identity=0)
        >>> pd.Series([1, 2, 4, 1]).gpuscan.scan(xor).tolist()
        [1, 3, 7, 6]

        Where the largest value so far was:

        >>> argmax = dask_gpuscan.operator(
        ...     lambda a, b: b if b[0] > a[0] else a,
        ...     identity=(-float("inf"), -1),
        ...     lift=lambda x, i: (x, i),
        ...     lower=lambda s: s[1],
        ... )
        >>> pd.Series([3.0, 5.0, 4.0, 7.0]).gpuscan.scan(argmax, positions=True).tolist()
        [0.0, 1.0, 1.0, 3.0]

        Turnover so far, and the highest price before each row, of the rows that were traded:

        >>> df = pd.DataFrame({"price": [2.0, 3.0, 9.0, 2.5], "volume": [10, 20, 0, 40]})
        >>> df.gpuscan.scan(
        ...     {
        ...         "total": (dask_gpuscan.add, "price * volume"),
        ...         "peak": (dask_gpuscan.maximum, "price", "exclusive"),
        ...     },
        ...     where="volume > 0",
        ... )
           total  peak
        0   20.0   NaN
        1   80.0   2.0
        2    NaN   NaN
        3  180.0   3.0
        """
        options = ScanArguments(exclusive, initial, reverse, skipna, dtype)
        check_scan(op, positions, reset, local_dict, where=where, by=by, clustered=clustered)
        if isinstance(op, Mapping):
            asked: dict[str, Any] = {**vars(options), "where": where, "local_dict": local_dict}
            if by is not None:
                groups = methods_of(self._obj).groupby(by, clustered=clustered)
                return groups.scan(op, **asked, reset=reset)
            if reset is not None:
                return in_segments(
                    self._obj, reset, lambda groups: groups.scan(op, **asked), local_dict
                )
            frame, where = with_rows_told(self._obj, where)
            meta = meta_of(self._obj)
            parts = scan_parts(meta, op, options, where, local_dict, meta_of(frame))
            if meta.ndim == 2:
                sources = [name for part in parts for name in part.sources]
                frame = engine_of(frame).narrow(frame, sources)
            return run(frame, NamedCarry("scan-fused", parts, as_series=False))
        if reset is not None:
            given = {**vars(options), "positions": positions}
            return in_segments(
                self._obj, reset, lambda groups: groups.scan(op, **given), local_dict
            )
        if positions:
            numbered, _ = with_row_numbers(self._obj)
            return methods_of(numbered).scan(op, **vars(options))
        column = Scan(
            f"scan-{op.name}", op, checked_options(options, lambda: names_of(meta_of(self._obj)))
        )
        if op.inputs == 1:
            with hints(self._obj.ndim == 1, None):
                return run(self._obj, ColumnCarry(column))
        check_inputs(op, 1 if self._obj.ndim == 1 else len(self._obj.columns))
        return run(self._obj, JointCarry(column))


def check_scan(op: Any, positions: Any, reset: Any, local_dict: Any, **for_dicts: Any) -> None:
    """Check that a scan is by an operator or a dict of several, and that its arguments go with it."""
    check_flags(positions=positions)
    if isinstance(op, Mapping):
        if positions:
            raise ValueError(
                "positions=True goes with one operator; for a dict, assign row_number() as a column"
            )
        check_local_dict(local_dict, True)
        return
    check_operator(op)
    check_local_dict(local_dict, isinstance(reset, str))
    for name, given in for_dicts.items():
        if given is not None:
            raise TypeError(f"{name} goes with a dict of scans, found one operator")


def scan_parts(
    meta: Any,
    scans: Mapping[Hashable, Any],
    options: ScanArguments,
    where: Any,
    local_dict: Mapping[str, Any] | None,
    frame: Any = None,
    **groups: bool,
) -> tuple[Part[GroupScan], ...]:
    """Return the parts of an answer that has each scan of a dict as a column.

    Parameters
    ----------
    meta : Series or DataFrame
        What is scanned, without rows.
    scans, options, where, local_dict
        As for `Gpuscan.scan`.
    frame : DataFrame, optional
        The same with one more column, which `where` is.
    **groups
        As for `fused_parts`.

    Raises
    ------
    TypeError, ValueError
        For an entry of another form, or one that cannot be scanned, naming it.
    """
    names = names_of(meta)
    entries = _entries(scans, options, names, meta.ndim, local_dict)
    kept: Input | None = None
    if isinstance(where, PlainColumn):
        kept = where
    elif where is not None:
        with entitled("where"):
            kept = input_of(where, names, meta.ndim, local_dict)
    return fused_parts(meta if frame is None else frame, entries, kept, **groups)


def _entries(
    scans: Mapping[Hashable, Any],
    options: ScanArguments,
    names: list[Hashable],
    ndim: int,
    local_dict: Mapping[str, Any] | None,
) -> list[Entry]:
    """Return the entries that a dict stands for.

    Raises
    ------
    TypeError, ValueError
        For an entry of another form, naming it.
    """
    if not scans:
        raise ValueError("scan takes at least one entry, found an empty dict")
    options = checked_options(options, lambda: list(scans))
    found = []
    for name, asked in scans.items():
        own = replace(options, initial=options.initial_of(name))
        with entitled(shown(name)):
            found.append(_entry(name, asked, own, names, ndim, local_dict))
    return found


def _entry(
    name: Hashable,
    asked: Any,
    options: ScanArguments,
    names: list[Hashable],
    ndim: int,
    local_dict: Mapping[str, Any] | None,
) -> Entry:
    if not isinstance(asked, tuple) or not 2 <= len(asked) <= 3:
        raise TypeError(f"an entry is {ACCEPTED}, found {shown(asked)}")
    op, of, *which = asked
    check_operator(op)
    if which:
        if which[0] not in WHICH:
            raise ValueError(
                f"an entry ends with 'exclusive' or 'inclusive', found {shown(which[0])}"
            )
        options = replace(options, exclusive=which[0] == "exclusive")
    several = of if isinstance(of, list) else [of]
    if len(several) != op.inputs:
        wanted = "one column, text or function" if op.inputs == 1 else f"a list of {op.inputs}"
        raise TypeError(f"{op.name} takes {wanted}, found {shown(of)}")
    inputs = tuple([input_of(one, names, ndim, local_dict) for one in several])
    return Entry(name, op, inputs, options)
