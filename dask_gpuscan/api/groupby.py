"""What ``.gpuscan.groupby()`` returns: groups of rows with equal keys, waiting for a reduction or a scan.

Arguments are checked here and the strategy is chosen: one pass where equal keys are adjacent (`clustered`), else
the library's own group-by, or states by key (`per_key`). This module must never compute anything itself.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from ..frames.keys import check_by
from ..frames.messages import one_of
from ..frames.registry import column_of, library_of, names_of
from ..graph.lookback import is_lazy, look_back, meta_of
from ..graph.tree_reduce import tree_reduce
from ..kernels import BUILT_IN, Operator
from ..ops.fill import FillGroups
from ..ops.group_scan import ScanAfterValues, ScanGroups
from ..ops.groupby_clustered import ClusteredReduce, ClusteredScan, Part
from ..ops.groupby_library import agg_by_library, reduce_by_library
from ..ops.groupby_table import KeyedReduce, KeyedScan
from ..ops.library_reduction import operation_of
from ..ops.reduce import ReduceColumn
from ..ops.reduction_table import REDUCTIONS, ROWS, Reduction, spread
from ..ops.row_number import CountGroups
from ..ops.runs import INT64
from .arguments import check_ddof, check_flags, check_limit, named_reductions

NAMES = (*REDUCTIONS, "var", "std")
"""The reductions that `agg` takes by name."""


class GroupMethods:
    """The part of `Gpuscan` that makes groups."""

    _obj: Any

    def groupby(self, by: Any, clustered: bool | None = None, dropna: bool = True) -> GroupBy:
        """Return groups of rows with equal keys, to be reduced or scanned in the rows' own order.

        Parameters
        ----------
        by : name or list of names
            Columns, or levels of the index, of any dtype whose values can be hashed.
        clustered : bool, optional
            Whether equal keys are adjacent. Then a reduction is one pass and gives one row a group in order
            of appearance; groups may span partitions. A key that comes again is a group of its own.
            By default, a Dask collection whose index is the key, with known divisions, counts as clustered.
        dropna : bool, default True
            Leave out rows with a null key; scans give null there.

        Returns
        -------
        GroupBy

        Raises
        ------
        TypeError, ValueError
            If `by` does not name columns or levels, each once.

        Notes
        -----
        If keys are not clustered, answers are pandas': reductions are sorted by key and go through the
        library's own hash group-by, scans hand states on by key, so that carries grow with the number of keys.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({"k": ["b", "b", "a", "b"], "x": [1, 2, 3, 4]})
        >>> df.gpuscan.groupby("k", clustered=True)["x"].cumsum().tolist()
        [1, 3, 3, 4]
        >>> df.gpuscan.groupby("k")["x"].cumsum().tolist()
        [1, 3, 3, 7]
        """
        return GroupBy(self._obj, by, clustered, dropna)


class GroupBy:
    """Groups of rows with equal keys; see `Gpuscan.groupby`.

    Examples
    --------
    >>> import pandas as pd, dask_gpuscan
    >>> df = pd.DataFrame({"k": ["b", "b", "a"], "x": [1, 2, 3]})
    >>> df.gpuscan.groupby("k", clustered=True)["x"].sum().to_dict()
    {'b': 3, 'a': 3}
    """

    def __init__(
        self, obj: Any, by: Any, clustered: bool | None, dropna: bool, selected: Any = None
    ) -> None:
        if clustered is not None:
            check_flags(clustered=clustered)
        check_flags(dropna=dropna)
        self._obj = obj
        self._meta = meta_of(obj)
        self._by = check_by(self._meta, by)
        self._clustered = clustered
        self._dropna = bool(dropna)
        self._selected = selected

    def __getitem__(self, columns: Any) -> GroupBy:
        """Return the same groups of some columns: of one by its name, of several by a list of names."""
        if self._meta.ndim == 1:
            raise TypeError("a Series has no columns to choose from")
        for name in columns if isinstance(columns, list) else [columns]:
            known = names_of(self._meta)
            if known.count(name) != 1:
                problem = "is there twice" if name in known else "is not there"
                raise ValueError(f"column {name!r} {problem}, found {one_of(known)}")
        picked = list(columns) if isinstance(columns, list) else columns
        return GroupBy(self._obj, list(self._by.columns), self._clustered, self._dropna, picked)

    def __getattr__(self, name: str) -> GroupBy:
        """Return the same groups of the column of this name, as pandas does."""
        if not name.startswith("_") and self._meta.ndim == 2 and name in names_of(self._meta):
            return self[name]
        raise AttributeError(f"groupby has neither a method nor a column {name!r}")

    # --- which columns, and how -------------------------------------------------------------------

    @property
    def _as_series(self) -> bool:
        one = self._selected is not None and not isinstance(self._selected, list)
        return bool(self._meta.ndim == 1 or one)

    def _columns(self, numeric_only: bool = False) -> list[Hashable]:
        """Names of the columns that are reduced or scanned."""
        if self._meta.ndim == 1:
            return [self._meta.name]
        if self._selected is not None:
            names = self._selected if isinstance(self._selected, list) else [self._selected]
        else:
            names = [n for n in names_of(self._meta) if n not in self._by.columns]
        if numeric_only:
            library = library_of(self._meta)
            names = [n for n in names if library.is_numeric(self._column(n).dtype)]
        return list(names)

    def _column(self, name: Hashable) -> Any:
        found = column_of(self._meta, name)
        if getattr(found, "ndim", 1) > 1:
            raise ValueError(f"column {name!r} is there twice; rename one of them first")
        return found

    def _needed(self, names: Sequence[Hashable]) -> Any:
        """The collection with no other columns than these and the keys, if others would be read or moved."""
        names = [name for name in names if name not in self._by.levels]
        for name in names:
            self._column(name)
        if self._meta.ndim == 1 or (self._one_pass and not is_lazy(self._obj)):
            return self._obj
        return self._only(names)

    def _only(self, names: Sequence[Hashable]) -> Any:
        """The keys and these columns of a frame."""
        keys = [n for n in self._by.columns if n not in self._by.levels]
        kept = list(dict.fromkeys([*keys, *names]))
        if is_lazy(self._obj):
            return self._obj[kept]
        known = names_of(self._obj)  # pandas finds no names that are None
        return library_of(self._obj).select(self._obj, [name in kept for name in known])

    @property
    def _is_sorted(self) -> bool:
        """Whether known divisions say that equal keys share a partition."""
        return bool(
            self._clustered is None
            and is_lazy(self._obj)
            and self._obj.known_divisions
            and self._by.columns == self._by.levels == (self._meta.index.name,)
        )

    @property
    def _one_pass(self) -> bool:
        return bool(self._clustered) or self._is_sorted

    @cached_property
    def _null_keys(self) -> bool:
        """Whether rows may be in no group: before there are data, the dtypes of the keys tell."""
        if not self._dropna or library_of(self._meta).holds_null(INT64):  # all dtypes have a null
            return False
        return self._by.may_be_null(self._meta, by_dtype=is_lazy(self._obj))

    @property
    def _may_ask(self) -> bool:
        """Whether the library's own group-by is asked; for no rows it may answer with other dtypes."""
        if self._one_pass or is_lazy(self._obj) or isinstance(self._selected, tuple):
            return False  # pandas takes a tuple for a list of names
        return len(self._obj) > 0

    def _ask_library(self, names: Sequence[Hashable], method: str, **options: Any) -> Any:
        """What the library's own group-by answers for these columns; None where it is not asked, or refuses."""
        picked = self._selected if isinstance(self._selected, list) else []
        if not self._may_ask or len(set(picked)) < len(picked):
            return None
        chosen = names[0] if self._as_series else list(dict.fromkeys(names))
        return reduce_by_library(self._obj, self._by, self._dropna, chosen, method, options)

    # --- reductions -------------------------------------------------------------------------------

    def _operation(self, name: str, column: Hashable, ddof: int = 1) -> Any:
        found = spread(name, ddof) if name in ("var", "std") else REDUCTIONS[name]
        return operation_of(library_of(self._meta), self._column(column).dtype, found)

    def _run_parts(self, parts: list[Part], as_series: bool, named: bool = False) -> Any:
        """Reduce groups to one row each, by our own means."""
        label = f"groupby-{parts[0].operation.name}" if len(parts) == 1 else "groupby-agg"
        frame = self._needed([n for part in parts for n in part.sources])
        carry = ClusteredReduce(
            self._by,
            label=label,
            parts=tuple(parts),
            as_series=as_series,
            dropna=self._dropna,
            sorts=self._is_sorted,
            named=named,
        )
        if self._one_pass:
            return look_back(frame, carry)
        return tree_reduce(frame, KeyedReduce(carry))

    def _reduce(self, name: str, numeric_only: bool = False, **options: Any) -> Any:
        check_flags(numeric_only=numeric_only)
        names = self._columns(numeric_only)
        found = self._ask_library(names, name, **options)
        if found is not None:
            return found
        parts = [Part(n, (n,), self._operation(name, n, **options)) for n in names]
        if not parts:
            raise ValueError(f"{name} needs at least one column besides the keys")
        return self._run_parts(parts, self._as_series)

    def sum(self, numeric_only: bool = False) -> Any:
        """Return the sum of each group; nulls are passed over, and a group of nothing else has sum 0."""
        return self._reduce("sum", numeric_only)

    def prod(self, numeric_only: bool = False) -> Any:
        """Return the product of each group."""
        return self._reduce("prod", numeric_only)

    def min(self, numeric_only: bool = False) -> Any:
        """Return the smallest value of each group."""
        return self._reduce("min", numeric_only)

    def max(self, numeric_only: bool = False) -> Any:
        """Return the largest value of each group."""
        return self._reduce("max", numeric_only)

    def any(self) -> Any:
        """Return whether any value of each group is true (not zero)."""
        return self._reduce("any")

    def all(self) -> Any:
        """Return whether all values of each group are true (not zero)."""
        return self._reduce("all")

    def count(self) -> Any:
        """Return the number of values of each group that are not null."""
        return self._reduce("count")

    def mean(self, numeric_only: bool = False) -> Any:
        """Return the mean of each group."""
        return self._reduce("mean", numeric_only)

    def var(self, ddof: int = 1, numeric_only: bool = False) -> Any:
        """Return the variance of each group, divided by the number of values less `ddof`."""
        return self._reduce("var", numeric_only, ddof=check_ddof(ddof))

    def std(self, ddof: int = 1, numeric_only: bool = False) -> Any:
        """Return the standard deviation of each group."""
        return self._reduce("std", numeric_only, ddof=check_ddof(ddof))

    def first(self, numeric_only: bool = False) -> Any:
        """Return the first value of each group that is not null, of any dtype."""
        return self._reduce("first", numeric_only)

    def last(self, numeric_only: bool = False) -> Any:
        """Return the last value of each group that is not null, of any dtype."""
        return self._reduce("last", numeric_only)

    def nunique_consecutive(self) -> Any:
        """Return how many runs of equal values each group has, in the rows' order; nulls are passed over."""
        return self._reduce("nunique_consecutive")

    def size(self) -> Any:
        """Return the number of rows of each group, as a Series."""
        names = self._columns()[:1]
        if not names:
            names = [n for n in self._by.columns if n not in self._by.levels][:1]
        found = self._ask_library(names, "size")  # cuDF has none for columns of Arrow's dtypes
        if found is not None:
            return found
        name = self._meta.name if self._meta.ndim == 1 else None
        name = self._selected if self._as_series and self._meta.ndim == 2 else name
        if self._as_series:
            part = Part(name, (self._columns()[0],), ReduceColumn(REDUCTIONS["size"]))
        else:
            part = Part(name, (), ReduceColumn(ROWS))
        return self._run_parts([part], True)

    def reduce(self, op: Operator) -> Any:
        """Reduce each group by any operator.

        Parameters
        ----------
        op : Operator
            One of several inputs takes the columns in their order, and answers with one Series.

        Returns
        -------
        Series or DataFrame
            The operator's answer of each group; its identity where a group has no values.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({"k": [1, 1, 2], "x": [6, 3, 5]})
        >>> df.gpuscan.groupby("k")["x"].reduce(dask_gpuscan.bitwise_xor).to_dict()
        {1: 5, 2: 5}
        """
        reduction = Reduction(_check_op(op).name, op, lambda numbers, states: states)
        operation = ReduceColumn(replace(reduction, finish=_unused), user=True)
        parts, joint = self._op_parts(op, operation)
        return self._run_parts(parts, joint or self._as_series)

    def _op_parts(self, op: Operator, operation: Any) -> tuple[list[Part], bool]:
        """One part a column, or one of all columns for an operator of several inputs."""
        names = self._columns()
        if op.inputs == 1:
            return [Part(n, (n,), operation) for n in names], False
        if len(names) != op.inputs:
            raise TypeError(
                f"{op.name} takes {op.inputs} input columns, found {len(names)}; choose them in order"
            )
        return [Part(None, tuple(names), operation)], True

    def agg(self, functions: Any = None, **named: tuple[Hashable, str]) -> Any:
        """Return several reductions of each group.

        Parameters
        ----------
        functions : str, list of str or dict, optional
            Names of reductions for all columns, or by column; lists give columns of two levels, as in pandas.
        **named : (column, name)
            One column of the result each.

        Returns
        -------
        Series or DataFrame

        Raises
        ------
        ValueError
            For unknown columns and reductions.

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
        wanted, two_levels = named_reductions(self._columns(), self._as_series, functions, named)
        known = self._columns()
        if self._meta.ndim == 2 and self._selected is None:
            known = names_of(self._meta)  # keys too, if they are named
        for _, column, name in wanted:
            if column not in known:
                raise ValueError(f"agg names column {column!r}, found {one_of(known)}")
            if name not in NAMES:
                raise ValueError(f"agg names reduction {name!r}, accepted are {', '.join(NAMES)}")
        out = None
        if self._may_ask and library_of(self._meta).widens_by_value:
            for _, column, _ in wanted:
                self._column(column)
            out = agg_by_library(self._obj, self._by, self._dropna, wanted, bool(named))
        if out is None:
            parts = [
                Part(label, (column,), self._operation(name, column))
                for label, column, name in wanted
            ]
            out = self._run_parts(parts, False, named=bool(named))
        if two_levels:
            labels = library_of(self._meta).labels([label for label, _, _ in wanted])
            out.columns = labels
        if isinstance(functions, str) and self._as_series:
            return out[wanted[0][0]]
        return out

    # --- scans ------------------------------------------------------------------------------------

    def _scan(self, label: str, parts: list[Part], as_series: bool, reverse: bool = False) -> Any:
        carry = ClusteredScan(
            self._by,
            label=f"groupby-{label}",
            parts=tuple(parts),
            as_series=as_series,
            dropna=self._dropna,
            sorts=self._is_sorted,
            reverse=reverse,
            null_keys=self._null_keys,
        )
        frame = self._needed([n for part in parts for n in part.sources])
        return look_back(frame, carry if self._one_pass else KeyedScan(carry))

    def scan_part(self, part: Part) -> Any:
        """Return the one Series that a scan of other columns than the groups' own makes."""
        return self._scan(str(part.name), [part], True)

    def _scan_columns(self, label: str, operation: Any, numeric_only: bool = False) -> Any:
        check_flags(numeric_only=numeric_only)
        parts = [Part(n, (n,), operation) for n in self._columns(numeric_only)]
        return self._scan(label, parts, self._as_series, operation.reverse)

    def _cumulate(self, label: str, op: str, numeric_only: bool) -> Any:
        operation = ScanGroups(label, BUILT_IN[op], null_keys=self._null_keys)
        return self._scan_columns(label, operation, numeric_only)

    def cumsum(self, numeric_only: bool = False) -> Any:
        """Return the running sum within each group, row by row; of integers in 64 bits."""
        return self._cumulate("cumsum", "add", numeric_only)

    def cumprod(self, numeric_only: bool = False) -> Any:
        """Return the running product within each group; of integers in 64 bits."""
        return self._cumulate("cumprod", "multiply", numeric_only)

    def cummax(self, numeric_only: bool = False) -> Any:
        """Return the running maximum within each group."""
        return self._cumulate("cummax", "maximum", numeric_only)

    def cummin(self, numeric_only: bool = False) -> Any:
        """Return the running minimum within each group."""
        return self._cumulate("cummin", "minimum", numeric_only)

    def ffill(self, limit: int | None = None) -> Any:
        """Fill nulls with the last value before them in their group, of columns of any dtype."""
        return self._scan_columns("ffill", FillGroups(False, check_limit(limit)))

    def bfill(self, limit: int | None = None) -> Any:
        """Fill nulls with the next value after them in their group, of columns of any dtype."""
        return self._scan_columns("bfill", FillGroups(True, check_limit(limit)))

    def cumcount(self, ascending: bool = True) -> Any:
        """Return the number of each row within its group, from 0; or from the end."""
        check_flags(ascending=ascending)
        part = Part(None, (), CountGroups(not ascending))
        return self._scan("cumcount", [part], True, not ascending)

    def row_number(self) -> Any:
        """Return the number of each row within its group, from 0, as a Series ``row_number``."""
        return self._scan("row-number", [Part("row_number", (), CountGroups())], True)

    def scan(self, op: Operator, *, exclusive: bool = False, reverse: bool = False) -> Any:
        """Scan within groups by any operator.

        Parameters
        ----------
        op : Operator
            One of several inputs takes the columns in their order, and answers with one Series.
        exclusive : bool, default False
            Write the state before each row rather than after it.
        reverse : bool, default False
            Run from the last row of a group to its first.

        Returns
        -------
        Series or DataFrame
            With the rows, the order and the index of the frame.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({"k": [1, 2, 1], "x": [6, 3, 5]})
        >>> df.gpuscan.groupby("k")["x"].scan(dask_gpuscan.bitwise_xor).tolist()
        [6, 3, 3]
        """
        check_flags(exclusive=exclusive, reverse=reverse)
        nulls_first = exclusive and _check_op(op).null_identity
        kind = ScanAfterValues if nulls_first else ScanGroups
        operation = kind(f"scan-{_check_op(op).name}", op, exclusive, reverse)
        parts, joint = self._op_parts(op, operation)
        return self._scan(operation.label, parts, joint or self._as_series, reverse)


def _unused(numbers: Any, states: Any) -> Any:
    raise AssertionError("an operator of a user's lowers its own states")


def _check_op(op: Any) -> Operator:
    if not isinstance(op, Operator):
        raise TypeError(f"op must be an Operator made by dask_gpuscan.operator, found {op!r}")
    return op
