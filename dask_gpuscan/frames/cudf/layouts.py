"""Shows cuDF's columns as CuPy arrays, without a copy: data, validity bitmap and offset in device memory.

NaN is null where cuDF takes it for null, and results have a null in its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import cudf
import cupy
import numpy as np
import pylibcudf as plc
from cudf.core.buffer import Buffer, as_buffer
from cudf.core.buffer.buffer import BufferOwner
from cudf.core.buffer.spill_manager import get_global_manager
from cudf.core.column import ColumnBase
from cudf.utils.dtypes import dtype_to_pylibcudf_type, get_dtype_of_same_kind
from packaging.version import Version

from ... import kernels
from ...kernels import BUILT_IN, INT128, InBand, Mask, bitmap
from ...kernels.late_dataclass import dataclass
from ..types import DType, Layout, Missing, NullStorage, Values, View
from .bitmaps import bits_of, floats_or_nan, valid_bits, with_bits

if Version(cudf.__version__) < Version("26.10"):  # the first whose columns are read here
    raise ImportError(f"found cuDF {cudf.__version__}")

_INT64, _INT32 = np.dtype(np.int64), np.dtype(np.int32)

STORAGES: dict[Any, np.dtype] = {
    getattr(plc.TypeId, name.upper()): np.dtype(name)
    for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
} | {
    plc.TypeId.BOOL8: np.dtype(np.bool_),
    plc.TypeId.FLOAT32: np.dtype(np.float32),
    plc.TypeId.FLOAT64: np.dtype(np.float64),
    plc.TypeId.DECIMAL32: _INT32,
    plc.TypeId.DECIMAL64: _INT64,
    plc.TypeId.DECIMAL128: INT128,
}
STORAGES |= {
    getattr(plc.TypeId, f"{kind}_{unit}"): _INT64
    for kind in ("TIMESTAMP", "DURATION")
    for unit in ("SECONDS", "MILLISECONDS", "MICROSECONDS", "NANOSECONDS")
}
"""The dtype of the data of a fixed-width column, by libcudf's type."""


@lru_cache(maxsize=256)
def _type_of(dtype: DType) -> Any:
    """Return libcudf's type for a dtype, or None."""
    try:
        return dtype_to_pylibcudf_type(dtype)
    except KeyError:
        return None


@lru_cache(maxsize=256)
def _storage(dtype: DType) -> np.dtype | None:
    kind = _type_of(dtype)
    return None if kind is None else STORAGES.get(kind.id())


class CudfLayout:
    """All fixed-width columns of cuDF: numbers and a bitmap of valid rows, at any offset."""

    nulls: NullStorage = "mask"
    passes_over_nan = False
    groups_pass_over_nan = False
    nan_is_null = True

    def __repr__(self) -> str:
        return "CudfLayout()"

    def matches(self, dtype: DType) -> bool:
        return not isinstance(dtype, cudf.CategoricalDtype) and _storage(dtype) is not None

    def storage(self, dtype: DType) -> np.dtype:
        found = _storage(dtype)
        assert found is not None
        return found

    def view(self, array: ColumnBase) -> View:
        if array.dtype.kind == "f":
            if "nan_count" not in vars(array):
                return view_of(array, _UncheckedNan(array))
            array = array.nans_to_nulls()
        return view_of(array)

    def raw(self, array: ColumnBase) -> View:
        return view_of(array)

    def wrap(self, values: Values, missing: Missing, dtype: DType) -> ColumnBase:
        mask, null_count = None, 0
        if isinstance(missing, View):
            if missing.validity is not None:
                mask, null_count = bitmap_of(missing.validity), missing.validity.null_count
        elif missing is not None:
            mask, null_count = valid_bits(missing)
        return _column(values, mask if null_count else None, null_count, dtype)

    def wrap_valid(self, values: Values, valid: slice, dtype: DType) -> ColumnBase:
        """Return a column that is valid in a slice of its rows, and null in the others."""
        null_count = len(values) - (valid.stop - valid.start)
        mask = bits_of(valid, len(values)) if null_count else None
        return _column(values, mask, null_count, dtype)

    def wrap_bits(self, values: Values, bits: Values, nulls: int, dtype: DType) -> ColumnBase:
        """Return a column that is valid where bits are set."""
        return _column(values, bits if nulls else None, nulls, dtype)

    def wrap_nan(self, values: Values) -> ColumnBase:
        """Return a column that is null where values are NaN."""
        mask, null_count = valid_bits(values)
        return _column(values, mask if null_count else None, null_count, values.dtype)

    def replaced(self, array: ColumnBase, start: int, rows: ColumnBase) -> ColumnBase:
        """Write some rows over those of a column that has nulls, from `start` on; it gets a bitmap of its own."""
        own, theirs = view_of(array), view_of(rows)
        own.values[start : start + rows.size] = theirs.values
        valid = ~theirs.missing()
        mask, more = with_bits(nulls_of(array).buffer, array.size, start, valid)
        null_count = array.null_count - more
        return _column(own.values, mask if null_count else None, null_count, array.dtype)

    def result(self, storage: np.dtype, dtype: DType) -> DType:
        if storage == self.storage(dtype):
            return dtype
        if storage not in STORAGES.values():
            raise TypeError(f"cuDF columns cannot hold {storage}")
        found: DType = get_dtype_of_same_kind(dtype, storage)
        return found


@dataclass(frozen=True)
class _UncheckedNan:
    """NaN of a column that cuDF has not counted; it does so once, in a pass of its own, and remembers the number."""

    column: ColumnBase

    def resolve_nulls(self) -> View:
        found = view_of(self.column)
        # NaN among the values makes their sum NaN: one read, where cuDF's count writes and reads flags as well
        if not np.isnan(kernels.reduce(BUILT_IN["add"], found.values, nulls=found.nulls)):
            self.mark_no_nan()
        return view_of(self.column.nans_to_nulls())

    def in_band(self) -> View:
        if self.column.null_count:
            return self.resolve_nulls()
        found = view_of(self.column)
        return View(found.values, InBand(), lambda: cupy.isnan(found.values))

    def mark_no_nan(self) -> None:
        vars(self.column)["nan_count"] = 0


def view_of(column: ColumnBase, unchecked_nan: _UncheckedNan | None = None) -> View:
    """Return a view of a column of fixed width."""
    storage, offset, count = LAYOUT.storage(column.dtype), column.offset, column.size
    values = device_array(column.data, offset * storage.itemsize, count, storage)
    if not column.null_count:
        return View(values, None, lambda: cupy.zeros(count, np.bool_), unchecked_nan=unchecked_nan)
    nulls = nulls_of(column)
    bit = nulls.offset

    def missing() -> Any:
        return cupy.unpackbits(nulls.buffer, bitorder="little")[bit : bit + count] == 0

    return View(values, nulls, missing, column, offset, unchecked_nan)


def floats_of(column: ColumnBase) -> Values:
    """Return the numbers of a column as float64, NaN where it is null: without a copy, or in one pass."""
    values = view_of(column).values
    if not column.null_count:
        return values.astype(np.float64, copy=False)
    nulls = nulls_of(column)
    return floats_or_nan()(values, nulls.buffer, np.int64(nulls.offset))


def nulls_of(column: ColumnBase) -> Mask:
    """Return the part of a column's bitmap for its own rows."""
    first, last = column.offset // 8, (column.offset + len(column) + 7) // 8
    return bitmap(
        device_array(column.mask, first, last - first, np.dtype(np.uint8)), column.offset % 8
    )


def device_array(buffer: Buffer | None, start: int, count: int, dtype: np.dtype) -> Values:
    """Return device memory of cuDF's as a CuPy array, which keeps it alive."""
    if buffer is None or not count:
        return cupy.empty(0, dtype)
    device = cupy.cuda.runtime.getDevice()
    memory = cupy.cuda.UnownedMemory(buffer.ptr + start, count * dtype.itemsize, buffer, device)
    return cupy.ndarray(count, dtype, cupy.cuda.MemoryPointer(memory, 0))


def bitmap_of(column: ColumnBase) -> Any:
    """Return the bitmap of a column's rows, from bit 0 on."""
    if column.offset == 0:
        return column.mask
    return plc.null_mask.copy_bitmask(column.plc_column)


def _column(values: Values, mask: Any, null_count: int, dtype: DType) -> Any:
    """Return a column around device memory, without a copy."""
    mask = None if mask is None else mask_buffer(mask)
    data = _buffer(values)
    kind = _type_of(dtype)
    column = plc.Column(kind, values.size, data, mask, null_count, 0, [], validate=False)
    return ColumnBase.create(column, dtype, validate=False)


def mask_buffer(bitmap: Any) -> Buffer:
    """Return a bitmap as a buffer of cuDF; that of another column is shared until one of both is written to."""
    return bitmap.copy(deep=False) if isinstance(bitmap, Buffer) else as_buffer(bitmap)


def _buffer(values: Values) -> Buffer:
    """Return an array as a buffer of cuDF; cuDF's own way makes one that may be spilled, and takes twice the time."""
    if get_global_manager() is not None or not values.flags.c_contiguous:
        return as_buffer(values)
    return Buffer(owner=BufferOwner(ptr=values.data.ptr, size=values.nbytes, owner=values))


def gathered(columns: Sequence[ColumnBase], rows: Values, nulls: bool = False) -> list[ColumnBase]:
    """Return the rows at these positions, with `nulls` null where one is past the end."""
    policy = plc.copying.OutOfBoundsPolicy
    table = plc.copying.gather(
        plc.Table([column.plc_column for column in columns]),
        plc.Column.from_cuda_array_interface(rows),
        policy.NULLIFY if nulls else policy.DONT_CHECK,
    )
    pairs = zip(table.columns(), columns, strict=True)
    return [ColumnBase.create(found, column.dtype) for found, column in pairs]


LAYOUT = CudfLayout()


def layout_of(dtype: DType) -> Layout | None:
    """Return the layout of a dtype; None if its columns hold no numbers of fixed width."""
    return LAYOUT if LAYOUT.matches(dtype) else None


def moved_layout_of(dtype: DType) -> Layout | None:
    """Return the layout of a dtype whose numbers kernels compare and move; None for decimals of 128 bits."""
    return LAYOUT if LAYOUT.matches(dtype) and LAYOUT.storage(dtype).kind != "V" else None


def is_number(dtype: DType) -> bool:
    """Return whether columns of a dtype hold numbers or bool that can be scanned, and not times."""
    return LAYOUT.matches(dtype) and dtype.kind in "biufc"
