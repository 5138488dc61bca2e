"""The library of pandas' frames and series; how a column lies in memory is `pandas_layout`'s to know.

What this module does for pandas `cudf_columns` does for cuDF; neither must know what is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from ..kernels import Nulls
from .columns import SUMS, layout_of, wide_integers
from .pandas_layouts import LAYOUTS


class Pandas:
    """The library of pandas frames and series."""

    numbers = np
    layouts = LAYOUTS
    null_sums = False
    widens_by_value = scans_by_code = True
    wrong_groups: tuple[str, ...] = ()

    def is_numeric(self, dtype: Any) -> bool:
        return bool(pd.api.types.is_numeric_dtype(dtype))

    def raises_on_overflow(self, dtype: Any) -> bool:
        return isinstance(dtype, pd.ArrowDtype) or dtype.kind == "m"

    def answer(self, method: str, dtype: Any) -> Any:
        try:
            return getattr(pd.Series([], dtype=dtype), method)().dtype
        except (TypeError, NotImplementedError, pa.ArrowException) as error:
            raise TypeError(
                f"pandas has no {method} for dtype {dtype}; leave it out with numeric_only=True or "
                f"by choosing columns, or cast it with astype"
            ) from error

    def grouped(self, method: str, dtype: Any) -> Any:
        return _widened(method, dtype, _grouped(method, dtype))

    def holds_null(self, dtype: Any) -> bool:
        if isinstance(dtype, pd.IntervalDtype):
            return self.holds_null(dtype.subtype)
        return not isinstance(dtype, np.dtype) or dtype.kind not in "biu"

    def nullable(self, array: Any) -> Any:
        if self.holds_null(array.dtype):
            return array
        if isinstance(array.dtype, pd.IntervalDtype):
            return array.astype(pd.IntervalDtype(np.float64, array.dtype.closed))
        return array.astype(object if array.dtype == np.bool_ else np.float64)

    def nulled(self, array: Any, missing: Any) -> Any:
        array = self.nullable(array)
        if isinstance(array.dtype, pd.ArrowDtype) and pa.types.is_dictionary(
            array.dtype.pyarrow_dtype
        ):  # of which pandas' mask takes other values
            positions = np.where(missing, -1, np.arange(len(array)))
            return array.take(positions, allow_fill=True)
        column = pd.Series(array, dtype=array.dtype)
        return _bare(column.mask(pd.array(missing)).array)

    def picked(self, array: Any) -> Any:
        return _with_null(array, None)

    def key_index(self, arrays: list[Any], names: Sequence[Any]) -> Any:
        if len(arrays) == 1:
            array = _with_null(arrays[0], np.nan)
            return pd.Index(array, dtype=array.dtype, name=names[0])
        # pandas would look for strings and numbers in bare arrays of objects
        levels = [
            pd.Index(_with_null(a, np.nan), dtype=object)
            if a.dtype == object
            else _unsigned_zeros(a)
            for a in arrays
        ]
        return pd.MultiIndex.from_arrays(levels, names=names)

    def stored(self, value: Any, dtype: Any) -> Any:
        try:
            array = pd.array([value], dtype=dtype)
        except (TypeError, ValueError):
            raise TypeError(f"initial must be {dtype}, found {value!r}") from None
        layout = layout_of(self, dtype)
        assert layout is not None
        view = layout.view(array)
        if view.missing()[0] or isinstance(value, (int, float, np.number)):
            raise TypeError(f"initial must be {dtype}, found {value!r}")
        return int(view.values[0])

    def unit(self, dtype: Any) -> str:
        if isinstance(dtype, pd.ArrowDtype):
            kind = dtype.pyarrow_dtype
            return "D" if kind == pa.date32() else getattr(kind, "unit", "ms")
        return str(getattr(dtype, "unit", None) or np.datetime_data(dtype)[0])

    def select(self, frame: Any, keep: list[bool]) -> Any:
        return frame.loc[:, keep]

    def names(self, frame: Any) -> list[Any]:
        return list(frame.columns)

    def column(self, frame: Any, name: Any) -> Any:
        return frame[name]

    def columns(self, frame: Any) -> list[Any]:
        return [column for _, column in frame.items()]

    def array(self, column: Any) -> Any:
        return column.array

    def empty(self, dtype: Any) -> Any:
        return pd.array([], dtype=dtype)

    def rebuild(self, frame: Any, arrays: list[Any], index: Any = None) -> Any:
        index = frame.index if index is None else index
        if frame.ndim == 1:
            return self.series(arrays[0], index, frame.name).__finalize__(frame)
        return self.frame(arrays, frame.columns, index).__finalize__(frame)

    def frame(self, arrays: list[Any], names: Any, index: Any, like: Any = None) -> Any:
        if like is not None:
            known = list(like.columns)
            if all(n in known for n in names):
                names = like.columns[[known.index(n) for n in names]]
        # pandas would look for strings in bare arrays of objects
        columns = {
            i: self.series(a, index, i) if a.dtype == object else a for i, a in enumerate(arrays)
        }
        out = pd.DataFrame(columns, index=index, copy=False)
        out.columns = names
        return out

    def series(self, array: Any, index: Any, name: Any = None) -> Any:
        return pd.Series(array, dtype=array.dtype, index=index, name=name, copy=False)

    def unnamed(self, array: Any) -> Any:
        return self.series(array, None)

    def take(self, array: Any, positions: Any, nulls: bool = False) -> Any:
        # where none is filled, integers stay integers
        fills = nulls and bool(len(positions)) and bool(positions.min() < 0)
        if isinstance(array, np.ndarray):
            return pd.api.extensions.take(array, positions, allow_fill=fills)
        return _bare(array.take(positions, allow_fill=fills))

    def take_index(self, index: Any, positions: Any) -> Any:
        if not isinstance(index, pd.RangeIndex) or not len(positions):
            return index.take(positions)
        if len(positions) == len(index):
            return index
        # pandas would look whether the rows are evenly spaced, which takes longer than to choose them
        rows = positions
        if (index.start, index.step) != (0, 1):
            rows = index.start + index.step * positions
        return pd.Index(rows, name=index.name, copy=False)

    def range_index(self, start: int, stop: int) -> Any:
        return pd.RangeIndex(start, stop)

    def missing(self, column: Any) -> Any:
        if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biu":
            return None
        missing = np.asarray(column.isna())
        return missing if missing.any() else None

    def valid(self, column: Any) -> Any:
        return np.asarray(column.notna())

    def codes(self, column: Any) -> tuple[Any, Nulls]:
        if isinstance(column.dtype, pd.CategoricalDtype):
            return column.array.codes.astype(np.int64), None
        return pd.factorize(column.array)[0], None

    def group_codes(self, arrays: list[Any]) -> Any:
        arrays = [_one_chunk(a) for a in arrays]
        numbered = self.frame(arrays, range(len(arrays)), pd.RangeIndex(len(arrays[0])))
        groups = numbered.groupby(list(numbered), sort=False, dropna=False, observed=True)
        return groups.ngroup().to_numpy()

    def group(self, method: str, column: Any, codes: Any) -> Any:
        array = _bare(getattr(column.groupby(codes), method)().array)
        # pandas looks whether all answers for objects are strings
        found = column.dtype == object and isinstance(array.dtype, pd.StringDtype)
        return array.astype(object) if found else array

    def order(self, index: Any) -> Any:
        return index.argsort(kind="stable")

    def sort(self, frame: Any) -> Any:
        if isinstance(
            frame.index, pd.CategoricalIndex
        ):  # of which pandas sorts no nulls to the end
            return frame.iloc[frame.index.argsort(kind="stable")]
        try:
            return frame.sort_index(kind="stable")
        except pa.ArrowNotImplementedError:  # Arrow sorts no dictionaries
            return frame.sort_index(kind="stable", key=lambda index: pd.Index(index.tolist()))
        except TypeError:
            return frame  # keys that have no order stay as they appear

    def labels(self, pairs: list[Any]) -> Any:
        return pd.MultiIndex.from_tuples(pairs)

    def floats(self, column: Any) -> Any:
        return column.to_numpy(dtype=np.float64, na_value=np.nan)

    def from_floats(self, values: Any) -> Any:
        return values

    def seek_valid(self, column: Any, from_end: bool) -> Callable[[], int | None]:
        return lambda: self._first_valid(column, from_end)

    def _first_valid(self, column: Any, from_end: bool) -> int | None:
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

    def fill(self, column: Any, reverse: bool, limit: int | None) -> Any:
        if column.dtype == np.float16:  # which pandas does not fill
            return self.fill(column.astype(np.float32), reverse, limit).astype(np.float16)
        filled = _bare((column.bfill(limit=limit) if reverse else column.ffill(limit=limit)).array)
        own = isinstance(filled, np.ndarray) and not np.may_share_memory(filled, column.array)
        return filled if own else filled.copy()

    def keep(self, column: Any, row: int) -> Any:
        return column.iloc[[row]].array

    def number(self, kept: Any, dtype: Any) -> Any:
        layout = layout_of(self, dtype)
        assert layout is not None
        return layout.view(kept).values[0]

    def repeat(self, kept: Any, count: int, dtype: Any) -> Any:
        return kept.take(np.zeros(count, np.intp))

    def part(self, array: Any, start: int, stop: int) -> Any:
        return array[start:stop]

    def slice(self, column: Any, start: int, stop: int) -> Any:
        return column.iloc[start:stop]

    def prepend(self, kept: Any, array: Any) -> Any:
        return self.concatenate([kept, array])

    def copy(self, array: Any) -> Any:
        return _bare(array).copy()

    def concatenate(self, arrays: list[Any]) -> Any:
        if isinstance(arrays[0], pd.Categorical):
            return pd.api.types.union_categoricals(arrays)
        parts = [pd.Series(_bare(a), dtype=_bare(a).dtype) for a in arrays]
        return _one_chunk(_bare(pd.concat(parts, ignore_index=True).array))

    def reading(self, frame: Any) -> AbstractContextManager[Any]:
        return nullcontext()


_NOT_OF_DATES = ("sum", "prod", "var", "cumsum", "cumprod")


@lru_cache(maxsize=1024)
def _grouped(method: str, dtype: Any) -> Any:
    groups = pd.Series([], dtype=dtype).groupby(np.array([], np.int64))
    try:
        if dtype.kind == "M" and method in _NOT_OF_DATES:
            raise TypeError("of no rows pandas has an answer, of any it has none")
        return getattr(groups, method)().dtype
    except (TypeError, NotImplementedError, pa.ArrowException) as error:
        raise TypeError(
            f"pandas has no {method} of groups for dtype {dtype}; leave it out with numeric_only=True or "
            f"by choosing columns, or cast it with astype"
        ) from error


def _widened(method: str, dtype: Any, answer: Any) -> Any:
    """Return the dtype that holds an answer whatever the values are, where pandas chooses it by them."""
    if method in SUMS and answer == np.float16:  # whose sums pandas makes of single precision
        return np.dtype(np.float32)
    if method in ("mean", "var", "std") and isinstance(answer, np.dtype) and answer.kind == "f":
        return np.dtype(np.float64)
    return wide_integers(PANDAS, method, dtype, answer)


def _with_null(array: Any, null: Any) -> Any:
    """Return an array whose nulls, if its elements are objects, are all this one."""
    if array.dtype != object:
        return array
    array = np.asarray(array).copy()
    array[pd.isna(array)] = null
    return array


def _unsigned_zeros(array: Any) -> Any:
    """Return an array without -0.0, of which pandas makes a level of its own if it is Arrow's."""
    is_arrow = isinstance(array.dtype, pd.ArrowDtype) and array.dtype.kind == "f"
    return array + 0.0 if is_arrow else array


def _one_chunk(array: Any) -> Any:
    """Return an array of Arrow's as one chunk: pandas cannot number the values of several that hold NaN and nulls."""
    if not isinstance(array.dtype, pd.ArrowDtype):
        return array
    chunked = array.__arrow_array__()
    if isinstance(chunked, pa.ChunkedArray) and chunked.num_chunks > 1:
        return type(array)(chunked.combine_chunks())
    return array


def _bare(array: Any) -> Any:
    """What pandas wraps around a NumPy array taken off."""
    return array.to_numpy() if isinstance(array, pd.arrays.NumpyExtensionArray) else array


PANDAS = Pandas()
