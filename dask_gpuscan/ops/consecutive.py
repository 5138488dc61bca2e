"""The first row, or the last, of each run of equal keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import kernels
from ..frames.keys import BoundaryKey, By, boundary_key, key_arrays
from ..frames.registry import library_of
from ..frames.types import Frame
from ..kernels.late_dataclass import dataclass
from .core.carry import DataFrameCarry
from .core.flat_frame import flat_frame


@dataclass(frozen=True)
class UniqueConsecutive(DataFrameCarry):
    """One row of each run: the first, or in reverse the last."""

    by: By
    reverse: bool = False
    label = "unique-consecutive"
    keeps_divisions = True

    def check(self, frame: Frame) -> None:
        self.by.check(frame)

    def meta(self, frame: Frame) -> Any:
        return library_of(frame).no_rows(frame)

    def aggregate(self, partition: Frame) -> BoundaryKey | None:
        if not len(partition):
            return None
        library, row = library_of(partition), 0 if self.reverse else len(partition) - 1
        return boundary_key(library, self.by.series(library, partition), row)

    def combine(self, aggregates: Sequence[BoundaryKey | None]) -> BoundaryKey | None:
        return next((a for a in reversed(aggregates) if a is not None), None)

    def apply(self, partition: Frame, prefix: BoundaryKey | None) -> Any:
        library = library_of(partition)
        if not len(partition):
            return library.no_rows(partition)
        series = self.by.series(library, partition)
        keep = "last" if self.reverse else "first"
        with library.acquire(partition):
            keys, whole = key_arrays(library, series), library.takes_whole_rows(partition)
            flat = None if whole else flat_frame(library, partition)
            positions, arrays = kernels.unique(
                keys.arrays, flat.arrays if flat else (), nulls=keys.nulls, keep=keep
            )
            out = flat.rebuild(arrays, positions) if flat else library.rows(partition, positions)
        row = len(partition) - 1 if self.reverse else 0
        if prefix is not None and prefix.values == boundary_key(library, series, row).values:
            rest = slice(None, -1) if self.reverse else slice(1, None)
            return library_of(out).rows(out, rest)
        return out
