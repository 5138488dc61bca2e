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

    def series(self, library: Library, frame: Frame) -> list[Column]:
        """Return the keys of a frame or series, in order."""
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

    def columns(self, library: Library, frame: Frame) -> list[Column]:
        """Return the keys of a frame or series, as they are sorted.

        Raises
        ------
        ValueError
            If a user's function does not return one value a row.
        """
        found = self.keys.series(library, frame)
        if self.key is None:
            return found
        labels = isinstance(self.keys, IndexLevels)
        given = len(self.keys.numbers) if isinstance(self.keys, IndexLevels) else len(found)
        mapped = [_mapped(library, frame, column, self.key, labels) for column in found[:given]]
        return mapped + found[given:]

    def arguments(self, library: Library, columns: Sequence[Column]) -> dict[str, Any]:
        """Return keys, and how they are ordered, as `kernels.argsort` takes them."""
        keys, nulls = [], []
        for column in columns:
            values, null = library.sort_key(column)
            keys.append(values)
            nulls.append(null)
        return {
            "keys": keys,
            "nulls": nulls,
            "descending": list(map(not_, self.ascending)),
            "nulls_first": self.nulls_first,
        }

    def argsort(self, library: Library, columns: Sequence[Column]) -> Values:
        """Return the positions of rows in the order of keys; equal ones stay as they are."""
        return kernels.argsort(**self.arguments(library, columns))

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
        library = library_of(meta)
        self.argsort(library, self.columns(library, library.no_rows(meta)))


def _mapped(
    library: Library, frame: Frame, column: Column, key: Callable[[Any], Any], labels: bool
) -> Column:
    """Return the answer of a user's function for a key, which it gets as a series, or as an index for labels."""
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
    library = library_of(frame)
    with library.acquire(frame):
        return sorted_rows(library, frame, order, order.columns(library, frame), ignore_index)[0]


def sorted_rows(
    library: Library, frame: Frame, order: Order, keys: Sequence[Column], new_index: bool = False
) -> tuple[Any, Values]:
    """Return the rows of a frame in the order of its keys, and their places; with a range as index, or their labels."""
    arguments = order.arguments(library, keys)
    if library.takes_whole_rows(frame):
        positions = kernels.argsort(**arguments)
        return _whole_rows(library, frame, positions, new_index), positions
    flat = flat_frame(library, frame)
    own = _own_keys(flat, order, arguments["keys"])
    others = [array for i, array in enumerate(flat.arrays) if i not in own]
    by, moved = kernels.sort_pairs(values=others, positions=True, **arguments)
    *rest, positions = moved
    left = iter(rest)
    arrays = [by[own[i]] if i in own else next(left) for i in range(len(flat.arrays))]
    index = library.range_index(0, len(frame)) if new_index else None
    return flat.rebuild(arrays, positions, index), positions


def _whole_rows(library: Library, frame: Frame, positions: Values, new_index: bool) -> Frame:
    out = library.rows(frame, positions)
    return library.reset_index(out, 0, True) if new_index else out


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

    library: Library
    schema: Schema
    keys: list[Array]
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

    keys: list[Array]
    partitions: Values
    """The partitions that they came from."""
    places: Values
    """Their places among the sorted rows of these."""


def sample(frame: Frame, order: Order, partitions: int) -> Sample:
    """Return a sample of the keys of a partition, one of `partitions`."""
    library = library_of(frame)
    with library.acquire(frame):
        columns = order.columns(library, frame)
        positions = order.argsort(library, columns)
        count = len(positions)
        size = min(count, SAMPLES_A_PARTITION * partitions, max(SAMPLES // partitions, 1))
        places = (2 * np.arange(size) + 1) * count // max(2 * size, 1)
        rows = positions[library.xp.asarray(places)]
        keys = [library.take(library.array(c), rows) for c in columns]
        return Sample(library, schema_of_columns(columns), keys, places, count)


def splitters(samples: Sequence[Sample], order: Order) -> Splitters:
    """Return the splitters of as many partitions as there are samples.

    Raises
    ------
    ValueError
        If partitions have keys of other dtypes or other categories.
    """
    common_schema([s.schema for s in samples])
    library, of_keys = samples[0].library, list(zip(*(s.keys for s in samples), strict=True))
    _check_categories(of_keys, samples[0].schema)
    count, rows = len(samples), sum(s.count for s in samples)
    if not rows:  # any cut will do
        nowhere = np.zeros(count - 1, np.int64)
        return Splitters(samples[0].keys, nowhere, nowhere)
    arrays = [library.concatenate(list(each)) for each in of_keys]
    columns = [library.as_column(a) for a in arrays]
    at = np.asarray(order.argsort(library, columns).tolist(), np.int64)
    sizes = [len(s.places) for s in samples]
    weights = np.repeat([s.weight for s in samples], sizes)[at]
    ranks = np.cumsum(weights) - weights / 2
    borders = rows * np.arange(1, count) / count
    chosen = at[np.minimum(np.searchsorted(ranks, borders), len(at) - 1)]
    taken = [library.take(a, library.xp.asarray(chosen)) for a in arrays]
    partitions = np.repeat(np.arange(count), sizes)
    places = np.concatenate([s.places for s in samples])
    return Splitters(taken, partitions[chosen], places[chosen])


def _check_categories(of_keys: Sequence[Sequence[Array]], schema: Schema) -> None:
    """Raise an error unless keys have the same categories in all partitions, because these define the order."""
    for name, arrays in zip(schema.names, of_keys, strict=True):
        known, *others = [getattr(array.dtype, "categories", None) for array in arrays]
        if known is not None and not all(map(known.equals, others)):
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
        columns = order.columns(library, frame)
        count, many = len(columns[0]), len(found.partitions)
        has_both = count and len(found.keys[0])
        if has_both and library.takes_whole_rows(frame):  # one sort of few rows finds all
            every, counts = _ranks(library, columns, None, order, found)
            positions = every[(every >= many) & (every < many + count)] - many
            ordered = _whole_rows(library, frame, positions, new_index)
        else:
            ordered, positions = sorted_rows(library, frame, order, columns, new_index)
            counts = np.zeros(2 * many, np.int64)
            if has_both:
                counts = _counts(library, columns, positions, order, found)
        inner = _bounds(np.asarray(counts.tolist(), np.int64), found, partition)
    return PartitionSlices.of(ordered, list(pairwise([0, *inner, count])))


def _bounds(counts: Values, found: Splitters, partition: int) -> list[int]:
    """Return how many rows of a partition come before each splitter, given the answer of `_counts`.

    Rows with the keys of a splitter come before it if they do so in the order of partitions.
    """
    lower, upper = counts.reshape(2, len(found.partitions))
    outer = np.where(found.partitions > partition, upper, lower)
    own = np.clip(found.places, lower, upper)  # its place, unless other rows were read this time
    return np.where(found.partitions == partition, own, outer).tolist()  # type: ignore[no-any-return]


def _counts(
    library: Library, columns: list[Column], positions: Values, order: Order, found: Splitters
) -> Values:
    """Return how many rows of a partition are less than each splitter, and how many are not greater.

    A splitter is looked up among some rows at even distances, and then among all rows between the two nearest ones.
    """
    xp, count, many = library.xp, len(positions), len(found.partitions)
    step = max(int((count / (2 * many)) ** 0.5), 1)
    rows = xp.arange(0, count, step)
    _, before = _ranks(library, columns, positions[rows], order, found)
    if step == 1:
        return before
    nearest = xp.unique(xp.maximum(before - 1, 0)) * step
    rows = (nearest[:, None] + xp.arange(step)).ravel()
    rows = rows[rows < count]
    _, inner = _ranks(library, columns, positions[rows], order, found)
    return xp.where(inner > 0, rows[xp.maximum(inner - 1, 0)] + 1, 0)


def _ranks(
    library: Library, columns: list[Column], rows: Values | None, order: Order, found: Splitters
) -> tuple[Values, Values]:
    """Return the order of some rows, or of all, and how many are less than each splitter, and how many not greater.

    In that order, the splitters are rows, too: those before the rows are less, those behind them not greater.
    """
    xp, many, joined = library.xp, len(found.partitions), []
    for column, around in zip(columns, found.keys, strict=True):
        own = library.array(column)
        own = own if rows is None else library.take(own, rows)
        both = library.concatenate([around, own, around])
        joined.append(library.as_column(both, column.name))
    count = len(columns[0]) if rows is None else len(rows)
    sorted_rows = order.argsort(library, joined)
    before = xp.cumsum((sorted_rows >= many) & (sorted_rows < many + count))
    ranks = xp.empty_like(before)
    ranks[sorted_rows] = before
    return sorted_rows, xp.concatenate([ranks[:many], ranks[many + count :]])
