"""The library of cuDF's frames and series: what `pandas_columns` does for pandas this module does for cuDF.

It is imported when the first cuDF object is met; how a column lies in memory is `cudf_layout`'s to know. This module
must never know what is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from decimal import Decimal
from functools import lru_cache
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
from cudf.core.dtypes import DecimalDtype
from rmm.allocators.cupy import rmm_cupy_allocator

from .. import kernels
from ..kernels import BUILT_IN, Mask, Nulls
from .columns import moved_layout, prepended, wide_integers
from .cudf_layouts import LAYOUT, nulls_of, view_of
from .pandas import PANDAS
from .protocol import Layout
from .registry import _LIBRARIES

_INT64, _INT32 = np.dtype(np.int64), np.dtype(np.int32)


def _gather(column: Any, rows: Any) -> Any:
    """The rows at these positions, null where one is past the end."""
    table = plc.copying.gather(
        plc.Table([column.plc_column]),
        plc.Column.from_cuda_array_interface(rows),
        plc.copying.OutOfBoundsPolicy.NULLIFY,
    )
    return table.columns()[0]


@contextmanager
def _unspilled(frame: Any) -> Iterator[None]:
    """Keep memory that may be spilled on the device."""
    with cupy.cuda.using_allocator(rmm_cupy_allocator), ExitStack() as stack:
        for column in frame._columns:
            stack.enter_context(column.access(mode="read", scope="internal"))
        yield


class _Named:
    """A column and its name: what is asked of a series here, for a tenth of the time that making one takes."""

    __slots__ = ("_column", "dtype", "name")

    def __init__(self, name: Any, column: Any) -> None:
        self.name, self._column, self.dtype = name, column, column.dtype

    def __len__(self) -> int:
        size: int = self._column.size
        return size


class Cudf:
    """The library of cuDF frames and series; their arrays are cuDF's columns."""

    numbers = cupy
    layouts: tuple[Layout, ...] = (LAYOUT,)
    null_sums = True
    widens_by_value = scans_by_code = False
    # made of sums of squares, which overflow and cancel
    wrong_groups: tuple[str, ...] = ("var", "std")

    def is_numeric(self, dtype: Any) -> bool:
        return LAYOUT.matches(dtype) and dtype.kind not in "mM"

    def raises_on_overflow(self, dtype: Any) -> bool:
        return False

    def answer(self, method: str, dtype: Any) -> Any:
        try:
            if isinstance(dtype, DecimalDtype) and method == "cumprod":
                raise TypeError("the scale of a decimal would change from row to row")
            return getattr(cudf.Series._from_column(self.empty(dtype)), method)().dtype
        except (TypeError, AttributeError, NotImplementedError) as error:
            raise TypeError(
                f"cuDF has no {method} for dtype {dtype}; leave it out with numeric_only=True or "
                f"by choosing columns, or cast it with astype"
            ) from error

    def grouped(self, method: str, dtype: Any) -> Any:
        return wide_integers(self, method, dtype, _grouped(method, dtype))

    def holds_null(self, dtype: Any) -> bool:
        return True

    def nullable(self, array: Any) -> Any:
        return array

    def nulled(self, array: Any, missing: Any) -> Any:
        whole = array.copy(deep=True) if array.offset else array
        known = ColumnBase.create(plc.unary.is_valid(whole.plc_column), np.dtype(np.bool_))
        flags = plc.Column.from_cuda_array_interface(view_of(known).values & ~missing)
        mask, null_count = plc.transform.bools_to_mask(flags)
        return whole.set_mask(as_buffer(mask), null_count)

    def picked(self, array: Any) -> Any:
        return array

    def key_index(self, arrays: list[Any], names: Sequence[Any]) -> Any:
        try:
            if len(arrays) == 1:
                return cudf.Index._from_column(arrays[0], name=names[0])
            levels = [cudf.Series._from_column(a) for a in arrays]
            return cudf.MultiIndex.from_arrays(levels, names=names)
        except NotImplementedError as error:
            dtypes = ", ".join(str(a.dtype) for a in arrays)
            raise TypeError(
                f"cuDF has no index of dtype {dtypes}, as a reduction by {', '.join(map(repr, names))} "
                f"would have; cast the key with astype"
            ) from error

    def stored(self, value: Any, dtype: Any) -> Any:
        if not isinstance(dtype, DecimalDtype):
            return PANDAS.stored(value, dtype)
        if isinstance(value, (int, Decimal)) and not isinstance(value, bool):
            scaled = Decimal(value).scaleb(dtype.scale)
            if scaled == int(scaled):
                return int(scaled)
        raise TypeError(f"initial must be {dtype!r}, found {value!r}")

    def unit(self, dtype: Any) -> str:
        return PANDAS.unit(dtype)

    def select(self, frame: Any, keep: list[bool]) -> Any:
        return frame.iloc[:, [i for i, kept in enumerate(keep) if kept]]

    def names(self, frame: Any) -> list[Any]:
        return list(frame._column_names)

    def column(self, frame: Any, name: Any) -> Any:
        return _Named(name, frame._data[name])

    def columns(self, frame: Any) -> list[Any]:
        return [_Named(name, column) for name, column in frame._data.items()]

    def array(self, column: Any) -> Any:
        return column._column

    def empty(self, dtype: Any) -> Any:
        return column_empty(0, dtype)

    def rebuild(self, frame: Any, arrays: list[Any], index: Any = None) -> Any:
        if index is None and frame.attrs:
            return frame._from_data_like_self(frame._data._from_columns_like_self(arrays))
        index = frame.index if index is None else index
        if frame.ndim == 1:
            return self.series(arrays[0], index, frame.name)
        columns = frame._data._from_columns_like_self(arrays, verify=False)
        return cudf.DataFrame._from_data(columns, index=index)

    def series(self, array: Any, index: Any, name: Any = None) -> Any:
        return cudf.Series._from_column(array, name=name, index=index)

    def unnamed(self, array: Any) -> Any:
        return _Named(None, array)

    def take(self, array: Any, positions: Any, nulls: bool = False) -> Any:
        if nulls:  # negative ones would count from the end
            positions = cupy.where(positions < 0, array.size, positions)
        elif self._is_plain(array):
            return LAYOUT.wrap(view_of(array).values.take(positions), None, array.dtype)
        return ColumnBase.create(_gather(array, positions), array.dtype)

    def take_index(self, index: Any, positions: Any) -> Any:
        if not isinstance(index, cudf.RangeIndex):
            return index.take(positions)
        start, step = index.start, index.step
        rows = positions if (start, step) == (0, 1) else start + step * positions
        return self.key_index([LAYOUT.wrap(rows, None, _INT64)], [index.name])

    def frame(self, arrays: list[Any], names: Any, index: Any, like: Any = None) -> Any:
        columns = dict(zip(names, arrays, strict=True))
        if len(columns) < len(arrays):
            raise ValueError(f"cuDF has no two columns of one name, found {list(names)}")
        kind: dict[str, Any] = {}
        if like is not None and columns.keys() <= set(like._column_names):
            known = like._data
            kind = {"multiindex": known.multiindex, "label_dtype": known.label_dtype}
            kind["level_names"] = known.level_names
        return cudf.DataFrame._from_data(ColumnAccessor(columns, verify=False, **kind), index=index)

    def range_index(self, start: int, stop: int) -> Any:
        return cudf.RangeIndex(start, stop)

    def missing(self, column: Any) -> Any:
        if self._may_view(column.dtype):
            view = LAYOUT.view(column._column).settled()
            return None if view.nulls is None else view.missing()
        if not column._column.has_nulls(include_nan=True):
            return None
        return cupy.asarray(self.series(column._column, None).isna()._column)

    def valid(self, column: Any) -> Any:
        if self._may_view(column.dtype):
            return ~LAYOUT.view(column._column).in_band().missing()
        return cupy.asarray(self.series(column._column, None).notna()._column)

    def codes(self, column: Any) -> tuple[Any, Nulls]:
        if isinstance(column.dtype, cudf.CategoricalDtype):
            view = view_of(column._column.codes)
            return view.values, view.nulls
        return self.group_codes([column._column]), None

    def group_codes(self, arrays: list[Any]) -> Any:
        _, codes = plc.transform.encode(plc.Table([a.plc_column for a in arrays]))
        return view_of(ColumnBase.create(codes, _INT32)).values

    def group(self, method: str, column: Any, codes: Any) -> Any:
        plain = self.series(column._column, None)
        return getattr(plain.groupby(cudf.Series(codes)), method)().sort_index()._column

    def order(self, index: Any) -> Any:
        return index.argsort()

    def sort(self, frame: Any) -> Any:
        return frame.sort_index()

    def labels(self, pairs: list[Any]) -> Any:
        return PANDAS.labels(pairs)

    def floats(self, column: Any) -> Any:
        view = LAYOUT.view(column._column)
        values = view.values.astype(np.float64, copy=view.nulls is not None)
        if view.nulls is not None:
            values[view.missing()] = np.nan
        return values

    def from_floats(self, values: Any) -> Any:
        return LAYOUT.wrap(values, cupy.isnan(values), values.dtype)

    def seek_valid(self, column: Any, from_end: bool) -> Callable[[], int | None]:
        source = column._column.nans_to_nulls()
        count = source.size
        if not source.null_count:
            row = (count - 1 if from_end else 0) if count else None
            return lambda: row
        nulls = nulls_of(source)

        return _seek(nulls, nulls.offset, nulls.offset + count, 1024, from_end)

    def fill(self, column: Any, reverse: bool, limit: int | None) -> Any:
        """Each row takes the row that it is filled from: one scan of row numbers, one gather."""
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
        return ColumnBase.create(_gather(source, taken), column.dtype)

    def keep(self, column: Any, row: int) -> Any:
        array = column._column
        known = isinstance(array.dtype, np.dtype) and array.dtype.kind in "iuf"
        if known and self._is_plain(array):
            return pa.array(view_of(array).values[row : row + 1].get())
        one = self.series(column._column.slice(row, row + 1), None)
        if isinstance(column.dtype, cudf.CategoricalDtype):
            return one.to_pandas().array
        return one.to_arrow()

    def number(self, kept: Any, dtype: Any) -> Any:
        storage = LAYOUT.storage(dtype)
        if storage == np.bool_:  # Arrow keeps them as bits
            return np.bool_(kept[0].as_py())
        return np.frombuffer(kept.buffers()[1], storage, 1, kept.offset * storage.itemsize)[0]

    def repeat(self, kept: Any, count: int, dtype: Any) -> Any:
        rows = as_column(kept.take(np.zeros(count, np.int64)))
        if not isinstance(dtype, cudf.CategoricalDtype):
            return rows.astype(dtype)
        # categories that are the same need not be brought together again
        same = rows.categories.equals(dtype._categories)
        return ColumnBase.create(rows.plc_column, dtype) if same else rows

    def part(self, array: Any, start: int, stop: int) -> Any:
        if start == 0 and stop == array.size:
            return array
        if self._is_plain(array):  # cuDF's slice takes three times as long
            return LAYOUT.wrap(view_of(array).values[start:stop], None, array.dtype)
        return array.slice(start, stop)

    def slice(self, column: Any, start: int, stop: int) -> Any:
        return _Named(column.name, self.part(column._column, start, stop))

    def prepend(self, kept: Any, array: Any) -> Any:
        if not self._is_plain(array) or kept.null_count:
            return self.concatenate([self.repeat(kept, 1, array.dtype), array])
        values = prepended(self, self.number(kept, array.dtype), view_of(array).values)
        return LAYOUT.wrap(values, None, array.dtype)

    def _may_view(self, dtype: Any) -> bool:
        """Tell whether columns of a dtype are fixed-width numbers in memory that stays without our care."""
        return moved_layout(self, dtype) is not None and get_global_manager() is None

    def _is_plain(self, array: Any) -> bool:
        """Tell the same of an array that has no nulls."""
        return self._may_view(array.dtype) and not array.null_count

    def copy(self, array: Any) -> Any:
        return array.copy(deep=True)

    def concatenate(self, arrays: list[Any]) -> Any:
        categorical = isinstance(arrays[0].dtype, cudf.CategoricalDtype)
        if categorical and any(a.dtype != arrays[0].dtype for a in arrays):
            return arrays[0]._concat(arrays)  # concat itself takes but equal categories
        parts = [cudf.Series._from_column(a) for a in arrays]
        return cudf.concat(parts, ignore_index=True)._column

    def reading(self, frame: Any) -> AbstractContextManager[Any]:
        if get_global_manager() is not None:
            return _unspilled(frame)
        return cupy.cuda.using_allocator(rmm_cupy_allocator)  # type: ignore[no-any-return]


@lru_cache(maxsize=1024)
def _grouped(method: str, dtype: Any) -> Any:
    """Ask a group of one null: of no groups cuDF says that means of integers are integers."""
    groups = cudf.Series._from_column(column_empty(1, dtype)).groupby(cudf.Series([0]))
    if method == "size" and isinstance(dtype, pd.ArrowDtype):  # where cuDF 26.10 itself raises
        return pd.ArrowDtype(pa.int64())
    try:
        return getattr(groups, method)().dtype
    except (TypeError, ValueError, AttributeError, NotImplementedError, RuntimeError) as error:
        raise TypeError(
            f"cuDF has no {method} of groups for dtype {dtype}; leave it out with numeric_only=True or "
            f"by choosing columns, or cast it with astype"
        ) from error


CUDF = Cudf()
_LIBRARIES[_Named] = CUDF


def _seek(nulls: Mask, begin: int, end: int, size: int, from_end: bool) -> Callable[[], int | None]:
    """Look for a set bit from `begin` to `end`, in `size` bytes of them first, on the host."""
    first = max(begin // 8, (end + 7) // 8 - size) if from_end else begin // 8
    read = _copied(nulls.buffer[first : first + size])
    low, high = max(begin, 8 * first), min(end, 8 * (first + size))

    def found() -> int | None:
        bits = np.unpackbits(read(), bitorder="little")
        valid = np.flatnonzero(bits[low - 8 * first : high - 8 * first])
        if len(valid):
            return int(low + valid[-1 if from_end else 0]) - nulls.offset
        left = (begin, low) if from_end else (high, end)
        return _seek(nulls, *left, 16 * size, from_end)() if left[0] < left[1] else None

    return found


def _copied(array: Any) -> Callable[[], np.ndarray]:
    """Begin to copy an array of bytes to the host; what is returned waits for the copy, and for nothing after it."""
    stream, done = cupy.cuda.get_current_stream(), cupy.cuda.Event(disable_timing=True)
    host, runtime = cupy.cuda.alloc_pinned_memory(array.nbytes), cupy.cuda.runtime
    kind = runtime.memcpyDeviceToHost
    runtime.memcpyAsync(host.ptr, array.data.ptr, array.nbytes, kind, stream.ptr)
    done.record(stream)

    def read() -> np.ndarray:
        done.synchronize()
        return np.frombuffer(host, np.uint8, array.nbytes)

    return read
