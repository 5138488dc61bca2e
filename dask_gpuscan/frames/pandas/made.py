"""Frames and series of pandas from finished arrays, by private names of pandas.

The constructors of pandas would look at values, dtypes and lengths again: a series of 1,000 rows took 15 microseconds
by them and takes 5, the rows of a frame 85 by `take` and take 25.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TypeVar

import numpy as np
import pandas as pd
from pandas.core.algorithms import take_nd
from pandas.core.internals.blocks import (
    Block,
    BlockPlacement,
    NumpyBlock,
    ensure_block_shape,
    maybe_coerce_values,
    new_block,
)
from pandas.core.internals.managers import BlockManager, SingleBlockManager

from .layouts import PandasArray, bare

Rows = TypeVar("Rows", pd.DataFrame, pd.Series)


@lru_cache(maxsize=1024)
def _place(column: int) -> BlockPlacement:
    return BlockPlacement(slice(column, column + 1))


def _block(array: PandasArray, column: int) -> Block:
    """Return an array as the block of one column."""
    if type(array) is np.ndarray and array.dtype.kind in "biufc":
        return NumpyBlock(array[None], placement=_place(column), ndim=2)
    values = ensure_block_shape(maybe_coerce_values(bare(array)), 2)
    return new_block(values, _place(column), ndim=2)


def made_frame(arrays: Sequence[PandasArray], index: pd.Index, columns: pd.Index) -> pd.DataFrame:
    """Return a frame of arrays, one a column."""
    blocks = tuple([_block(array, i) for i, array in enumerate(arrays)])
    manager = BlockManager(blocks, [columns, index], verify_integrity=False)
    return pd.DataFrame._from_mgr(manager, manager.axes)


def made_series(array: PandasArray, index: pd.Index, name: object) -> pd.Series:
    """Return a series of an array."""
    manager = SingleBlockManager.from_array(bare(array), index)
    found = pd.Series._from_mgr(manager, manager.axes)
    object.__setattr__(found, "_name", name)  # pandas would look for a column of this name
    return found


def taken_rows(frame: Rows, positions: np.ndarray) -> Rows:
    """Return rows of a frame or series by position, as its `take` does; positions are not negative."""
    manager, index = frame._mgr, _taken_labels(frame.index, positions)
    if frame.ndim == 1:
        made = SingleBlockManager.from_array(_taken(manager.array, positions), index)
    else:
        blocks = [b.make_block_same_class(_taken(b.values, positions)) for b in manager.blocks]
        made = BlockManager(tuple(blocks), [frame.columns.view(), index], verify_integrity=False)
    return frame._constructor_from_mgr(made, made.axes).__finalize__(frame, "take")


def _taken_labels(index: pd.Index, positions: np.ndarray) -> pd.Index:
    """Return labels by position, as `Index.take`, which looks at positions to find negative ones and those outside."""
    if type(index) is not pd.RangeIndex or not len(positions):
        return index.take(positions)
    labels = np.array(positions, np.int64)
    if (index.start, index.step) != (0, 1):
        labels = index.start + index.step * labels
    return index._shallow_copy(labels, name=index.name)


PLAIN = 1 << 14
"""Numbers up to which NumPy takes some of them in less time than pandas: 1,000 in 1.2 microseconds and 4.3; half of ten
times 65,536 in 549 and 241, and in a random order in 3,083 and 1,811."""


def _taken(values: PandasArray, positions: np.ndarray) -> PandasArray:
    """Return rows of the array of a block, which may have one line a column."""
    if values.size > PLAIN:
        return take_nd(values, positions, axis=values.ndim - 1, allow_fill=False)
    return values.take(positions, axis=1) if values.ndim == 2 else values.take(positions)
