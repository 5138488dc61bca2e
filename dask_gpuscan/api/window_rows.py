"""What windows are of: a frame or series, or groups of its rows; both answer the same questions."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..frames.registry import each, library_of, names_of
from ..graph.beside import beside
from ..graph.lookback import Collection, look_back, meta_of
from ..ops.columnwise import ColumnCarry, NamedCarry
from ..ops.operation import Part


class Rows(Protocol):
    """What windows are of."""

    @property
    def obj(self) -> Any:
        """The frame or series, or the Dask collection of such."""

    @property
    def as_series(self) -> bool:
        """Whether the answer for one column is a series."""

    def names(self, numeric_only: bool = False) -> list[Hashable]:
        """Names of the columns."""

    def each(self, operation: Any, numeric_only: bool) -> Any:
        """Return the answers of an operation on each column."""

    def parts(self, label: str, parts: Sequence[Part[Any]], as_series: bool) -> Any:
        """Return the answers of operations, one column each."""

    def beside(
        self, names: list[Hashable], others: Sequence[Any], what: str, by_label: bool
    ) -> tuple[Rows, list[Hashable], list[Hashable]]:
        """Return the same rows with series as more columns, and how these columns and the others are called there."""


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

    def each(self, operation: Any, numeric_only: bool) -> Any:
        """Return the answers of an operation on each column."""
        return look_back(self._numbers() if numeric_only else self.obj, ColumnCarry(operation))

    def _numbers(self, beside: Hashable = None) -> Any:
        """The rows with the columns that `numeric_only` keeps, and one beside."""
        obj = self.obj
        if obj.ndim == 1:
            return obj
        names, flags = names_of(meta_of(obj)), _kept(meta_of(obj))
        flags = [
            kept or (beside is not None and n == beside)
            for n, kept in zip(names, flags, strict=True)
        ]
        if isinstance(obj, Collection):
            return obj[[name for name, kept in zip(names, flags, strict=True) if kept]]
        return library_of(obj).select(obj, flags)

    def parts(self, label: str, parts: Sequence[Part[Any]], as_series: bool) -> Any:
        """Return the answers of operations, one column each."""
        names = [n for part in parts for n in part.sources]
        return look_back(self._only(names), NamedCarry(label, tuple(parts), as_series))

    def _only(self, names: Sequence[Hashable]) -> Any:
        """The rows with no other columns than these."""
        obj = self.obj
        if obj.ndim == 1:
            return obj
        names = list(dict.fromkeys(names))
        for name in names:
            if meta_of(obj)[name].ndim > 1:
                raise ValueError(f"column {name!r} is there twice; rename one of them first")
        return obj[names]

    def beside(
        self, names: list[Hashable], others: Sequence[Any], what: str, by_label: bool
    ) -> tuple[FrameRows, list[Hashable], list[Hashable]]:
        """Return the same rows with more columns, and how these and the others are called there."""
        frame, own, theirs = beside(self.obj, others, what, by_label)
        return FrameRows(frame), names if self.obj.ndim == 2 else own, theirs


def without(names: list[Hashable], on: Hashable) -> list[Hashable]:
    """Return names but that of the column of times, if there is one."""
    return [name for name in names if on is None or name != on]


def is_kept(column: Any) -> bool:
    """Tell whether `numeric_only` keeps a column of windows: as in pandas, these leave out bool, too."""
    return library_of(column).is_numeric(column.dtype) and column.dtype.kind != "b"


def _kept(frame: Any) -> list[bool]:
    return [is_kept(column) for column in each(frame)]
