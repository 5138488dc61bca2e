"""Scans of values that only Python combines, such as objects, strings and decimals: one by one, on the host."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...frames.messages import HINT, column_title, first_line, refusing
from ...frames.protocol import Library
from ...frames.protocol.columns import HostValues
from ...frames.registry import library_of
from ...frames.types import Column, DType, Values
from ...kernels import BUILT_IN
from ...kernels.late_dataclass import dataclass
from ..core.groups import INT64, Groups, ReducibleGroups, States
from .value_scan import Start, ValueScan

_FIRST = BUILT_IN["minimum"]
"""Chooses the first of the places of rows."""


@dataclass(frozen=True)
class HostScan(ValueScan):
    """A scan of one column by the functions of Python."""

    def answer(self, library: Library, dtype: DType) -> Any:
        return self.options.dtype or host_of(library).dtype(self.method, dtype)

    def _check_dtype(self, library: Library, dtype: DType) -> None:
        asked = self.options.dtype
        if asked is None or not host_of(library).takes_dtype(dtype, asked):
            super()._check_dtype(library, dtype)
            return
        try:
            library.cast(library.empty(dtype), asked)
        except ValueError as error:  # of Arrow
            raise TypeError(
                f"dtype={asked} does not hold all of {dtype}: {first_line(error)}"
            ) from error

    def _start_dtype(self, library: Library, dtype: DType) -> Any:
        return host_of(library).state_dtype(self.method, self.options.dtype or dtype)

    def _given(self, columns: Sequence[Column]) -> list[Any]:
        """Return the columns in the requested dtype."""
        asked = self.options.dtype
        if asked is None:
            return list(columns)
        library = library_of(columns[0])
        try:
            return [
                library.as_column(library.cast(library.array(c), asked), c.name) for c in columns
            ]
        except ValueError as error:  # of Arrow
            raise OverflowError(
                f"{self.label} of {column_title(columns[0])}: values do not fit {asked}: {first_line(error)}"
            ) from error

    def aggregate(self, columns: Sequence[Column], groups: ReducibleGroups) -> Callable[[], States]:
        return super().aggregate(self._given(columns), groups)

    def apply(self, columns: Sequence[Column], groups: Groups, prior: States | None) -> Any:
        return super().apply(self._given(columns), groups, prior)

    def last(self, columns: Sequence[Column], states: States) -> Any:
        (column,) = columns
        library = library_of(column)
        array, dtype = super().last(columns, states), self.answer(library, column.dtype)
        if array.dtype == dtype:
            return array
        host, valid = host_of(library), library.valid(library.as_column(array))
        with self._by_python(column):
            return host.array(host.values(array), valid, dtype)

    def reduced(self, library: Library, column: Column, groups: ReducibleGroups) -> Any:
        host, valid = host_of(library), library.valid(column)
        values = host.values(library.array(column))
        totals: dict[int, Any] = {}
        with self._by_python(column):
            for group, rows in chains(groups, len(values), 0, True):
                found = values[rows][valid[rows]]
                if len(found):
                    totals[group] = host.total(self.method, found)
        numbers = list(totals)
        if not groups.is_one:
            (first,) = groups.reduce(_FIRST, np.arange(len(values), dtype=INT64))()
            numbers = first.tolist()
        found = np.empty(len(numbers), values.dtype)
        for at, group in enumerate(numbers):
            found[at] = totals.get(group)
        seen = np.fromiter((group in totals for group in numbers), np.bool_, len(numbers))
        with self._by_python(column):
            return host.array(found, seen, host.state_dtype(self.method, column.dtype))

    def scanned(
        self, column: Column, valid: Values, shown: Values, groups: Groups, start: Start
    ) -> Any:
        library = library_of(column)
        host = host_of(library)
        values = host.values(library.array(column))
        initial, before = host.values(start.initial), host.values(start.before)
        had = set(np.flatnonzero(library.valid(library.as_column(start.before))).tolist())
        nothing = host.of_nothing(self.method, column.dtype)
        out, known = np.empty_like(values), np.zeros(len(values), np.bool_)
        with self._by_python(column):
            for group, rows in chains(groups, len(values), len(before), start.of_one):
                first = np.concatenate([initial, before[[group]]]) if group in had else initial
                seen = valid[rows]
                found = values[rows] if seen.all() else values[rows][seen]
                states = np.empty(1 + len(first) + len(found), values.dtype)
                if nothing is not None:
                    states[0] = nothing
                states[1:] = host.running(self.method, np.concatenate([first, found]))
                so_far = len(first) + np.cumsum(seen)
                if self.options.exclusive:
                    so_far -= seen
                out[rows] = states[so_far]
                known[rows] = (so_far > 0) | (nothing is not None)
            return host.array(out, shown & known, self.answer(library, column.dtype))

    @contextmanager
    def _by_python(self, column: Column) -> Iterator[None]:
        """Let errors in the block name the column."""
        title = column_title(column)
        try:
            with refusing(self.label, [title]):
                yield
        except OverflowError as error:
            raise OverflowError(
                f"{self.label} of {title}: {first_line(error)}; ask for a wider dtype="
            ) from error


@dataclass(frozen=True)
class JoinScan(HostScan):
    """A running join of the strings of one column, by their bytes.

    The strings of each group are joined once, one group after the other: each answer is a piece of them.
    """

    def scanned(
        self, column: Column, valid: Values, shown: Values, groups: Groups, start: Start
    ) -> Any:
        library = library_of(column)
        host, array = host_of(library), library.array(column)
        count, before = len(array), len(start.before)
        # the strings of one group after the other: first its start value, then those of its rows
        taken = [np.empty(0, INT64)]
        begin, end = np.empty(count, INT64), np.empty(count, INT64)
        at = 0
        initial = count + before + np.arange(len(start.initial))
        for group, way in chains(groups, count, before, start.of_one):
            rows = np.arange(count)[way]
            first = np.append(initial, np.arange(count + group, count + before)[:1])
            taken += [first, rows]
            begin[rows] = at
            at += len(first)
            end[rows] = np.arange(at, at + len(rows)) + (not self.options.exclusive)
            at += len(rows)
        strings = host.texts([array, start.before, start.initial], np.concatenate(taken))
        return host.pieces(
            strings, strings.offsets[begin], strings.offsets[end], ~shown, column.dtype
        )


def host_of(library: Library) -> HostValues:
    """Return the library's methods for such values."""
    assert library.host_values is not None
    return library.host_values


def chains(groups: Groups, count: int, before: int, of_one: bool) -> Iterator[tuple[int, Any]]:
    """Yield a number for each group, and its rows in the order in which they are met, as an index.

    Groups that had a value before are numbered first, by their places; others by their first rows, counted on from
    there.
    """
    way = slice(None, None, -1 if groups.reverse else None)
    if groups.is_one:
        yield 0, way
    elif count:
        rows = np.arange(count, dtype=INT64)
        met = rows[way]
        places = np.empty_like(rows)
        places[met] = rows + before
        carry: Any = None
        if before:
            carry = INT64.type(0) if of_one else np.arange(before, dtype=INT64)
        first = groups.scan(_FIRST, places, carry_in=carry, dtype=INT64)[met]
        order = np.argsort(first, kind="stable")
        starts = np.flatnonzero(np.diff(first[order], prepend=-1))
        yield from zip(first[order][starts].tolist(), np.split(met[order], starts[1:]), strict=True)


def check_reproducible(library: Library, dtype: DType) -> None:
    """Check that sums of a dtype can be reproducible.

    Raises
    ------
    TypeError
        If Python adds the numbers of the dtype, in an order that is not fixed.
    """
    host = library.host_values
    if (
        host is not None
        and host.combines("cumsum", dtype)
        and type(host.of_nothing("cumsum", dtype)) not in (str, int)  # strings and decimals
    ):
        raise TypeError(f"sums of dtype {dtype} cannot be reproducible; {HINT}")
