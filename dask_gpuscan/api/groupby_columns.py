"""Which columns of a frame are grouped, and whether equal keys are adjacent."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import Any

from ..frames.keys import By
from ..frames.registry import column_of, library_of, names_of
from ..graph.lookback import Collection
from ..kernels import Operator
from ..ops.groups import INT64
from ..ops.operation import Operation, Part
from .object_types import FrameT, Methods, Obj, SeriesT


class GroupByColumns(Methods[Obj, SeriesT, FrameT]):
    """The part of `GroupBy` that knows its frame."""

    _meta: Any
    _by: By
    _clustered: bool | None
    _dropna: bool
    _selected: Any

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
        if self._meta.ndim == 1 or (self._one_pass and not isinstance(self._obj, Collection)):
            return self._obj
        return self._only(names)

    def _only(self, names: Sequence[Hashable]) -> Any:
        """The keys and these columns of a frame."""
        keys = [n for n in self._by.columns if n not in self._by.levels]
        kept = list(dict.fromkeys([*keys, *names]))
        if isinstance(self._obj, Collection):
            return self._obj[kept]
        known = names_of(self._obj)  # pandas finds no names that are None
        return library_of(self._obj).select(self._obj, [name in kept for name in known])

    @property
    def _is_sorted(self) -> bool:
        """Whether known divisions say that equal keys share a partition."""
        return bool(
            self._clustered is None
            and isinstance(self._obj, Collection)
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
        return self._by.may_be_null(self._meta, by_dtype=isinstance(self._obj, Collection))

    def _op_parts(self, op: Operator, operation: Operation) -> tuple[list[Part[Operation]], bool]:
        """One part a column, or one of all columns for an operator of several inputs."""
        names = self._columns()
        if op.inputs == 1:
            return [Part(n, (n,), operation) for n in names], False
        if len(names) != op.inputs:
            raise TypeError(
                f"{op.name} takes {op.inputs} input columns, found {len(names)}; choose them in order"
            )
        return [Part(None, tuple(names), operation)], True
