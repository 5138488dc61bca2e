"""Folds over rows in order, of all rows or of each group: a partition follows the state behind the one before."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..frames.keys import By, any_null, dense_ids, group_ids_of
from ..frames.messages import column_title
from ..frames.protocol import Library
from ..frames.registry import common_schema, library_of, schema_of, view_of
from ..frames.types import Column, Frame, Values
from ..kernels.fold import Step
from ..kernels.late_dataclass import dataclass
from .core.carry import DataFrameCarry
from .groupby.by_key import followed, value_of
from .groupby.hashed import Table


@dataclass(frozen=True)
class Fold(DataFrameCarry):
    """The answers of a step for each row; groups have their own states."""

    by: By
    step: Step
    of: tuple[Hashable, ...] = ()
    """The columns that the step takes; none for a series."""
    names: tuple[Hashable, ...] | None = None
    """The names of the fields of answers."""
    name: Hashable = None
    """The name of answers that are numbers, if there are no `names`."""
    dropna: bool = True
    null_keys: bool = False
    """Whether rows may be in no group, so that answers need dtypes that have a null."""
    label = "fold"
    keeps_index = in_turn = True

    @property
    def grouped_by(self) -> Sequence[Hashable]:
        return self.by.columns

    def columns(self, library: Library, frame: Frame) -> list[Column]:
        """Return the columns that the step takes; raises a TypeError for those it cannot."""
        found: list[Any] = (
            [frame] if frame.ndim == 1 else [library.column(frame, name) for name in self.of]
        )
        for column in found:
            if library.layout(column.dtype) is None or not library.is_number(column.dtype):
                raise TypeError(
                    f"fold of {column_title(column)}: a step takes numbers, found dtype {column.dtype}; cast it"
                )
        return found

    def check(self, frame: Frame) -> None:
        library = library_of(frame)
        if library.xp is not np:
            raise TypeError("fold runs on CPUs; make a frame of pandas first, with to_pandas()")
        self._forms(library, frame)
        if self.by.columns:
            self.by.check(frame)

    def _forms(self, library: Library, frame: Frame) -> Any:
        dtypes = [view_of(column).values.dtype for column in self.columns(library, frame)]
        forms = self.step.forms(tuple(dtypes))
        if self.names is not None and len(self.names) != len(forms.answer):
            raise ValueError(
                f"names must be {len(forms.answer)}, one for each field of the answer, found {list(self.names)}"
            )
        return forms

    def meta(self, frame: Frame) -> Any:
        return self.follow_all(library_of(frame).no_rows(frame), None)[0]

    def whole(self, frame: Frame) -> Any:
        self.check(frame)
        return self.follow_all(frame, None)[0]

    def apply(self, partition: Frame, prefix: Any) -> Any:
        return self.follow(partition, prefix)[0]

    def follow(self, partition: Frame, prefix: Any) -> tuple[Any, Any]:
        if self.by.columns:
            return followed(self, partition, prefix)
        return self.follow_all(partition, prefix)

    def value(self, seen: Any) -> Any:
        return value_of(seen)

    def combine(self, aggregates: Sequence[Any]) -> Any:
        raise ValueError("states of fold cannot be joined: each row depends on the state before it")

    def follow_all(self, partition: Frame, prefix: Any) -> tuple[Any, Any]:
        """Return the answer for a partition and the states behind it, given those before."""
        library = library_of(partition)
        forms = self._forms(library, partition)
        if not self.by.columns:
            states = self.first(forms, 1)
            if prefix is not None:
                states = [np.asarray([x], d) for x, d in zip(prefix, forms.state, strict=True)]
            answer = self._answer(library, partition, states, None)
            return answer, tuple([state[0].item() for state in states])
        with library.acquire(partition):
            series = self.by.series(library, partition)
            arrays, before = [library.array(c) for c in series], 0
            if prefix is not None:
                before = len(prefix.keys[0])
                arrays = [
                    library.concatenate(list(p)) for p in zip(prefix.keys, arrays, strict=True)
                ]
            ids = dense_ids(group_ids_of(library, series, arrays))
            states = self.first(forms, ids.groups)
            for state, known in zip(
                states, [] if prefix is None else prefix.states[0], strict=prefix is not None
            ):
                state[ids.array[:before]] = known
            first = np.empty(ids.groups, np.int64)
            first[ids.array[::-1]] = np.arange(len(ids.array))[::-1]
            keys = [library.take(array, first) for array in arrays]
        answer = self._answer(library, partition, states, ids.array[before:])
        schemas = (
            [schema_of(partition)] if prefix is None else [prefix.schema, schema_of(partition)]
        )
        return answer, Table(library, keys, [tuple(states)], common_schema(schemas))

    def follow_part(
        self, partition: Frame, before: Table, known: Values, codes: Values, groups: int
    ) -> tuple[Any, Table, Values]:
        """Return the answer for a partition, the states of its own keys, and their codes: see `KeyedCarry`."""
        library = library_of(partition)
        states = self.first(self._forms(library, partition), groups)
        for state, kept in zip(states, before.states[0], strict=True):
            state[known] = kept
        answer = self._answer(library, partition, states, codes)
        schema = common_schema([before.schema, schema_of(partition)])
        return answer, replace(before, states=[tuple(states)], schema=schema), np.arange(groups)

    def first(self, forms: Any, groups: int) -> list[Any]:
        """Return the first states of groups."""
        pairs = zip(self.step.fields, forms.state, strict=True)
        return [np.full(groups, field, dtype) for field, dtype in pairs]

    def _answer(self, library: Library, frame: Frame, states: list[Any], codes: Any) -> Any:
        columns = self.columns(library, frame)
        views = [view_of(column) for column in columns]
        # NaN of NumPy's floats is a number for the step
        masked = [not isinstance(column.dtype, np.dtype) for column in columns]
        nulls = [view.missing() for view, is_masked in zip(views, masked, strict=True) if is_masked]
        skipped = np.logical_or.reduce(nulls) if nulls else None
        null_keys = (
            any_null(library, self.by.series(library, frame))
            if self.by.columns and self.dropna
            else None
        )
        found = self.step.run([view.values for view in views], states, codes, skipped)
        arrays = []
        for values in found:
            array = library.from_integers(values)
            if skipped is not None:
                array = library.set_null(library.to_masked(array), skipped)
            if null_keys is not None:
                array = library.set_null(array, null_keys)
            arrays.append(library.to_nullable(array) if self.null_keys else array)
        index, forms = library.index(frame), self._forms(library, frame)
        if forms.is_number:
            name = self.name if self.names is None else self.names[0]
            return library.series(arrays[0], index, name)
        return library.frame(arrays, list(self.names or range(len(arrays))), index)
