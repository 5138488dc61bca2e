"""The frames of pandas: their columns, their index, and the arrays under them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import lru_cache
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pandas.core.algorithms import take_nd
from pandas.core.internals.blocks import (
    BlockPlacement,
    NumpyBlock,
    ensure_block_shape,
    maybe_coerce_values,
    new_block,
)
from pandas.core.internals.managers import BlockManager, SingleBlockManager

from ... import kernels
from ...kernels import BUILT_IN
from ...kernels.cpu.core.launch import helpers_for
from ...kernels.messages import shown
from ..messages import check_one_level, column_title, refuse_categories
from ..protocol import Library
from ..registry import LIBRARY_OF, check_names, columns_of, of_levels
from ..types import DType, Scalar, T, Values, View
from .arrow import in_one_order, one_chunk
from .changes import PandasChanges
from .decimals import decimals_of, is_decimal, stored_integer
from .host_values import HOST_VALUES, is_string
from .keys import (
    PandasGrouping,
    level_values,
    numbered_level,
)
from .layouts import (
    FEW,
    FEW_OF_TEAM,
    HELPERS,
    MANY,
    MASKED,
    WORK,
    WRAPPED,
    AnyColumn,
    PandasArray,
    PandasColumn,
    array_of,
    as_column,
    bare,
    column_in,
    every_column,
    every_dtype,
    every_name,
    holds_null,
    holds_text,
    labels_at,
    labels_in,
    labels_of,
    layout_of,
    masked_parts,
    nulls_of,
    series_of,
    with_null,
)
from .lists import PandasLists
from .native import as_native, is_native
from .nulls import from_masked, to_masked, to_nullable, with_nulls
from .ordering import PandasOrdering, taken, time_keys
from .schema import PandasDTypes
from .sortable import decoded, is_dictionary, is_level, is_ordered_dictionary, is_sortable, sortable
from .sparse import SPARSE
from .texts import argsort, taken_texts

_place = lru_cache(maxsize=1024)(lambda column: BlockPlacement(slice(column, column + 1)))

PLAIN = 1 << 14
"""Numbers up to which NumPy takes some of them in less time than pandas: 1,000 in 1.2 microseconds and 4.3; half of ten
times 65,536 in 549 and 241, and in a random order in 3,083 and 1,811."""

SUMMED = (np.dtype(np.float64), np.dtype(np.float32))
"""The dtypes of floats that kernels add."""

COPIES = pd.__version__.startswith("2.")
"""Whether frames that share memory may be written to without a copy."""


class Pandas(PandasDTypes, PandasChanges, PandasGrouping, PandasOrdering, PandasLists):
    """The library of pandas: its arrays are those of series, NumPy's or pandas' own."""

    xp = np
    copy_threshold = 1 << 18
    """Windows of 100 over 2^18 rows: 1.1 ms with the rows copied, 1.6 ms without; over 2^20 rows 4.6 and 4.3 ms."""
    host_values = HOST_VALUES
    sparse = SPARSE

    def __reduce__(self) -> str:
        return "PANDAS"  # one object a process

    def __repr__(self) -> str:
        return "PANDAS"

    # --- frames and their columns ---------------------------------------------------------------------

    names = staticmethod(every_name)
    column = staticmethod(column_in)
    dtypes = staticmethod(every_dtype)
    columns = staticmethod(every_column)

    def select(self, frame: pd.DataFrame, chosen: list[bool]) -> pd.DataFrame:
        return self.columns_at(frame, [i for i, is_chosen in enumerate(chosen) if is_chosen])

    def columns_at(self, frame: pd.DataFrame, places: list[int]) -> pd.DataFrame:
        """Return the columns at some places; they share memory with the frame's, as pandas is told."""
        found, blocks = frame._mgr, []
        for i, place in enumerate(places):
            block, at = found.blocks[found.blknos[place]], found.blklocs[place]
            blocks.append(block.getitem_block_columns(slice(at, at + 1), _place(i)))
        axes = [labels_at(frame.columns, places), frame.index.view()]
        manager = BlockManager(tuple(blocks), axes, verify_integrity=False)
        return frame._constructor_from_mgr(manager, axes).__finalize__(frame, "take")

    def append(self, frame: pd.DataFrame, column: pd.Series | Values, name: str) -> pd.DataFrame:
        out, title = frame.copy(deep=False), of_levels(name, frame)
        if title in labels_in(frame.columns).names:
            out[title] = column
        else:  # setting it would look its name up first, for which pandas makes a table of all labels
            is_free = out.flags.allows_duplicate_labels
            out.insert(out.shape[1], title, column, allow_duplicates=is_free)
        return out

    def rows(self, frame: pd.DataFrame, rows: Values | slice) -> pd.DataFrame:
        if isinstance(rows, slice):
            return frame.iloc[rows]
        if len(rows) >= MANY:
            arrays = [self.take(self.array(column), rows) for column in columns_of(frame)]
            return self.rebuild(frame, arrays, self.take_index(frame.index, rows))
        # `take` of pandas looks for positions below zero and past the end: for 1,000 rows it takes 64 us, and this 21
        positions, index = np.asarray(rows, np.intp), frame.index
        if type(index) is not pd.RangeIndex or not len(positions):
            index = index.take(positions)
        else:
            labels = np.array(positions, np.int64)
            if (index.start, index.step) != (0, 1):
                labels = index.start + index.step * labels
            # pandas would look whether labels are evenly spaced, which the ends show in most cases
            steps = len(labels) - 1
            if steps > 1 and labels[-1] - labels[0] != steps * (labels[1] - labels[0]):
                index = pd.Index._simple_new(labels, index.name)
            else:
                index = index._shallow_copy(labels, name=index.name)
        blocks = []
        for block in frame._mgr.blocks:
            values = block.values
            if values.ndim == 1 and holds_text(values.dtype):
                taken = taken_texts(values, positions, False)
            elif values.size > PLAIN:
                taken = take_nd(values, positions, axis=values.ndim - 1, allow_fill=False)
            else:
                taken = values.take(positions, **({"axis": 1} if values.ndim == 2 else {}))
            blocks.append(block.make_block_same_class(taken) if frame.ndim == 2 else taken)
        if frame.ndim == 2:
            axes = [frame.columns.view(), index]
            manager = BlockManager(tuple(blocks), axes, verify_integrity=False)
        else:
            manager = _one_column(blocks[0], index)
        return frame._constructor_from_mgr(manager, manager.axes).__finalize__(frame, "take")

    def takes_whole_rows(self, frame: pd.DataFrame) -> bool:
        rows = len(frame)
        if rows <= FEW_OF_TEAM:
            return True
        # pandas keeps the class, which must not depend on the number of cores
        has_team = helpers_for(WORK * frame.size) >= HELPERS
        return rows <= FEW and not (has_team and self.is_plain(frame))

    def native(self, frame: pd.DataFrame) -> pd.DataFrame:
        index = frame.index
        if frame.ndim == 1:
            has_na, dtypes = frame.name is pd.NA, [frame.dtype]
        else:
            has_na, dtypes = labels_in(frame.columns).has_na, every_dtype(frame)
        if has_na:
            check_names([pd.NA])
        for dtype in (index.dtype, *dtypes):
            if not (getattr(dtype, "isnative", False) or is_native(dtype)):  # NumPy's have it
                break
        else:
            return frame
        arrays = [as_native(bare(self.array(c)), column_title(c)) for c in columns_of(frame)]
        if not is_native(index.dtype):
            index = pd.Index(as_native(bare(index.array), "the index"), name=index.name)
        return self.rebuild(frame, arrays, index)

    def no_rows(self, frame: pd.DataFrame) -> pd.DataFrame:
        return frame.iloc[:0]

    def rebuild(
        self, frame: pd.DataFrame, arrays: list[PandasArray], index: pd.Index = None
    ) -> pd.DataFrame:
        index = self.index(frame) if index is None else index
        if frame.ndim == 1:
            return self.series(arrays[0], index, frame.name).__finalize__(frame)
        return self.frame(arrays, frame.columns.view(), index).__finalize__(frame)

    def frame(
        self,
        arrays: list[PandasArray],
        names: Sequence[Hashable],
        index: pd.Index,
        like: pd.DataFrame | None = None,
    ) -> pd.DataFrame:
        if like is not None:
            known = labels_in(like.columns).names
            if names == known:
                names = like.columns.view()
            elif set(known).issuperset(names):
                names = labels_at(like.columns, [known.index(n) for n in names])
        labels = names if isinstance(names, pd.Index) else labels_of(names)
        # the constructor looks at values, dtypes and lengths, which takes longer than most operations on few rows
        blocks = []
        for i, array in enumerate(arrays):
            own = bare(array) if type(array) is WRAPPED else array
            if type(own) is np.ndarray and own.dtype.kind in "biufc":
                blocks.append(NumpyBlock(own[None], placement=_place(i), ndim=2))
            else:
                own = ensure_block_shape(maybe_coerce_values(own), 2)
                blocks.append(new_block(own, placement=_place(i), ndim=2))
        manager = BlockManager(tuple(blocks), [labels, index], verify_integrity=False)
        return pd.DataFrame._from_mgr(manager, manager.axes)

    def join_columns(
        self,
        left: pd.DataFrame,
        right: pd.DataFrame,
        columns: list[int | PandasArray],
        names: Sequence[Hashable],
        index: pd.Index,
    ) -> pd.DataFrame:
        is_plain = self.is_plain(left)
        left = left if is_plain else left.set_axis(index)
        if {str}.issuperset(map(type, names)):
            labels = labels_of(names)
        else:
            labels = pd.Index(names, tupleize_cols=left.columns.nlevels > 1)
        runs = []
        for is_own, run in groupby(columns, lambda c: isinstance(c, int)):
            part = list(run)
            new = index if is_plain else range(len(part))  # of a plain one, only blocks are used
            runs.append(self.columns_at(left, part) if is_own else self.frame(part, new, index))
        if is_plain:
            blocks = [block for run in runs for block in run._mgr.blocks]
            for i, block in enumerate(blocks):
                block.mgr_locs = _place(i)
            if COPIES:
                blocks = [block.copy() for block in blocks]
            manager = BlockManager(tuple(blocks), [labels, index], verify_integrity=False)
            out = pd.DataFrame._from_mgr(manager, manager.axes)
        else:
            out = pd.concat(runs, axis=1) if runs else left.iloc[:, :0]
            out.columns = labels
        if out.columns.nlevels == left.columns.nlevels == right.columns.nlevels:
            titles = zip(left.columns.names, right.columns.names, strict=True)
            out.columns.names = [one if one == other else None for one, other in titles]
        return out

    def series(self, array: PandasArray, index: pd.Index, name: Hashable = None) -> pd.Series:
        index = self.range_index(0, len(array)) if index is None else index
        own = bare(array) if type(array) is WRAPPED else array
        manager = _one_column(own, index)
        found = pd.Series._from_mgr(manager, manager.axes)
        object.__setattr__(found, "_name", name)  # pandas would look for a column of this name
        return found

    def acquire(self, frame: pd.DataFrame) -> AbstractContextManager[object]:
        return nullcontext()

    def pair_names(self, frame: pd.DataFrame, pairs: list[Any]) -> pd.Index:
        levels = frame.columns.nlevels
        rows = pairs if levels == 1 else [(*label, name) for label, name in pairs]
        return pd.MultiIndex.from_tuples(rows, names=[*frame.columns.names, None])

    # --- the index ------------------------------------------------------------------------------------

    def index(self, frame: pd.DataFrame) -> pd.Index:
        # a view, so that an answer whose index is renamed leaves its input as it is
        return frame.index.view()

    def index_names(self, frame: pd.DataFrame) -> list[Hashable]:
        return list(frame.index.names)

    def index_dtypes(self, frame: pd.DataFrame) -> list[DType]:
        index = frame.index
        return list(index.dtypes) if isinstance(index, pd.MultiIndex) else [index.dtype]

    def index_level(self, frame: pd.DataFrame, number: int) -> PandasColumn:
        index = frame.index
        if not isinstance(index, pd.MultiIndex):
            values = index
        else:  # a number may be a name, too
            values = index.set_names(range(index.nlevels)).get_level_values(number)
        return PandasColumn(index.names[number], values.array)

    def is_sorted(self, index: pd.Index) -> bool:
        # pandas takes nulls of categories for the least
        nulls_first = isinstance(index, pd.CategoricalIndex) and index.hasnans
        try:
            return not nulls_first and bool(index.is_monotonic_increasing)
        except (
            TypeError,
            NotImplementedError,
        ):  # pandas compares no half floats or intervals there
            return False

    def same_index(self, index: pd.Index, other: pd.Index) -> bool:
        return index is other or bool(index.equals(other))

    def key_index(
        self, arrays: list[PandasArray], names: Sequence[Hashable], levels: bool = False
    ) -> pd.Index:
        for array, name in zip(arrays, names, strict=True):
            if bare(array).dtype == np.float16:
                raise TypeError(
                    f"column {name!r} of dtype float16 cannot be an index of pandas; cast it with astype"
                )
        if len(arrays) == 1 and not levels:
            array = arrays[0]
            if type(array) is np.ndarray and array.dtype.kind in "iuf" and array.dtype.char != "g":
                # the constructor looks what it holds, which takes longer than most operations on few rows
                return pd.Index._simple_new(array.copy(), names[0])
            array = with_null(array, np.nan) if array.dtype == object else array
            # pandas would infer strings from bare arrays of objects, and is slower where a dtype is given
            dtype = array.dtype if array.dtype == object else None
            return pd.Index(array, dtype=dtype, name=names[0])
        numbered = {i: numbered_level(a) for i, a in enumerate(arrays) if not is_level(a.dtype)}
        values = [
            numbered[i][0] if i in numbered else level_values(a) for i, a in enumerate(arrays)
        ]
        index = pd.MultiIndex.from_arrays(values, names=names)
        for i, (_, level) in numbered.items():
            index = index.set_levels([level], level=[i], verify_integrity=False)
        return index

    def index_of_pairs(self, index: pd.Index, frame: pd.DataFrame) -> pd.Index:
        check_one_level(index, frame.columns)
        names = [index.name, frame.columns.name]
        return pd.MultiIndex.from_product([index, frame.columns], names=names)

    def range_index(self, start: int, stop: int) -> pd.Index:
        return pd.RangeIndex.from_range(range(start, stop))  # in a third of the time

    def index_of_times(self, times: pd.DatetimeIndex, dtype: DType, name: Hashable) -> pd.Index:
        times = times.rename(name)
        return times.astype(dtype) if isinstance(dtype, pd.ArrowDtype) else times

    def take_index(self, index: pd.Index, positions: Values) -> pd.Index:
        if not isinstance(index, pd.RangeIndex) or not len(positions):
            return index.take(positions)
        if len(positions) == len(index) and _is_every_row(positions):
            return index
        # pandas would look whether the rows are evenly spaced, which takes longer than to choose them
        rows = positions
        if (index.start, index.step) != (0, 1):
            rows = index.start + index.step * positions
        return pd.Index(rows, name=index.name, copy=False)

    def argsort_index(self, index: pd.Index) -> Values:
        return index.argsort(kind="stable")

    def text_order(self, array: PandasArray) -> Values | None:
        return argsort(array) if holds_text(array.dtype) else None

    def sort_by_index(self, frame: pd.DataFrame) -> pd.DataFrame:
        # pandas does not sort nulls of categories to the end, nor an index of long doubles
        if isinstance(frame.index, pd.CategoricalIndex) or frame.index.dtype == np.longdouble:
            return frame.iloc[frame.index.argsort(kind="stable")]
        if holds_text(frame.index.dtype):
            return frame.take(argsort(frame.index.array))
        levels = getattr(frame.index, "levels", [frame.index])
        if not all(is_sortable(level.dtype) for level in levels):
            values = [sortable(self.index_level(frame, i).array) for i in range(len(levels))]
            index = self.key_index(values, frame.index.names)
            rows = pd.Series(range(len(frame)), index, dtype=np.int64)
            return frame.iloc[self.sort_by_index(rows)]
        by_times = any(_timed(level) is not level for level in levels)
        try:
            return frame.sort_index(kind="stable", key=_timed if by_times else None)
        except TypeError:
            return frame  # keys that have no order stay as they appear

    def reset_index(self, frame: pd.DataFrame, start: int, drop: bool) -> pd.DataFrame:
        index = self.range_index(start, start + len(frame))
        if drop:
            return frame.set_axis(index)
        out = frame.reset_index()
        for i in range(frame.index.nlevels):  # pandas would look for strings
            dtype = self.index_level(frame, i).dtype
            if out.dtypes.iloc[i] != dtype:
                out.isetitem(i, out.iloc[:, i].astype(dtype))
        out.index = index
        return out

    # --- columns and their arrays ---------------------------------------------------------------------

    array = staticmethod(array_of)

    as_column = staticmethod(as_column)

    def slice_column(self, column: AnyColumn, start: int, stop: int) -> PandasColumn:
        return PandasColumn(column.name, column.array[start:stop])

    def slice_array(self, array: PandasArray, start: int, stop: int) -> PandasArray:
        return array[start:stop]

    def empty(self, dtype: DType) -> PandasArray:
        return nulls_of(dtype)

    def one(self, value: object, dtype: DType) -> PandasArray:
        number = stored_integer(value, dtype) if is_decimal(dtype) else None
        if number is not None:
            return decimals_of(np.array([number], object), np.ones(1, np.bool_), dtype)
        found = np.full(1, None, object)
        with suppress(TypeError, ValueError, pa.ArrowException):
            if not isinstance(dtype, pd.CategoricalDtype) or value in dtype.categories:
                found[0] = value
            if not isinstance(dtype, np.dtype) or dtype.kind != "O":
                found = pd.array(found, dtype=dtype)
        is_text = isinstance(value, str)
        if bool(pd.isna(found)[0]) or is_text < is_string(dtype) or is_decimal(dtype):
            raise TypeError(f"initial must be a value of dtype {dtype}, found {shown(value)}")
        return bare(found)

    def cast(self, array: PandasArray, dtype: DType) -> PandasArray:
        return self.series(array, None).astype(dtype).array

    def copy(self, array: PandasArray) -> PandasArray:
        return bare(array).copy()

    def to_pandas(self, array: PandasArray) -> PandasArray:
        return array

    from_pandas = to_pandas

    def frame_to_pandas(self, frame: pd.DataFrame) -> pd.DataFrame:
        return frame

    frame_from_pandas = frame_to_pandas

    def packed(self, array: PandasArray) -> PandasArray:
        return array

    def unpacked(self, packed: PandasArray) -> PandasArray:
        return packed

    def take(self, array: PandasArray, positions: Values, nulls: bool = False) -> PandasArray:
        array = bare(array)
        # integers stay integers if no row is filled
        fills = nulls and bool(len(positions))
        fills = fills and (holds_null(array.dtype) or bool(positions.min() < 0))
        layout = layout_of(array.dtype)
        if (
            layout is not None
            and len(positions) >= MANY
            and not (fills and array.dtype.kind in "biu" and layout.nulls == "in band")
        ):
            return taken(layout, array, positions, fills)
        if holds_text(array.dtype):
            return taken_texts(array, positions, fills)
        if isinstance(array, np.ndarray):
            if not fills:
                return array.take(positions)
            return pd.api.extensions.take(array, positions, allow_fill=True)
        return bare(array.take(positions, allow_fill=fills))

    def always_counted(self, array: PandasArray) -> PandasArray | None:
        if not isinstance(array, pd.Categorical):
            return None
        return pd.Categorical.from_codes(range(len(array.categories)), dtype=array.dtype)

    def concatenate(self, arrays: list[PandasArray]) -> PandasArray:
        arrays = list(map(bare, arrays))
        dtype = arrays[0].dtype
        if not [a for a in arrays if not isinstance(a, np.ndarray) or a.dtype != dtype]:
            return np.concatenate(arrays)
        if isinstance(arrays[0], pd.Categorical):
            return _joined_categories(arrays)
        parts = [pd.Series(a, dtype=a.dtype) for a in arrays]
        joined = bare(pd.concat(parts, ignore_index=True).array)
        if is_ordered_dictionary(joined.dtype):  # Arrow would join them in another order
            chunks = pa.chunked_array(joined.__arrow_array__())
            joined = type(joined)(in_one_order(chunks).cast(chunks.type))
        return one_chunk(joined)

    def replace(self, array: PandasArray, start: int, rows: PandasArray) -> PandasArray:
        stop = start + len(rows)
        if isinstance(array, pd.Categorical):  # `rows` may have other categories
            return self.concatenate([array[:start], rows, array[stop:]])
        array[start:stop] = rows
        return array

    def floats(self, column: AnyColumn) -> Values:
        array = array_of(column)
        if isinstance(array, np.ndarray) and array.dtype.kind in "biuf":
            return array.astype(np.float64, copy=False)
        return series_of(column).to_numpy(dtype=np.float64, na_value=np.nan)

    def from_floats(self, values: Values, numbers: slice | None = None) -> PandasArray:
        return values

    def from_integers(self, values: Values) -> PandasArray:
        return values

    def one_each(self, count: int) -> Values:
        return np.broadcast_to(np.int64(1), count)

    # --- nulls ----------------------------------------------------------------------------------------

    def missing(self, column: AnyColumn) -> Values | None:
        dtype = column.dtype
        if isinstance(dtype, np.dtype) and dtype.kind in "biu":
            return None
        # NaN among numbers makes their sum NaN, for which all cores read them once
        if (
            dtype in SUMMED
            and len(column) >= MANY
            and not np.isnan(kernels.reduce(BUILT_IN["add"], bare(column.array)))
        ):
            return None
        if holds_text(dtype) and not array_of(column)._hasna:
            return None
        missing = _are_null(column)
        return missing if missing.any() else None

    def valid(self, column: AnyColumn) -> Values:
        return ~_are_null(column)

    def set_null(self, array: PandasArray, missing: Values) -> PandasArray:
        array = bare(array)
        if not holds_null(array.dtype) and isinstance(array, np.ndarray):
            return with_nulls(array, missing)
        array = to_nullable(array)
        if is_dictionary(array.dtype):  # pandas' mask would change other values
            positions = np.where(missing, -1, np.arange(len(array)))
            return array.take(positions, allow_fill=True)
        if MASKED.matches(array.dtype):
            values, mask = masked_parts(array)
            return MASKED.wrap(values, mask | missing, array.dtype)
        column = pd.Series(array, dtype=array.dtype)
        return bare(column.mask(pd.array(missing)).array)

    to_masked = staticmethod(to_masked)
    from_masked = staticmethod(from_masked)
    to_nullable = staticmethod(to_nullable)

    def seek_valid(self, column: AnyColumn, from_end: bool) -> Callable[[], int | None]:
        return lambda: self._first_valid(column, from_end)

    def _first_valid(self, column: AnyColumn, from_end: bool) -> int | None:
        count, done, chunk = len(column), 0, 64
        while done < count:
            end = min(count, done + chunk)
            first, last = (count - end, count - done) if from_end else (done, end)
            valid = self.valid(self.slice_column(column, first, last))
            if valid.any():
                if from_end:
                    return count - 1 - done - int(valid[::-1].argmax())
                return done + int(valid.argmax())
            done, chunk = end, 4 * chunk
        return None

    # a view of pandas knows all nulls

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

    def host_row(self, column: AnyColumn, row: int) -> PandasArray:
        found = column.array.take([row])  # iloc takes 30 us longer
        # so that it differs from numbers of an operator's state
        return pd.arrays.NumpyExtensionArray(found) if isinstance(found, np.ndarray) else found

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


def _joined_categories(arrays: list[pd.Categorical]) -> pd.Categorical:
    """Join columns of categories; the categories of columns without a value do not count."""
    union = pd.api.types.union_categoricals
    try:
        return union(arrays)
    except TypeError as error:
        have_values = [bool((array.codes >= 0).any()) for array in arrays]
        filled = [array for array, has in zip(arrays, have_values, strict=True) if has]
        if len(filled) == len(arrays):
            refuse_categories(arrays[0].dtype, error)
    dtype = _joined_categories(filled or arrays[:1]).dtype
    pairs = zip(arrays, have_values, strict=True)
    return union(
        [
            a if has else a.set_categories(dtype.categories, ordered=dtype.ordered)
            for a, has in pairs
        ]
    )


def _are_null(column: AnyColumn) -> Values:
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "fc":
        return np.isnan(array_of(column))
    layout = layout_of(column.dtype)
    if layout is not None and layout.nulls == "in band":  # of times, sooner than pandas
        return layout.raw(array_of(column)).missing()
    if is_dictionary(column.dtype):
        return np.asarray(decoded(column.array).isna())
    return np.asarray(pd.isna(column.array))


def _timed(index: pd.Index) -> pd.Index:
    """Return an index of times of several classes as one that has their order; any other as it is."""
    if index.dtype != object or pd.api.types.infer_dtype(index) == "string":
        return index
    values = index.to_numpy()
    keys = time_keys(values)
    return index if keys is values else pd.Index(keys, dtype=object)


def _one_column(array: PandasArray, index: pd.Index) -> SingleBlockManager:
    """Return what holds the array of a series; numbers need not be looked at."""
    if type(array) is np.ndarray and array.dtype.kind in "biufc":
        block = NumpyBlock(array, placement=BlockPlacement(slice(0, len(array))), ndim=1)
        return SingleBlockManager(block, index)
    return SingleBlockManager.from_array(array, index)


def _is_every_row(positions: Values) -> bool:
    """Return whether positions count from 0; the first 64 decide in most cases."""
    first = positions[:64]
    counts = bool((first == np.arange(len(first))).all())
    return counts and bool((np.diff(positions) == 1).all())


PANDAS: Library = Pandas()
LIBRARY_OF[PandasColumn] = PANDAS
