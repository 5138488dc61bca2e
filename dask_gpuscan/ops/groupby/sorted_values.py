"""Reductions of the sorted values of groups: quantiles and the number of distinct values.

The values of groups whose rows are adjacent are sorted within each group in one segmented sort.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import kernels
from ...frames.key_values import words_of
from ...frames.keys import key_arrays
from ...frames.messages import HINT
from ...frames.protocol import Library
from ...frames.registry import library_of, stored_numbers
from ...frames.types import Array, ArrayModule, Column, DType, GroupIds, Values
from ...kernels.keys import count_distinct
from ...kernels.late_dataclass import dataclass
from ...kernels.messages import shown
from ...kernels.scalars import is_number
from ...kernels.sorted_values import sorted_quantiles
from ..core.groups import INT64
from ..statistics.groups import FLOAT64
from ..statistics.inputs import cast_to_answer
from .spec import GroupBySpec
from .whole_groups import CodeRuns, ListOfValues, WholeGroupReduction

WORD = 8
"""Bytes of a word."""


@dataclass(frozen=True)
class SortedValues:
    """The values of groups, in order within each."""

    library: Library
    values: Values
    starts: Values
    """Where each group starts."""
    counts: Values
    """How many values of each group are not null; these come first."""
    may_lack: bool = False
    """Whether a group may have no value."""


class SortedReduction(WholeGroupReduction):
    """A reduction of the sorted values of each group."""

    def numbers(self, column: Column) -> Values:
        """Return the array whose elements are sorted; its values at nulls do not matter."""
        raise NotImplementedError

    qs: tuple[float, ...] = ()
    """The quantiles that the answer is read from; all values, if there are none."""

    def answer(self, found: SortedValues, dtype: DType) -> tuple[Values, Values | None]:
        """Return the answers of groups, and where they are null."""
        raise NotImplementedError

    def takes_numbers(self, columns: Sequence[Column]) -> bool:
        (column,) = columns
        return len(column) > 0 and library_of(column).missing(column) is None

    def reduce_numbers(self, columns: Sequence[Column], ids: GroupIds, runs: CodeRuns) -> Any:
        (column,) = columns
        (values,), (codes,) = kernels.sort_pairs(self.numbers(column), ids.array)
        (codes,), (values,) = kernels.sort_pairs(codes, values)
        runs.find(codes)
        found = SortedValues(library_of(column), values, runs.starts, runs.counts)
        answers, _ = self.answer(found, self.dtype(columns))
        return self._wrapped(columns, answers, None)

    def _answers(self, column: Column, array: Array, starts: Values) -> Any:
        found = self._sorted(column, array, starts)
        values, missing = self.answer(found, self.dtype([column]))
        if not found.may_lack or (missing is not None and not bool(missing.any())):
            missing = None
        return self._wrapped([column], values, missing)

    def _wrapped(self, columns: Sequence[Column], values: Values, missing: Values | None) -> Any:
        library, dtype = library_of(columns[0]), self.dtype(columns)
        layout = library.layout(dtype)
        assert layout is not None
        return layout.wrap(values.astype(layout.storage(dtype)), missing, dtype)

    def _sorted(self, column: Column, array: Array, starts: Values) -> SortedValues:
        library = library_of(column)
        xp, column = library.xp, library.as_column(array, column.name)
        missing, values = library.missing(column), self.numbers(column)
        offsets = xp.append(starts, xp.asarray([len(values)], INT64))
        counts = offsets[1:] - offsets[:-1]
        nulls = None
        if missing is not None:
            # NaN is last anyway, and NumPy sorts such values
            layout = library.layout(array.dtype)
            are_nan = values.dtype.kind == "f" and layout is not None and layout.nulls == "in band"
            nulls = None if are_nan else kernels.byte_mask(missing)
            before = xp.append(xp.zeros(1, INT64), xp.cumsum(missing, dtype=INT64))[offsets]
            counts = counts - (before[1:] - before[:-1])
        if len(values):  # then each group has a row
            (values,), _ = kernels.sort_pairs(
                values,
                offsets=offsets,
                nulls=[nulls],
                kth=(counts, self.qs) if self.qs else None,
                check=False,
            )
        may_lack = missing is not None or not len(values)
        return SortedValues(library, values, starts, counts, may_lack)


@dataclass(frozen=True)
class CountDistinct(SortedReduction):
    """The number of distinct values in each group; with `dropna`, nulls are not counted."""

    dropna: bool = True
    name = "nunique"

    def of_nothing(self, columns: Sequence[Column]) -> Any:
        return self._wrapped(columns, library_of(columns[0]).xp.zeros(1, INT64), None)

    def _dtype(self, library: Library, dtype: DType) -> Any:
        return library.group_dtype("nunique", dtype)

    def numbers(self, column: Column) -> Values:
        library = library_of(column)
        values = key_arrays(library, [column]).arrays[0]
        if values.dtype.kind == "c":  # complex numbers have no order
            return library.dense_group_ids([library.array(column)]).array
        return values

    def _answers(self, column: Column, array: Array, starts: Values) -> Any:
        library = library_of(column)
        own = library.as_column(array)
        values = self.numbers(own)
        are_words = values.dtype.kind in "biufmM" and values.itemsize <= WORD
        if library.xp is not np or not are_words or not len(starts):
            return super()._answers(column, array, starts)
        missing = library.missing(own)
        ends = np.append(starts, len(values))
        are_floats = values.dtype.kind == "f"
        words = values.astype(FLOAT64, copy=False) if are_floats else words_of(values)
        distinct = count_distinct(words, ends, missing)
        if missing is not None and not self.dropna:
            distinct += np.logical_or.reduceat(missing, starts)
        return self._wrapped([column], distinct, None)

    def answer(self, found: SortedValues, dtype: DType) -> tuple[Values, Values | None]:
        xp, starts, counts = found.library.xp, found.starts, found.counts
        if not len(found.values):
            return xp.zeros(len(starts), INT64), None
        heads = kernels.head_flags(found.values)
        heads[starts] = True
        known = xp.cumsum(heads, dtype=INT64)
        distinct = known[starts + counts - 1] - known[starts] + 1
        if not found.may_lack:
            return distinct, None
        distinct = xp.where(counts > 0, distinct, 0)
        if not self.dropna:
            ends = xp.append(starts[1:], xp.asarray([len(found.values)], INT64))[: len(starts)]
            distinct = distinct + (starts + counts < ends)
        return distinct, None


@dataclass(frozen=True)
class Quantiles(SortedReduction):
    """One quantile of each group or several, one after the other."""

    qs: tuple[float, ...] = ()
    interpolation: str = "linear"
    method: str = "quantile"
    """The library's method that gives the dtype of the answer."""

    @property
    def name(self) -> str:
        return self.method

    def _dtype(self, library: Library, dtype: DType) -> Any:
        layout = library.layout(dtype)
        if layout is None or layout.storage(dtype).kind not in "biuf":
            raise TypeError(f"dtype {dtype} has no quantiles; {HINT}")
        options = {"interpolation": self.interpolation} if self.method == "quantile" else {}
        found = library.group_dtype(self.method, dtype, **options)
        # pandas says int64, which does not hold the larger half of these numbers
        return dtype if dtype == np.uint64 and found == INT64 else found

    def numbers(self, column: Column) -> Values:
        is_time = column.dtype.kind in "mM"
        return stored_numbers(cast_to_answer(self.method, column) if is_time else column)

    def answer(self, found: SortedValues, dtype: DType) -> tuple[Values, Values | None]:
        xp, values, counts = found.library.xp, found.values, found.counts
        out = [self._at(xp, values, found.starts, counts, q, dtype) for q in self.qs]
        if len(out) == 1:
            return out[0], counts == 0
        if not len(counts):
            return out[0], None
        return xp.stack(out, axis=1).ravel(), xp.repeat(counts == 0, len(self.qs))

    def _at(
        self,
        xp: ArrayModule,
        values: Values,
        starts: Values,
        counts: Values,
        q: float,
        dtype: DType,
    ) -> Values:
        """Return one quantile of each group; any number for a group without values."""
        if not len(values):
            return xp.zeros(len(starts), values.dtype)
        midpoint = self.interpolation == "midpoint"
        if self.interpolation in ("linear", "midpoint") and dtype.kind not in "mM":
            return sorted_quantiles(values, starts, counts, q, midpoint=midpoint)
        lower, part = _place(xp, counts, q)
        at = xp.minimum(starts + lower, len(values) - 1)
        behind = xp.minimum(at + (part > 0), len(values) - 1)
        below, above = (
            kernels.take(values, at, check=False),
            kernels.take(values, behind, check=False),
        )
        if values.dtype.kind == "f":  # a selection may find either of two zeros of different signs
            below, above = below + 0, above + 0
        if self.interpolation == "lower":
            return below
        if self.interpolation == "higher":
            return above
        if self.interpolation == "nearest":  # of two equally near values, the one at an even place
            return xp.where((part > 0.5) | ((part == 0.5) & (lower % 2 == 1)), above, below)
        return _between_times(xp, below, above, part, midpoint)


def _place(xp: ArrayModule, counts: Values, q: float) -> tuple[Values, Values]:
    """Return where a quantile of each group is: a position in the group, and how far it is to the next one."""
    place = q * xp.maximum(counts - 1, 0).astype(FLOAT64)
    lower = place.astype(INT64)
    return lower, place - lower


def _between_times(
    xp: ArrayModule, below: Values, above: Values, part: Values, midpoint: bool
) -> Values:
    """Return integers between two others, rounded towards zero as by pandas, without floats, which cannot hold them."""
    if midpoint:
        floor = (below >> 1) + (above >> 1) + (below & above & 1)
        odd = ((below ^ above) & 1).astype(bool)
        return xp.where(part > 0, floor + ((floor < 0) & odd), below)
    exact = (above - below) * part
    whole = xp.floor(exact)
    out = below + whole.astype(INT64)
    return out + ((out < 0) & (exact > whole))


@dataclass(frozen=True)
class QuantilesSpec(GroupBySpec):
    """A group-by to several quantiles of each group, which are the last level of the index."""

    qs: tuple[float, ...] = ()

    def index_of_groups(self, library: Library, keys: list[Array]) -> Any:
        xp, count, each = library.xp, len(keys[0]), len(self.qs)
        groups = xp.repeat(xp.arange(count, dtype=INT64), each)
        level = library.from_floats(xp.tile(xp.asarray(self.qs, FLOAT64), count))
        return library.key_index(
            [*(library.take(a, groups) for a in keys), level], [*self.by.columns, None]
        )

    def take_groups(self, library: Library, array: Array, groups: Values) -> Any:
        each = len(self.qs)
        rows = groups[:, None] * each + library.xp.arange(each, dtype=INT64)
        return library.take(array, rows.ravel())


MEDIAN = Quantiles((0.5,), "midpoint", "median")

_EVERY: tuple[WholeGroupReduction, ...] = (MEDIAN, CountDistinct(), ListOfValues())

WHOLE_GROUPS = {r.name: r for r in _EVERY}
"""The reductions of whole groups that `agg` takes by name."""


def checked_quantiles(q: Any, title: str = "q") -> tuple[tuple[float, ...], bool]:
    """Return quantiles, and whether there is only one.

    Raises
    ------
    TypeError
        If `q` is neither a number nor several.
    ValueError
        If one is not between 0 and 1, or if the list is empty.
    """
    several = isinstance(q, Sequence) and not isinstance(q, str)
    several = several or getattr(q, "ndim", 0) == 1
    qs = list(q) if several else [q]
    for one in qs:
        if not is_number(one):
            raise TypeError(
                f"{title} must be a number between 0 and 1 or a list of them, found {shown(q)}"
            )
        if not 0 <= one <= 1:
            raise ValueError(f"{title} must be between 0 and 1, found {shown(one)}")
    if not qs:
        raise ValueError(f"{title} must hold at least one quantile, found none")
    return tuple(map(float, qs)), not several
