"""Codes of NumPy arrays, renumbered without gaps, and the first row of each."""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

from functools import lru_cache

import numpy as np

from ...compiler import argument_types as types
from ...compiler.functions import cached_njit
from ..core.engine import STATUS, TICKET
from ..core.launch import (
    CONTROL,
    PARALLEL,
    WORD,
    Kernel,
    array_type,
    empty,
    entry,
    helpers_for,
    run_kernel,
    run_team,
)
from ..core.memory import borrow, take_ticket
from ..core.shares import APART, SHARES, positions_of, row_at, run_shares, tables_for

SLICE = 1 << 14
"""Rows that a thread renumbers at once."""

FEW = 1 << 12
"""Rows and groups together up to which NumPy numbers them: 1,000 of each take 9 microseconds, and kernels 22."""

WORK = 4
"""The work of a row in elements of a scan, which decides how many rows are worth a thread."""


def value_range(values: np.ndarray) -> tuple[int, int]:
    """Return the least and the greatest of some integers; see `kernels.factorize.value_range`."""
    if len(values) < PARALLEL:
        return int(np.minimum.reduce(values)), int(np.maximum.reduce(values))
    waiting = iter(np.array_split(values, helpers_for(len(values)) + 1))
    found: list[np.ndarray] = []

    def look(_: bool) -> None:
        for piece in waiting:  # shared by all threads
            found.extend((piece.min(), piece.max()))

    run_team(len(values), np.zeros(STATUS, WORD), look)
    return int(min(found)), int(max(found))


def factorize(codes: np.ndarray, groups: int, *, check: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return codes without gaps, and the first row of each; see `kernels.factorize`."""
    codes = np.require(codes, requirements=["C", "A"])
    low, high = value_range(codes) if check and len(codes) else (0, -1)
    if low < 0 or high >= groups:
        wrong = codes[np.argmax((codes < 0) | (codes >= groups))]
        raise ValueError(f"codes must be from 0 to {groups - 1}, found {wrong}")
    if len(codes) + groups <= FEW:
        return _factorized_few(codes, groups)
    number = np.dtype(np.int32 if len(codes) < 1 << 31 else np.int64)  # less to keep in cache
    tables = tables_for(len(codes), groups, by_chunk=True)
    found = np.full(tables.size, -1, number)
    run_shares(codes, tables, _finding(codes.dtype, number), codes, found)
    each = tables.states(found)
    if tables.number > 1:  # the first row is the least, and -1 is the largest as unsigned
        rows = each.view(f"u{number.itemsize}").min(axis=0).view(number)
    else:
        rows = np.ascontiguousarray(each[0])
    most = min(groups, len(codes))
    first_rows, (counting, numbering) = np.empty(most + 1, WORD), _numbering(rows.dtype)
    if groups >= PARALLEL and helpers_for(groups):
        known = np.zeros(-(-groups // SLICE) + 1, WORD)
        run_kernel(groups, counting, rows, SLICE, known[1:])
        np.cumsum(known, out=known)
        run_kernel(groups, numbering, rows, SLICE, known, first_rows)
    else:
        known = np.array([0, most])
        numbering(rows, groups, known, first_rows, np.zeros(STATUS, WORD))
    first_rows = first_rows[: known[-1]]
    if len(first_rows) < groups:
        out = empty(len(codes), codes.dtype)
        run_kernel(WORK * len(codes), _renumbering(codes.dtype, rows.dtype), codes, rows, out)
        codes = out
    return codes, first_rows


def _factorized_few(codes: np.ndarray, groups: int) -> tuple[np.ndarray, np.ndarray]:
    rows, count = np.full(groups, -1, WORD), len(codes)
    rows[codes[::-1]] = np.arange(count - 1, -1, -1)  # of equal codes the last one counts
    known = (rows >= 0).nonzero()[0]
    if len(known) == groups:
        return codes, rows
    rows, numbers = rows[known], np.empty(groups, codes.dtype)
    numbers[known] = np.arange(len(known))
    return numbers[codes], rows


def occurring(codes: np.ndarray, groups: int) -> np.ndarray:
    """Return the codes that occur; see `kernels.factorize.occurring`."""
    return np.flatnonzero(flags_at(codes, groups))


def flags_at(rows: np.ndarray, length: int) -> np.ndarray:
    """Return whether each row is among some; see `kernels.factorize.flags_at`.

    Each thread has its own flags, as threads that write to one cache line wait for each other.
    """
    rows = np.require(rows, requirements=["C", "A"])
    if len(rows) < PARALLEL:
        flags, control = np.zeros((1, length), np.bool_), np.zeros(STATUS, WORD)
        _flagging(rows.dtype)(rows, len(rows), flags, control)
        first: np.ndarray = flags[0]
        return first
    team = helpers_for(len(rows)) + 1 if length <= len(rows) else 1
    flags, size = np.zeros((team, length + APART), np.bool_), -(-len(rows) // team)
    control = np.zeros(STATUS, WORD)
    kernel = _flagging(rows.dtype)
    run_team(len(rows) if team > 1 else 0, control, lambda _: kernel(rows, size, flags, control))
    return np.logical_or.reduce(flags[:, :length]) if team > 1 else flags[0, :length]


def first_met(codes: np.ndarray, groups: int) -> np.ndarray:
    """Return whether each row is the first one of its code; see `kernels.factorize.first_met`."""
    codes = np.require(codes, requirements=["C", "A"])
    found = empty(len(codes), np.dtype(np.bool_))
    tables = tables_for(len(codes), groups)
    met = np.zeros(tables.size, np.bool_)
    run_shares(codes, tables, _meeting(codes.dtype), codes, met, found)
    return found


@cached_njit
def find_rows(codes, rows, shares, control):
    """Find the first row of each code; all codes must be in range."""
    codes, rows, shares, control = borrow(codes), borrow(rows), borrow(shares), borrow(control)
    while True:
        share = take_ticket(control, TICKET)
        if share >= shares.tickets:
            break
        offset = np.uintp(share * shares.stride if shares.chunk else 0)
        begin, end = positions_of(shares, share, len(codes))
        for position in range(begin, end):
            at = row_at(shares, position)
            slot = offset + np.uintp(codes[np.uintp(at)] * shares.gap)
            if rows[slot] < 0:
                rows[slot] = at


@cached_njit
def count_known(rows, size, counts, control):
    """Count the codes that have rows in each slice of `size` codes."""
    rows, counts, control = borrow(rows), borrow(counts), borrow(control)
    while True:
        ticket = take_ticket(control, TICKET)
        if ticket >= len(counts):
            break
        known = np.int64(0)
        for code in range(ticket * size, min(len(rows), (ticket + 1) * size)):
            known += np.int64(rows[np.uintp(code)] >= 0)
        counts[ticket] = known


@cached_njit
def number_codes(rows, size, bounds, first_rows, control):
    """Number the codes of slices that have rows, and write the numbers over their first rows, between bounds.

    Only the end depends on a branch, as the places after the last code of a slice belong to the next slice.
    """
    rows, bounds, first_rows = borrow(rows), borrow(bounds), borrow(first_rows)
    control = borrow(control)
    while True:
        ticket = take_ticket(control, TICKET)
        if ticket >= len(bounds) - 1:
            break
        known, end = np.uintp(bounds[ticket]), np.uintp(bounds[ticket + 1])
        for code in range(ticket * size, min(len(rows), (ticket + 1) * size)):
            if known == end:
                break
            row = rows[np.uintp(code)]
            first_rows[known] = row
            rows[np.uintp(code)] = known
            known += np.uintp(row >= 0)
        if ticket == len(bounds) - 2:
            bounds[ticket + 1] = known


@cached_njit
def renumber_codes(codes, numbers, out, control):
    """Write the number of the code of each row."""
    codes, numbers, out, control = borrow(codes), borrow(numbers), borrow(out), borrow(control)
    while True:
        start = take_ticket(control, TICKET) * SLICE
        if start >= len(codes):
            break
        for at in range(start, min(len(codes), start + SLICE)):
            out[at] = numbers[np.uintp(codes[at])]


@cached_njit
def flag_rows(rows, size, flags, control):
    """Set the flag of each row; each slice of `size` rows has its own array of flags."""
    rows, flags, control = borrow(rows), borrow(flags), borrow(control)
    while True:
        ticket = take_ticket(control, TICKET)
        if ticket >= len(flags):
            break
        for at in range(ticket * size, min(len(rows), (ticket + 1) * size)):
            flags[np.uintp(ticket), np.uintp(rows[np.uintp(at)])] = True


@cached_njit
def meet_codes(codes, met, out, shares, control):
    """Write whether each row is the first one of its code; all codes must be in range."""
    codes, met, out = borrow(codes), borrow(met), borrow(out)
    shares, control = borrow(shares), borrow(control)
    while True:
        share = take_ticket(control, TICKET)
        if share >= shares.tickets:
            break
        begin, end = positions_of(shares, share, len(codes))
        for position in range(begin, end):
            at = np.uintp(row_at(shares, position))
            slot = np.uintp(codes[at] * shares.gap)
            out[at] = not met[slot]
            met[slot] = True


@lru_cache(maxsize=8)
def _finding(dtype: np.dtype, row: np.dtype) -> Kernel:
    codes, rows = array_type(dtype, True, "C"), array_type(row, layout="C")
    return entry(find_rows, (codes, rows, SHARES, CONTROL))


@lru_cache(maxsize=2)
def _numbering(row: np.dtype) -> tuple[Kernel, Kernel]:
    rows, words = array_type(row, layout="C"), array_type(WORD, layout="C")
    given = rows, types.int64, words
    return entry(count_known, (*given, CONTROL)), entry(number_codes, (*given, words, CONTROL))


@lru_cache(maxsize=8)
def _renumbering(dtype: np.dtype, row: np.dtype) -> Kernel:
    codes, numbers = array_type(dtype, True, "C"), array_type(row, layout="C")
    return entry(renumber_codes, (codes, numbers, array_type(dtype, layout="C"), CONTROL))


@lru_cache(maxsize=2)
def _flagging(dtype: np.dtype) -> Kernel:
    flags = types.Array(types.boolean, 2, "C")
    return entry(flag_rows, (array_type(dtype, True, "C"), types.int64, flags, CONTROL))


@lru_cache(maxsize=2)
def _meeting(dtype: np.dtype) -> Kernel:
    flags = array_type(np.dtype(np.bool_), layout="C")
    return entry(meet_codes, (array_type(dtype, True, "C"), flags, flags, SHARES, CONTROL))
