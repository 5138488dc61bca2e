"""Converts columns of Arrow to arrays of pandas over the same memory, and back."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ...kernels.messages import shown
from .layouts import PandasArray, bare
from .native import stored, without_views_of_lists


def array_of_arrow(column: pa.ChunkedArray, keeps_order: bool = False) -> PandasArray:
    """Return a column of Arrow as an array of pandas; only views, dictionaries and runs are copied.

    A dictionary that is ordered, or of strings, becomes categories: the used ones, in their order if they have one,
    else sorted. With `keeps_order`, all those of an ordered one, so that they can be joined to those of other batches.

    Examples
    --------
    >>> column = pa.chunked_array([pa.array(["b", "a"]).dictionary_encode()])
    >>> array_of_arrow(column).categories.tolist()
    ['a', 'b']
    """
    kind = column.type
    # pyarrow cannot join an empty chunk that begins behind the end of its buffers
    column = pa.chunked_array([c for c in column.chunks if len(c)] or column.chunks[:1], kind)
    if isinstance(kind, pa.BaseExtensionType):
        column = column.cast(kind.storage_type)
    column = without_views_of_lists(stored(column))
    if pa.types.is_dictionary(column.type):
        return _array_of_dictionary(column, keeps_order)
    return pd.arrays.ArrowExtensionArray(column)


def _array_of_dictionary(column: pa.ChunkedArray, keeps_order: bool) -> PandasArray:
    kind, values = column.type, column.type.value_type
    if kind.ordered and not pa.types.is_time(values):
        column = in_one_order(column)
    elif not (pa.types.is_string(values) or pa.types.is_large_string(values)):
        decoded = [chunk.dictionary.take(chunk.indices) for chunk in column.chunks]
        return array_of_arrow(pa.chunked_array(decoded, values))
    if not pa.types.is_signed_integer(column.type.index_type):  # to pandas since pyarrow 26
        column = column.cast(pa.dictionary(pa.int64(), values, kind.ordered))
    try:
        found = column.to_pandas().array if column.num_chunks else _no_categories(kind, values)
    except ValueError:  # a dictionary may hold a null, and a value twice
        found = column.cast(values).dictionary_encode().to_pandas().array
    if kind.ordered and keeps_order:
        return found
    found = found.remove_unused_categories()
    return found if kind.ordered else found.reorder_categories(found.categories.sort_values())


def in_one_order(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of an ordered dictionary with one dictionary: the longest among those of its chunks.

    Raises
    ------
    ValueError
        Unless the longest one has the entries of all others, in their order.
    """
    entries = [chunk.dictionary for chunk in column.chunks]
    every = max(entries, key=len, default=pa.array([], column.type.value_type))
    every = every.drop_null().unique()
    chunks = []
    for chunk, found in zip(column.chunks, entries, strict=True):
        places = pc.index_in(found, every, skip_nulls=True)
        own = pc.index_in(found.drop_null().unique(), every)
        if own.null_count or bool((np.diff(own) <= 0).any()):
            raise ValueError(
                f"ordered dictionaries have different orders, {shown(every.to_pylist())} and "
                f"{shown(found.to_pylist())}; cast the column to one of them, or to its values"
            )
        chunks.append(
            pa.DictionaryArray.from_arrays(places.take(chunk.indices), every, ordered=True)
        )
    return pa.chunked_array(chunks, pa.dictionary(pa.int32(), column.type.value_type, True))


def _no_categories(kind: pa.DictionaryType, values: pa.DataType) -> PandasArray:
    return pd.Categorical([], pa.array([], values).to_pandas(), kind.ordered)


def arrow_of_array(array: PandasArray) -> pa.ChunkedArray:
    """Return an array of pandas as a column of Arrow; NaN of NumPy is null, as in pandas."""
    array = bare(array)
    if (
        isinstance(array, np.ndarray) and array.dtype.kind == "f"
    ):  # Arrow takes thrice as long to look for NaN
        missing = np.isnan(array)
        found = pa.array(array, mask=missing if missing.any() else None)
    else:
        found = pa.array(array, from_pandas=True)
    return found if isinstance(found, pa.ChunkedArray) else pa.chunked_array([found])


def one_chunk(array: PandasArray) -> PandasArray:
    """Return an array of Arrow's as one chunk: pandas cannot factorize several chunks that hold NaN and nulls."""
    if not isinstance(array.dtype, pd.ArrowDtype):
        return array
    chunked = array.__arrow_array__()
    if isinstance(chunked, pa.ChunkedArray) and chunked.num_chunks > 1:
        return type(array)(chunked.combine_chunks())
    return array
