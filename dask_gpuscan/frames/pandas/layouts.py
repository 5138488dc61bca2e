"""Columns of pandas, their labels, and their arrays as kernels take them: of NumPy, times, nullable and of Arrow."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import lru_cache, partial
from operator import is_
from typing import Any, NamedTuple, TypeAlias
from weakref import ref

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pandas.api.extensions import ExtensionDtype

from ...kernels.bounded_cache import BoundedCache
from ...kernels.nulls import NAT, InBand, bitmap, byte_mask
from ..types import Column, DType, Layout, Missing, NullStorage, Values, View
from .native import arrow_storage, one_array

PandasArray: TypeAlias = Any
"""The array under a series: of NumPy or of pandas."""


WRAPPED = pd.arrays.NumpyExtensionArray

TIMES = (pd.arrays.DatetimeArray, pd.arrays.TimedeltaArray)
"""Arrays of times, of which a frame may hold several as one of two dimensions."""

IN_BAND = InBand()


def bare(array: PandasArray) -> PandasArray:
    """Return the NumPy array that pandas has wrapped; any other array as it is, one of strings too."""
    return np.asarray(array) if type(array) is WRAPPED else array


def _nulls(missing: Missing) -> Values | None:
    return missing.missing() if isinstance(missing, View) else missing


def _none(values: np.ndarray) -> np.ndarray:
    return np.zeros(len(values), np.bool_)


class _Named:
    """The base of these layouts, which show all numbers as they are, and know all nulls."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class NumPyLayout(_Named):
    """Numbers and bool as NumPy arrays; NaN is the null of floating-point and complex columns."""

    nulls: NullStorage = "in band"
    passes_over_nan = False
    groups_pass_over_nan = False
    nan_is_null = True

    def matches(self, dtype: DType) -> bool:
        return isinstance(dtype, np.dtype) and dtype.kind in "biufc" and dtype.char not in "gG"

    def storage(self, dtype: DType) -> np.dtype:
        assert isinstance(dtype, np.dtype)
        native: np.dtype = dtype.newbyteorder("=")
        return np.dtype(np.float32) if native == np.float16 else native

    def view(self, array: PandasArray) -> View:
        values = np.asarray(array)
        if not values.dtype.isnative or values.dtype.char == "e":
            values = values.astype(self.storage(values.dtype))
        if values.dtype.kind in "fc":
            return View(values, IN_BAND, lambda: np.isnan(values))
        return View(values, None, lambda: _none(values))

    raw = view

    def wrap(self, values: Values, missing: Missing, dtype: DType) -> PandasArray:
        if missing is not None:
            values[_nulls(missing)] = np.nan
        return values.astype(dtype, copy=False)

    def result(self, storage: np.dtype, dtype: DType) -> DType:
        return storage


class TimeLayout(_Named):
    """Datetimes, timedeltas and periods as 64-bit integers with NaT in band."""

    nulls: NullStorage = "in band"
    passes_over_nan = False
    groups_pass_over_nan = False
    nan_is_null = True

    def matches(self, dtype: DType) -> bool:
        if isinstance(dtype, np.dtype):
            return dtype.kind in "mM"
        return isinstance(dtype, (pd.DatetimeTZDtype, pd.PeriodDtype))

    def storage(self, dtype: DType) -> np.dtype:
        return np.dtype(np.int64)

    def view(self, array: PandasArray) -> View:
        values = array.asi8 if hasattr(array, "asi8") else np.asarray(array).view(np.int64)
        return View(values, IN_BAND, lambda: values == NAT)

    raw = view

    def wrap(self, values: Values, missing: Missing, dtype: DType) -> PandasArray:
        if missing is not None:
            values[_nulls(missing)] = NAT
        if isinstance(dtype, pd.PeriodDtype):
            return pd.arrays.PeriodArray(values, dtype=dtype)
        if isinstance(dtype, pd.DatetimeTZDtype):
            utc = pd.DatetimeIndex(values.view(f"M8[{dtype.unit}]"), copy=False).tz_localize("UTC")
            # an index shows its array for reading only
            return utc.tz_convert(dtype.tz).array.view()
        return values.view(dtype)

    def result(self, storage: np.dtype, dtype: DType) -> DType:
        return dtype if storage == np.int64 else storage


def masked_parts(array: PandasArray) -> tuple[Values, Values]:
    """Return the numbers of a nullable array and its mask, in the same memory, by private names of pandas."""
    return array._data, array._mask


class MaskedLayout(_Named):
    """Nullable columns (``Int64``, ``Float64``, ``boolean``): numbers and a mask of bytes."""

    nulls: NullStorage = "mask"
    passes_over_nan = False
    groups_pass_over_nan = True
    nan_is_null = False

    def matches(self, dtype: DType) -> bool:
        return isinstance(dtype, ExtensionDtype) and dtype.name in _NULLABLE.values()

    def storage(self, dtype: ExtensionDtype) -> np.dtype:
        return dtype.numpy_dtype  # type: ignore[no-any-return]

    def view(self, array: PandasArray) -> View:
        values, mask = masked_parts(array)
        return View(values, byte_mask(mask), mask.copy)

    raw = view

    def wrap(self, values: Values, missing: Missing, dtype: ExtensionDtype) -> PandasArray:
        mask = _nulls(missing)
        mask = _none(values) if mask is None else mask
        return dtype.construct_array_type()(values, mask)

    def result(self, storage: np.dtype, dtype: ExtensionDtype) -> ExtensionDtype:
        if storage.name not in _NULLABLE:
            raise TypeError(f"nullable columns cannot hold {storage}")
        return pd.array([], dtype=_NULLABLE[storage.name]).dtype


_NULLABLE = {"bool": "boolean", "float32": "Float32", "float64": "Float64"} | {
    f"{sign}int{bits}": f"{sign.upper()}Int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}


class ArrowLayout(_Named):
    """Arrow-backed columns of fixed width: a buffer of numbers and a bitmap, at any offset."""

    nulls: NullStorage = "mask"
    passes_over_nan = True
    groups_pass_over_nan = True
    nan_is_null = False

    def matches(self, dtype: DType) -> bool:
        return isinstance(dtype, pd.ArrowDtype) and arrow_storage(dtype.pyarrow_dtype) is not None

    def storage(self, dtype: pd.ArrowDtype) -> np.dtype:
        storage = arrow_storage(dtype.pyarrow_dtype)
        assert storage is not None
        return storage

    def view(self, array: PandasArray) -> View:
        chunked = array.__arrow_array__()
        whole = chunked
        if isinstance(chunked, pa.ChunkedArray):
            whole = one_array(chunked)
        validity, data = whole.buffers()
        storage = self.storage(pd.ArrowDtype(whole.type))
        if pa.types.is_boolean(whole.type):  # kept as bits, unlike all other types
            values = pc.fill_null(whole, False).to_numpy(zero_copy_only=False)
        elif data is None or not len(whole):  # no rows may lie behind the end of a buffer
            values = np.zeros(len(whole), storage)
        else:
            start = whole.offset * storage.itemsize
            values = np.frombuffer(data, storage, count=len(whole), offset=start)
        if validity is None or whole.null_count == 0:
            return View(values, None, lambda: _none(values))
        nulls = bitmap(np.frombuffer(validity, np.uint8), whole.offset)
        missing = lambda: whole.is_null().to_numpy(zero_copy_only=False)  # noqa: E731
        return View(values, nulls, missing, validity, whole.offset)

    raw = view

    def wrap(self, values: Values, missing: Missing, dtype: pd.ArrowDtype) -> PandasArray:
        wanted = dtype.pyarrow_dtype
        if isinstance(missing, View) and missing.offset % 8 == 0 and values.dtype != np.bool_:
            validity = (
                None if missing.validity is None else missing.validity.slice(missing.offset // 8)
            )
            array = pa.Array.from_buffers(wanted, len(values), [validity, pa.py_buffer(values)])
        else:
            array = pa.array(values, mask=_nulls(missing), from_pandas=False)
        if array.type != wanted:
            array = array.view(wanted)
        return pd.arrays.ArrowExtensionArray(pa.chunked_array([array]))

    def result(self, storage: np.dtype, dtype: pd.ArrowDtype) -> pd.ArrowDtype:
        if storage == self.storage(dtype):
            return dtype
        if storage.kind not in "biuf":
            raise TypeError(f"Arrow-backed columns cannot hold {storage}")
        return pd.ArrowDtype(pa.from_numpy_dtype(storage))


NUMPY, MASKED = NumPyLayout(), MaskedLayout()

LAYOUTS: tuple[Layout, ...] = (NUMPY, TimeLayout(), MASKED, ArrowLayout())
"""Layouts of all columns of fixed width."""


@lru_cache(maxsize=1024)
def _layout_of(dtype: DType) -> Layout | None:
    return next((layout for layout in LAYOUTS if layout.matches(dtype)), None)


def layout_of(dtype: DType) -> Layout | None:
    """Return the layout of a dtype; None if its columns hold no numbers of fixed width."""
    # a dtype with categories takes long to hash, and the cache would keep it
    return None if isinstance(dtype, pd.CategoricalDtype) else _layout_of(dtype)


FEW = 1 << 17
"""Rows up to which pandas moves the columns of a frame together in less time than kernels move each.

Microseconds of a sort by a key, by kernels and by pandas, on two cores: 1,000 rows of one float64 226 and 143, of ten
477 and 149; 65,536 rows of one 2,109 and 1,923, of ten 6,428 and 3,532. A filter of ten by an array of bool, half
kept: 1,000 rows 351 and 34, 65,536 rows 575 and 269. Of 14 columns, 100,000 rows: a sort 6,604 and 4,153, a filter by
text 945 and 703, `drop_duplicates` 529 and 654; 200,000 rows: a sort 8,486 and 12,441, a filter 1,639 and 1,635."""

FEW_OF_TEAM = 1 << 16
"""Rows up to which pandas moves them where several cores could."""

HELPERS, WORK = 3, 4
"""How many other threads these are, and the work of a value that is moved in elements of a scan."""

MANY = 1 << 18
"""Rows from which on all cores take them: pandas takes fewer rows in the time that all cores need to begin."""


MANY_TEXTS = 1 << 14
"""Texts from which on kernels take them: one core takes as long for fewer as Arrow does."""


def is_number(dtype: DType) -> bool:
    """Return whether columns of a dtype hold numbers or bool that can be scanned, and not times."""
    return dtype.kind in "biufc" and layout_of(dtype) is not None


def is_real(dtype: DType) -> bool:
    """Return whether columns of a dtype hold real numbers or bool."""
    if isinstance(dtype, pd.ArrowDtype) and pa.types.is_decimal(dtype.pyarrow_dtype):
        return True
    return is_number(dtype) and dtype.kind != "c"


def holds_null(dtype: DType) -> bool:
    """Return whether columns of a dtype can have nulls."""
    if isinstance(dtype, pd.IntervalDtype):
        return holds_null(dtype.subtype)
    return not isinstance(dtype, np.dtype) or dtype.kind not in "biu"


OFFSETS = {pa.string(): "i4", pa.binary(): "i4", pa.large_string(): "i8", pa.large_binary(): "i8"}
"""Arrow's types of texts, and the dtype of the offsets at which these begin."""


def holds_text(dtype: DType) -> bool:
    """Return whether arrays of a dtype keep texts as Arrow does."""
    if isinstance(dtype, pd.StringDtype):
        return bool(dtype.storage == "pyarrow")
    return isinstance(dtype, pd.ArrowDtype) and dtype.pyarrow_dtype in OFFSETS


def with_null(array: PandasArray, null: object) -> PandasArray:
    """Return an array of objects with all nulls replaced by this one; any other array as it is."""
    if array.dtype != object:
        return array
    array = np.asarray(array).copy()
    array[pd.isna(array)] = null
    return array


def nulls_of(dtype: DType, count: int = 0) -> PandasArray:
    """Return an array of nulls; pandas' own functions know few dictionaries of Arrow, fewer before pyarrow 26."""
    if isinstance(dtype, pd.ArrowDtype):
        return pd.arrays.ArrowExtensionArray(pa.nulls(count, dtype.pyarrow_dtype))
    return pd.array([None] * count, dtype=dtype)


class PandasColumn:
    """A column and its name, used instead of a series: it is made in a tenth of the time."""

    __slots__ = ("array", "dtype", "name")

    def __init__(self, name: Hashable, array: PandasArray) -> None:
        self.name, self.array = name, bare(array) if type(array) is WRAPPED else array
        self.dtype: DType = self.array.dtype

    def __len__(self) -> int:
        return len(self.array)


def as_column(array: PandasArray, name: Hashable = None) -> PandasColumn:
    """Return an array as a column."""
    return PandasColumn(name, array)


AnyColumn: TypeAlias = PandasColumn | pd.Series
"""A column of a frame, or what a user gave as one."""


def array_of(column: AnyColumn) -> PandasArray:
    """Return the array of a column: not wrapped, as it is in `Series.array`."""
    return column.array if isinstance(column, PandasColumn) else column._values


def series_of(column: AnyColumn) -> pd.Series:
    """Return a column as a series, for methods of pandas; a column that is not one gets a default index."""
    if isinstance(column, pd.Series):
        return column
    return pd.Series(column.array, dtype=column.dtype, name=column.name, copy=False)


class Labels(NamedTuple):
    """Labels of columns as a list, and their places."""

    owner: ref[Any]
    names: list[Hashable]
    places: dict[Hashable, int]
    """The places of labels that are texts; empty if one of them is there twice."""
    chosen: BoundedCache[tuple[int, ...], pd.Index]
    """Labels at some places."""
    has_na: bool
    """Whether one is <NA>."""


LABELS: dict[int, Labels] = {}
"""The `Labels` of indexes, by the address of their owner, while that is alive."""


def labels_in(index: pd.Index) -> Labels:
    """Return the kept `Labels` of an index of columns."""
    owner = index.array if type(index.dtype) is pd.StringDtype else index  # views share it
    address = id(owner)
    found = LABELS.get(address)
    if found is None or found[0]() is not owner:
        own, names = ref(owner, partial(LABELS.pop, address)), index.tolist()
        places: dict[Hashable, int] = {}
        texts = 0
        for i, name in enumerate(names):
            if type(name) is str:
                places[name], texts = i, texts + 1
        if len(places) < texts:  # some are there twice
            places = {}
        found = LABELS[address] = Labels(
            own, names, places, BoundedCache(), any(map(partial(is_, pd.NA), names))
        )
    return found


def labels_at(index: pd.Index, places: list[int]) -> pd.Index:
    """Return the labels of columns at some places, as an index of its own."""
    if type(index.dtype) is not pd.StringDtype:
        return index[places]
    chosen, key = labels_in(index).chosen, tuple(places)
    known = chosen.get(key)
    found = (chosen.store(key, index[places]) if known is None else known).view()
    found.name = index.name
    return found


@lru_cache(maxsize=256)
def _labels_of(names: tuple[str, ...], storage: str) -> pd.Index:
    return pd.Index(names)


def labels_of(names: Sequence[Hashable]) -> pd.Index:
    """Return the labels of columns with these names, as an index of its own."""
    dtype: Any = pd.api.types.pandas_dtype(str)  # depends on options of pandas
    if isinstance(dtype, pd.StringDtype) and {str}.issuperset(map(type, names)) and names:
        return _labels_of(tuple(names), dtype.storage).view()  # its array is read-only
    # pandas would make NaN of None among texts
    dtype = object if type(None) in map(type, names) else None
    return pd.Index(names, dtype=dtype, tupleize_cols=False)


def column_in(frame: pd.DataFrame, name: Hashable) -> AnyColumn:
    """Return the column of a frame by its name."""
    index = frame.columns
    place = labels_in(index).places.get(name) if type(name) is str else None
    place = index.get_loc(name) if place is None else place
    if not isinstance(place, int):
        return frame[name]
    return _column_at(frame, name, place)


def _column_at(frame: pd.DataFrame, name: Hashable, place: int) -> PandasColumn:
    """Return a column by its place; pandas takes several times as long to take times out of their block."""
    manager, column = frame._mgr, object.__new__(PandasColumn)
    values = manager.blocks[manager.blknos[place]].values
    array: PandasArray
    if type(values) is np.ndarray:
        array = values[manager.blklocs[place]]
    elif type(values) in TIMES and values.ndim > 1:
        array = values._from_backing_data(values._ndarray[manager.blklocs[place]])
    else:
        array = frame._get_column_array(place)
    column.name, column.array, column.dtype = name, array, array.dtype
    return column


def every_name(frame: pd.DataFrame) -> list[Hashable]:
    """Return the names of the columns of a frame, in order."""
    return labels_in(frame.columns).names.copy()


def every_column(frame: pd.DataFrame) -> list[Column]:
    """Return the columns of a frame, in order."""
    names = labels_in(frame.columns).names
    return [_column_at(frame, name, i) for i, name in enumerate(names)]


def every_dtype(frame: pd.DataFrame) -> list[DType]:
    """Return the dtypes of the columns of a frame, in order, as a list."""
    dtypes: list[DType] = frame._mgr.get_dtypes().tolist()
    return dtypes
