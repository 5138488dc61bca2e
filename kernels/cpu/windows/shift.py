"""Shifted rows of NumPy arrays, slice by slice on all cores; and the rows before each row in its group."""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from ...compiler import argument_types as types
from ...compiler.functions import cached_njit
from ...options import Shifted
from ..core.engine import STATUS, TICKET
from ..core.launch import CONTROL, PARALLEL, WORD, Kernel, array_type, empty, entry, run_team
from ..core.memory import borrow, take_ticket
from ..core.shares import SHARES, positions_of, row_at, run_shares, tables_for
from .rolling import RING_ROWS

SLICE = 1 << 16
"""Rows that a thread moves at once, so few that a million are worth 16 threads. Of 20 million float64, milliseconds of
`shift` and `difference` by slices of 2^14: 15 and 22, 2^16: 14 and 14, 2^18: 12 and 13, 2^20: 12 and 13; pandas' own:
42 and 67."""


EXACT = 1 << 53
"""Up to here, and down to its negative, every integer is a float64."""

FEW = 1 << 15
"""Rows that a thread converts or subtracts at once, exactly: what it compares then is still in its cache."""


def shift(
    array: np.ndarray, shifted: Shifted, fill: np.generic, *, subtracts: bool, exact: bool
) -> np.ndarray | None:
    """Return shifted rows, or differences from them; see `kernels.shift`."""
    out = empty(len(array), fill.dtype)
    out[shifted.rest] = fill
    rows = shifted.to
    now, earlier, to = array[rows], array[shifted.of], out[rows]
    if exact:
        held = subtract(now, earlier, to) if subtracts else _convert(earlier, to)
        return out if held else None
    waiting = iter(range(0, len(to), SLICE))

    def move(_: bool) -> None:
        for start in waiting:
            part = slice(start, start + SLICE)
            if subtracts:
                np.subtract(now[part], earlier[part], out=to[part])
            else:
                to[part] = earlier[part]

    run_team(len(to), np.zeros(STATUS, WORD), move)
    return out


def bound_shift(
    periods: int, fill: np.generic, subtracts: bool
) -> Callable[[np.ndarray], np.ndarray | None]:
    """Return a function that shifts a short array, not by 0 rows, like `shift` but with less overhead.

    It returns None for a long array.
    """
    if periods > 0:
        rest, to, of = slice(0, periods), slice(periods, None), slice(0, -periods)
    else:
        rest, to, of = slice(periods, None), slice(0, periods), slice(-periods, None)

    def shifted(array: np.ndarray) -> np.ndarray | None:
        if len(array) >= PARALLEL:
            return None
        out = np.empty(len(array), fill.dtype)
        out[rest] = fill
        if subtracts:
            np.subtract(array[to], array[of], out=out[to])
        else:
            out[to] = array[of]
        return out

    return shifted


def subtract(now: np.ndarray, earlier: np.ndarray, out: np.ndarray) -> bool:
    """Write exact differences of integers, and return whether all fit; see `kernels.shift.subtract`."""
    return _all_written(lambda part: _subtracted(now[part], earlier[part], out[part]), len(out))


def _convert(integers: np.ndarray, out: np.ndarray) -> bool:
    """Write integers as float64, and return whether it holds them exactly."""

    def write(part: slice) -> bool:
        out[part] = integers[part]
        return integers.dtype.itemsize < 8 or _are_floats(integers[part])

    return _all_written(write, len(out))


def are_floats(integers: np.ndarray) -> bool:
    """Return whether float64 holds integers exactly; see `kernels.shift.are_floats`."""
    if integers.dtype.itemsize < 8:
        return True
    return _all_written(lambda part: _are_floats(integers[part]), len(integers))


def _all_written(write: Callable[[slice], bool], count: int) -> bool:
    """Call `write` for each slice, on all cores, and return whether all calls returned True."""
    if count <= FEW:
        return not count or write(slice(0, count))
    waiting = iter(range(0, count, FEW))
    wrong: list[int] = []

    def work(_: bool) -> None:
        for start in waiting:
            if not write(slice(start, start + FEW)):
                wrong.append(start)

    run_team(count, np.zeros(STATUS, WORD), work)
    return not wrong


def _subtracted(now: np.ndarray, earlier: np.ndarray, out: np.ndarray) -> bool:
    if now.dtype.itemsize < 8:
        np.subtract(now, earlier, out=out, dtype=out.dtype)
        return True
    # modulo 2^64 for either sign; a difference that does not fit has the wrong sign
    exact = out if out.dtype == np.int64 else np.empty(len(out), np.int64)
    np.subtract(now.view(np.int64), earlier.view(np.int64), out=exact)
    fits = bool(((now < earlier) == (exact < 0)).all())
    if exact is out or not fits:
        return fits
    out[:] = exact
    return _are_floats(exact)


def _are_floats(integers: np.ndarray) -> bool:
    if not len(integers) or (integers.max() <= EXACT and integers.min() >= -EXACT):
        return True
    floats = integers.astype(np.float64)
    within = floats < 2.0 ** (63 if integers.dtype.kind == "i" else 64)
    return bool(within.all() and (floats.astype(integers.dtype) == integers).all())


def finds_rows_before(groups: int, periods: int) -> bool:
    """Return whether the rings of all groups are few enough to stay in the caches."""
    return groups * abs(periods) < RING_ROWS


def rows_before(codes: np.ndarray, groups: int, periods: int, *, check: bool) -> np.ndarray:
    """Return the row `periods` rows before each in its group; see `kernels.windows_by_code.rows_before`."""
    codes, out = np.require(codes, requirements=["C", "A"]), empty(len(codes), WORD)
    tables, width = tables_for(len(codes), groups), abs(periods)
    rings = np.full((groups, width + tables.gap - 1), -1, WORD)
    given = codes, rings, np.zeros(tables.size, WORD), width, periods < 0, out
    wrong = run_shares(codes, tables, _finding(codes.dtype), *given)
    if wrong >= 0:
        raise ValueError(f"codes must be from 0 to {groups - 1}, found {codes[wrong]}")
    return out


@cached_njit
def find_before(codes, rings, slots, width, backward, out, shares, control):
    """Find rows by a ring of the latest `width` rows of each group; `slots` are the next places."""
    codes, rings, slots, out = borrow(codes), borrow(rings), borrow(slots), borrow(out)
    shares, control = borrow(shares), borrow(control)
    groups = len(rings)
    while True:
        share = take_ticket(control, TICKET)
        if share >= shares.tickets:
            break
        begin, end = positions_of(shares, share, len(codes))
        for i in range(end - begin):
            at = row_at(shares, end - 1 - i if backward else begin + i)
            code = np.int64(codes[np.uintp(at)])
            if code < 0 or code >= groups:
                shares.wrong[share] = at
                return
            place = np.uintp(code * shares.gap)
            slot = slots[place]
            out[np.uintp(at)] = rings[np.uintp(code), np.uintp(slot)]
            rings[np.uintp(code), np.uintp(slot)] = at
            slots[place] = slot + 1 if slot + 1 < width else 0


@lru_cache(maxsize=2)
def _finding(dtype: np.dtype) -> Kernel:
    words, rings = array_type(WORD, layout="C"), types.Array(types.int64, 2, "C")
    given = array_type(dtype, True, "C"), rings, words, types.int64, types.boolean, words
    return entry(find_before, (*given, SHARES, CONTROL))
