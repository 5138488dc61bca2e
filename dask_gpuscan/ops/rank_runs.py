"""Runs of equal values in sorted rows, and the ranks that they give, over partitions too.

Sorted rows know of other partitions only how much of their first and of their last group, and run, is there.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import kernels
from ..frames.protocol import Values
from .groups import INT64

FLOAT64 = np.dtype(np.float64)


@dataclass(frozen=True)
class Ties:
    """Runs of equal values in order."""

    start: Values
    """Rows before each in its group."""
    length: Values
    number: Values
    """Runs before each in its group."""


METHODS: dict[str, Callable[[Ties], Values]] = {
    "average": lambda ties: ties.start + (ties.length + 1) / 2,
    "min": lambda ties: ties.start + 1,
    "max": lambda ties: ties.start + ties.length,
    "first": lambda ties: ties.start + 1,
    "dense": lambda ties: ties.number + 1,
}
"""The rank of a run's rows, by the name of the method; of its first row, where rows of a run count on."""


@dataclass(frozen=True)
class Outside:
    """What is in other partitions of the first group and run of sorted rows, and of the last ones."""

    rows: int = 0
    """Rows of the first group, before."""
    runs: int = 0
    """Runs of the first group that start before."""
    run: int = 0
    """Rows of the first run, before."""
    run_after: int = 0
    """Rows of the last run, after."""
    first_size: int = 0
    """What counts for the size of the first group."""
    last_size: int = 0
    """The same of the last group, if that is another."""


@dataclass(frozen=True)
class SortedRuns:
    """Runs of equal values in sorted rows, and groups of runs."""

    xp: Any
    count: int
    """Rows."""
    starts: Values
    lengths: Values
    heads: Values
    """The first run of each group."""
    runs: Values
    """How many each has."""
    is_left_out: Values | None
    """Whether the last run of each group is of nulls that have no rank."""

    @staticmethod
    def of(
        xp: Any,
        groups: Values | None,
        keys: list[Values],
        nulls: list[kernels.Nulls],
        left_out: Values | None,
    ) -> SortedRuns:
        """Find the runs of rows; at least one.

        Parameters
        ----------
        xp : module
        groups : array of integers, optional
            The group of each row; by default all are one.
        keys, nulls : list
            What tells values apart.
        left_out : array of bool, optional
            Rows that have no rank, the last of their groups.
        """
        outer = [] if groups is None else [groups]
        every = [*(None for _ in outer), *nulls]
        starts, lengths = kernels.run_length_encode([*outer, *keys], nulls=every)
        heads, runs = xp.zeros(1, INT64), xp.full(1, len(starts), INT64)
        if groups is not None:
            heads, runs = kernels.run_length_encode(groups[starts])
        flags = None if left_out is None else left_out[starts[heads + runs - 1]]
        return SortedRuns(xp, len(keys[0]), starts, lengths, heads, runs, flags)

    @property
    def rows(self) -> Values:
        """Rows of each group."""
        first = self.starts[self.heads]
        return self.xp.append(first[1:], self.xp.asarray([self.count], INT64)) - first

    def sizes(self, method: str) -> Values:
        """Return what ``pct`` divides by for each group, as far as it is in these rows."""
        sizes = self.runs if method == "dense" else self.rows
        if self.is_left_out is None:
            return sizes
        last = 1 if method == "dense" else self.lengths[self.heads + self.runs - 1]
        return sizes - self.xp.where(self.is_left_out, last, 0)

    def of_runs(self, of_groups: Values) -> Values:
        """Repeat what is known of groups for their runs; of one group it is broadcast."""
        if len(self.heads) == 1:
            return of_groups
        return kernels.run_length_decode(self.runs, [of_groups])[0]

    def ties(self, method: str, outside: Outside) -> Ties:
        """Return the runs as parts of their whole groups."""
        start = self.starts - self.of_runs(self.starts[self.heads])
        number = self.xp.arange(len(start)) - self.of_runs(self.heads)
        if outside == Outside():
            return Ties(start, self.lengths, number)
        first, length = int(self.runs[0]), self.lengths.copy()
        start[:first] += outside.rows
        number[:first] += outside.runs - (outside.run > 0)
        length[0] += outside.run
        length[-1] += outside.run_after
        if method != "first":  # whose rows count on from those before
            start[0] -= outside.run
        return Ties(start, length, number)

    def ranks(self, method: str, pct: bool, outside: Outside = Outside()) -> Values:
        """Return the ranks of the rows, in their order."""
        xp, alone = self.xp, outside == Outside() and len(self.heads) == 1
        if alone and not pct and len(self.starts) == self.count:  # without ties all methods agree
            return xp.arange(1, self.count + 1, dtype=FLOAT64)
        found = METHODS[method](self.ties(method, outside))
        counts_on = method == "first"
        per_run = [found - self.starts if counts_on else found]
        if pct:
            sizes = self.sizes(method).copy()
            sizes[0] += outside.first_size
            if len(sizes) > 1:
                sizes[-1] += outside.last_size
            sizes = xp.maximum(sizes, 1)
            per_run.append(xp.broadcast_to(self.of_runs(sizes), found.shape))
        rows = per_run
        if len(self.starts) < self.count:
            arrays = [xp.ascontiguousarray(array) for array in per_run]
            rows = kernels.run_length_decode(self.lengths, arrays)
        out = rows[0] + xp.arange(self.count) if counts_on else rows[0]
        return out / rows[1] if pct else out


# --- over partitions ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Span:
    """Amounts by key of rows in which equal keys are adjacent: those of the first key, and of the last."""

    first: Hashable
    last: Hashable
    first_amount: int
    last_amount: int
    is_one: bool
    """Whether they are the same."""

    @property
    def reversed(self) -> Span:
        return Span(self.last, self.first, self.last_amount, self.first_amount, self.is_one)


def _before(spans: Sequence[Span]) -> list[int]:
    """For each span, how much of its first key is right before it."""
    found: list[int] = []
    key: Hashable = None
    amount = 0
    for span in spans:
        before = amount if found and span.first == key else 0
        found.append(before)
        key, amount = span.last, span.last_amount + (before if span.is_one else 0)
    return found


def _after(spans: Sequence[Span]) -> list[int]:
    """For each span, how much of its last key is right after it."""
    return _before([span.reversed for span in reversed(spans)])[::-1]


@dataclass(frozen=True)
class Ends:
    """The first and last group and run of sorted rows."""

    run: Span
    """By keys and value: rows."""
    rows: Span
    """By keys: rows."""
    runs: Span
    """By keys: runs."""
    sizes: Span
    """By keys: what ``pct`` divides by."""
    counts_runs: bool
    """Whether the first run, if it goes on from rows before, counts for the size once more."""


def ends_of(found: SortedRuns, method: str, keys: tuple[tuple[Hashable, ...], ...]) -> Ends:
    """Return the ends of sorted rows, given the keys and the value of the first and of the last row."""
    first, last = keys
    one_group, one_run = len(found.heads) == 1, len(found.starts) == 1
    run = Span(first, last, int(found.lengths[0]), int(found.lengths[-1]), one_run)
    rows, runs, sizes = (
        Span(first[:-1], last[:-1], int(amounts[0]), int(amounts[-1]), one_group)
        for amounts in (found.rows, found.runs, found.sizes(method))
    )
    left_out = found.is_left_out is not None and bool(found.is_left_out[0])
    first_has_rank = int(found.runs[0]) > left_out
    return Ends(run, rows, runs, sizes, method == "dense" and first_has_rank)


def outsides(ends: Sequence[Ends | None]) -> list[Outside]:
    """Return for each of all partitions, None for those without rows, what of its ends is in others."""
    filled = [e for e in ends if e is not None]
    run = [e.run for e in filled]
    before = _before(run)
    rows = _before([e.rows for e in filled])
    runs = _before([_less(e.runs, there > 0) for e, there in zip(filled, before, strict=True)])
    sizes = [
        _less(e.sizes, e.counts_runs and there > 0) for e, there in zip(filled, before, strict=True)
    ]
    parts = zip(
        filled, rows, runs, before, _after(run), sizes, _before(sizes), _after(sizes), strict=True
    )
    found = iter(
        Outside(
            rows=in_group,
            runs=in_runs,
            run=in_run,
            run_after=later,
            # less what `sizes` has of these rows
            first_size=earlier
            + (after if size.is_one else 0)
            + size.first_amount
            - e.sizes.first_amount,
            last_size=after,
        )
        for e, in_group, in_runs, in_run, later, size, earlier, after in parts
    )
    return [Outside() if e is None else next(found) for e in ends]


def _less(span: Span, one: bool) -> Span:
    """Amounts without a run that has been counted before."""
    last = span.last_amount - (one and span.is_one)
    return replace(span, first_amount=span.first_amount - one, last_amount=last)
