"""Buckets of time within groups: the label of a bucket is one more key, and empty buckets are added later.

The first and the last bucket of a group are those of its own rows. A partition of groups that are reduced hands on its
last key and label, so that the buckets between these and the next ones are written, too.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from ... import kernels
from ...frames.keys import BoundaryKey, boundary_key, key_arrays
from ...frames.protocol import Library
from ...frames.registry import column_of, columns_of, library_of, stored_numbers
from ...frames.types import Array, Column, Frame, Scalar, Values
from ...kernels import BUILT_IN
from ...kernels.late_dataclass import dataclass
from ..core.carry import DataFrameCarry
from ..core.groups import INT64
from ..core.operation import GroupScan, Part
from ..groupby.spec import GroupBySpec
from ..scan.column_scan import Scan
from ..scan.kernel_scan import ScanArguments
from .buckets import Buckets
from .resample import with_empty
from .time_column import TimeColumn, decrease, times_of

LATEST, FIRST = "latest", "first"
"""The columns of `seen_times`."""


def seen_times(time: Hashable, buckets: Buckets) -> list[Part[GroupScan]]:
    """Return scans of the latest time so far in the group of a row, and of the first if buckets depend on it."""
    asked = [(LATEST, "maximum"), (FIRST, "minimum")][: 1 + buckets.depends_on_first]
    scans = {name: Scan(name, BUILT_IN[op], ScanArguments(), in_groups=True) for name, op in asked}
    return [Part(name, (time,), scan.of_column(time)) for name, scan in scans.items()]


def append_labels(
    frame: Frame, seen: Frame, time_column: TimeColumn, buckets: Buckets, label: str
) -> Any:
    """Return rows with the label of their bucket as one more column.

    Parameters
    ----------
    frame : frame
    seen : frame
        The answers of `seen_times` for these rows, null in rows that are in no group.
    time_column : TimeColumn
    buckets : Buckets
    label : str
        The name of the new column.

    Raises
    ------
    ValueError
        For times that are null, or that decrease within a group.
    """
    library = library_of(frame)
    times, so_far = time_column.times(frame), column_of(seen, LATEST)
    latest_times = stored_numbers(so_far)
    late = (latest_times > times) & library.valid(so_far)
    if bool(late.any()):
        at = int(late.argmax())
        pair = latest_times[at].item(), times[at].item()
        raise ValueError(
            f"resample: times must not decrease within a group, but in {time_column.title} "
            f"{decrease(time_column.column(frame), *pair)}; sort by them first"
        )
    firsts = stored_numbers(column_of(seen, FIRST)) if buckets.depends_on_first else None
    labels = buckets.labels_of(library, times, firsts)
    return library.append(frame, labels.astype(INT64, copy=False), label)


@dataclass(frozen=True)
class LastBucket:
    """The last bucket of some reduced groups."""

    key: BoundaryKey
    label: Scalar


@dataclass(frozen=True)
class FillBuckets(DataFrameCarry):
    """Adds empty buckets to reduced groups whose last key is the label of a bucket."""

    spec: GroupBySpec
    """The parts that the groups were reduced by."""
    like: Any
    """The frame that was reduced, without rows."""
    time_column: TimeColumn
    buckets: Buckets
    may_be_empty: bool
    """Whether dtypes are those of answers with nulls, even if there are no nulls."""
    dropped: int = 0
    """How many of the first keys are not levels of the answer's index."""

    label = "resample-fill"

    def meta(self, frame: Frame) -> Any:
        return self.apply(library_of(frame).no_rows(frame), None)

    def _keys(self, frame: Frame) -> list[Any]:
        """Return the levels of the index of reduced groups, which are the keys and then the labels of buckets."""
        return [library_of(frame).index_level(frame, i) for i in range(len(self.spec.by.columns))]

    def aggregate(self, partition: Frame) -> LastBucket | None:
        if not len(partition):
            return None
        *keys, labels = self._keys(partition)
        label = stored_numbers(labels)[-1].item()
        return LastBucket(boundary_key(library_of(partition), keys, len(partition) - 1), label)

    def combine(self, aggregates: Sequence[LastBucket | None]) -> LastBucket | None:
        known = [each for each in aggregates if each is not None]
        return known[-1] if known else None

    def apply(self, partition: Frame, prefix: LastBucket | None) -> Any:
        library = library_of(partition)
        with library.acquire(partition):
            *keys, labels = self._keys(partition)
            numbers = stored_numbers(labels)
            rows, numbers = self._all_buckets(library, keys, numbers, prefix)
            arrays = [library.take(library.array(key), abs(rows) - 1) for key in keys]
            found = library.xp.where(rows > 0, rows - 1, -1)
            pairs = zip(self.spec.parts, columns_of(partition), strict=True)
            answers = [
                with_empty(
                    part,
                    self.spec.columns(library, self.like, part),
                    library.array(column),
                    found,
                    self.may_be_empty,
                )
                for part, column in pairs
            ]
            index = self._index(library, arrays, numbers)
            names = [column.name for column in columns_of(partition)]
            if partition.ndim == 1:
                return library.series(answers[0], index, names[0])
            return library.frame(answers, names, index, partition)

    def _all_buckets(
        self, library: Library, keys: Sequence[Column], labels: Values, prefix: LastBucket | None
    ) -> tuple[Values, Values]:
        """Return the row of each bucket, from 1, and its label.

        For an empty bucket, the number of the row behind it is returned, as a negative number.
        """
        xp = library.xp
        if not len(labels):
            return xp.zeros(0, INT64), labels
        follows = ~key_arrays(library, keys).head_flags()
        previous = xp.concatenate([labels[:1], labels[:-1]])
        if prefix is not None and boundary_key(library, keys, 0).values == prefix.key.values:
            follows[:1], previous[:1] = True, prefix.label
        grid = self.buckets.between(library, xp.concatenate([previous[:1], labels]))
        places = labels
        if grid is None:
            step = self.buckets.width
        else:
            step = self.buckets.freq.n
            places, previous = xp.searchsorted(grid, labels), xp.searchsorted(grid, previous)
        # a bucket is there twice if rows between, which were left out, were in no group
        lengths = xp.where(follows, xp.maximum((places - previous) // step, 1), 1)
        numbers = xp.arange(1, len(labels) + 1, dtype=INT64)
        ends = xp.cumsum(lengths)
        span = int(labels.min()), int(labels.max())
        self.buckets.check_memory(int(ends[-1]), *span, len(self.spec.parts))
        rows, places, ends = kernels.run_length_decode(lengths, [numbers, places, ends])
        missing = ends - 1 - xp.arange(len(rows), dtype=INT64)
        places = places - step * missing
        return xp.where(missing > 0, -rows, rows), places if grid is None else grid[places]

    def _index(self, library: Library, keys: list[Array], labels: Values) -> Any:
        """Return the index of keys and the labels of buckets as times."""
        column = self.time_column.column(self.like)
        arrays = [*keys, times_of(column, labels)]
        names = [*self.spec.by.columns[:-1], column.name]
        return library.key_index(arrays[self.dropped :], names[self.dropped :])
