"""Arrays of pandas as keys: those that are the same become equal for pandas' hash tables, and have equal hashes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa

from ..key_values import Duration, Instant, key_text, key_value
from ..protocol import Values
from .layouts import PandasArray, bare, layout_of, one_chunk


def comparable(array: PandasArray) -> PandasArray:
    """Return an array whose rows are equal to pandas where keys are the same: itself, if its own are.

    Objects become their numbers, and categories that are the same do.
    """
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
        return object_codes(array)[0]
    if dtype == np.float16:  # of which pandas makes no groups
        return array.astype(np.float32)
    if dtype == np.longdouble:  # which pandas compares so, too
        return array.astype(np.float64)
    return one_nan(array) if isinstance(dtype, np.dtype) and dtype.kind == "c" else array


def one_nan(values: Values) -> Values:
    """Return floats or complex numbers without -0.0, and with NaN of one kind."""
    if values.dtype == np.clongdouble:
        values = values.astype(np.complex128)
    return np.where(np.isnan(values), np.nan, values + 0.0)


def _with_distinct_categories(array: pd.Categorical) -> PandasArray:
    categories = bare(array.categories.array)
    if categories.dtype != object and comparable(categories) is categories:
        return array
    codes, found = factorized(categories)
    return array if len(found) == len(codes) else np.append(codes, -1)[array.codes]


def _comparable_arrow(array: PandasArray) -> PandasArray:
    if pa.types.is_dictionary(array.dtype.pyarrow_dtype):
        return array if _is_plain(array) else comparable(decoded(array))
    layout = layout_of(array.dtype) if array.dtype.kind == "f" else None
    if layout is None:
        return array
    view = layout.raw(array)
    return layout.wrap(one_nan(view.values), view, array.dtype)


def decoded(array: PandasArray) -> PandasArray:
    """Return an array of Arrow's without a dictionary; any other as it is."""
    kind = getattr(array.dtype, "pyarrow_dtype", None)
    if kind is None or not pa.types.is_dictionary(kind):
        return array
    return type(array)(pa.chunked_array(array.__arrow_array__()).cast(kind.value_type))


def _is_plain(array: PandasArray) -> bool:
    """Tell whether entries of the dictionary of one chunk are as many keys, and no nulls."""
    if pa.types.is_floating(array.dtype.pyarrow_dtype.value_type):
        return False
    chunks = pa.chunked_array(array.__arrow_array__()).chunks
    entries = [chunk.dictionary for chunk in chunks]
    return all(not e.null_count and len(e.unique()) == len(e) for e in entries)


def factorized(array: PandasArray) -> tuple[Values, PandasArray]:
    """Number the keys of an array in the order in which they are met, -1 for nulls; and one value of each."""
    array = bare(array)
    return object_codes(array) if array.dtype == object else pd.factorize(comparable(array))


def object_codes(array: np.ndarray) -> tuple[Values, np.ndarray]:
    """Number objects as `factorized` does."""
    codes, found = pd.factorize(array)
    if pd.api.types.infer_dtype(found) == "string":
        return codes, found
    keys = np.fromiter(map(key_value, found), object, len(found))
    of_found, _ = pd.factorize(keys)
    _, first = np.unique(of_found, return_index=True)
    if len(first) == len(found):
        return codes, found
    return np.append(of_found, -1)[codes], found[first]


def time_keys(values: np.ndarray) -> np.ndarray:
    """Return what orders times of several classes, which have no order among each other; other objects as they are."""
    keys = np.fromiter(map(key_value, values), object, len(values))
    null = pd.isna(values)
    kinds = {(type(key), getattr(key, "of_world", None)) for key in keys[~null]}
    if len(kinds) != 1 or not issubclass(kinds.pop()[0], (Instant, Duration)):
        return values
    keys[null] = None
    return keys


def key_hashes(array: PandasArray) -> Values:
    """Return a number for each row, equal in every process where keys are, and 0 for most nulls."""
    array = bare(array)
    if isinstance(array, pd.Categorical):
        return _taken(key_hashes(array.categories.array), array.codes)
    if array.dtype == object:
        codes, found = object_codes(array)
        texts = [key_text(key_value(value)) for value in found]
        hashes = pd.util.hash_array(np.array(texts, object), categorize=False)
        return _taken(hashes, codes)
    array = decoded(comparable(array))
    layout = layout_of(array.dtype)
    if layout is None:
        return pd.util.hash_pandas_object(pd.Series(array, copy=False), index=False).to_numpy()
    view = layout.raw(array)
    values = view.values
    # values by what they are, and not by whether there are nulls among them, as pandas does
    hashes = pd.util.hash_array(one_nan(values) if values.dtype.kind == "f" else values)
    return np.where(view.missing(), np.uint64(0), hashes)


def _taken(hashes: Values, codes: Values) -> Values:
    return np.append(hashes, np.uint64(0))[codes]


def parts_keys(array: PandasArray) -> bool:
    """Tell whether groups of pandas' own part keys that are the same."""
    array = bare(array)
    if array.dtype == object:
        if pd.api.types.infer_dtype(array) == "string":
            return False
        return len(object_codes(array)[1]) < len(pd.factorize(array)[1])
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
