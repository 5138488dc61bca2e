"""As-of merges: each row of the left side with the nearest row of the right one, of equal keys if there are any.

Rows of the right side go to the partition of the left one whose rows may match them. Of the rows before a partition, or
behind it, the nearest one of each key is enough. Where equal values do not match, the nearest one of another value is
handed on too, as rows on both sides of a border may have the same value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Any, NoReturn

import numpy as np

from ... import kernels
from ...frames.keys import named_keys
from ...frames.messages import column_title, naming
from ...frames.protocol import Library
from ...frames.registry import Schema, common_schema, library_of, schema_of_columns, stored_numbers
from ...frames.types import Array, ArrayModule, Column, Frame, Values
from ...kernels.late_dataclass import dataclass
from ...kernels.options import WAYS, Unsorted
from ...kernels.sorted_values import is_sorted
from ..core.carry import Aggregate, Summary
from ..sort.pieces import PartitionSlices
from ..windows.exact import holds_decimals
from ..windows.halo import RowArrays, RowExtent, joined_rows, near
from .columns import KEY, LEFT, AsOfPlan, AsOfSide, SideSource


@dataclass(frozen=True)
class AsOf:
    """The specification of an as-of merge.

    Parameters
    ----------
    left, right : AsOfSide
    plan : AsOfPlan
        The columns of the answer.
    direction : {"backward", "forward", "nearest"}
    exact : bool
        Whether equal values match.
    tolerance : number, optional
        In the numbers that columns store.
    nullable : bool
        Whether columns of the right side have a dtype that has a null even if all rows match: partitions must agree.
    """

    left: AsOfSide
    right: AsOfSide
    plan: AsOfPlan
    direction: str = "backward"
    exact: bool = True
    tolerance: float | None = None
    nullable: bool = False

    @property
    def ways(self) -> tuple[bool, ...]:
        """The directions in which rows are looked for: True for forward."""
        return WAYS[self.direction]

    @property
    def misses_at_ends(self) -> bool:
        """Whether the rows without a match, if any, include the first or the last row."""
        within = self.tolerance is None and (self.exact or self.direction != "nearest")
        return within and not self.left.by

    def with_plan(self, plan: AsOfPlan) -> AsOf:
        """Return the same merge with other columns in the answer."""
        return replace(self, plan=plan)

    def over_partitions(self) -> AsOf:
        """Return the same merge for partitions, whose dtypes must agree."""
        return replace(self, nullable=True)

    def outside(self, forward: bool) -> NearestRows:
        """Return the summary of the right rows that a partition sees before its own rows, or behind them."""
        return NearestRows(self.right, forward, self.exact)

    def merged(self, left: Frame, right: Frame, start: int = 0, place: str = "") -> Any:
        """Return the rows of the left side, each with its match.

        Parameters
        ----------
        left, right : DataFrame
        start : int, default 0
            The number of the first row, if the answer has a default index.
        place : str, optional
            Where the left side is, for messages.

        Raises
        ------
        ValueError
            If a side is not in order, or holds a null.
        """
        library = library_of(left)
        with library.acquire(left), library.acquire(right):
            rows = self._matches(library, left, right, place)
            unmatched = self.nullable or _any_negative(rows, self.misses_at_ends)
            given = library, left, right, rows, unmatched
            columns = [self._column(source, *given) for source in self.plan.sources]
            if self.plan.keeps_index:
                index = library.index(left)
            else:
                index = library.range_index(start, start + len(left))
            return library.join_columns(left, right, columns, self.plan.names, index)

    def _column(
        self,
        source: SideSource,
        library: Library,
        left: Frame,
        right: Frame,
        rows: Values,
        unmatched: bool,
    ) -> int | Array:
        """Return a column of the answer; of those of the left side, its number."""
        if source.side == LEFT:
            return source.number
        key = source.number if source.side == KEY else source.key
        if key is not None and (source.side == KEY or unmatched):
            return library.copy(library.array(self.left.columns(left)[key]))
        column = library.columns(right)[source.number]
        array = library.array(column)
        if not unmatched:
            return library.take(array, rows)
        array = library.take(library.to_masked(array), rows, nulls=True)
        with naming("merge_asof", [column]):
            return library.from_masked(array, column.dtype)

    def _matches(self, library: Library, left: Frame, right: Frame, place: str) -> Values:
        """Return the row of the right side for each of the left, -1 where none matches."""
        columns = self.left.on_column(left), self.right.on_column(right)
        places = place, place and f"the rows for {place}"
        both = list(zip(columns, ("left", "right"), places, strict=True))
        values = []
        for one in both:
            values.append(numbers(one[0]))
            if _has_outer_null(one[0], values[-1]):
                refuse(*one)
        codes, groups = None, 0
        if self.left.by:
            sides = self.left.by_columns(left), self.right.by_columns(right)
            with named_keys([*sides[0], *sides[1]]):
                codes, groups = _codes(library, [list(map(library.array, side)) for side in sides])
        how: dict[str, Any] = {
            "direction": self.direction, "exact": self.exact, "tolerance": self.tolerance, "check": False
        }  # fmt: skip
        try:
            return kernels.asof(values[0], values[1], codes, groups, **how)
        except Unsorted:
            for one in both:
                in_order(*one)
            raise


def _any_negative(rows: Values, ends: bool) -> bool:
    """Return whether any row is negative; with `ends`, only the first and the last one need be looked at."""
    if not len(rows):
        return False
    is_there = (ends or isinstance(rows, np.ndarray)) and rows[:: max(1, len(rows) - 1)].min() < 0
    return bool(is_there or (not ends and rows.min() < 0))


def _codes(library: Library, sides: list[list[Array]]) -> tuple[tuple[Values, Values], int]:
    """Return codes of the rows of both sides, equal where all keys are, and a number above all codes."""
    left, right = sides
    if len(left) == 1:
        own = [library.own_group_ids(array) for (array,) in sides]
        if own[0] is not None and own[1] is not None:
            return (own[0].array, own[1].array), max(own[0].groups, own[1].groups)
    if all(a.dtype == b.dtype for a, b in zip(left, right, strict=True)):
        shared = library.shared_group_ids(left, right)
        if shared is not None:
            return (shared[0].array, shared[1].array), shared[0].groups
    joined = [library.concatenate(list(pair)) for pair in zip(left, right, strict=True)]
    ids, count = library.dense_group_ids(joined), len(left[0])
    return (ids.array[:count], ids.array[count:]), ids.groups


def numbers(column: Column) -> Values:
    """Return the numbers by which the values of a column are ordered: decimals in units of the last digit."""
    library = library_of(column)
    if holds_decimals(column):
        assert library.host_values is not None
        return library.host_values.narrow(library.array(column))
    values = stored_numbers(column)
    return values.view(np.uint8) if values.dtype == np.bool_ else values


def in_order(column: Column, side: str, place: str = "") -> Values:
    """Return the numbers of a column that must not decrease.

    Raises
    ------
    ValueError
        If they decrease, or one is null.
    """
    values = numbers(column)
    if _has_outer_null(column, values) or not is_sorted(values):
        refuse(column, side, place)
    return values


def _has_outer_null(column: Column, values: Values) -> bool:
    """Return whether a row is null: by the mask if there is one; of times by the first row, as NaT is the least."""
    library = library_of(column)
    layout = library.layout(column.dtype)
    if layout is None:  # decimals
        return library.missing(column) is not None
    if layout.nulls == "mask":
        view = layout.raw(library.array(column))
        return view.nulls is not None and bool(view.missing().any())
    return bool(layout.raw(values[:1]).missing().any())


def refuse(column: Column, side: str, place: str) -> NoReturn:
    """Raise the error for a column that is not in order, or has a null."""
    where = f" in {place}" if place else ""
    missing = library_of(column).missing(column)
    if missing is not None and bool(missing.any()):
        raise ValueError(f"Merge keys contain null values on {side} side{where}")
    by = "its keys" if column.name is None else column_title(column)
    raise ValueError(f"{side} keys must be sorted{where}; sort the {side} side by {by} first")


# --- over partitions ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class SideEnds:
    """The first and the last number of a partition that is in order, and how many rows it has."""

    first: Any
    last: Any
    count: int
    schema: Schema


def ends(frame: Frame, side: AsOfSide, number: int) -> SideEnds:
    """Return the ends of a partition of a side, whose number is given."""
    library = library_of(frame)
    with library.acquire(frame):
        column = side.on_column(frame)
        schema, count = schema_of_columns([column]), len(column)
        if not count:
            return SideEnds(None, None, 0, schema)
        array = library.array(column)
        rows = [library.slice_array(array, at, at + 1) for at in (0, count - 1)]
        joined = library.as_column(library.concatenate(rows))
        first, last = in_order(joined, side.name, f"partition {number}").tolist()
        return SideEnds(first, last, count, schema)


@dataclass(frozen=True)
class Bounds:
    """Which rows of the right side go to each partition of the left."""

    numbers: tuple[Any, ...]
    """The last number of each partition, or of the one before if it has no rows; looking forward, the first number,
    or that of the one behind. None where no such partition has rows."""
    starts: tuple[int, ...]
    """The number of the first row of each partition."""

    def pieces(self, xp: ArrayModule, values: Values, direction: str) -> list[tuple[int, int]]:
        """Return the rows of a partition of the right side for each partition of the left, given their numbers.

        A left partition gets the rows up to its last number that are beyond the last number before; looking forward,
        those from its first number on. Rows outside go nowhere, except that for "nearest" those behind all go to the
        last partition.
        """
        forward, rows = direction == "forward", len(values)
        known = np.array([x for x in self.numbers if x is not None], values.dtype)
        if not len(known):
            return [(0, 0)] * len(self.numbers)
        found = iter(
            xp.searchsorted(values, xp.asarray(known), "left" if forward else "right").tolist()
        )
        edges = [(rows if forward else 0) if x is None else next(found) for x in self.numbers]
        edges = [*edges, rows] if forward else [0, *edges]
        if direction == "nearest":
            edges[-1] = rows
        return list(pairwise(edges))


def bounds(left: Sequence[SideEnds], right: Sequence[SideEnds], direction: str) -> Bounds:
    """Return the bounds of the left partitions.

    Raises
    ------
    ValueError
        If a partition of either side begins before an earlier one ends, or its dtype differs.
    """
    for side, found in (("left", left), ("right", right)):
        common_schema([e.schema for e in found])
        earlier = None
        for i, now in enumerate(found):
            if not now.count:
                continue
            if earlier is not None and now.first < found[earlier].last:
                raise ValueError(
                    f"{side} keys must be sorted: partition {i} begins before partition {earlier} ends; "
                    f"sort the {side} side by them first, with gpuscan.sort_values"
                )
            earlier = i
    forward = direction == "forward"
    numbers, known = [], None
    for one in left[::-1] if forward else left:
        if one.count:
            known = one.first if forward else one.last
        numbers.append(known)
    starts = tuple(accumulate((e.count for e in left[:-1]), initial=0))
    return Bounds(tuple(numbers[::-1] if forward else numbers), starts)


def cut(frame: Frame, question: AsOf, found: Bounds, number: int) -> PartitionSlices:
    """Return the pieces of a partition of the right side, whose number is given, for each partition of the left."""
    library = library_of(frame)
    with library.acquire(frame):
        values = in_order(question.right.on_column(frame), "right", f"partition {number}")
        return PartitionSlices.of(frame, found.pieces(library.xp, values, question.direction))


@dataclass(frozen=True)
class NearestRows(Summary):
    """The rows that other partitions may match: the last one of each key, or the first.

    Parameters
    ----------
    side : AsOfSide
    forward : bool
        Whether matches are looked for forward: then these are the first rows.
    exact : bool
        Whether equal values match. If they do not, the nearest row of another value is kept as well.
    """

    side: AsOfSide
    forward: bool
    exact: bool

    def aggregate(self, partition: Frame) -> Any:
        return self._cut(partition)

    def combine(self, aggregates: Sequence[Aggregate]) -> Any:
        filled = [a for a in aggregates if len(a)] or list(aggregates[:1])
        return self._cut(joined_rows(filled[::-1] if self.forward else filled))

    def _cut(self, frame: Frame) -> Any:
        library = library_of(frame)
        columns = self.side.by_columns(frame)
        with library.acquire(frame), named_keys(columns):
            keys = [library.array(c) for c in columns] or None
            rows = near(RowArrays(library, len(frame), [], keys), RowExtent(1, 1), self.forward)
            if isinstance(rows, tuple):
                rows = library.xp.arange(*rows)
            if not self.exact and len(rows):
                values, codes, groups = numbers(self.side.on_column(frame)), None, 0
                if keys is not None:
                    ids = library.dense_group_ids(keys)
                    codes, groups = (ids.array[rows], ids.array), ids.groups
                way = "forward" if self.forward else "backward"
                other = kernels.asof(
                    values[rows], values, codes, groups, direction=way, exact=False, check=False
                )
                rows = library.xp.unique(library.xp.concatenate([rows, other[other >= 0]]))
            return library.rows(frame, rows)


def matched(
    question: AsOf, left: Frame, right: Frame, around: Sequence[Any], found: Bounds, number: int
) -> Any:
    """Return the rows of a partition of the left side, each with its match.

    Parameters
    ----------
    question : AsOf
    left, right : DataFrame
        The partition, and the rows of the right side that go to it.
    around : pair of DataFrame or None
        Rows of the right side before those, and behind them.
    found : Bounds
    number : int
        Of the partition.
    """
    before, after = around
    parts = [part for part in (before, right, after) if part is not None and len(part)]
    rows = joined_rows(parts) if len(parts) > 1 else [*parts, right][0]
    return question.merged(left, rows, found.starts[number], f"partition {number}")
