"""Launches of passes over columns, with pointers to arrays in the order of columns_tile.cuh."""

from collections.abc import Sequence
from typing import Any

import cupy
import numpy as np

from ...nulls import Mask
from ..core import launch
from ..core.device_arrays import mask_buffer
from ..core.devices import device
from ..core.plan import Extent
from .column_pass import ColumnPass


def run_columns(
    begun: launch.Launch,
    which: int,
    each: ColumnPass,
    data: Sequence[Any],
    masks: Sequence[Mask] = (),
    gathered_columns: Sequence[Any] = (),
    *,
    gathered: Sequence[Any] = (),
    outs: Sequence[Any] = (),
    rests: Sequence[Any] = (),
    scalars: Sequence[Any] = (),
    numbers: bytes = b"",
    continues: bool = False,
    seed: bytes = b"",
) -> None:
    """Launch one pass of a launch that has begun.

    Parameters
    ----------
    begun, which, each
        The launch, the index of the pass, and the pass.
    data, masks, gathered_columns
        The columns: keys and values; masks of both; gathered arrays that tiles hold.
    gathered, outs, rests
        For each output: the array that is gathered, or None; the output; the array for the rest, or None.
    scalars
        The scalars of a predicate.
    numbers
        The numbers of an operator; a pass has either an operator or a predicate.
    continues
        Whether the first row continues a run that began before it.
    seed
        The state before the first row, zeros by default.
    """
    columns, bits = [a.data.ptr for a in data], [0] * len(data)
    buffers = [mask_buffer(mask) for mask in masks]  # kept alive until the launch
    for mask, buffer in zip(masks, buffers, strict=True):
        packed = mask.shift == 3
        columns.append(buffer.data.ptr + (0 if packed else mask.offset))
        bits.append(mask.offset if packed else 0)
    columns += [a.data.ptr for a in gathered_columns]
    bits += [0] * len(gathered_columns)

    def addresses(arrays: Sequence[Any]) -> list[int]:
        found = [0 if a is None else a.data.ptr for a in arrays]
        return found + [0] * (each.outputs - len(found))

    if scalars:
        numbers = np.array([tuple(scalars)], each.scalars_dtype).tobytes()
    pointers = [*columns, *addresses(gathered), *addresses(outs), *addresses(rests)]
    begun.run(which, pointers, offsets=bits, options=(continues,), seed=seed, numbers=numbers)


def launch_columns(
    each: ColumnPass, length: int, *columns: Sequence[Any], waits: bool = True, **options: Any
) -> launch.Launch:
    """Launch a plan of this pass alone over `length` rows, at least one; see `run_columns`."""
    begun = launch.Launch(launch.current_space(each.alone, Extent(length)), waits)
    run_columns(begun, 0, each, *columns, **options)
    return begun


def fits(each: ColumnPass) -> bool:
    """Return whether a tile of the columns fits into the current device's shared memory."""
    on = device(cupy.cuda.runtime.getDevice())
    extent = Extent(1)
    each = each.sized(on.capability)
    schedule = each.schedule(extent, on.capability, on.multiprocessors, launch.SCHEDULE)
    return each.fits(schedule, on.capability)
