"""Rolling windows of CuPy arrays: by tiles if the rows of neighbouring windows fit shared memory, else by levels.

Only the device knows whether windows between bounds fit, so all passes are always launched; a pass does nothing if
earlier passes left no windows. The starts of windows of values are found by tiles, in one pass.
"""

from functools import lru_cache
from itertools import pairwise
from typing import Any

import cupy
import numpy as np

from ...nulls import Mask
from ...operators.operator import Operator
from ...operators.signature import Signature, signature_of
from ...options import ScanOptions
from ...windows import BoundWindows, Windows
from ..core import launch
from ..core.closure_constants import shared_code
from ..core.device_arrays import kind_of_nulls, mask_buffer, readable
from ..core.devices import device
from ..core.plan import Capability, Extent, Form, state_dtype, typed
from .tuning import LEVEL_FAN, LEVEL_GROUP
from .window_pass import WindowPass, WindowStartsPass, level_passes, span_passes, tile_passes


def rolling(op: Operator, arrays: tuple[Any, ...], windows: Windows, options: ScanOptions) -> Any:
    """Combine the elements of each window; see `kernels.rolling`.

    Bounds are not checked, as that would wait for the GPU. They are clipped to the existing rows, and to the rows
    between the first start and the last stop of neighbouring windows.
    """
    nulls, rows = options.nulls, len(arrays[0])
    bounds = []
    if isinstance(windows, BoundWindows):
        count = len(windows.starts)
        bounds = [readable(b) for b in windows.bounds]
        shift, width = windows.around
    else:
        count, shift = windows.count or 0, windows.first - windows.before
        width = max(windows.before + windows.after + 1, 0)
    types_, tiles, levels, numbers = _passes(
        op, tuple([a.dtype for a in arrays]), options.dtype, kind_of_nulls(nulls),
        None if bounds else width, device(launch.current_device()).capability,
    )  # fmt: skip
    # a pass is not needed if earlier ones answer spans of all rows
    tiles, levels = ([each for each in some if each.spared < rows] for some in (tiles, levels))
    outs = [cupy.ndarray(count, d) for d in types_.outputs]
    arrays = tuple([readable(a, d) for a, d in zip(arrays, types_.inputs, strict=True)])
    mask, offset, null = 0, 0, 0
    if isinstance(nulls, Mask):
        buffer = mask_buffer(nulls)
        mask, offset, null = buffer.data.ptr, nulls.offset, nulls.null
    sizes = _level_sizes(rows) if levels else []
    states = cupy.ndarray(3 * sum(sizes), state_dtype(types_.state)) if sizes else None
    widest = cupy.zeros(1, np.uint64) if tiles and (tiles[1:] or levels) else None
    pointers = [a.data.ptr for a in (*arrays, *outs)]
    pointers += [mask, 0 if states is None else states.data.ptr]
    pointers += [*[b.data.ptr for b in bounds], 0, 0][:2]
    pointers += [0 if widest is None else widest.data.ptr]

    def run(each: WindowPass, length: int, level: int = 0, size: int = 0) -> None:
        if length:
            begun = launch.Launch(launch.current_space(each.alone, Extent(length)), False)
            integers = rows, shift, width, level, size, null
            begun.run(0, pointers, offsets=(offset,), options=integers, numbers=numbers)

    for each in tiles:
        run(each, count)
    if levels and count:
        reduce_rows, scan_level, answer = levels
        level = 0
        run(reduce_rows, sizes[0] if sizes else 0)
        for size, above in pairwise(sizes):
            run(scan_level, above, level, size)
            level += 3 * size
        run(answer, count)
    return outs[0] if types_.scalar_output else tuple(outs)


def most_ring_rows() -> int:
    """Return 0: rows are always sorted by group."""
    return 0


def _level_sizes(rows: int) -> list[int]:
    """Return the states of each level: one for each group of rows, then for each group of states, up to one group."""
    sizes = [-(-rows // LEVEL_GROUP)] if rows else []
    while sizes and sizes[-1] > LEVEL_FAN:
        sizes.append(-(-sizes[-1] // LEVEL_FAN))
    return sizes


@lru_cache(maxsize=1024)
def _passes(
    op: Operator,
    inputs: Form,
    dtype: np.dtype | None,
    nulls: str,
    width: int | None,
    capability: Capability,
) -> tuple[Signature, list[WindowPass], list[WindowPass], bytes]:
    """Return the types, the passes over tiles and over levels, and the numbers of the operator.

    Windows without a `width` are between bounds. If there are both kinds of passes, levels answer the windows that
    tiles leave.
    """
    types_ = signature_of(op, inputs, dtype)
    op, numbers = shared_code(op, types_.inputs)
    of = typed(op, types_)
    if width is None:
        tiles = span_passes(of, nulls, capability)
        return types_, tiles, level_passes(of, nulls, tiles), numbers
    tiles = tile_passes(of, nulls, width, capability)
    return types_, tiles, [] if tiles else level_passes(of, nulls, []), numbers


PLAN = WindowStartsPass().alone


def window_starts(values: Any, reach: int, starts: Any) -> Any:
    """Return the first row within reach of each row; see `kernels.rolling.window_starts`."""
    out = cupy.ndarray(len(values), np.int64)
    if not len(values):
        return out
    arrays = [readable(values), None if starts is None else readable(starts), out]
    pointers = [0 if a is None else a.data.ptr for a in arrays]
    begun = launch.Launch(launch.current_space(PLAN, Extent(len(values))), False)
    begun.run(0, pointers, options=(reach,))
    return out
