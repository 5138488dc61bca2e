"""Sorting: rows in the order of keys, splitters between partitions, and the pieces of a partition between splitters.

Partitions are sorted together by sample sort: each gives a sample of its keys, all samples give splitters, and each
partition is sorted and cut at them. Equal keys are ordered by where their rows came from, so that rows of one heavy
key are spread over partitions as evenly as any others.

A sample is regular: rows at even distances in the partition's own order, 20 for each new partition. After Shi and
Schaeffer, *Parallel sorting by regular sampling* (J. Parallel and Distributed Computing 14, 1992). A sampled row stands
for the rows around it, half before and half after, so the rank of a splitter is known up to 1/40 of an even partition,
and all partitions are within 10 % of even, whatever the keys. Samples have at most 2^21 rows in all: for more than 323
partitions they are smaller, and less is certain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from operator import not_
from typing import Any

import numpy as np

from ... import kernels
from ...frames.keys import By
from ...frames.protocol import Library
from ...frames.registry import Schema, common_schema, library_of, names_of, schema_of_columns
from ...frames.types import Array, Column, Frame, Values
from ...kernels.late_dataclass import dataclass
from ..core.flat_frame import FlatFrame, flat_frame
from .pieces import PartitionSlices

SAMPLES_A_PARTITION = 20
"""Sampled rows of a partition for each new one."""

SAMPLES = 1 << 21
"""Sampled rows of all partitions, at most."""


@dataclass(frozen=True)
class IndexLevels:
    """Levels of the index, by their numbers, as keys."""

    numbers: tuple[int, ...]
    remaining: tuple[int, ...] = ()
    """Levels that break ties; a user's function does not get them."""
    names = ()
    """No column is a key."""

    def __len__(self) -> int:
        return len(self.numbers) + len(self.remaining)

    def series(self, frame: Frame) -> list[Column]:
        """Return the keys of a frame or series, in order."""
        library = library_of(frame)
        return [library.index_level(frame, n) for n in self.numbers + self.remaining]


@dataclass(frozen=True)
class Order:
    """The keys that rows are ordered by, and the directions."""

    keys: By | IndexLevels
    ascending: tuple[bool, ...]
    """One flag a key."""
    nulls_first: bool = False
    key: Callable[[Any], Any] | None = None
    """A user's function of a key; its answer is sorted instead of the key."""

    def columns(self, frame: Frame) -> list[Column]:
        """Return the keys of a frame or series, as they are sorted.

        Raises
        ------
        ValueError
            If a user's function does not return one value a row.
        """
        found = self.keys.series(frame)
        if self.key is None:
            return found
        labels = isinstance(self.keys, IndexLevels)
        given = len(self.keys.numbers) if isinstance(self.keys, IndexLevels) else len(found)
        mapped = [_mapped(frame, column, self.key, labels) for column in found[:given]]
        return mapped + found[given:]

    def arguments(self, columns: Sequence[Column]) -> dict[str, Any]:
        """Return keys, and how they are ordered, as `kernels.argsort` takes them."""
        keys, nulls = [], []
        for column in columns:
            values, null = library_of(column).sort_key(column)
            keys.append(values)
            nulls.append(null)
        return {
            "keys": keys,
            "nulls": nulls,
            "descending": list(map(not_, self.ascending)),
            "nulls_first": self.nulls_first,
        }

    def argsort(self, columns: Sequence[Column]) -> Values:
        """Return the positions of rows in the order of keys; equal ones stay as they are."""
        return kernels.argsort(**self.arguments(columns))

    def starts_with_index(self) -> bool:
        """Return whether the first key is the first level of the index as it is, ascending, with nulls last."""
        keys = self.keys
        if isinstance(keys, IndexLevels):
            first = (keys.numbers + keys.remaining)[0] == 0
        else:
            first = bool(keys.columns) and keys.columns[0] in keys.levels
        return first and self.ascending[0] and self.key is None and not self.nulls_first

    def check(self, meta: Frame) -> None:
        """Raise the errors that an empty frame shows."""
        self.argsort(self.columns(library_of(meta).no_rows(meta)))


def _mapped(frame: Frame, column: Column, key: Callable[[Any], Any], labels: bool) -> Column:
    """Return the answer of a user's function for a key, which it gets as a series, or as an index for labels."""
    library = library_of(frame)
    array = library.copy(library.array(column))
    if labels:
        given = library.key_index([array], [column.name])
    else:
        given = library.series(array, library.index(frame), column.name)
    out = library.as_key(key(given))
    if len(out) != len(column):
        raise ValueError(f"key must return one value a row, found {len(out)} for {len(column)}")
    return out


def sort_rows(frame: Frame, order: Order, ignore_index: bool = False) -> Any:
    """Return the rows of a frame or series in order; with `ignore_index`, they are numbered from 0."""
    with library_of(frame).acquire(frame):
        return sorted_rows(frame, order, order.columns(frame), ignore_index)[0]


def sorted_rows(
    frame: Frame, order: Order, keys: Sequence[Column], new_index: bool = False
) -> tuple[Any, Values]:
    """Return the rows of a frame in the order of its keys, and their places; with a range as index, or their labels."""
    library, arguments = library_of(frame), order.arguments(keys)
    if library.takes_whole_rows(frame):
        positions = kernels.argsort(**arguments)
        out = library.rows(frame, positions)
        return library.reset_index(out, 0, True) if new_index else out, positions
    flat = flat_frame(frame)
    own = _own_keys(flat, order, arguments["keys"])
    others = [array for i, array in enumerate(flat.arrays) if i not in own]
    by, moved = kernels.sort_pairs(values=others, positions=True, **arguments)
    *rest, positions = moved
    left = iter(rest)
    arrays = [by[own[i]] if i in own else next(left) for i in range(len(flat.arrays))]
    index = library.range_index(0, len(frame)) if new_index else None
    return flat.rebuild(arrays, positions, index), positions


def _own_keys(flat: FlatFrame, order: Order, keys: Sequence[Values]) -> dict[int, int]:
    """Return which arrays of a frame are which keys, so that these are not moved twice."""
    if order.key is not None or isinstance(order.keys, IndexLevels):
        return {}
    known = names_of(flat.frame)
    found: dict[int, int] = {}
    for k, name in enumerate(order.keys.columns or known):
        column = flat.columns[known.index(name)] if name in known else None
        if column is not None and column.layout is not None:
            # the key of complex numbers is their ranks
            is_key = flat.arrays[column.start].dtype == keys[k].dtype
            found |= {column.start: k} if is_key else {}
    return found


# --- over partitions ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sample:
    """Some rows of a partition at even distances in its order."""

    schema: Schema
    keys: Frame
    places: Values
    """Places of these rows among the sorted rows of the partition, on the host."""
    count: int
    """Rows of the partition."""

    @property
    def weight(self) -> float:
        """Return how many rows one sampled row stands for."""
        return self.count / max(len(self.places), 1)


@dataclass(frozen=True)
class Splitters:
    """The rows that begin new partitions, from the second on, in order."""

    keys: Frame
    partitions: Values
    """The partitions that they came from."""
    places: Values
    """Their places among the sorted rows of these."""


def sample(frame: Frame, order: Order, partitions: int) -> Sample:
    """Return a sample of the keys of a partition, one of `partitions`."""
    library = library_of(frame)
    with library.acquire(frame):
        columns = order.columns(frame)
        positions = order.argsort(columns)
        count = len(positions)
        size = min(count, SAMPLES_A_PARTITION * partitions, max(SAMPLES // partitions, 1))
        places = (2 * np.arange(size) + 1) * count // max(2 * size, 1)
        rows = positions[library.xp.asarray(places)]
        keys = _frame(library, [library.take(library.array(c), rows) for c in columns])
        return Sample(schema_of_columns(columns), keys, places, count)


def splitters(samples: Sequence[Sample], order: Order) -> Splitters:
    """Return the splitters of as many partitions as there are samples.

    Raises
    ------
    ValueError
        If partitions have keys of other dtypes or other categories.
    """
    common_schema([s.schema for s in samples])
    _check_categories([library_of(s.keys).columns(s.keys) for s in samples], samples[0].schema)
    library = library_of(samples[0].keys)
    count, rows = len(samples), sum(s.count for s in samples)
    if not rows:  # any cut will do
        nowhere = np.zeros(count - 1, np.int64)
        return Splitters(samples[0].keys, nowhere, nowhere)
    arrays = concatenated(library, [s.keys for s in samples])
    at = np.asarray(order.argsort([library.as_column(a) for a in arrays]).tolist(), np.int64)
    sizes = [len(s.places) for s in samples]
    weights = np.repeat([s.weight for s in samples], sizes)[at]
    ranks = np.cumsum(weights) - weights / 2
    borders = rows * np.arange(1, count) / count
    chosen = at[np.minimum(np.searchsorted(ranks, borders), len(at) - 1)]
    taken = [library.take(a, library.xp.asarray(chosen)) for a in arrays]
    partitions = np.repeat(np.arange(count), sizes)
    places = np.concatenate([s.places for s in samples])
    return Splitters(_frame(library, taken), partitions[chosen], places[chosen])


def _check_categories(columns: Sequence[Sequence[Column]], schema: Schema) -> None:
    """Raise an error unless keys have the same categories in all partitions, because these define the order."""
    for name, (first, *others) in zip(schema.names, zip(*columns, strict=True), strict=True):
        known = getattr(first.dtype, "categories", None)
        if known is not None and any(not known.equals(o.dtype.categories) for o in others):
            raise ValueError(
                f"partitions do not match: column {name!r} has other categories in some; give all of them "
                f"the same with cat.set_categories first"
            )


def split(
    frame: Frame, order: Order, found: Splitters, partition: int, new_index: bool = False
) -> PartitionSlices:
    """Return the pieces of a partition between splitters, each in order; `partition` is its own number."""
    library = library_of(frame)
    with library.acquire(frame):
        columns = order.columns(frame)
        ordered, positions = sorted_rows(frame, order, columns, new_index)
        bounds = [0, *_bounds(columns, positions, order, found, partition), len(positions)]
    return PartitionSlices.of(ordered, list(pairwise(bounds)))


def _bounds(
    columns: list[Column], positions: Values, order: Order, found: Splitters, partition: int
) -> list[int]:
    """Return how many rows of a partition come before each splitter.

    Rows with the keys of a splitter come before it if they do so in the order of partitions. A splitter is looked up
    among some rows at even distances, and then among all rows between the two nearest ones.
    """
    count, many = len(positions), len(found.partitions)
    if not count or not many:
        return [0] * many
    xp = library_of(columns[0]).xp
    step = max(int((count / (2 * many)) ** 0.5), 1)
    rows = xp.arange(0, count, step)
    before = _ranks(columns, positions[rows], order, found)
    if step > 1:
        nearest = xp.unique(xp.maximum(before - 1, 0)) * step
        rows = (nearest[:, None] + xp.arange(step)).ravel()
        rows = rows[rows < count]
        inner = _ranks(columns, positions[rows], order, found)
        before = xp.where(inner > 0, rows[xp.maximum(inner - 1, 0)] + 1, 0)
    lower, upper = np.asarray(before.tolist(), np.int64).reshape(2, many)
    outer = np.where(found.partitions > partition, upper, lower)
    own = np.clip(found.places, lower, upper)  # its place, unless other rows were read this time
    return np.where(found.partitions == partition, own, outer).tolist()  # type: ignore[no-any-return]


def _ranks(columns: list[Column], rows: Values, order: Order, found: Splitters) -> Values:
    """Return how many of some sorted rows are less than each splitter, and how many are not greater."""
    library = library_of(columns[0])
    xp, many, joined = library.xp, len(found.partitions), []
    for column, splitter in zip(columns, library.columns(found.keys), strict=True):
        around, own = library.array(splitter), library.take(library.array(column), rows)
        joined.append(library.as_column(library.concatenate([around, own, around])))
    sorted_rows = order.argsort(joined)
    before = xp.cumsum((sorted_rows >= many) & (sorted_rows < many + len(rows)))
    ranks = xp.empty_like(before)
    ranks[sorted_rows] = before
    return xp.concatenate([ranks[:many], ranks[many + len(rows) :]])


def _frame(library: Library, arrays: list[Array]) -> Frame:
    return library.frame(arrays, range(len(arrays)), library.range_index(0, len(arrays[0])))


def concatenated(library: Library, frames: Sequence[Frame]) -> list[Any]:
    """Return the columns of frames, one after the other, as arrays."""
    by_column = zip(*(library.columns(f) for f in frames), strict=True)
    return [library.concatenate([library.array(c) for c in each]) for each in by_column]
