"""The frames and columns of cuDF."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cache
from typing import Any

import cudf
import cupy
import numpy as np
import pandas as pd
import pyarrow as pa
import pylibcudf as plc
from cudf.core.buffer import as_buffer
from cudf.core.buffer.spill_manager import get_global_manager
from cudf.core.column import ColumnBase, as_column, column_empty
from cudf.core.column_accessor import ColumnAccessor
from rmm.allocators.cupy import rmm_cupy_allocator

from ... import kernels
from ...kernels import BUILT_IN
from ...kernels.messages import shown
from ..messages import refuse_categories
from ..pandas.layouts import PandasArray, bare
from ..pandas.library import PANDAS
from ..protocol import Library
from ..registry import LIBRARY_OF, check_names, names_of
from ..types import Column, DType, Scalar, Values
from .bitmaps import copied, seek_bit, taken_or_null
from .kept_blocks import allocate
from .keys import CudfGrouping, CudfOrdering
from .layouts import LAYOUT, floats_of, gathered, moved_layout_of, nulls_of, view_of
from .lists import CudfLists
from .memory import MANY_ROWS, warn_if_unpooled
from .nan import assume_no_nan, in_band, resolved
from .schema import CudfDTypes, CudfIndex

_INT64, _INT32 = np.dtype(np.int64), np.dtype(np.int32)


@contextmanager
def _unspilled(frame: cudf.DataFrame) -> Iterator[None]:
    """Keep memory that may be spilled on the device."""
    with cupy.cuda.using_allocator(rmm_cupy_allocator), ExitStack() as stack:
        for column in frame._columns:
            stack.enter_context(column.access(mode="read", scope="internal"))
        yield


@cache
def _one(device: int) -> Values:
    """Return the number one on a device, for every stream."""
    with cupy.cuda.Device(device):
        one = cupy.ones((), _INT64)
        cupy.cuda.get_current_stream().synchronize()
    return one


class CudfColumn:
    """A column and its name, used instead of a series: it is made in a tenth of the time."""

    __slots__ = ("_column", "dtype", "name")

    def __init__(self, name: Hashable, column: ColumnBase) -> None:
        self.name, self._column, self.dtype = name, column, column.dtype

    def __len__(self) -> int:
        size: int = self._column.size
        return size


class Cudf(CudfDTypes, CudfIndex, CudfGrouping, CudfOrdering, CudfLists):
    """The library of cuDF: its arrays are cuDF's columns."""

    xp = cupy
    copy_threshold = 1 << 25
    """Windows of 100 over 2^25 rows on an H200: 0.50 ms with the rows copied, 1.38 ms without."""
    host_values = None
    sparse = None

    def __reduce__(self) -> str:
        return "CUDF"  # one object a process

    def __repr__(self) -> str:
        return "CUDF"

    # --- frames and their columns ------------------------------------------------------------------

    def names(self, frame: cudf.DataFrame) -> list[Hashable]:
        return list(frame._column_names)

    def column(self, frame: cudf.DataFrame, name: Hashable) -> Column:
        return CudfColumn(name, frame._data[name])

    def dtypes(self, frame: cudf.DataFrame) -> list[DType]:
        return [column.dtype for column in frame._columns]

    def columns(self, frame: cudf.DataFrame) -> list[Column]:
        return [CudfColumn(name, column) for name, column in frame._data.items()]

    def select(self, frame: cudf.DataFrame, chosen: list[bool]) -> cudf.DataFrame:
        named = [
            pair for pair, is_chosen in zip(frame._data.items(), chosen, strict=True) if is_chosen
        ]
        return self.frame([c for _, c in named], [n for n, _ in named], frame.index, frame)

    def columns_at(self, frame: cudf.DataFrame, places: list[int]) -> cudf.DataFrame:
        return frame.iloc[:, places]

    def append(
        self, frame: cudf.DataFrame, column: cudf.Series | Values, name: str
    ) -> cudf.DataFrame:
        return frame.assign(**{name: column})

    def rows(self, frame: cudf.DataFrame, rows: Values | slice) -> cudf.DataFrame:
        if not isinstance(rows, cupy.ndarray) or frame.attrs or not len(frame._columns):
            return frame.iloc[rows]
        arrays = gathered(frame._columns, rows)  # without a check for positions past the end
        return self.rebuild(frame, arrays, self.take_index(frame.index, rows))

    def takes_whole_rows(self, frame: cudf.DataFrame) -> bool:
        return False  # both ways make an object of Python for each column of the answer

    def native(self, frame: cudf.DataFrame) -> cudf.DataFrame:
        check_names(names_of(frame))
        return frame

    def no_rows(self, frame: cudf.DataFrame) -> cudf.DataFrame:
        return frame.iloc[:0]

    def rebuild(
        self, frame: cudf.DataFrame, arrays: list[ColumnBase], index: cudf.Index = None
    ) -> cudf.DataFrame:
        if index is None and frame.attrs:
            return frame._from_data_like_self(frame._data._from_columns_like_self(arrays))
        index = frame.index if index is None else index
        if frame.ndim == 1:
            return self.series(arrays[0], index, frame.name)
        columns = frame._data._from_columns_like_self(arrays, verify=False)
        return cudf.DataFrame._from_data(columns, index=index)

    def frame(
        self,
        arrays: list[ColumnBase],
        names: Sequence[Hashable],
        index: cudf.Index,
        like: cudf.DataFrame | None = None,
    ) -> cudf.DataFrame:
        columns = dict(zip(names, arrays, strict=True))
        if len(columns) < len(arrays):
            raise ValueError(f"cuDF has no two columns of one name, found {list(names)}")
        kind: dict[str, Any] = {}
        if like is not None and columns.keys() <= set(like._column_names):
            known = like._data
            kind = {"multiindex": known.multiindex, "label_dtype": known.label_dtype}
            kind["level_names"] = known.level_names
        return cudf.DataFrame._from_data(ColumnAccessor(columns, verify=False, **kind), index=index)

    def join_columns(
        self,
        left: cudf.DataFrame,
        right: cudf.DataFrame,
        columns: list[int | ColumnBase],
        names: Sequence[Hashable],
        index: cudf.Index,
    ) -> cudf.DataFrame:
        # cuDF copies the memory of a shallow copy before either is written to
        own = left._columns
        arrays = [own[c].copy(deep=False) if isinstance(c, int) else c for c in columns]
        return self.frame(arrays, names, index)

    def series(self, array: ColumnBase, index: cudf.Index, name: Hashable = None) -> cudf.Series:
        return cudf.Series._from_column(array, name=name, index=index)

    def acquire(self, frame: cudf.DataFrame) -> AbstractContextManager[object]:
        if len(frame) >= MANY_ROWS:
            warn_if_unpooled()
        if get_global_manager() is not None:
            return _unspilled(frame)
        return cupy.cuda.using_allocator(allocate)  # type: ignore[no-any-return]

    def pair_names(self, frame: cudf.DataFrame, pairs: list[Any]) -> cudf.MultiIndex:
        return PANDAS.pair_names(frame, pairs)

    # --- columns and their arrays ------------------------------------------------------------------

    def array(self, column: cudf.Series) -> ColumnBase:
        return column._column

    def as_column(self, array: ColumnBase, name: Hashable = None) -> Column:
        return CudfColumn(name, array)

    def slice_column(self, column: cudf.Series, start: int, stop: int) -> Column:
        return CudfColumn(column.name, self.slice_array(column._column, start, stop))

    def slice_array(self, array: ColumnBase, start: int, stop: int) -> ColumnBase:
        if start == 0 and stop == array.size:
            return array
        if self._is_plain(array):  # cuDF's slice takes three times as long
            return LAYOUT.wrap(view_of(array).values[start:stop], None, array.dtype)
        return array.slice(start, stop)

    def empty(self, dtype: DType) -> ColumnBase:
        return column_empty(0, dtype)

    def one(self, value: object, dtype: DType) -> ColumnBase:
        if not isinstance(value, str):  # the caller has columns that no kernel takes: strings
            raise TypeError(f"initial must be a value of dtype {dtype}, found {shown(value)}")
        return as_column(pa.array([value])).astype(dtype)

    def cast(self, array: ColumnBase, dtype: DType) -> ColumnBase:
        return self.series(array, None).astype(dtype)._column

    def copy(self, array: ColumnBase) -> ColumnBase:
        return array.copy(deep=True)

    def to_pandas(self, array: ColumnBase) -> PandasArray:
        stays = array.has_nulls() and getattr(array.dtype, "kind", "O") in "biu"
        return bare(self.series(array, None).to_pandas(nullable=stays).array)

    def from_pandas(self, array: PandasArray) -> ColumnBase:
        return cudf.from_pandas(pd.Series(array))._column

    def frame_to_pandas(self, frame: cudf.DataFrame) -> pd.DataFrame:
        return frame.to_pandas()

    def frame_from_pandas(self, frame: pd.DataFrame) -> cudf.DataFrame:
        return cudf.from_pandas(frame)

    def packed(self, array: ColumnBase) -> ColumnBase | tuple[np.ndarray, DType]:
        if self._is_plain(array):  # cuDF itself takes milliseconds for the few rows of a halo
            return view_of(array).values.get(), array.dtype
        return array

    def unpacked(self, packed: ColumnBase | tuple[np.ndarray, DType]) -> ColumnBase:
        if not isinstance(packed, tuple):
            return packed
        values, dtype = packed
        return LAYOUT.wrap(cupy.asarray(values), None, dtype)

    def take(self, array: ColumnBase, positions: Values, nulls: bool = False) -> ColumnBase:
        plain = self._is_plain(array)
        if nulls and plain and positions.dtype in (_INT32, _INT64):
            values = view_of(array).values
            if values.itemsize <= 8:
                return LAYOUT.wrap_bits(*taken_or_null(values, positions), array.dtype)
        if nulls:  # negative ones would count from the end
            positions = cupy.where(positions < 0, array.size, positions)
        elif plain:
            if positions.dtype.kind == "i":
                positions = positions.astype(_INT64, copy=False)
            taken = kernels.take(view_of(array).values, positions, check=False)
            return LAYOUT.wrap(taken, None, array.dtype)
        return gathered([array], positions, nulls=True)[0]

    def shift(self, array: ColumnBase, periods: int, /, *fill: Any) -> ColumnBase:
        if not fill and self._is_plain(array):  # libcudf asks each row whether it is null
            return self._moved(array, periods)
        if fill or moved_layout_of(array.dtype) is not None:
            return array.shift(periods, *(fill or (None,)))
        # cuDF shifts no categories, lists and structs
        rows = cupy.arange(array.size, dtype=_INT64) - periods
        return self.take(array, cupy.where(rows < array.size, rows, -1), nulls=True)

    def subtract(self, array: ColumnBase, earlier: ColumnBase) -> ColumnBase:
        return (self.series(array, None) - self.series(earlier, None))._column

    def diff(self, array: ColumnBase, periods: int) -> ColumnBase:
        is_plain = self._is_plain(array) and isinstance(array.dtype, np.dtype)
        if is_plain and array.dtype.kind in "iuf":  # their differences have their dtype
            return self._moved(array, periods, less=True)
        return self.series(array, None).diff(periods)._column

    def _moved(self, array: ColumnBase, periods: int, less: bool = False) -> ColumnBase:
        """Return a plain array with its rows moved, or with `less` minus its moved rows, in one pass."""
        values, none = view_of(array).values, min(abs(periods), array.size)
        out = kernels.shift(values, periods, values.dtype.type(0), subtract=less)
        valid = slice(none, array.size) if periods > 0 else slice(0, array.size - none)
        return LAYOUT.wrap_valid(out, valid, array.dtype)

    def relative(self, array: ColumnBase, earlier: ColumnBase) -> ColumnBase:
        return (self.series(array, None) / self.series(earlier, None) - 1)._column

    def relative_change(self, array: ColumnBase, periods: int) -> ColumnBase:
        return self.series(array, None).pct_change(periods, fill_method=None)._column

    def group_change(self, method: str, array: ColumnBase, /, **options: Hashable) -> ColumnBase:
        column = self.series(array, None)
        return getattr(column.groupby(column.notna()), method)(**options)._column

    def always_counted(self, array: ColumnBase) -> ColumnBase | None:
        if not isinstance(array.dtype, cudf.CategoricalDtype):
            return None
        return cudf.Series(array.dtype.categories).astype(array.dtype)._column

    def concatenate(self, arrays: list[ColumnBase]) -> ColumnBase:
        dtype = arrays[0].dtype
        categorical = isinstance(dtype, cudf.CategoricalDtype)
        if categorical and any(a.dtype != dtype for a in arrays):
            if any(a.dtype.ordered for a in arrays):
                refuse_categories(dtype, "they are ordered")
            try:
                return arrays[0]._concat(arrays)  # concat itself takes only equal categories
            except ValueError as error:
                refuse_categories(dtype, error)
        if all(map(self._is_plain, arrays)):  # cuDF's takes ten times as long to begin
            joined = cupy.concatenate([view_of(a).values for a in arrays])
            return LAYOUT.wrap(joined, None, dtype)
        parts = [cudf.Series._from_column(a) for a in arrays]
        return cudf.concat(parts, ignore_index=True)._column

    def replace(self, array: ColumnBase, start: int, rows: ColumnBase) -> ColumnBase:
        stop = start + rows.size
        if self._is_plain(array) and self._is_plain(rows):
            view_of(array).values[start:stop] = view_of(rows).values
            return array
        if self._may_view(array.dtype) and array.null_count and not array.offset:
            return LAYOUT.replaced(array, start, rows)
        pairs = (0, start), (stop, array.size)
        before, after = (self.slice_array(array, *pair) for pair in pairs)
        return self.concatenate([part for part in (before, rows, after) if part.size])

    def floats(self, column: cudf.Series) -> Values:
        return floats_of(column._column)

    def from_floats(self, values: Values, numbers: slice | None = None) -> ColumnBase:
        if numbers is None:
            return LAYOUT.wrap_nan(values)
        return LAYOUT.wrap_valid(values, numbers, values.dtype)

    def from_integers(self, values: Values) -> ColumnBase:
        return LAYOUT.wrap(values, None, values.dtype)

    def one_each(self, count: int) -> Values:
        return cupy.broadcast_to(_one(cupy.cuda.runtime.getDevice()), count)

    def _may_view(self, dtype: DType) -> bool:
        """Return whether columns of a dtype are fixed-width numbers in memory that cuDF does not spill."""
        return moved_layout_of(dtype) is not None and get_global_manager() is None

    def _is_plain(self, array: ColumnBase) -> bool:
        """Return whether an array is of such a dtype and has no nulls."""
        return self._may_view(array.dtype) and not array.null_count

    # --- nulls -------------------------------------------------------------------------------------

    def missing(self, column: cudf.Series) -> Values | None:
        if self._may_view(column.dtype):
            view = LAYOUT.view(column._column).resolved()
            return None if view.nulls is None else view.missing()
        if not column._column.has_nulls(include_nan=True):
            return None
        return cupy.asarray(self.series(column._column, None).isna()._column)

    def valid(self, column: cudf.Series) -> Values:
        if self._may_view(column.dtype):
            return ~LAYOUT.view(column._column).in_band().missing()
        return cupy.asarray(self.series(column._column, None).notna()._column)

    def set_null(self, array: ColumnBase, missing: Values) -> ColumnBase:
        whole = array.copy(deep=True) if array.offset else array
        known = ColumnBase.create(plc.unary.is_valid(whole.plc_column), np.dtype(np.bool_))
        flags = plc.Column.from_cuda_array_interface(view_of(known).values & ~missing)
        mask, null_count = plc.transform.bools_to_mask(flags)
        return whole.set_mask(as_buffer(mask), null_count)

    def to_masked(self, array: ColumnBase) -> ColumnBase:
        return array

    def from_masked(self, array: ColumnBase, dtype: DType) -> ColumnBase:
        return array

    def to_nullable(self, array: ColumnBase) -> ColumnBase:
        return array

    def fill(self, column: cudf.Series, reverse: bool, limit: int | None) -> ColumnBase:
        """Fill by one scan, which gives each row the number of the row that it is filled from, and one gather."""
        source = column._column.nans_to_nulls()
        count = len(source)
        if not source.null_count:
            return source.copy()
        rows = cupy.arange(count, dtype=_INT32)
        initial = (np.int32(count), True)  # out of bounds: gathers a null
        taken, _ = kernels.scan(
            BUILT_IN["last"],
            rows,
            nulls=nulls_of(source),
            reverse=reverse,
            carry_in=initial,
            dtype=_INT32,
            carry_out=False,
        )
        if limit is not None:
            taken[cupy.abs(rows - taken) > limit] = count
        return gathered([source], taken, nulls=True)[0]

    def seek_valid(self, column: cudf.Series, from_end: bool) -> Callable[[], int | None]:
        source = column._column.nans_to_nulls()
        count = source.size
        if not source.null_count:
            row = (count - 1 if from_end else 0) if count else None
            return lambda: row
        nulls = nulls_of(source)

        return seek_bit(nulls, nulls.offset, nulls.offset + count, 1024, from_end)

    resolved = staticmethod(resolved)
    in_band = staticmethod(in_band)
    assume_no_nan = staticmethod(assume_no_nan)

    # --- rows on the host --------------------------------------------------------------------------

    def fetch(self, values: Values) -> Callable[[], np.ndarray]:
        return copied(values)

    def host_row(self, column: cudf.Series, row: int) -> pa.Array:
        array = column._column
        known = isinstance(array.dtype, np.dtype) and array.dtype.kind in "iuf"
        if known and self._is_plain(array):
            return pa.array(view_of(array).values[row : row + 1].get())
        one = self.series(column._column.slice(row, row + 1), None)
        if isinstance(column.dtype, cudf.CategoricalDtype):
            return one.to_pandas().array
        return one.to_arrow()

    def number(self, row: pa.Array, dtype: DType) -> Scalar:
        storage = LAYOUT.storage(dtype)
        if storage == np.bool_:  # Arrow keeps them as bits
            return np.bool_(row[0].as_py())
        return np.frombuffer(row.buffers()[1], storage, 1, row.offset * storage.itemsize)[0]

    def repeat(self, row: pa.Array, count: int, dtype: DType) -> ColumnBase:
        rows = as_column(row.take(np.zeros(count, np.int64)))
        if not isinstance(dtype, cudf.CategoricalDtype):
            return rows.astype(dtype)
        # categories that are the same need not be brought together again
        same = rows.categories.equals(dtype._categories)
        return ColumnBase.create(rows.plc_column, dtype) if same else rows

    def prepend(self, row: pa.Array, array: ColumnBase) -> ColumnBase:
        if not self._is_plain(array) or row.null_count:
            return self.concatenate([self.repeat(row, 1, array.dtype), array])
        values = self.prepend_number(self.number(row, array.dtype), view_of(array).values)
        return LAYOUT.wrap(values, None, array.dtype)

    def prepend_number(self, number: Scalar, values: Values) -> Values:
        return cupy.concatenate([cupy.asarray([number], values.dtype), values])


CUDF: Library = Cudf()
LIBRARY_OF[CudfColumn] = CUDF
