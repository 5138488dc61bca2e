"""Rows of groups in any order, shared among threads: the rows of each thread's groups, or chunks of rows.

By group, rows are first partitioned into lists, one for each share of groups, in the order of rows. So one thread
visits a group's rows in their order, and each share's part of a table of states is small. Few groups are reduced in
chunks of rows instead, each with its own table. Either way the answers have the same bits for any number of threads.
"""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ...compiler import argument_types as types
from ...compiler.functions import cached_njit, njit
from ...operators.inference import Form
from .engine import STATUS, TICKET
from .launch import CONTROL, PARALLEL, WORD, Kernel, array_type, empty, entry, helpers_for, run_team
from .memory import borrow, take_ticket


class Shares(NamedTuple):
    """How the walk of rows is shared: `tickets`, each for the groups of a share, or for a chunk of rows.

    If `chunk` is 0 and `rows` is empty, all rows belong to one share.
    """

    tickets: int
    chunk: int
    """Rows of a chunk; 0 if groups are shared."""
    stride: int
    """Items from the table of one chunk to the next."""
    gap: int
    """Items from the state of one group to that of the next."""
    rows: np.ndarray
    """The rows of all shares, one share after the other."""
    bounds: np.ndarray
    """The bounds of each share's rows."""
    wrong: np.ndarray
    """For each ticket, the first row with a code out of range; -1 if there is none."""


ROW = np.dtype(np.uint32)
"""The dtype of rows in lists; more rows than it can number are not shared."""

SHARES = types.record_type(
    Shares,
    tickets=types.int64,
    chunk=types.int64,
    stride=types.int64,
    gap=types.int64,
    rows=array_type(ROW, layout="C"),
    bounds=array_type(WORD, layout="C"),
    wrong=array_type(WORD, layout="C"),
)
"""The type of `Shares`."""


@njit
def positions_of(shares, share, length):
    """Return the first position of a share, and the one after its last; see `row_at`."""
    if shares.chunk:
        return share * shares.chunk, min(length, (share + 1) * shares.chunk)
    if len(shares.rows):
        return shares.bounds[share], shares.bounds[share + 1]
    return np.int64(0), np.int64(length)


@njit
def row_at(shares, position):
    """Return the row at a position of a list, or the position itself without a list."""
    return np.int64(shares.rows[np.uintp(position)]) if len(shares.rows) else position


SHARE = 1 << 14
"""The fewest rows of the segments that a thread takes at once."""


def segments_at_once(segments: int, rows: int) -> int:
    """Return how many of `segments` segments with `rows` rows a thread takes at once."""
    return max(1, SHARE * segments // max(1, rows))


CHUNK = 1 << 18
"""Rows of a chunk, which has a table of its own. How a group is combined depends on it, not on threads."""

TABLE = CHUNK >> 6
"""The most groups of such tables: combining them takes little time compared with the rows."""

FEW = TABLE
"""The most groups by which rows are brought together: values of a chunk are written to as many places at once, which
must stay in a core's cache.

20 million float64 of 1,000 groups on two cores: 25 ms, by a radix sort of positions and a gather 250."""

APART = 128
"""Items between the places that two threads write to: in one cache line, they would wait for each other."""

TEAM = 4
"""The number of threads from which on groups are shared: two threads partition the rows in the time in which one thread
walks them. On 16 cores sums of 10^6 keys took 5.0 ms for 100,000 rows shared by six threads and 4.1 with one thread,
for a million 16.4 and 18.8."""

FAR = 1 << 14
"""The number of groups from which on states are prefetched: fewer stay in a core's cache."""

WORK = 4
"""The work of a row of so many groups, and of a partitioned row, in elements of a scan."""

CLOSE = 128
"""The most groups with states `APART`. The row before each of 20 million rows of 10 keys, with states side by side: 897
ms on 16 cores, 52 on two."""


def most_arranged() -> int:
    """Return the most groups for which rows are brought together; no more groups are reduced in chunks, either."""
    return FEW


class Tables(NamedTuple):
    """The layout of the states of groups: one table, or one for each chunk of rows."""

    groups: int
    number: int
    stride: int
    """Items from one table to the next."""
    gap: int
    """Items from the state of one group to that of the next."""

    @property
    def size(self) -> int:
        """Items of all tables."""
        return self.number * self.stride

    def states(self, field: np.ndarray) -> np.ndarray:
        """Return the states in an array of that size, a row for each table."""
        return field.reshape(self.number, self.stride)[:, : self.groups * self.gap : self.gap]


def beside(dtypes: Form) -> int:
    """Return the number of fields of a state that lie side by side: all, in one cache line, unless sizes differ."""
    return len(dtypes) if len(dtypes) == 1 or len({d.itemsize for d in dtypes}) == 1 else 1


def tables_for(rows: int, groups: int, by_chunk: bool = False, gap: int = 1) -> Tables:
    """Return the layout of the states of groups, with `gap` fields side by side, for a walk of `rows` rows.

    There is one table, even `by_chunk`, if there are too many groups or too few rows.
    """
    if by_chunk and rows >= 2 * CHUNK and groups <= TABLE:
        return Tables(groups, -(-rows // CHUNK), groups * gap + APART, gap)
    if rows >= PARALLEL and groups <= CLOSE and _team_for(rows, groups) >= TEAM:
        gap = max(APART, gap)
    return Tables(groups, 1, groups * gap, gap)


def _team_for(rows: int, groups: int) -> int:
    """Return the number of threads that share groups; 1 if groups are not shared."""
    if groups < 2 or rows > np.iinfo(ROW).max:
        return 1
    return helpers_for(rows) + 1


_NO_ROWS, _NO_BOUNDS = np.empty(0, ROW), np.empty(0, WORD)


def run_shares(codes: np.ndarray, tables: Tables, kernel: Kernel, *given: Any) -> int:
    """Run a kernel that takes `Shares`; return the first row with a code out of range, or -1.

    Tickets are chunks of rows if each has a table, or else shares of groups.
    """
    count, groups = tables.number, tables.groups
    rows, bounds, chunk = _NO_ROWS, _NO_BOUNDS, CHUNK if count > 1 else 0
    team = 1 if len(codes) < PARALLEL else _team_for(len(codes), groups)
    if count == 1 and team >= TEAM:
        count = min(team, groups)
        rows, bounds = part_rows(codes, count, count / groups)
    wrong = np.full(count, -1, WORD)
    shares = Shares(count, chunk, tables.stride, tables.gap, rows, bounds, wrong)
    control = np.zeros(STATUS, WORD)
    if count == 1:
        kernel(*given, shares, control)
        return int(shares.wrong[0])
    elements = len(codes) * (WORK if groups >= FAR else 1)
    run_team(elements, control, lambda _: kernel(*given, shares, control))
    return min((int(row) for row in shares.wrong if row >= 0), default=-1)


def part_rows(keys: np.ndarray, count: int, scale: float | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of each share in order, one share after the other, and the bounds of shares.

    With a `scale`, keys are codes of groups, and a share is a range of codes; otherwise keys are shared by hash.
    """
    elements = WORK * len(keys)
    slices = 4 * (helpers_for(elements) + 1)
    counts = np.zeros((slices, count + APART), WORD)
    counting, placing = _parting(keys.dtype, scale is not None)
    size = -(-len(keys) // slices)

    def run(kernel: Kernel, *given: Any) -> None:
        control = np.zeros(STATUS, WORD)
        run_team(elements, control, lambda _: kernel(keys, count, scale, size, *given, control))

    run(counting, counts)
    found = counts.T[:count]
    ends = np.cumsum(found).reshape(count, slices)
    counts.T[:count], rows = ends - found, empty(len(keys), ROW)
    run(placing, counts, rows)
    return rows, np.append(0, ends[:, -1])


@njit
def hash_of(word):
    """Return 64 well mixed bits of a word: the finalizer of MurmurHash3, by Appleby."""
    word = np.uint64(word)
    word = (word ^ (word >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    word = (word ^ (word >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return word ^ (word >> np.uint64(33))


@njit
def _share_of(key, count, scale):
    """Return the share of a key; codes out of range are in the first or last share."""
    if scale is None:
        return np.int64((hash_of(key) >> np.uint64(32)) * np.uint64(count) >> np.uint64(32))
    return min(max(np.int64(key * scale), 0), count - 1)


@cached_njit
def count_shares(keys, count, scale, size, counts, control):
    """Count the rows of each share in each slice of `size` rows."""
    keys, counts, control = borrow(keys), borrow(counts), borrow(control)
    while True:
        ticket = take_ticket(control, TICKET)
        start = ticket * size
        if start >= len(keys):
            break
        for at in range(start, min(len(keys), start + size)):
            counts[np.uintp(ticket), np.uintp(_share_of(keys[at], count, scale))] += 1


@cached_njit
def place_shares(keys, count, scale, size, starts, rows, control):
    """Write the rows of each share in each slice of `size` rows from ``starts[slice, share]``."""
    keys, starts, rows, control = borrow(keys), borrow(starts), borrow(rows), borrow(control)
    while True:
        ticket = take_ticket(control, TICKET)
        start = ticket * size
        if start >= len(keys):
            break
        for at in range(start, min(len(keys), start + size)):
            share = np.uintp(_share_of(keys[at], count, scale))
            place = starts[np.uintp(ticket), share]
            starts[np.uintp(ticket), share] = place + 1
            rows[np.uintp(place)] = at


@lru_cache(maxsize=8)
def _parting(dtype: np.dtype, scaled: bool) -> tuple[Kernel, Kernel]:
    scale = types.float64 if scaled else types.none
    given = array_type(dtype, True, "C"), types.int64, scale, types.int64
    table = types.Array(types.int64, 2, "C")
    counting = entry(count_shares, (*given, table, CONTROL))
    rows = array_type(ROW, layout="C")
    return counting, entry(place_shares, (*given, table, rows, CONTROL))
