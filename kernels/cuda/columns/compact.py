"""Compaction of CuPy arrays, and runs as starts and lengths: from selections and arrays to passes and results.

Each function launches one kernel with outputs as long as the input, and reads the number of selected rows once, at the
end.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import cupy
import numpy as np

from ...selection import Runs, Selection
from ..core.device_arrays import readable, shrink
from ..core.plan import Form
from ..core.visitors import RUN_LENGTHS
from .column_pass import ColumnPass, Gathered
from .columns import fits, launch_columns
from .selection import selected, visited

POSITIONS = Gathered(np.dtype(np.int64), -2)


def compact(
    arrays: list[Any], selection: Selection, split: bool, positions: bool, in_place: bool
) -> tuple[list[Any], list[Any] | None]:
    """Gather the selected rows of arrays, and with `split` the others; see `kernels.select`, `partition`, `unique`."""
    found = selected(selection)
    n, data = found.length, found.data
    sources = [readable(a) for a in arrays]
    held: list[Any] = []
    gathered = []
    for source in sources:
        column = _column_of(source, data)
        if column < 0 and in_place:
            column = found.only.columns + len(held)
            held.append(source)
        gathered.append(Gathered(source.dtype, column))
    if positions or not gathered:
        gathered.append(POSITIONS)
    form = tuple([a.dtype for a in held])
    only = gathering(found.only, tuple(gathered), form, split, in_place)
    writes_over = in_place and fits(only)
    if in_place and not writes_over:  # tiles of so many columns are too large: use a buffer
        kept, rest = compact(sources, selection, split, positions, False)
        count = len(kept[0])
        return _put_back(arrays, kept, rest, count)

    outputs = [g.dtype for g in gathered]
    outs = [cupy.ndarray(n, d) for d in outputs]
    if writes_over:
        outs[: len(sources)] = sources
    rests = [cupy.ndarray(n, d) for d in outputs] if split else []
    count = 0
    if n:
        begun = launch_columns(
            only, n, data, found.masks, held, gathered=[*sources, None][: len(gathered)],
            outs=outs, rests=rests, **found.options,
        )  # fmt: skip
        count = int(begun.read()["selected"][0])
    wanted = len(arrays) + positions
    if writes_over:
        kept = [o[:count] for o in outs]
        rest = [r[: n - count] for r in rests] if split else None
        kept, rest = _put_back(arrays, kept[:wanted], rest, count)
        return kept, rest[:wanted] if rest is not None else None
    kept = [shrink(o, count) for o in outs[:wanted]]
    return kept, [shrink(r, n - count) for r in rests[:wanted]] if split else None


def run_lengths(runs: Runs, dtype: np.dtype) -> tuple[Any, Any]:
    """Return starts and lengths of runs; see `kernels.run_length_encode`."""
    found = selected(runs)
    n = found.length
    starts, lengths = cupy.ndarray(n, dtype), cupy.ndarray(n, dtype)
    count = 0
    if n:
        begun = launch_columns(
            measuring(found.only, dtype), n, found.data, found.masks, outs=[starts],
            rests=[lengths], **found.options,
        )  # fmt: skip
        count = int(begun.read()["selected"][0])
    return shrink(starts, count), shrink(lengths, count)


@lru_cache(maxsize=1024)
def gathering(
    each: ColumnPass, gathered: tuple[Gathered, ...], held: Form, split: bool, in_place: bool
) -> ColumnPass:
    """Return a pass that selects the same rows and gathers arrays; tiles hold some of them."""
    return replace(each, gathered=gathered, gathered_columns=held, split=split, in_place=in_place)


@lru_cache(maxsize=1024)
def measuring(each: ColumnPass, dtype: np.dtype) -> ColumnPass:
    """Return a pass that selects the same rows, and writes their positions and the distances to the next ones."""
    return replace(visited(each, RUN_LENGTHS), gathered=(Gathered(dtype, -2),))


def _column_of(array: Any, columns: Sequence[Any]) -> int:
    """Return the index of the column that holds an array, or -1."""
    for i, column in enumerate(columns):
        if column.data.ptr == array.data.ptr and column.itemsize == array.itemsize:
            return i
    return -1


def _put_back(
    arrays: Sequence[Any], kept: list[Any], rest: list[Any] | None, count: int
) -> tuple[list[Any], list[Any] | None]:
    """Copy kept rows to the beginning of arrays, unless they are there already, and the rest behind them."""
    for i, array in enumerate(arrays):
        head = array[:count]
        if kept[i].data.ptr != head.data.ptr or kept[i].strides != head.strides:
            head[:] = kept[i]
        kept[i] = head
        if rest is not None:
            array[count:] = rest[i]
            rest[i] = array[count:]
    return kept, rest
