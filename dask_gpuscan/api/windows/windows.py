"""The rows that windows are made of, of frames or of groups, and the statistics of their columns.

Frames and groups have the same methods (`Rows`). A statistic is of one column, or of a pair of columns.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, Generic, Protocol, Self, overload

from ...engines.run import engine_of, meta_of, methods_of, run
from ...frames.messages import ColumnError
from ...frames.registry import choose_columns, columns_of, is_frame, library_of, names_of
from ...kernels.late_dataclass import dataclass
from ...kernels.messages import name_list, not_among, shown
from ...ops.core.columnwise import ColumnCarry, NamedCarry, pair_rows
from ...ops.core.operation import ColumnOperation, Part
from ...ops.windows.rolling import RollingColumns
from ...ops.windows.surroundings import NamedOverlap
from ..absent import NotIterable, attribute
from ..arguments import (
    check_choice_of_columns,
    check_flags,
    hints,
    named_reductions,
    raise_with_hint,
)
from ..types import FrameT, Obj, SeriesT

# --- the rows of windows ----------------------------------------------------------------------------


class Rows(Protocol):
    """The rows that windows are made of."""

    @property
    def obj(self) -> Any:
        """The frame or series, or the Dask collection of such."""

    @property
    def as_series(self) -> bool:
        """Whether the answer for one column is a series."""

    def names(self, numeric_only: bool = False) -> list[Hashable]:
        """Names of the columns."""

    def choose(self, columns: Any) -> Rows:
        """Return the same rows of one column, by its name, or of several, by a list of names."""

    def each(self, operation: Any, numeric_only: bool) -> Any:
        """Return the answers of an operation on each column."""

    def parts(self, label: str, parts: Sequence[Part[Any]], as_series: bool) -> Any:
        """Return the answers of operations, one column each."""

    def scans_of(self, obj: Any, names: list[Hashable]) -> Any:
        """Return an object with the methods that scan some columns of another frame or series with the same rows."""

    def align_columns(
        self, names: list[Hashable], others: Sequence[Any], what: str, by_label: bool
    ) -> tuple[Rows, list[Hashable], list[Hashable]]:
        """Return the same rows with series as more columns, and how these columns and the others are called there."""


def aligned_columns(
    obj: Any, others: Sequence[Any], what: str, by_label: bool
) -> tuple[Any, list[Hashable], list[Hashable]]:
    """Return a frame of the columns of a frame or series and of others.

    Parameters
    ----------
    obj, others, what, by_label
        As for `Engine.align_columns`.

    Returns
    -------
    frame
    own, theirs : list
        Names of the columns of `obj`, which has its own if it is a frame, and of the others, which are new.
    """
    meta = meta_of(obj)
    is_named = meta.ndim == 2 or isinstance(meta.name, str)
    own = names_of(meta) if is_named else ["series"]
    prefix = what
    while any(isinstance(name, str) and name.startswith(prefix) for name in own):
        prefix = f"_{prefix}"
    theirs: list[Hashable] = [f"{prefix}{k}" for k in range(len(others))]
    frame = engine_of(obj).align_columns(obj, others, [*own, *theirs], what, by_label)
    return frame, own, theirs


@dataclass(frozen=True)
class FrameRows:
    """All rows of a frame or series."""

    obj: Any

    @property
    def as_series(self) -> bool:
        """Whether the answer for one column is a series."""
        return bool(self.obj.ndim == 1)

    def names(self, numeric_only: bool = False) -> list[Hashable]:
        """Names of the columns."""
        meta = meta_of(self.obj)
        known = names_of(meta)
        if not numeric_only or meta.ndim == 1:
            return known
        return [name for name, kept in zip(known, _kept(meta), strict=True) if kept]

    def choose(self, columns: Any) -> Self:
        """Return the same rows of some columns."""
        if isinstance(columns, list):
            return replace(self, obj=engine_of(self.obj).choose(self.obj, columns))
        return replace(self, obj=self.obj[columns])

    def each(self, operation: Any, numeric_only: bool) -> Any:
        """Return the answers of an operation on each column."""
        return run(self._numbers() if numeric_only else self.obj, ColumnCarry(operation))

    def scans_of(self, obj: Any, names: list[Hashable]) -> Any:
        """Return an object with the methods that scan some columns of another frame or series with the same rows."""
        return methods_of(engine_of(obj).choose(obj, names))

    def _numbers(self, beside: Hashable = None) -> Any:
        """The rows with the columns that `numeric_only` keeps, and one more."""
        obj = self.obj
        if obj.ndim == 1:
            return obj
        names, flags = names_of(meta_of(obj)), _kept(meta_of(obj))
        flags = [
            kept or (beside is not None and n == beside)
            for n, kept in zip(names, flags, strict=True)
        ]
        return engine_of(obj).select(obj, flags)

    def parts(self, label: str, parts: Sequence[Part[Any]], as_series: bool) -> Any:
        """Return the answers of operations, one column each."""
        names = [n for part in parts for n in part.sources]
        return run(self._only(names), NamedCarry(label, tuple(parts), as_series))

    def _only(self, names: Sequence[Hashable]) -> Any:
        """The rows with these columns, and with others if they are there anyway."""
        obj = self.obj
        if obj.ndim == 1:
            return obj
        names, known = list(dict.fromkeys(names)), names_of(meta_of(obj))
        for name in names:
            if known.count(name) > 1:
                raise ValueError(f"column {name!r} is there twice; rename one of them first")
        return engine_of(obj).narrow(obj, names)

    @property
    def _chosen(self) -> Any:
        """The rows with no other columns than those in windows and that of times."""
        return self.obj

    def align_columns(
        self, names: list[Hashable], others: Sequence[Any], what: str, by_label: bool
    ) -> tuple[Self, list[Hashable], list[Hashable]]:
        """Return the same rows with more columns, and how these and the others are called there."""
        frame, own, theirs = aligned_columns(self._chosen, others, what, by_label)
        return replace(self, obj=frame), names if self.obj.ndim == 2 else own, theirs


@dataclass(frozen=True)
class FrameNeighbours(FrameRows):
    """All rows of a frame or series.

    Parameters
    ----------
    obj : frame or series
    on : name, optional
        The column of times, which stays as it is.
    one : tuple
        The name of the column if one was chosen, so that answers are series, without the times; else empty.
    """

    on: Hashable = None
    one: tuple[Hashable, ...] = ()

    @property
    def as_series(self) -> bool:
        """Whether the answer for one column is a series."""
        return bool(self.one) or super().as_series

    def names(self, numeric_only: bool = False) -> list[Hashable]:
        """Names of the columns that are in windows."""
        if self.one and not numeric_only:
            return list(self.one)
        names = without(super().names(numeric_only), self.on)
        return [name for name in names if name in self.one] if self.one else names

    def choose(self, columns: Any) -> Self:
        """Return the same rows of some columns, with the times."""
        if self.on is None:
            return super().choose(columns)
        if not isinstance(columns, list):  # `parts` takes no others of the frame
            return replace(self, one=(columns,))
        return replace(self, obj=engine_of(self.obj).choose(self.obj, [*columns, self.on]))

    @property
    def _chosen(self) -> Any:
        obj = self.obj
        return engine_of(obj).choose(obj, [*self.one, self.on]) if self.one else obj

    def each(self, operation: Any, numeric_only: bool) -> Any:
        """Return the answers of an operation on each column."""
        if self.one:
            return self.parts(
                operation.label, [Part(n, (n,), operation) for n in self.names()], True
            )
        obj = self._numbers(self.on) if numeric_only else self.obj
        return run(obj, RollingColumns(operation, beside=self.on))

    def parts(self, label: str, parts: Sequence[Part[Any]], as_series: bool) -> Any:
        """Return the answers of operations, one column each."""
        names = [n for part in parts for n in part.sources]
        carry = NamedOverlap(label, tuple(parts), as_series)
        return run(self._only([*names, *([] if self.on is None else [self.on])]), carry)


def without(names: list[Hashable], on: Hashable) -> list[Hashable]:
    """Return names without that of the column of times, if there is one."""
    return [name for name in names if on is None or name != on]


def is_kept(column: Any) -> bool:
    """Return whether `numeric_only` keeps a column of windows: as in pandas, these leave out bool and decimals, too."""
    return library_of(column).is_numeric(column.dtype) and column.dtype.kind in "iufc"


def _kept(frame: Any) -> list[bool]:
    return [is_kept(column) for column in columns_of(frame)]


# --- their statistics -------------------------------------------------------------------------------


class Statistics(NotIterable, Generic[Obj, SeriesT, FrameT]):
    """What all windows have in common; a subclass says how a statistic is computed (`_operation`)."""

    _rows: Rows
    _label: str
    """The kind of windows, for messages."""
    _named: tuple[str, ...]
    """The statistics that `agg` takes."""

    def __getattr__(self, name: str) -> Self:
        """Return the same windows of the column of this name, as pandas does."""
        column: Self = attribute(self, self._label, name, self._names)
        return column

    def _names(self) -> list[Hashable]:
        return [] if self._rows.as_series else self._rows.names()

    def _of(self, columns: Any) -> Self:
        """Return the same windows of one column, by its name, or of several, by a list of names."""
        if self._rows.as_series:
            raise TypeError("a Series has no columns to choose from")
        check_choice_of_columns(columns, self._rows.names())
        chosen = type(self).__new__(type(self))
        vars(chosen).update(vars(self))  # `copy` asks for names that `__getattr__` refuses
        chosen._rows = self._rows.choose(columns)
        return chosen

    def _operation(self, name: str, **options: Any) -> ColumnOperation:
        """Return the operation that computes a statistic of one column, or of a pair."""
        raise NotImplementedError

    def _statistic(self, name: str, numeric_only: bool = False, **options: Any) -> Any:
        check_flags(numeric_only=numeric_only)
        windows = self._windows_of([name])
        try:
            return windows._rows.each(windows._operation(name, **options), bool(numeric_only))
        except TypeError as error:
            raise_with_hint(error, self._rows.as_series, numeric_only)
            raise

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
        with hints(self._rows.as_series, numeric_only):
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
                raise ColumnError(f"agg: {not_among(column, columns)}")
            if name not in self._named:
                listed = not_among(name, self._named, "a statistic", "statistics")
                raise ValueError(f"agg: {listed}")
        one = as_series and (isinstance(func, str) or callable(func))
        windows = self._windows_of([name for _, _, name in wanted])
        parts = [Part(label, (c,), windows._operation(name)) for label, c, name in wanted]
        out = windows._rows.parts(f"{self._label}-agg", parts, one)
        if two_levels:
            meta = meta_of(self._rows.obj)
            out.columns = library_of(meta).pair_names(meta, [label for label, _, _ in wanted])
        return out

    aggregate = agg


# --- statistics of two columns ----------------------------------------------------------------------


def of_pairs(
    rows: Rows, operation: ColumnOperation, other: Any, pairwise: bool | None, numeric_only: bool
) -> Any:
    """Return a statistic of each column and another one, or of all pairs."""
    if not (other is None or (is_frame(meta_of(other)) and hasattr(other, "dtypes"))):
        raise TypeError(f"other must be a Series or DataFrame, found {shown(other)}")
    if other is not None and other.ndim == 2:
        theirs = names_of(meta_of(other))
        check_choice_of_columns(theirs, theirs)
    labels = rows.names(numeric_only)
    all_pairs = pairwise is not False if other is None else pairwise and other.ndim == 2
    if all_pairs and not rows.as_series:
        return _of_all_pairs(rows, operation, other, labels)
    pairs = [(n, n) for n in labels]
    as_series = rows.as_series and getattr(other, "ndim", 1) == 1
    if other is not None:
        rows, labels, pairs = _beside(rows, other, labels)
    parts = [Part(to, pair, operation) for to, pair in zip(labels, pairs, strict=True)]
    return rows.parts(operation.label, parts, as_series)


def _of_all_pairs(rows: Rows, operation: ColumnOperation, other: Any, labels: list[Any]) -> Any:
    """Return a statistic of each column and each of those of another frame, or of the frame itself."""
    meta = meta_of(rows.obj)
    library, own = library_of(meta), choose_columns(meta, labels)
    others = own if other is None else meta_of(other)
    library.index_of_pairs(library.index(meta), others)  # raises before anything is computed
    second = labels
    if other is not None:
        series = [other[name] for name in names_of(others)]
        rows, labels, second = rows.align_columns(labels, series, "other", True)
    numbers: dict[tuple[Hashable, Hashable], int] = {}
    for x, y in product(labels, second):
        if (y, x) not in numbers:  # (y, x) has the same statistic
            numbers[x, y] = len(numbers)
    parts = [Part(number, pair, operation) for pair, number in numbers.items()]
    places = [
        [numbers[pair if pair in numbers else pair[::-1]] for pair in product([x], second)]
        for x in labels
    ]
    answers = rows.parts(operation.label, parts, False)
    return engine_of(answers).map_partitions(
        answers, pair_rows, own, others, places, keeps_divisions=False
    )


def _beside(
    rows: Rows, other: Any, names: list[Hashable]
) -> tuple[Rows, list[Hashable], list[tuple[Hashable, Hashable]]]:
    """Return rows with the columns of another frame, the names of the answers, and the pair of columns of each."""
    if other.ndim == 1:
        more, own, (theirs,) = rows.align_columns(names, [other], "other", True)
        if rows.as_series:  # a name as after any arithmetic of two series
            names = [names[0] if other.name == names[0] else None]
        return more, names, [(n, theirs) for n in own]
    known = names_of(meta_of(other))
    if rows.as_series:
        more, (one,), found = rows.align_columns(names, [other[n] for n in known], "other", True)
        return more, known, [(one, n) for n in found]
    if set(known) != set(names):
        raise ValueError(
            f"other must have the columns {name_list(names)}, found {name_list(known)}; choose them first"
        )
    more, own, found = rows.align_columns(names, [other[n] for n in names], "other", True)
    return more, names, list(zip(own, found, strict=True))
