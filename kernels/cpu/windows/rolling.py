"""Rolling windows of NumPy arrays: by blocks if windows are of one width and whole, otherwise by a queue.

A pointer that only moves forward finds the starts of windows of values.
"""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from ...bounded_cache import BoundedCache
from ...compiler import argument_types as types
from ...compiler.functions import cached_njit
from ...late_dataclass import dataclass
from ...operators.operator import Operator
from ...operators.signature import Signature, StateForm, joined
from ...options import ScanOptions
from ...windows import BoundWindows, RowWindows, Windows
from ..columns.by_code import contiguous
from ..core.engine import STATUS, TICKET
from ..core.launch import (
    CONTROL,
    PARALLEL,
    WORD,
    Kernel,
    array_type,
    arrays_type,
    empty,
    entry,
    joined_type,
    outside,
    run_kernel,
    run_team,
    source_type,
    types_of,
)
from ..core.memory import borrow, take_ticket
from ..core.steps import Arrays, OperatorInputs
from .window_walks import (
    GROUP,
    Blocks,
    BlockScratch,
    Rings,
    WindowBounds,
    walk_blocks,
    walk_queue,
    walk_rings,
)

CHUNK = 1 << 16
"""The fewest windows that a thread answers by one queue."""

SHARE = 4
"""A queue does at least this many times the work of its first window, which is combined from scratch."""

WIDEST = 4096
"""The rows of the widest windows by blocks: a thread's memory for these stays in its core's cache."""

TAKEN = 1 << 14
"""The fewest windows by blocks that a thread takes at once."""

LANES = 16
"""The fewest blocks that are walked together."""

WORK = 4
"""The work of a window of a queue, or of the search for its start, in elements of a scan: that many times fewer windows
are worth a thread. Means of windows of 60 s over 100,000 rows, on two cores, microseconds: 2,895 and, with two
threads, 2,435; by blocks a window takes as much as its state has fields, deviations of 100 rows 834 and 642."""


RING_ROWS = 1 << 20
"""The rows of the windows of all groups up to which ring buffers are faster than a sort. Sums of 20 million float64 by
rings of 10,000 rows take 70 ms, of a million 150; sorting the codes and moving the values there and back, 600."""


@dataclass(frozen=True, eq=False)
class RollingWork:
    """An operator for arrays of some dtypes, and its kernels, which are compiled when they are first needed."""

    op: Operator
    signature: Signature
    nulls: type
    codes: np.dtype | None = None
    """The dtype of the codes of groups, if rows have such."""

    @cached_property
    def blocks(self) -> Kernel:
        """The walk over windows of one width by blocks."""
        state, word = arrays_type(self.signature.state_form, "C"), types.int64
        elements = [array_type(d, layout="C") for d in self.signature.inputs]
        space = types.record_type(
            BlockScratch,
            elements=joined_type(elements, self.op.inputs == 1),
            suffixes=state,
            running=state,
            answers=self._outs,
        )
        blocks = types.record_type(Blocks, **dict.fromkeys(Blocks._fields, word))
        return entry(walk_blocks, (self._source, self._outs, space, blocks, CONTROL))

    @cached_property
    def queue_of_rows(self) -> Kernel:
        """The walk over windows of one width by a queue."""
        return self._queue(types.none)

    @cached_property
    def queue_of_bounds(self) -> Kernel:
        """The walk over windows between bounds."""
        return self._queue(array_type(WORD, True, "C"))

    @cached_property
    def rings(self) -> Kernel:
        """The walk over rows in any order, by codes of their groups."""
        word, states = types.int64, arrays_type(self.signature.state_form, "C")
        rings = types.record_type(
            Rings,
            states=states,
            slots=array_type(WORD, layout="C"),
            running=states,
            answers=states,
            width=word,
        )
        codes = array_type(self.codes or WORD, True, "C")
        given = self._source, self._outs, codes, rings
        return entry(walk_rings, (*given, word, word, word, types.boolean))

    def _queue(self, bound: types.Type) -> Kernel:
        word = types.int64
        bounds = types.record_type(
            WindowBounds, starts=bound, stops=bound, shift=word, width=word, rows=word
        )
        states = arrays_type(self.signature.state_form, "C")
        borders = array_type(WORD, layout="C")
        return entry(walk_queue, (self._source, self._outs, bounds, borders, states, word, CONTROL))

    @property
    def _source(self) -> types.Type:
        return source_type(self.op, self.signature, self.nulls, "C")

    @property
    def _outs(self) -> types.Type:
        return arrays_type(self.signature.output_form, "C")


def rolling(
    op: Operator, arrays: tuple[np.ndarray, ...], windows: Windows, options: ScanOptions
) -> Any:
    """Combine the elements of each window; see `kernels.rolling`."""
    work, source = _begin(op, arrays, options)
    count = len(windows.starts) if isinstance(windows, BoundWindows) else windows.count or 0
    outs = _empty(work.signature.output_form, count)
    if isinstance(windows, RowWindows):
        _roll_rows(work, source, outs, windows, count, len(arrays[0]))
    elif count:
        _roll_bounds(work, source, outs, windows, len(arrays[0]))
    return outs


def bound_rolling(op: Operator, dtype: np.dtype) -> Callable[[np.ndarray, Windows], np.ndarray]:
    """Return a function that answers windows `within` an array of a dtype, like `rolling` but with less overhead.

    The operator has one input and answers scalars.
    """
    work = _work(op, (dtype,), None, type(None), None)
    form, identity = work.signature.output_form, work.signature.plain_identity

    def roll(values: np.ndarray, windows: Windows) -> np.ndarray:
        (values,) = contiguous((values,))
        count, source = windows.number, OperatorInputs(op, values, None, identity)
        out: np.ndarray = _empty(form, count)
        if isinstance(windows, RowWindows):
            _roll_rows(work, source, out, windows, count, len(values))
        elif count:
            _roll_bounds(work, source, out, windows, len(values))
        return out

    return roll


def most_ring_rows() -> int:
    """Return the rows of the windows of all groups together below which `rolling_by_code` is fast."""
    return RING_ROWS


def rolling_by_code(
    op: Operator,
    codes: np.ndarray,
    arrays: tuple[np.ndarray, ...],
    groups: int,
    windows: RowWindows,
    options: ScanOptions,
) -> Any:
    """Combine the elements of windows of each group; see `kernels.windows_by_code.rolling_by_code`."""
    work, source = _begin(op, arrays, options, codes.dtype)
    signature, count = work.signature, windows.count or 0
    outs, (codes,) = _empty(signature.output_form, count), contiguous((codes,))
    width = windows.before + windows.after + 1

    def identities(items: int) -> Any:
        parts = zip(signature.parts(signature.identity), signature.state, strict=True)
        return joined([np.full(items, part, d) for part, d in parts], signature.scalar_state)

    rings = Rings(
        identities(groups * width),
        np.zeros(groups, WORD),
        identities(groups),
        identities(groups),
        width,
    )
    first, walk = windows.first, work.rings
    try:
        wrong = walk(source, outs, codes, rings, groups, first, first + count, windows.after < 0)
    except IndexError as error:
        raise outside(op, error) from error
    if wrong >= 0:
        raise ValueError(f"codes must be from 0 to {groups - 1}, found {codes[wrong]}")
    return outs


_WORKS: BoundedCache[Any, RollingWork] = BoundedCache()


def _begin(
    op: Operator,
    arrays: tuple[np.ndarray, ...],
    options: ScanOptions,
    codes: np.dtype | None = None,
) -> tuple[RollingWork, OperatorInputs]:
    """Return the work of an operator, and its inputs."""
    dtypes, nulls = tuple([a.dtype for a in arrays]), options.nulls
    work = _work(op, dtypes, options.dtype, type(nulls), codes)
    arrays = contiguous(arrays)
    xs: Any = arrays[0] if op.inputs == 1 else arrays
    args = None if nulls is None else nulls.args
    return work, OperatorInputs(op, xs, args, work.signature.plain_identity)


def _work(
    op: Operator,
    inputs: tuple[np.dtype, ...],
    dtype: np.dtype | None,
    nulls: type,
    codes: np.dtype | None,
) -> RollingWork:
    key = op.token, inputs, dtype, nulls, codes
    return _WORKS.get(key) or _WORKS.store(
        key, RollingWork(op, types_of(op, inputs, dtype), nulls, codes)
    )


def _empty(form: StateForm, count: int) -> Any:
    """Return an array of `count` items for each field."""
    make = np.empty if count < PARALLEL else empty
    if form.scalar:
        return make(count, form.fields[0])
    return tuple([make(count, dtype) for dtype in form.fields])


def _roll_rows(
    work: RollingWork,
    source: OperatorInputs,
    outs: Arrays,
    windows: RowWindows,
    count: int,
    rows: int,
) -> None:
    """Answer windows of one width: by blocks if they are whole, by a queue at the ends and if they are very wide."""
    shift, width = windows.first - windows.before, max(windows.before + windows.after + 1, 0)
    begin = end = 0
    if count >= LANES * width:
        blocks = _blocks(shift, width, count, rows)
        begin, end = blocks.answer, blocks.answer + blocks.chunks * blocks.lanes * width
    if begin < end:
        walk = work.blocks
        _run(
            (end - begin) * len(work.signature.state),
            work.op,
            lambda control: walk(source, outs, _space(work, blocks), blocks, control),
        )
    bounds, room = WindowBounds(None, None, shift, width, rows), min(width, rows)
    for first, last in ((0, begin), (end, count)):
        if first < last:
            borders = np.array([*range(first, last, max(CHUNK, SHARE * room)), last], WORD)
            _run_queue(work.queue_of_rows, work, source, outs, bounds, borders, room)


def _blocks(shift: int, width: int, count: int, rows: int) -> Blocks:
    """Return the chunks of blocks of windows of one width; none for few or very wide windows."""
    whole = max(-shift, 0)  # the first window that is not cut off
    most = min(count - whole, rows - width - shift - whole)
    # whole vectors; few enough for the cache
    lanes = max(LANES, min(64, 8192 // max(width, 1) // LANES * LANES))
    size = lanes * width
    if not 0 < size <= most or width > WIDEST:
        return Blocks(width, lanes, 0, 1, 0, 0)
    return Blocks(width, lanes, most // size, max(TAKEN // size, 1), whole, whole + shift)


def _space(work: RollingWork, blocks: Blocks) -> BlockScratch:
    """Return a thread's memory for blocks."""
    signature, width, lanes = work.signature, blocks.width, blocks.lanes
    elements = StateForm(signature.inputs, work.op.inputs == 1)
    return BlockScratch(
        _empty(elements, width * (lanes + 1)),
        _empty(signature.state_form, width * lanes),
        _empty(signature.state_form, lanes),
        _empty(signature.output_form, GROUP * lanes),
    )


def _roll_bounds(
    work: RollingWork, source: OperatorInputs, outs: Arrays, windows: BoundWindows, rows: int
) -> None:
    """Answer windows between bounds by a queue.

    Raises
    ------
    ValueError
        If bounds decrease or are out of range.
    """
    starts, *given = contiguous(tuple(windows.bounds))
    stops = given[0] if given else np.full(len(starts), rows, WORD)
    if min(starts[0], stops[0]) < 0 or max(starts[-1], stops[-1]) > rows:
        found = f"from {starts[0]} to {starts[-1]} and from {stops[0]} to {stops[-1]}"
        raise ValueError(f"starts and stops must be from 0 to {rows}, found {found}")
    shift, width = windows.around
    bounds = WindowBounds(starts, stops, shift, width, rows)
    borders, room = np.array([0, len(starts)], WORD), rows
    if max(len(starts), rows) > CHUNK:
        borders = _borders(bounds)
        ends, begins = borders[1:] - 1, borders[:-1]
        spans = np.minimum(stops[ends], ends + (shift + width)) - np.maximum(
            starts[begins], begins + shift
        )
        room = int(np.clip(spans, 0, rows).max(initial=0))  # no window has more than its chunk
    j = _run_queue(work.queue_of_bounds, work, source, outs, bounds, borders, room)
    if j >= 0:
        raise ValueError(
            f"starts and stops must not decrease, found window {j} from {starts[j]} to {stops[j]} "
            f"after one from {starts[j - 1]} to {stops[j - 1]}"
        )


def _borders(bounds: Any) -> np.ndarray:
    """Cut windows into chunks of CHUNK windows or rows, at places where a cut costs little; return the borders."""
    starts, stops, shift, width, rows = bounds
    count, borders = len(starts), [0]
    by_rows = np.searchsorted(stops, np.arange(CHUNK, rows, CHUNK))
    for at in np.union1d(np.arange(CHUNK, count, CHUNK), by_rows).tolist():
        last = borders[-1]
        if last < at < count:
            begin, again = max(int(starts[last]), last + shift), max(int(starts[at]), at + shift)
            end = min(int(stops[at - 1]), at - 1 + shift + width)
            if SHARE * (end - again) <= at - last + end - begin:
                borders.append(at)
    return np.array([*borders, count], WORD)


def _run_queue(
    kernel: Kernel,
    work: RollingWork,
    source: OperatorInputs,
    outs: Arrays,
    bounds: WindowBounds,
    borders: np.ndarray,
    room: int,
) -> int:
    """Answer the windows of some chunks; return one with wrong bounds, or -1."""
    wrong: list[int] = []

    def walk(control: np.ndarray) -> None:
        suffixes = _empty(work.signature.state_form, room)
        wrong.append(kernel(source, outs, bounds, borders, suffixes, room, control))

    rows = min(bounds.rows, room * (len(borders) - 1))
    _run(WORK * max(int(borders[-1] - borders[0]), rows), work.op, walk)
    return max(wrong)


def _run(elements: int, op: Operator, walk: Callable[[np.ndarray], None]) -> None:
    """Walk on as many threads as `elements` are worth."""
    control = np.zeros(STATUS, WORD)
    try:
        if elements < PARALLEL:
            walk(control)
        else:
            run_team(elements, control, lambda _: walk(control))
    except IndexError as error:
        raise outside(op, error) from error


SLICE = 1 << 14
"""Rows that a thread takes at once."""

ROWS = array_type(WORD, readonly=True)


def window_starts(values: np.ndarray, reach: int, starts: np.ndarray | None) -> np.ndarray:
    """Return the first row within reach of each row; see `kernels.rolling.window_starts`."""
    out = empty(len(values), WORD)
    kernel = _kernel(starts is not None)
    run_kernel(WORK * len(values), kernel, values, np.uint64(reach), starts, out)
    return out


@cached_njit
def find_first(values, reach, starts, out, control):
    """Write for each row the first row of its group with a value that is at most `reach` less."""
    values, out, control = borrow(values), borrow(out), borrow(control)
    while True:
        begin = take_ticket(control, TICKET) * SLICE
        if begin >= len(values):
            break
        # where a slice begins, by binary search
        low, high = 0 if starts is None else starts[begin], begin
        while low < high:
            middle = (low + high) // 2
            if np.uint64(values[begin] - values[middle]) > reach:
                low = middle + 1
            else:
                high = middle
        first = low
        for i in range(begin, min(begin + SLICE, len(values))):
            if starts is not None:
                first = max(first, starts[i])
            while first < i and np.uint64(values[i] - values[first]) > reach:
                first += 1
            out[i] = first


@lru_cache(maxsize=2)
def _kernel(grouped: bool) -> Kernel:
    starts = ROWS if grouped else types.none
    return entry(find_first, (ROWS, types.uint64, starts, array_type(WORD), CONTROL))
