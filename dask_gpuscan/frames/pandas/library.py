"""The frames and columns of pandas."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from ... import kernels
from ...kernels.messages import shown
from ...kernels.options import Shifted
from ..messages import refuse_categories
from ..protocol import DType, Library, Scalar, T, Values, View
from .grouping import PandasGrouping
from .host_values import HOST_VALUES, is_string
from .index import PandasIndex
from .layouts import (
    MASKED,
    NUMPY,
    PandasArray,
    bare,
    holds_null,
    layout_of,
    nullable,
    one_chunk,
    taken,
    to_nullable,
)
from .lists import PandasLists
from .ordering import PandasOrdering
from .same_keys import decoded
from .schema import PandasSchema
from .sparse import SPARSE

MANY = 1 << 18
"""Rows from which on all cores take them: fewer are taken by pandas in the time that it takes to begin."""

_FLOATS = np.dtype(np.float64), np.dtype(np.float32)


INT64, BOOLEAN = pd.Int64Dtype(), pd.BooleanDtype()


class Pandas(PandasSchema, PandasIndex, PandasGrouping, PandasOrdering, PandasLists):
    """The library of pandas: its arrays are those of series, NumPy's or pandas' own."""

    xp = np
    few_rows = 1 << 18
    """Windows of 100 over 2^18 rows: 1.1 ms with the rows copied, 1.6 ms without; over 2^20 rows 4.6 and 4.3 ms."""
    host_values = HOST_VALUES
    sparse = SPARSE

    def __reduce__(self) -> str:
        return "PANDAS"  # one object a process

    def __repr__(self) -> str:
        return "PANDAS"

    # --- frames and their columns ---------------------------------------------------------------------

    def names(self, frame: pd.DataFrame) -> list[Hashable]:
        return list(frame.columns)

    def column(self, frame: pd.DataFrame, name: Hashable) -> pd.Series:
        return frame[name]

    def columns(self, frame: pd.DataFrame) -> list[pd.Series]:
        return [column for _, column in frame.items()]

    def select(self, frame: pd.DataFrame, chosen: list[bool]) -> pd.DataFrame:
        return frame.loc[:, chosen]

    def rows(self, frame: pd.DataFrame, rows: Values | slice) -> pd.DataFrame:
        return frame.iloc[rows]

    def no_rows(self, frame: pd.DataFrame) -> pd.DataFrame:
        return frame.iloc[:0]

    def rebuild(
        self, frame: pd.DataFrame, arrays: list[PandasArray], index: pd.Index = None
    ) -> pd.DataFrame:
        index = frame.index if index is None else index
        if frame.ndim == 1:
            return self.series(arrays[0], index, frame.name).__finalize__(frame)
        return self.frame(arrays, frame.columns, index).__finalize__(frame)

    def frame(
        self,
        arrays: list[PandasArray],
        names: Sequence[Hashable],
        index: pd.Index,
        like: pd.DataFrame | None = None,
    ) -> pd.DataFrame:
        if like is not None:
            known = list(like.columns)
            if all(n in known for n in names):
                names = like.columns[[known.index(n) for n in names]]
        # pandas would look for strings in bare arrays of objects
        columns = {
            i: self.series(a, index, i) if a.dtype == object else a
            for i, a in enumerate(map(bare, arrays))
        }
        out = pd.DataFrame(columns, index=index, copy=False)
        out.columns = names
        return out

    def beside(
        self, frames: Sequence[pd.DataFrame], names: Sequence[Hashable], like: pd.DataFrame
    ) -> pd.DataFrame:
        out = pd.concat(frames, axis=1) if frames else like.iloc[:, :0]
        out.columns = names
        return out

    def series(self, array: PandasArray, index: pd.Index, name: Hashable = None) -> pd.Series:
        return pd.Series(array, dtype=array.dtype, index=index, name=name, copy=False)

    def reading(self, frame: pd.DataFrame) -> AbstractContextManager[object]:
        return nullcontext()

    def pair_names(self, frame: pd.DataFrame, pairs: list[Any]) -> pd.Index:
        levels = frame.columns.nlevels
        rows = pairs if levels == 1 else [(*label, name) for label, name in pairs]
        return pd.MultiIndex.from_tuples(rows, names=[*frame.columns.names, None])

    # --- columns and their arrays ---------------------------------------------------------------------

    def array(self, column: pd.Series) -> PandasArray:
        return column.array

    def as_column(self, array: PandasArray) -> pd.Series:
        return self.series(array, None)

    def slice_column(self, column: pd.Series, start: int, stop: int) -> pd.Series:
        return column.iloc[start:stop]

    def slice_array(self, array: PandasArray, start: int, stop: int) -> PandasArray:
        return array[start:stop]

    def empty(self, dtype: DType) -> PandasArray:
        return pd.array([], dtype=dtype)

    def one(self, value: object, dtype: DType) -> PandasArray:
        found = np.full(1, None, object)
        with suppress(TypeError, ValueError, pa.ArrowException):
            if not isinstance(dtype, pd.CategoricalDtype) or value in dtype.categories:
                found[0] = value
            if not isinstance(dtype, np.dtype) or dtype.kind != "O":
                found = pd.array(found, dtype=dtype)
        is_text = isinstance(value, str)
        if bool(pd.isna(found)[0]) or is_text < is_string(dtype):
            raise TypeError(f"initial must be a value of dtype {dtype}, found {shown(value)}")
        return bare(found)

    def copy(self, array: PandasArray) -> PandasArray:
        return bare(array).copy()

    def packed(self, array: PandasArray) -> PandasArray:
        return array

    def unpacked(self, packed: PandasArray) -> PandasArray:
        return packed

    def take(self, array: PandasArray, positions: Values, nulls: bool = False) -> PandasArray:
        array = bare(array)
        # where none is filled, integers stay integers
        fills = nulls and bool(len(positions))
        fills = fills and (holds_null(array.dtype) or bool(positions.min() < 0))
        layout = layout_of(array.dtype)
        if (
            layout is not None
            and len(positions) >= MANY
            and not (fills and array.dtype.kind in "biu" and layout.nulls == "in band")
        ):
            return taken(layout, array, positions, fills)
        if isinstance(array, np.ndarray):
            return pd.api.extensions.take(array, positions, allow_fill=fills)
        return bare(array.take(positions, allow_fill=fills))

    def shift(self, array: PandasArray, periods: int, /, *fill: Any) -> PandasArray:
        array = bare(array)
        if fill and not holds_null(array.dtype) and pd.api.types.is_scalar(fill[0]):
            fill = () if pd.isna(fill[0]) else fill
        if periods and not fill and not holds_null(array.dtype):
            return self._shifted_integers(array, periods)
        options = {"fill_value": fill[0]} if fill else {}
        column, layout = self.series(array, None), layout_of(array.dtype)
        if periods and len(array) >= MANY and layout is not None and layout.nulls == "in band":
            filled = column.iloc[:1].shift(1, **options)  # what stands where there is no such row
            if layout_of(filled.dtype) is layout:
                value = layout.raw(filled.array).values[0]
                values = kernels.shift(layout.raw(array).values, periods, value)
                return layout.wrap(values, None, filled.dtype)
        return column.shift(periods, **options).array

    def _shifted_integers(self, array: PandasArray, periods: int) -> PandasArray:
        """Return integers, bool or intervals of rows before, null where there is no such row."""
        layout = layout_of(array.dtype)
        if layout is None:
            return self.series(to_nullable(array), None).shift(periods).array
        values, shifted = layout.view(array).values, Shifted(len(array), periods)
        missing = np.zeros(len(array), np.bool_)
        missing[shifted.rest] = True
        moved = kernels.shift(values, periods, values.dtype.type(0))
        return MASKED.wrap(moved, missing, nullable(array.dtype))

    def subtract(self, array: PandasArray, earlier: PandasArray) -> PandasArray:
        array = bare(array)
        if not isinstance(array.dtype, np.dtype) or array.dtype.kind not in "biu":
            # series without labels, which would be aligned
            found = self.series(array, None) - self.series(earlier, None)
            return found.array
        earlier = to_nullable(earlier)
        missing = earlier._mask
        if array.dtype.kind == "b":
            return MASKED.wrap(array ^ earlier._data, missing, BOOLEAN)
        out = np.empty(len(array), np.int64)
        values = NUMPY.view(array).values
        if not kernels.subtract(values, np.where(missing, values, earlier._data), out):
            _refuse_differences(array.dtype)
        return MASKED.wrap(out, missing, INT64)

    def diff(self, array: PandasArray, periods: int) -> PandasArray:
        array = bare(array)
        if len(array) >= MANY and array.dtype in _FLOATS:
            return kernels.difference(array, periods, array.dtype.type("nan"))
        if array.dtype == np.bool_:
            return self.subtract(array, self._shifted_integers(array, periods))
        if isinstance(array.dtype, np.dtype) and array.dtype.kind in "iu":
            return self._changed_integers(array, periods)
        is_period = isinstance(array.dtype, pd.PeriodDtype)
        if is_period and not len(array):
            return array.astype(object)  # of no periods, pandas 2 fails to take differences
        found = self.series(array, None).diff(periods).array
        # objects, of which pandas makes times if all are NaT
        return found.astype(object) if is_period else found

    def _changed_integers(self, array: PandasArray, periods: int) -> PandasArray:
        values, shifted = NUMPY.view(array).values, Shifted(len(array), periods)
        out, missing = np.empty(len(array), np.int64), np.zeros(len(array), np.bool_)
        out[shifted.rest], missing[shifted.rest] = 0, True
        if not kernels.subtract(values[shifted.to], values[shifted.of], out[shifted.to]):
            _refuse_differences(array.dtype)
        return MASKED.wrap(out, missing, INT64)

    def always_counted(self, array: PandasArray) -> PandasArray | None:
        if not isinstance(array, pd.Categorical):
            return None
        return pd.Categorical.from_codes(range(len(array.categories)), dtype=array.dtype)

    def concatenate(self, arrays: list[PandasArray]) -> PandasArray:
        arrays = list(map(bare, arrays))
        if all(isinstance(a, np.ndarray) and a.dtype == arrays[0].dtype for a in arrays):
            return np.concatenate(arrays)
        if isinstance(arrays[0], pd.Categorical):
            try:
                return pd.api.types.union_categoricals(arrays)
            except TypeError as error:
                refuse_categories(arrays[0].dtype, error)
        parts = [pd.Series(a, dtype=a.dtype) for a in arrays]
        return one_chunk(bare(pd.concat(parts, ignore_index=True).array))

    def replace(self, array: PandasArray, start: int, rows: PandasArray) -> PandasArray:
        stop = start + len(rows)
        if isinstance(array, pd.Categorical):  # whose rows may be of other categories
            return self.concatenate([array[:start], rows, array[stop:]])
        array[start:stop] = rows
        return array

    def floats(self, column: pd.Series) -> Values:
        return column.to_numpy(dtype=np.float64, na_value=np.nan)

    def from_floats(self, values: Values, numbers: slice | None = None) -> PandasArray:
        return values

    def from_integers(self, values: Values) -> PandasArray:
        return values

    # --- nulls ----------------------------------------------------------------------------------------

    def missing(self, column: pd.Series) -> Values | None:
        if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biu":
            return None
        missing = ~self.valid(column)
        return missing if missing.any() else None

    def valid(self, column: pd.Series) -> Values:
        if isinstance(column.dtype, pd.ArrowDtype):  # of whose dictionaries entries may be null
            column = self.series(decoded(column.array), None)
        return np.asarray(column.notna())

    def set_null(self, array: PandasArray, missing: Values) -> PandasArray:
        array = self.to_nullable(array)
        if isinstance(array.dtype, pd.ArrowDtype) and pa.types.is_dictionary(
            array.dtype.pyarrow_dtype
        ):  # of which pandas' mask takes other values
            positions = np.where(missing, -1, np.arange(len(array)))
            return array.take(positions, allow_fill=True)
        if MASKED.matches(array.dtype):
            return MASKED.wrap(array._data, array._mask | missing, array.dtype)
        column = pd.Series(array, dtype=array.dtype)
        return bare(column.mask(pd.array(missing)).array)

    to_nullable = staticmethod(to_nullable)

    def fill(self, column: pd.Series, reverse: bool, limit: int | None) -> PandasArray:
        if column.dtype == np.float16:  # which pandas does not fill
            return self.fill(column.astype(np.float32), reverse, limit).astype(np.float16)
        most = (
            None if limit is None else min(limit, max(len(column), 1))
        )  # pandas counts in 32 bits
        filled = bare((column.bfill(limit=most) if reverse else column.ffill(limit=most)).array)
        own = isinstance(filled, np.ndarray) and not np.may_share_memory(filled, column.array)
        return filled if own else filled.copy()

    def seek_valid(self, column: pd.Series, from_end: bool) -> Callable[[], int | None]:
        return lambda: self._first_valid(column, from_end)

    def _first_valid(self, column: pd.Series, from_end: bool) -> int | None:
        count, done, chunk = len(column), 0, 64
        while done < count:
            end = min(count, done + chunk)
            piece = column.iloc[count - end : count - done] if from_end else column.iloc[done:end]
            valid = self.valid(piece)
            if valid.any():
                if from_end:
                    return count - 1 - done - int(valid[::-1].argmax())
                return done + int(valid.argmax())
            done, chunk = end, 4 * chunk
        return None

    # all nulls of a view of pandas are known

    def resolved(self, views: list[View]) -> list[View]:
        return views

    def in_band(self, views: list[View]) -> list[View]:
        return views

    def assume_no_nan(
        self,
        views: list[View],
        run: Callable[[list[View]], Callable[[], T]],
        saw_nan: Callable[[T], bool],
        resolve: Callable[[list[View]], list[View]] | None = None,
    ) -> Callable[[], T]:
        return run(views)

    # --- rows on the host -----------------------------------------------------------------------------

    def fetch(self, values: Values) -> Callable[[], np.ndarray]:
        return lambda: values

    def host_row(self, column: pd.Series, row: int) -> PandasArray:
        return column.array.take([row])  # iloc takes 30 us longer

    def number(self, row: PandasArray, dtype: DType) -> Scalar:
        layout = layout_of(dtype)
        assert layout is not None
        return layout.view(row).values[0]

    def repeat(self, row: PandasArray, count: int, dtype: DType) -> PandasArray:
        return row.take(np.zeros(count, np.intp))

    def prepend(self, row: PandasArray, array: PandasArray) -> PandasArray:
        return self.concatenate([row, array])

    def prepend_number(self, number: Scalar, values: Values) -> Values:
        return np.concatenate([np.asarray([number], values.dtype), values])


def _refuse_differences(dtype: DType) -> None:
    raise OverflowError(
        f"diff of {dtype}: a difference does not fit int64; cast the column with astype('float64') first, which rounds"
    )


PANDAS: Library = Pandas()
