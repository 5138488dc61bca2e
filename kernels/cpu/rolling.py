"""Rolling windows of NumPy arrays: chunks of windows, which threads answer."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba.core import types

from ..inference import Form
from ..kept import keep
from ..operators import Operator
from ..options import ScanOptions
from ..signature import State, joined
from ..windows import BoundWindows, RowWindows, Windows
from .engine import STATUS
from .launch import (
    CONTROL,
    PARALLEL,
    WORD,
    Kernel,
    array_type,
    arrays_type,
    entry,
    outside,
    run_team,
    source_type,
    types_of,
)
from .outputs import empty
from .steps import Source
from .visitors import record_type
from .window_queue import Bounds, walk_queue

CHUNK = 1 << 16
"""Windows that a thread answers at once, at least."""

SHARE = 4
"""A chunk is at least so many times as much work as to combine its first window anew."""


@dataclass(frozen=True, eq=False)
class Work:
    """What does not depend on the values of a call."""

    queue: Kernel
    identity: State
    state: Form
    scalar_state: bool
    outputs: Form
    scalar_output: bool


def rolling(
    op: Operator, arrays: tuple[np.ndarray, ...], windows: Windows, options: ScanOptions
) -> Any:
    """Combine the elements of each window; see `kernels.rolling`."""
    given = tuple([a.dtype for a in arrays]), options.dtype, type(options.nulls), type(windows)
    key = op.token, *given
    work = _WORKS.get(key) or keep(_WORKS, key, _work(op, *given))
    arrays = _side_by_side(*arrays)
    xs, nulls = joined(arrays, len(arrays) == 1), options.nulls
    source = Source(op, xs, None if nulls is None else nulls.args, work.identity)
    rows = len(arrays[0])
    if isinstance(windows, RowWindows):
        count = windows.count or 0
        width = max(windows.before + windows.after + 1, 0)
        bounds = Bounds(None, None, windows.first - windows.before, width, rows)
        room = min(width, rows)
        chunks = np.append(np.arange(0, count, max(CHUNK, SHARE * room)), count)
    else:
        starts, stops = _side_by_side(windows.starts, windows.stops)
        count, bounds = len(starts), Bounds(starts, stops, 0, 0, rows)
        chunks = _chunks(starts, stops, rows)
        room = _most_rows(starts, stops, chunks, rows)
    make = np.empty if count < PARALLEL else empty
    out = joined([make(count, d) for d in work.outputs], work.scalar_output)
    control, wrong = np.zeros(STATUS, WORD), []

    def walk(leader: bool) -> None:
        suffixes = joined([np.empty(room, d) for d in work.state], work.scalar_state)
        wrong.append(work.queue(source, out, bounds, chunks, suffixes, room, control))

    try:
        run_team(max(count, rows), control, walk)
    except IndexError as error:
        raise outside(op, error) from error
    if max(wrong) >= 0:
        raise ValueError(_what_is_wrong(windows, max(wrong), rows))
    return out


def _side_by_side(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    return tuple([np.require(a, requirements=["C", "A"]) for a in arrays])


def _chunks(starts: np.ndarray, stops: np.ndarray, rows: int) -> np.ndarray:
    """Cut windows, so many or of so many rows at a time, where a cut costs little; return the borders."""
    count = len(starts)
    by_rows = np.searchsorted(stops, np.arange(CHUNK, rows, CHUNK))
    borders = [0]
    for at in np.union1d(np.arange(CHUNK, count, CHUNK), by_rows).tolist():
        last = borders[-1]
        if last < at < count:
            begin, end = int(starts[last]), int(stops[at - 1])
            if SHARE * (end - int(starts[at])) <= at - last + end - begin:
                borders.append(at)
    return np.array([*borders, count] if count else [0], WORD)


def _most_rows(starts: np.ndarray, stops: np.ndarray, chunks: np.ndarray, rows: int) -> int:
    """Return the rows of the chunk that has most, which no window exceeds."""
    spans = stops[chunks[1:] - 1] - starts[chunks[:-1]]
    return int(np.clip(spans, 0, rows).max(initial=0))


def _what_is_wrong(windows: Any, j: int, rows: int) -> str:
    found = f"window {j} from {windows.starts[j]} to {windows.stops[j]}"
    before = f" after one from {windows.starts[j - 1]} to {windows.stops[j - 1]}" if j else ""
    return f"starts and stops must be from 0 to {rows} and not decrease, found {found}{before}"


# --- kernels ----------------------------------------------------------------------------------------


_WORKS: dict[Any, Work] = {}


def _work(op: Operator, dtypes: Form, dtype: Any, nulls: type, windows: type) -> Work:
    types_ = types_of(op, dtypes, dtype)
    word, bound = (
        types.int64,
        array_type(WORD, True, "C") if windows is BoundWindows else types.none,
    )
    arguments = (
        source_type(op, types_, nulls, "C"),
        arrays_type(types_.output_form, "C"),
        record_type(Bounds, starts=bound, stops=bound, shift=word, width=word, rows=word),
        array_type(WORD, layout="C"),
        arrays_type(types_.state_form, "C"),
        word,
        CONTROL,
    )
    return Work(
        entry(walk_queue, arguments),
        types_.plain_identity,
        types_.state,
        types_.scalar_state,
        types_.outputs,
        types_.scalar_output,
    )
