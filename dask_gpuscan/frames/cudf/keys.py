"""Columns of cuDF as keys: which are equal, their numbers, their hashes and their order."""

from __future__ import annotations

import secrets
from collections.abc import Hashable, Sequence
from functools import lru_cache, partial
from typing import Any

import cudf
import cupy as cp
import numpy as np
import pylibcudf as plc
from cudf.core.column import ColumnBase

from ... import kernels
from ...kernels import BUILT_IN, Nulls, Operator
from ...kernels.keys import factorize_words
from ..key_values import words_of
from ..keys import mixed_group_ids, paired_group_ids, shared_group_ids
from ..messages import column_title
from ..types import DType, GroupIds, Values, View
from .layouts import LAYOUT, gathered, layout_of, nulls_of, view_of


class CudfGrouping:
    """Group ids and hashes of keys, and cuDF's own reductions."""

    def factorize(self, column: cudf.Series) -> tuple[Values, Nulls]:
        if isinstance(column.dtype, cudf.CategoricalDtype):
            view = view_of(column._column.codes)
            return view.values, view.nulls
        return _encoded(column._column).array, None

    def has_nan_apart(self, column: cudf.Series) -> bool:
        return False

    def leaves_groups(self, keys: list[DType], dtypes: list[DType], method: str) -> bool:
        return True

    def is_plain(self, frame: cudf.DataFrame) -> bool:
        return True

    def reduces_groups(
        self,
        frame: cudf.DataFrame,
        keys: list[cudf.Series],
        dtypes: list[DType],
        methods: Sequence[str],
    ) -> bool:
        return False

    def dense_group_ids(self, arrays: list[ColumnBase]) -> GroupIds:
        return range_group_ids(arrays) or sorted_group_ids(arrays)

    def shared_group_ids(
        self, arrays: list[ColumnBase], others: list[ColumnBase]
    ) -> tuple[GroupIds, GroupIds] | None:
        most = _most_ids(len(arrays[0]) + len(others[0]))
        return shared_group_ids(arrays, others, _ends, _range_ids, most)

    def number_keys(self, array: ColumnBase) -> None:
        return None  # joining columns costs little

    def own_group_ids(self, array: ColumnBase) -> None:
        return None  # joining columns costs little

    def inferred(self, array: ColumnBase) -> ColumnBase:
        return array

    def hash_rows(self, columns: list[Any]) -> Values:
        frame = cudf.DataFrame()
        for i, column in enumerate(columns):
            series = cudf.Series._from_column(column._column)
            if isinstance(column.dtype, cudf.CategoricalDtype):  # their codes differ by partition
                series = series.astype(column.dtype.categories.dtype)
            frame[i] = series
        return view_of(frame.hash_values(method="xxhash64")._column).values

    def group_reduce(
        self, method: str, column: cudf.Series, ids: Values, exact: bool = False
    ) -> ColumnBase:
        plain = cudf.Series._from_column(column._column)
        return getattr(plain.groupby(cudf.Series(ids)), method)().sort_index()._column

    def first_last(self, array: ColumnBase) -> ColumnBase:
        return array


ROOM = 8
"""The most group ids a row, so that ids have few digits."""

FEW = 1 << 16
"""The most group ids for any number of rows."""


HASHED_FROM = 1 << 22
"""Rows from which on strings are numbered by their hashes, which takes 2 ms for any number.

A sum by 10**3 and 10**6 strings on an H100, milliseconds, by cuDF's numbers and by hashes: of 2**20 rows 3.0, 4.8 and
7.1, 8.7; of 2**24 11.4, 10.0 and 26.3, 15.5."""

SEED = secrets.randbits(64)
"""Where hashes of strings begin, so that nobody can choose strings whose hashes are equal."""

_LEAST, _MOST = BUILT_IN["minimum"], BUILT_IN["maximum"]

_RANGE = Operator(
    lambda a, b: (min(a[0], b[0]), max(a[1], b[1])),
    lambda dtype: (_LEAST.identity_for(dtype), _MOST.identity_for(dtype)),
    lambda x: (x, x),
    name="range",
)
"""Finds the least and the greatest number."""


@lru_cache(maxsize=1)
def _differences() -> Any:
    return cp.ElementwiseKernel(
        "T value, T low",
        "int32 code",
        "code = (unsigned int)value - (unsigned int)low",
        "differences",
    )


@lru_cache(maxsize=1)
def _sums() -> Any:
    # if the sum fits its type, unsigned arithmetic gives it, whatever the signs
    text = "key = (T)((unsigned long long)code + (unsigned long long)low)"
    return cp.ElementwiseKernel("C code, T low", "T key", text, "sums")


def range_group_ids(arrays: Sequence[ColumnBase]) -> GroupIds | None:
    """Return group ids that are equal where the rows of all arrays are.

    None if an array holds no integers, or the ranges are too wide for the number of rows.
    """
    return mixed_group_ids(arrays, _range_ids, _most_ids(len(arrays[0])))


def _most_ids(rows: int) -> int:
    return min(max(ROOM * rows, FEW), np.iinfo(np.int32).max)


def sorted_group_ids(arrays: Sequence[ColumnBase]) -> GroupIds:
    """Return group ids that are equal where the rows of all arrays are, from sorts of these.

    A single array must have no ids by its range.
    """
    most, alone = _most_ids(len(arrays[0])), len(arrays) == 1
    words = [array for array in arrays if _in_words(array)]
    found = [(None if alone else _range_ids(array, most)) or _word_ids(array) for array in words]
    others = [array for array in arrays if not _in_words(array)]
    many = len(arrays[0]) >= HASHED_FROM and len(others) == 1
    if many and others[0].plc_column.type().id() == plc.TypeId.STRING:
        found.append(_text_ids(others[0]))
    elif others:
        found.append(_encoded(*others))
    return paired_group_ids(found, most, _numbered)


def _in_words(array: ColumnBase) -> bool:
    """Return whether values, or the codes of categories, are numbers or times of at most 8 bytes."""
    if isinstance(array.dtype, cudf.CategoricalDtype):
        return True
    return LAYOUT.matches(array.dtype) and LAYOUT.storage(array.dtype).kind in "biufmM"


def _word_ids(array: ColumnBase) -> GroupIds:
    """Return group ids of one array, by the words of its values."""
    view = view_of(array.codes if isinstance(array.dtype, cudf.CategoricalDtype) else array)
    found = _numbered(words_of(view.values, 4))
    if view.nulls is None:
        return found
    found.array[view.missing()] = found.groups
    return GroupIds(found.array, found.groups + 1)


def _text_ids(array: ColumnBase) -> GroupIds:
    """Return group ids of strings, by their hashes: each string is compared with the first one of its group.

    The hashes begin with a number that each process chooses at random; if two strings share a hash, cuDF numbers all.
    """
    hashes = plc.hashing.xxhash_64(plc.Table([array.plc_column]), SEED)
    found = _numbered(view_of(ColumnBase.create(hashes, np.dtype(np.uint64))).values)
    assert found.first_rows is not None
    (first,) = gathered([array], found.first_rows[found.array])
    if not array.equals(first):
        return _encoded(array)
    if not array.null_count:
        return found
    valid = ColumnBase.create(plc.unary.is_valid(array.plc_column), np.dtype(np.bool_))
    found.array[~view_of(valid).values] = found.groups
    return GroupIds(found.array, found.groups + 1)


def _numbered(words: Values) -> GroupIds:
    codes, first = factorize_words(words)
    return GroupIds(codes, len(first), first_rows=first)


def _encoded(*arrays: ColumnBase) -> GroupIds:
    """Return group ids of arrays of any dtypes, by cuDF."""
    _, found = plc.transform.encode(plc.Table([a.plc_column for a in arrays]))
    codes = view_of(ColumnBase.create(found, np.dtype(np.int32))).values
    return GroupIds(codes, int(codes.max()) + 1 if len(codes) else 0)


def _ends(array: ColumnBase) -> tuple[int, int] | None:
    """Return the least and the greatest value of an array without nulls; None if it holds no integers."""
    view = _integers(array)
    return None if view is None or view.nulls is not None else _value_range(view)


def _integers(array: ColumnBase) -> View | None:
    """Return the values of an array that holds integers, times or bool, and their nulls; else None."""
    if layout_of(array.dtype) is None:
        return None
    view = view_of(array)
    if view.values.dtype.kind == "b":
        view = View(view.values.view(np.uint8), *view[1:])
    return view if view.values.dtype.kind in "iu" else None


def _value_range(view: View) -> tuple[int, int]:
    """Return the least and the greatest value; the greatest is less than the least if there are no values."""
    low, high = map(int, kernels.reduce(_RANGE, view.values, nulls=view.nulls))
    return low, high


def _range_ids(
    array: ColumnBase, most: int, ends: tuple[int, int] | None = None
) -> GroupIds | None:
    """Return group ids of one array; None if there would be more than `most`.

    Its values are from the first to the second of `ends`, if these are known.
    """
    dtype = array.dtype
    is_category = isinstance(dtype, cudf.CategoricalDtype)
    view = _integers(array.codes if is_category else array)
    if view is None:
        return None
    values = view.values
    low, high = ends or _value_range(view)
    if low > high:  # there is no value
        low = high = 0
    span = high - low + 1
    if span >= most:
        return None
    # these keys are their own numbers
    own = values.dtype == np.int32 and view.nulls is None and low >= 0 and high < most
    least = values.dtype.type(0 if own else low)
    keys_of = None if is_category else partial(_keys_from, dtype, least)
    if own:
        return GroupIds(values, high + 1, ordered=True, keys_of=keys_of)
    # if the difference fits its type, unsigned arithmetic gives it, whatever the signs
    codes = _differences()(values, least)
    if view.nulls is None:
        return GroupIds(codes, span, ordered=True, keys_of=keys_of)
    return GroupIds(cp.where(view.missing(), np.int32(span), codes), span + 1)


def _keys_from(dtype: DType, low: Any, codes: Values) -> list[ColumnBase]:
    """Return the keys whose numbers are counted from the least one."""
    stored = cp.ndarray(len(codes), low.dtype)
    _sums()(codes, low, stored)
    return [LAYOUT.wrap(stored.view(LAYOUT.storage(dtype)), None, dtype)]


_NESTED = (cudf.ListDtype, cudf.StructDtype)


class CudfOrdering:
    """Columns of cuDF in order: numbers as they are, others by the ranks of their distinct values."""

    def sort_key(self, column: cudf.Series) -> tuple[Values, Nulls]:
        array: ColumnBase = column._column
        if isinstance(array.dtype, cudf.CategoricalDtype):
            array = array.codes
        if LAYOUT.matches(array.dtype):
            view = LAYOUT.raw(array)
            return view.values, view.nulls
        if isinstance(array.dtype, _NESTED):
            raise TypeError(
                f"{column_title(column)} of dtype {array.dtype} has values without an order; "
                f"leave it out of the keys"
            )
        # the codes number distinct values in their order (libcudf, encode)
        _, codes = plc.transform.encode(plc.Table([array.plc_column]))
        ranks = ColumnBase.create(codes, np.dtype(np.int32))
        return view_of(ranks).values, nulls_of(array) if array.null_count else None

    def rank_values(self, column: cudf.Series) -> cudf.Series:
        return column

    def rank_dtypes(self, frame: cudf.DataFrame, **options: Hashable) -> list[DType]:
        return list(frame.iloc[:0].rank(**options).dtypes)

    def is_monotonic(self, column: cudf.Series, decreasing: bool) -> bool:
        if isinstance(column.dtype, cudf.CategoricalDtype):  # cuDF says False if they have no order
            column = column.cat.codes.astype("int64").fillna(-1)  # the code of pandas' nulls
        return bool(
            column.is_monotonic_decreasing if decreasing else column.is_monotonic_increasing
        )

    def is_column(self, frame: cudf.DataFrame, key: cudf.Series) -> bool:
        return frame[key.name]._column is key._column

    def as_key(self, values: Any) -> cudf.Series:
        return cudf.Series(values)
