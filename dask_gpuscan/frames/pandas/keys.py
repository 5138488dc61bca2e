"""Columns of pandas as keys: which are equal, their numbers, their hashes and their order."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial, reduce
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from ...kernels import InBand, Nulls
from ...kernels.factorize import value_range
from ...kernels.keys import factorize_words, hash_codes
from ..key_values import key_text, key_value, one_nan, words_of
from ..keys import mixed_group_ids, paired_group_ids, shared_group_ids
from ..messages import column_title, first_line
from ..protocol.keys import NumberKeys
from ..types import DType, GroupIds, Values, View
from .arrow import one_chunk
from .decimals import is_decimal
from .layouts import AnyColumn, PandasArray, bare, holds_text, layout_of, series_of, with_null
from .schema import AVERAGES, is_date
from .sortable import decoded, is_dictionary, is_narrow_decimal, sortable, wide_decimals
from .texts import Texts, factorize_text


def comparable(array: PandasArray) -> PandasArray:
    """Return an array whose rows are equal to pandas where keys are: the array itself, if its rows are.

    Objects become numbers, and categories that are the same key become one number.
    """
    if type(array) is np.ndarray and array.dtype.kind in "biumM":
        return array
    array = one_chunk(bare(array))
    dtype = array.dtype
    if isinstance(array, pd.Categorical):
        return _with_distinct_categories(array)
    if isinstance(dtype, pd.ArrowDtype):
        return _comparable_arrow(array)
    if isinstance(dtype, pd.IntervalDtype) and dtype.subtype.kind == "f":
        ends = array.left + 0.0, array.right + 0.0
        return pd.arrays.IntervalArray.from_arrays(*ends, closed=dtype.closed)
    if array.dtype == object:
        return factorize_objects(array)[0]
    if dtype == np.float16:  # pandas cannot group by it
        return array.astype(np.float32)
    if dtype == np.longdouble:  # pandas compares so, too
        return array.astype(np.float64)
    return one_nan(array) if isinstance(dtype, np.dtype) and dtype.kind == "c" else array


def _with_distinct_categories(array: pd.Categorical) -> PandasArray:
    categories = bare(array.categories.array)
    if categories.dtype != object and comparable(categories) is categories:
        return array
    codes, found = factorize(categories)
    return array if len(found) == len(codes) else np.append(codes, -1)[array.codes]


def _comparable_arrow(array: PandasArray) -> PandasArray:
    if is_dictionary(array.dtype):
        return _of_signed_codes(array) if _is_plain(array) else comparable(decoded(array))
    if pa.types.is_float16(array.dtype.pyarrow_dtype):
        wide = array.astype(pd.ArrowDtype(pa.float32()))
        return _comparable_arrow(wide).astype(array.dtype)
    if is_narrow_decimal(array.dtype):
        return wide_decimals(array)
    layout = layout_of(array.dtype) if array.dtype.kind == "f" else None
    if layout is None:
        return array
    view = layout.raw(array)
    return layout.wrap(one_nan(view.values), view, array.dtype)


def _of_signed_codes(array: PandasArray) -> PandasArray:
    """Return an array of Arrow's dictionary with signed codes, for which pandas can write -1 for null."""
    dtype = array.dtype.pyarrow_dtype
    if pa.types.is_signed_integer(dtype.index_type):
        return array
    signed = [
        pa.DictionaryArray.from_arrays(
            c.indices.cast(pa.int64()), c.dictionary, ordered=dtype.ordered
        )
        for c in pa.chunked_array(array.__arrow_array__()).chunks
    ]
    as_type = pa.dictionary(pa.int64(), dtype.value_type, dtype.ordered)
    return type(array)(pa.chunked_array(signed, as_type))


def level_values(array: PandasArray) -> PandasArray:
    """Return an array as one of several levels of an index, in which keys that are the same must be equal to pandas."""
    if bare(array).dtype == object:
        numbers, found = factorize_objects(bare(array))
        # pandas would infer strings or numbers from bare arrays of objects
        return pd.Index(np.append(found, np.nan)[numbers], dtype=object)
    if isinstance(array.dtype, pd.ArrowDtype) or array.dtype == np.longdouble:
        return comparable(array)
    return array


def numbered_level(array: PandasArray) -> tuple[PandasArray, pd.Index]:
    """Return the numbers of values in their order, null where these are, and the values by number."""
    numbers, _ = pd.factorize(comparable(sortable(array)), sort=True)
    found, first = np.unique(numbers, return_index=True)
    return pd.arrays.IntegerArray(numbers, numbers < 0), pd.Index(array.take(first[found >= 0]))


def _is_plain(array: PandasArray) -> bool:
    """Return whether the entries of each chunk's dictionary are different keys and not null."""
    if pa.types.is_floating(array.dtype.pyarrow_dtype.value_type):
        return False
    chunks = pa.chunked_array(array.__arrow_array__()).chunks
    entries = [chunk.dictionary for chunk in chunks]
    return all(not e.null_count and len(e.unique()) == len(e) for e in entries)


def factorize(array: PandasArray) -> tuple[Values, PandasArray]:
    """Return the numbers of keys, -1 for nulls, and one value of each."""
    array = bare(array)
    if array.dtype == object:
        return factorize_objects(array)
    return _factorized(comparable(array))


def _factorized(array: PandasArray) -> tuple[Values, PandasArray]:
    """Factorize an array whose rows are equal where keys are."""
    return factorize_text(array) if holds_text(array.dtype) else pd.factorize(array)


def factorize_objects(array: np.ndarray) -> tuple[Values, np.ndarray]:
    """Factorize objects."""
    codes, found = pd.factorize(array)
    if pd.api.types.infer_dtype(found) == "string":
        return codes, found
    keys = np.fromiter(map(key_value, found), object, len(found))
    of_found, _ = pd.factorize(keys)
    _, first = np.unique(of_found, return_index=True)
    if len(first) == len(found):
        return codes, found
    return np.append(of_found, -1)[codes], found[first]


def key_hashes(array: PandasArray) -> Values:
    """Return a number for each row, equal in every process where keys are, and 0 for most nulls."""
    array = bare(array)
    if isinstance(array, pd.Categorical):
        return _taken(key_hashes(array.categories.array), array.codes)
    if array.dtype == object:
        codes, found = factorize_objects(array)
        texts = [key_text(key_value(value)) for value in found]
        hashes = pd.util.hash_array(np.array(texts, object), categorize=False)
        return _taken(hashes, codes)
    array = sortable(comparable(array))
    layout = layout_of(array.dtype)
    if layout is None:
        return pd.util.hash_pandas_object(pd.Series(array, copy=False), index=False).to_numpy()
    view = layout.raw(array)
    values = view.values
    # the hash of a value must not depend on nulls among the others, as it does in pandas
    hashes = pd.util.hash_array(one_nan(values) if values.dtype.kind == "f" else values)
    return np.where(view.missing(), np.uint64(0), hashes)


def _taken(hashes: Values, codes: Values) -> Values:
    return np.append(hashes, np.uint64(0))[codes]


def parts_keys(array: PandasArray, among_others: bool = False) -> bool:
    """Return whether groups of pandas separate keys that are the same, given in a bare array.

    Among other keys, equal objects may also be shown by another of them: pandas shows the first of all rows, and
    partitions know the first row of each group.
    """
    if array.dtype == object:
        if pd.api.types.infer_dtype(array) in ("string", "empty", "boolean", "date"):
            return False  # equal ones look the same
        if among_others:
            return True
        return len(factorize_objects(array)[1]) < len(pd.factorize(array)[1])
    if isinstance(array.dtype, np.dtype):
        return array.dtype.kind == "c" and bool(np.isnan(array).any())
    array = one_chunk(array)
    found = comparable(array)
    if found is array or isinstance(array.dtype, pd.IntervalDtype):
        return False
    layout = layout_of(array.dtype)
    if layout is None:
        return True
    view, plain = layout.raw(array), layout.raw(found).values
    bits = f"u{plain.itemsize}"
    return bool(((view.values.view(bits) != plain.view(bits)) & ~view.missing()).any())


_ODD = np.uint64(0x9E3779B97F4A7C15)


class PandasGrouping:
    """Group ids and hashes of keys, and pandas' own reductions."""

    def factorize(self, column: AnyColumn) -> tuple[Values, Nulls]:
        try:
            array = comparable(column.array)
            if isinstance(array, pd.Categorical):
                return array.codes.astype(np.int64), None
            return _factorized(array)[0], None
        except (TypeError, pa.ArrowException) as error:
            reason = "" if isinstance(error, pa.ArrowException) else f": {first_line(error)}"
            raise TypeError(
                f"{column_title(column)} of dtype {column.dtype} has values that cannot be hashed{reason}; "
                f"leave it out of the keys, or cast it with astype"
            ) from error

    def dense_group_ids(self, arrays: list[PandasArray]) -> GroupIds:
        found = list(map(bare, arrays))
        return range_group_ids(found) or hashed_group_ids(found)

    def shared_group_ids(
        self, arrays: list[PandasArray], others: list[PandasArray]
    ) -> tuple[GroupIds, GroupIds] | None:
        most = _most_ids(len(arrays[0]) + len(others[0]))
        own, other = ([bare(a) for a in each] for each in (arrays, others))
        return shared_group_ids(own, other, _ends, _range_ids, most)

    def number_keys(self, array: PandasArray) -> NumberKeys | None:
        return number_keys(one_chunk(bare(array)))

    def own_group_ids(self, array: PandasArray) -> GroupIds | None:
        return own_group_ids(bare(array))

    def has_nan_apart(self, column: AnyColumn) -> bool:
        layout = layout_of(column.dtype)
        if (
            layout is None
            or not isinstance(column.dtype, pd.ArrowDtype)
            or column.dtype.kind != "f"
        ):
            return False
        view = layout.raw(column.array)
        return bool((np.isnan(view.values) & ~view.missing()).any())

    def leaves_groups(self, keys: list[DType], dtypes: list[DType], method: str) -> bool:
        known = WIDE_NUMBERS if method in WIDENED else (*WIDE_NUMBERS, FLOAT32)
        others = [dtype for dtype in dtypes if dtype not in known]
        return not others and all(map(_has_own_ids, keys))

    def is_plain(self, frame: pd.DataFrame | pd.Series) -> bool:
        is_own = frame.attrs or type(frame) not in PLAIN or not frame.flags.allows_duplicate_labels
        return not is_own

    def reduces_groups(
        self,
        frame: pd.DataFrame | pd.Series,
        keys: list[AnyColumn],
        dtypes: list[DType],
        methods: Sequence[str],
    ) -> bool:
        arrays = [bare(key.array) for key in keys]
        if any(parts_keys(array, len(arrays) > 1) for array in arrays):
            return False
        known = WIDE_NUMBERS if WIDENED.intersection(methods) else (*WIDE_NUMBERS, FLOAT32)
        others = [dtype for dtype in dtypes if dtype not in known]
        for dtype in others:
            averages_dates = is_date(dtype) and bool(AVERAGES.intersection(methods))
            if averages_dates or _may_wrap_around(dtype, len(arrays[0])):
                return False
        if others or not all(_has_own_ids(key.dtype) for key in keys):
            return True
        return len(arrays[0]) < MANY and not self.is_plain(frame)

    def hash_rows(self, columns: list[AnyColumn]) -> Values:
        hashes = (key_hashes(column.array) for column in columns)
        return reduce(lambda before, own: before * _ODD + own, hashes)

    def group_reduce(
        self, method: str, given: AnyColumn, ids: Values, exact: bool = False
    ) -> PandasArray:
        column = series_of(given)
        if is_narrow_decimal(column.dtype):
            wide = pd.Series(wide_decimals(column.array))
            return bare(self.group_reduce(method, wide, ids).astype(column.dtype))
        is_extreme = method in ("min", "max")
        if exact and is_extreme and column.dtype == object and len(column):
            # with an object among them that is not a number, pandas leaves all as they are
            objects = np.append(column.to_numpy(), np.array([_NO_NUMBER], object))
            beside = pd.Series(objects, dtype=object)
            return self.group_reduce(method, beside, np.append(ids, ids.max() + 1))[:-1]
        array = bare(getattr(column.groupby(ids), method)().array)
        # pandas makes a column of strings of objects that are all strings
        found = column.dtype == object and isinstance(array.dtype, pd.StringDtype)
        return array.astype(object) if found else array

    def inferred(self, array: PandasArray) -> PandasArray:
        array = bare(array)
        return pd.Index(list(array), tupleize_cols=False).array if array.dtype == object else array

    def first_last(self, array: PandasArray) -> PandasArray:
        return with_null(array, None)


def _may_wrap_around(dtype: Any, rows: int) -> bool:
    """Return whether Arrow's own sum of this many decimals may wrap around, or is missing, as for narrow ones."""
    if not is_decimal(dtype):
        return False
    kind = dtype.pyarrow_dtype
    most = 76 if kind.bit_width > 128 else 38
    return bool(kind.bit_width < 128 or kind.precision + len(str(rows)) > most)


_NO_NUMBER = object()

WIDE_NUMBERS = tuple(map(np.dtype, ("int64", "uint64", "float64")))
"""The dtypes of columns whose reductions have the same dtypes in pandas as here, whatever their values."""

FLOAT32, WIDENED = np.dtype(np.float32), frozenset(("mean", "var", "std", "sem"))
"""One more such dtype, except for these methods: kernels answer in float64 and pandas in float32."""

PLAIN = pd.DataFrame, pd.Series

MANY = 1 << 16
"""Rows from which on kernels reduce groups of frames with attributes, flags or classes, too, which pandas would keep.

Sums by int32 keys, milliseconds, pandas and ours: 10**5 rows of 1,000 keys 5.2 and 3.1; 3 * 10**6 rows of 1,000 keys 55
and 12. Sums of float64 of other frames, in microseconds on a loaded machine: 100 rows of 9 int64 keys 1,547 and 533;
1,000 rows of 9 integers 2,072 and 741, floats 1,498 and 755, strings 1,602 and 1,437; 10,000 rows of 5,000 integers of
any size 2,593 and 1,630, floats 1,492 and 1,561."""

FEW = 1 << 16
"""The most group ids for any number of rows: a table of this size costs nothing."""

FEW_WORDS = 1 << 15
"""Words up to which they are numbered as they are met, which shows the first row of each."""

ROOM = 16
"""The most group ids a row, up to `WIDE`: such a table is cheaper than hashing the rows.

Measured on two cores, milliseconds: a running sum of 20 million rows by 10**6 keys, hashed 540, by range 190;
`drop_duplicates` of 10**5 rows of 10**6 keys, hashed 3.0, by range 1.4."""

WIDE = 1 << 24
"""The number of group ids from which on a table takes much memory: beyond it, there may be two ids a row."""


def range_group_ids(arrays: Sequence[PandasArray]) -> GroupIds | None:
    """Return group ids that are equal where the rows of all arrays are.

    None if an array holds no integers, or the ranges are too wide for the number of rows. Integers that can be group
    ids are copied only where that costs little: where they are few, and have 8 bytes.
    """
    most = _most_ids(len(arrays[0]))
    if len(arrays) == 1:
        return _range_ids(arrays[0], most)
    return mixed_group_ids(arrays, _range_ids, most)


def _ends(array: PandasArray) -> tuple[int, int] | None:
    """Return the least and the greatest value of an array without nulls; None if it holds no integers."""
    view = _integers(array)
    if view is None or view.nulls is not None:
        return None
    return value_range(view.values) if len(view.values) else (0, -1)


def _most_ids(rows: int) -> int:
    return max(FEW, min(ROOM * rows, WIDE), 2 * rows)


def _has_own_ids(dtype: DType) -> bool:
    """Return whether group ids of a dtype are made by our kernels, not by pandas."""
    layout = layout_of(dtype)
    if layout is not None:
        return layout.storage(dtype).kind in "biufmM"
    return isinstance(dtype, pd.CategoricalDtype) or holds_text(dtype)


def hashed_group_ids(arrays: Sequence[PandasArray]) -> GroupIds:
    """Return group ids that are equal where the rows of all arrays are, by hashes.

    A single array must have no ids by its range.
    """
    if len(arrays) == 1:
        return _hashed_ids(arrays[0])
    most = _most_ids(len(arrays[0]))
    found = [_range_ids(array, most) or _hashed_ids(array) for array in arrays]
    return paired_group_ids(found, most, lambda words: GroupIds(*hash_codes(words)))


def _hashed_ids(array: PandasArray) -> GroupIds:
    """Return group ids of one array, by the hashes of its values."""
    if holds_text(array.dtype):
        return Texts.of(array).ids()
    array = comparable(array)
    layout = layout_of(array.dtype)
    view = None if layout is None else layout.raw(array)
    if view is None or view.values.dtype.kind in "cV":
        key = pd.Series(array, dtype=array.dtype, copy=False)
        groups = key.groupby([key], sort=False, dropna=False, observed=True).ngroup().to_numpy()
        return GroupIds(groups, int(groups.max()) + 1 if len(groups) else 0)
    words, has_word = words_of(view.values), view.nulls is None or isinstance(view.nulls, InBand)
    if has_word and len(words) <= FEW_WORDS:
        codes, first = factorize_words(words)
        return GroupIds(codes, len(first), first_rows=first)
    codes, groups = hash_codes(words)
    if has_word:
        return GroupIds(codes, groups)
    codes[view.missing()] = groups
    return GroupIds(codes, groups + 1)


def number_keys(array: PandasArray) -> NumberKeys | None:
    """Return a function that numbers keys in a table; None for any but fixed-width numbers and texts."""
    if holds_text(array.dtype):
        return Texts.of(array).number
    if array.dtype == object or isinstance(array.dtype, pd.StringDtype):
        if pd.api.types.infer_dtype(array, skipna=True) in ("string", "empty"):
            with suppress(UnicodeError):
                return Texts.of(pd.array(array, "string[pyarrow]")).number
        return None
    layout = None if isinstance(array, pd.Categorical) else layout_of(array.dtype)
    if layout is None or comparable(array) is not array:
        return None
    view = layout.raw(array)
    if view.values.dtype.kind in "cV":
        return None
    words = words_of(view.values)
    if layout.nulls == "mask":
        if bool((words == NO_WORD).any()):
            return None
        if view.nulls is not None:
            words = np.where(view.missing(), NO_WORD, words)
    return lambda table: table.number_words(words)


NO_WORD = np.uint64(0x9B1D_6F4E_27A3_C58F)
"""Stands for a null among numbers; where it is one of these, keys are not numbered in a table."""


def own_group_ids(array: PandasArray) -> GroupIds | None:
    """Return the numbers of an array, if they can be group ids; else None."""
    view = _integers(array)
    if view is None or view.nulls is not None or not len(array):
        return None
    found = range_group_ids([array])
    # others are counted from the least one
    return found if found is not None and found.array[0] == view.values[0] else None


def _integers(array: PandasArray) -> View | None:
    """Return the values of an array that holds integers or bool, and their nulls; else None."""
    layout = None if isinstance(array, pd.Categorical) else layout_of(array.dtype)
    view = None if layout is None else layout.view(array)
    if view is None or view.values.dtype.kind not in "biu" or isinstance(view.nulls, InBand):
        return None
    return view


def _range_ids(
    array: PandasArray, most: int, ends: tuple[int, int] | None = None
) -> GroupIds | None:
    """Return group ids of one array; None if there would be more than `most`.

    Its values are from the first to the second of `ends`, if these are known.
    """
    is_key, null = True, None
    if type(array) is np.ndarray:
        if array.dtype.kind not in "biu":
            return None
        values = array
    else:
        is_key = not isinstance(array, pd.Categorical)  # else numbers stand for categories
        array = array if is_key else comparable(array)
        if isinstance(array, pd.Categorical):
            return GroupIds(array.codes.astype(np.int32) + 1, len(array.categories) + 1)
        view = _integers(array)
        if view is None:
            return None
        values, null = view.values, None if view.nulls is None else view.missing()
    if values.itemsize < 4:
        values = values.astype(np.int32)
    some = values if null is None else values[~null]
    low, high = ends or (value_range(some) if len(some) else (0, 0))
    span = high - low + 1
    if span >= most:
        return None
    own = null is None and low >= 0 and high < most and values.dtype.kind == "i"
    least = values.dtype.type(0 if own else low)
    keys_of = partial(_keys_from, layout_of(array.dtype), array.dtype, least) if is_key else None
    if own:
        if values.itemsize > 4 and len(values) < MANY:  # kernels for ids of 4 bytes do
            values = values.astype(np.int32)
        return GroupIds(values, high + 1, ordered=is_key, keys_of=keys_of)
    codes = np.empty(len(values), np.int32 if span < 1 << 31 else np.int64)
    np.subtract(values, least, out=codes, casting="unsafe")
    if null is None:
        return GroupIds(codes, span, ordered=is_key, keys_of=keys_of)
    codes[null] = span
    return GroupIds(codes, span + 1)


def _keys_from(layout: Any, dtype: DType, low: Any, codes: Values) -> list[PandasArray]:
    """Return the keys whose numbers are counted from the least one."""
    stored = codes.astype(low.dtype, copy=False) + low
    return [layout.wrap(stored.astype(layout.storage(dtype), copy=False), None, dtype)]
