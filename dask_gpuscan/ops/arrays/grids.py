"""Operations on one block of a grid: means of boxes, given the elements around it, and the ends of boxes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...frames.types import Values
from ...kernels.grids import box_filter, corner_differences
from ...kernels.late_dataclass import dataclass


@dataclass(frozen=True)
class BoxFilter:
    """The mean of the box around each element of a block.

    Parameters
    ----------
    radii : dict of int to int
        By axis.
    options : dict
        What else `kernels.grids.box_filter` takes.
    halos : dict of int to int
        How many elements the block has around it on either side, by axis.
    """

    radii: Mapping[int, int]
    options: Mapping[str, Any]
    halos: Mapping[int, int]

    def apply(self, block: Values) -> Any:
        """Return the means of the block's own elements."""
        radius = list(self.radii.values())
        out = box_filter(block, radius, axes=list(self.radii), **self.options)
        own = [slice(None)] * out.ndim
        for axis, halo in self.halos.items():
            own[axis] = slice(halo, out.shape[axis] - halo)
        return out[tuple(own)]


@dataclass(frozen=True)
class BoxEnds:
    """The ends of boxes in a table in blocks: picked from each block, then summed.

    Parameters
    ----------
    axes : tuple of int
        Of the table; its blocks lie along these.
    count : int
        The number of boxes.
    """

    axes: tuple[int, ...]
    count: int

    def pick(self, block: Values, places: np.ndarray) -> Any:
        """Return the values of a block at places, which have one row an axis."""
        others = [axis for axis in range(block.ndim) if axis not in self.axes]
        at = [np.asarray(row, like=block) for row in places]
        return block.transpose(*others, *self.axes)[(..., *at)]

    def sums(
        self, rows: list[np.ndarray], picked: list[Any], like: Values, shape: tuple[int, ...]
    ) -> Any:
        """Return the sums of boxes from the values that blocks have at ends; `rows` are the numbers of these ends."""
        ends = (self.count, *(2,) * len(self.axes))
        found = np.zeros_like(like, shape=(*shape, int(np.prod(ends))))
        for each, values in zip(rows, picked, strict=True):
            found[..., np.asarray(each, like=found)] = values
        return corner_differences(found.reshape(*shape, *ends), len(self.axes))
