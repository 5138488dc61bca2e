"""The values of states as JSON and Arrow arrays; `KINDS` lists the few kinds of values that a state may hold."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import fields
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from ....frames.keys import BoundaryKey
from ....frames.pandas.library import PANDAS
from ....frames.pandas.native import one_array
from ....frames.registry import columns_of, is_frame, library_of, names_of
from ....kernels import BUILT_IN, Operator
from ....ops.kept import CARRIES, RECORDS
from .records import check_arrays, checked, require
from .state_files import check_type

CLASSES = RECORDS | CARRIES
"""The classes whose objects are written as the names and values of their fields."""


def write_value(value: Any, leaves: list[pa.Array]) -> Any:
    """Return a value as a JSON value; arrays are appended to `leaves` and referred to by number."""
    kind = type(value)
    if kind is int and not -(2**63) <= value < 2**64:
        raise TypeError(f"it holds the integer {value}")
    if value is None or kind in (bool, int, str):
        return value
    if CLASSES.get(kind.__name__) is kind:
        parts = value.__getstate__()  # as for pickling
        written = {f.name: write_value(parts[f.name], leaves) for f in fields(value) if f.init}
        return {"class": kind.__name__, "fields": written}
    if isinstance(value, (pa.Array, pa.ChunkedArray)):
        return _leaf(value, leaves)
    for name, known in KINDS.items():
        if known.holds(value):
            found = known.parts(value)
            if isinstance(found, list):
                return {name: [write_value(part, leaves) for part in found]}
            return {name: write_value(found, leaves)}
    dtype = getattr(value, "dtype", None)
    raise TypeError(f"it holds {kind.__name__}" + (f" of {dtype}" if dtype is not None else ""))


def read_value(value: Any, leaves: list[pa.Array | None]) -> Any:
    """Return a value that `write_value` has written; each array is taken from `leaves` once.

    Raises
    ------
    Exception
        Of any type, for anything that `write_value` does not write.
    """
    if not isinstance(value, dict):
        if value is None or isinstance(value, (bool, int, str)):
            return value
        raise ValueError(f"it holds {type(value).__name__} without a name")
    if value.keys() == {"class", "fields"}:
        given = {name: read_value(one, leaves) for name, one in value["fields"].items()}
        return checked(CLASSES[value["class"]](**given))
    ((name, one),) = value.items()
    if name == "leaf":
        return _taken(one, leaves)
    parts = one if isinstance(one, list) else [one]
    return KINDS[name].make(*[read_value(part, leaves) for part in parts])


def _leaf(array: pa.Array | pa.ChunkedArray, leaves: list[pa.Array]) -> Any:
    if isinstance(array, pa.ChunkedArray):
        array = one_array(array)
    found = array.chunk(0) if isinstance(array, pa.ChunkedArray) else array
    check_type(found.type)
    leaves.append(found)
    return {"leaf": len(leaves) - 1}


def _taken(number: int, leaves: list[pa.Array | None]) -> pa.Array:
    require(type(number) is int and 0 <= number < len(leaves), "an array")
    found, leaves[number] = leaves[number], None  # else a small file could fill memory with copies
    require(found is not None, "an array once")
    return found


def _parts(frame: Any) -> tuple[Any, ...]:
    """Return the dimensions, names, columns, index names and index levels of a frame or series of pandas."""
    library = library_of(frame)
    names = library.index_names(frame)
    levels = [library.array(library.index_level(frame, i)) for i in range(len(names))]
    columns = [library.array(column) for column in columns_of(frame)]
    return frame.ndim, names_of(frame), columns, list(names), levels


def _of_parts(ndim: int, names: Any, columns: Any, levels: Any, arrays: Any) -> Any:
    require(ndim in (1, 2) and (ndim == 2 or len(columns) == 1), "a frame")
    require(len(names) == len(columns) and len(levels) == len(arrays) > 0, "a frame")
    check_arrays([*columns, *arrays], len(arrays[0]), "a frame")
    index = PANDAS.key_index(arrays, levels)
    if ndim == 1:
        return PANDAS.series(columns[0], index, names[0])
    return PANDAS.frame(columns, names, index)


_DECIMAL = re.compile(r"-?\d{1,100}(\.\d{1,100})?([eE][+-]?\d{1,4})?|-?s?NaN|-?Infinity")


def _decimal(text: str) -> Decimal:
    require(bool(_DECIMAL.fullmatch(text)), "a decimal")
    return Decimal(text)


def _number(array: Any) -> Any:
    check_arrays([array], 1, "a number")
    return array[0]


def _key(*rows: Any) -> BoundaryKey:
    check_arrays(rows, 1, "a key")
    return BoundaryKey.of(rows)


_DTYPE = re.compile(
    r"\|b1|[<>|](i[1248]|u[1248]|f(2|4|8|12|16)|c(8|16|24|32)|[SUV]\d{1,5})|\|O|"
    r"[<>|][mM]8(\[\d{0,9}(Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)\])?"
)
"""The NumPy dtypes that states may have."""


def _dtype(text: str) -> np.dtype:
    require(bool(_DTYPE.fullmatch(text)), "a dtype")
    return np.dtype(text)


# --- arrays ------------------------------------------------------------------------------------------

NULLABLE = (
    "boolean", "Float32", "Float64",
    *("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64"),
)  # fmt: skip
MASKED = (pd.arrays.BooleanArray, pd.arrays.FloatingArray, pd.arrays.IntegerArray)


def _is_known(dtype: Any) -> bool:
    """Return whether a dtype can be read from its name; those with time zones of dateutil cannot."""
    try:
        return bool(_TIMES.fullmatch(str(dtype)) and pd.api.types.pandas_dtype(str(dtype)) == dtype)
    except (TypeError, ValueError, KeyError):
        return False


def _texts(array: np.ndarray) -> pa.Array:
    """Return an array of strings and nulls as an Arrow array; raises a TypeError for other objects."""
    if not all(isinstance(x, str) or x is None or x != x for x in array):
        raise TypeError("it holds Python objects; cast the column with astype")
    return pa.array(array, pa.large_string(), from_pandas=True)


def _numbers(array: np.ndarray) -> pa.Array:
    """Return a NumPy array as an Arrow array of the same numbers, or of bytes if Arrow does not have its dtype."""
    array = np.ascontiguousarray(array)
    if array.dtype.kind in "mM":
        array = array.view(np.int64)
    if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
        array = array.view(np.uint8)
    return pa.array(array)


def _of_numpy(dtype: str, values: pa.Array) -> np.ndarray:
    found, types = _dtype(dtype), pa.types
    is_number = types.is_integer(values.type) or types.is_floating(values.type)
    is_same = types.is_boolean(values.type) if found.kind == "b" else is_number
    require(is_same and not found.hasobject and not values.null_count, "numbers")
    array: np.ndarray = values.to_numpy(zero_copy_only=False)
    array = array.astype(found) if found.kind == "b" else array.view(found)
    return array.copy()  # the memory of a file may not be written to


def _of_objects(texts: pa.Array, nones: np.ndarray) -> np.ndarray:
    require(pa.types.is_large_string(texts.type) and nones.dtype == np.bool_, "texts")
    array: np.ndarray = texts.to_numpy(zero_copy_only=False)
    check_arrays([array, nones], len(array), "texts")
    array[~nones & np.asarray(texts.is_null())] = np.nan
    return array


def _of_texts(storage: str, is_nan: bool, texts: pa.Array) -> Any:
    require(storage in ("python", "pyarrow", "pyarrow_numpy"), "a storage of texts")
    require(pa.types.is_string(texts.type) or pa.types.is_large_string(texts.type), "texts")
    named = is_nan and not storage.endswith("_numpy")  # pandas 2.2's suffix if null is NaN
    dtype: Any = pd.StringDtype(storage, np.nan) if named else pd.StringDtype(storage)
    return dtype.__from_arrow__(texts)


def _of_mask(dtype: str, values: pa.Array) -> Any:
    require(dtype in NULLABLE, "a nullable dtype")
    return pd.api.types.pandas_dtype(dtype).__from_arrow__(values)


_TIMES = re.compile(
    r"(datetime64|timedelta64)\[(s|ms|us|ns)\]|period\[[A-Za-z0-9-]{1,30}\]|"
    r"datetime64\[(s|ms|us|ns), (?!dateutil|tzlocal|/)[A-Za-z0-9_+/:-]{1,60}\]"
)
"""The dtypes of times. Zones of dateutil are refused, as dateutil would open any file that one names."""


def _of_times(dtype: str, values: pa.Array) -> Any:
    require(bool(_TIMES.fullmatch(dtype)), "a dtype of times")
    require(pa.types.is_int64(values.type) and not values.null_count, "times")
    found, numbers = pd.api.types.pandas_dtype(dtype), values.to_numpy()
    if isinstance(found, pd.PeriodDtype):
        return pd.arrays.PeriodArray(numbers, dtype=found)
    if isinstance(found, pd.DatetimeTZDtype):
        stored = numbers.view(f"M8[{found.unit}]")
        return pd.DatetimeIndex(stored).tz_localize("UTC").tz_convert(found.tz).array
    return pd.array(numbers.view(found), dtype=found)


def _bare(array: np.ndarray) -> Any:
    check_arrays([array], len(array), "an array")
    return pd.arrays.NumpyExtensionArray(array)


def _of_arrow(array: pa.Array) -> Any:
    return pd.arrays.ArrowExtensionArray(pa.chunked_array([array]))


def _of_categories(codes: np.ndarray, categories: Any, ordered: bool | None) -> Any:
    check_arrays([codes, categories], None, "categories")
    return pd.Categorical.from_codes(codes, pd.Index(categories), ordered=ordered)


class Kind(NamedTuple):
    """How values of a kind are written and read."""

    holds: Callable[[Any], bool]
    """Returns whether a value is of this kind; kinds are tried in order."""
    parts: Callable[[Any], Any]
    """Returns the parts of a value: a list of values, or one value."""
    make: Callable[..., Any]
    """Returns the value of some parts; raises an error of any type for wrong parts."""


def _is(*kinds: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kinds)


def _has_dtype(kind: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(getattr(value, "dtype", None), kind)


_TIMES_ARRAYS = (pd.arrays.DatetimeArray, pd.arrays.TimedeltaArray, pd.arrays.PeriodArray)

KINDS = {
    # fragments of sources are named tuples
    "tuple": Kind(_is(tuple), list, lambda *parts: parts),
    "list": Kind(_is(list), list, lambda *parts: list(parts)),
    "library": Kind(lambda x: x is PANDAS, lambda _: "pandas", {"pandas": PANDAS}.__getitem__),
    "key": Kind(_is(BoundaryKey), lambda key: list(key.rows), _key),
    "frame": Kind(
        lambda x: is_frame(x) and hasattr(x, "iloc"), _parts, lambda parts: _of_parts(*parts)
    ),
    "operator": Kind(
        lambda x: isinstance(x, Operator) and BUILT_IN.get(x.name) is x,
        lambda operator: operator.name,
        BUILT_IN.__getitem__,
    ),
    "float": Kind(lambda x: type(x) is float, float.hex, float.fromhex),
    "bytes": Kind(lambda x: type(x) is bytes, lambda x: b64encode(x).decode(), b64decode),
    "decimal": Kind(_is(Decimal), str, _decimal),
    "dtype": Kind(_is(np.dtype), lambda dtype: dtype.str, _dtype),
    "dtype of": Kind(
        _is(pd.api.extensions.ExtensionDtype), PANDAS.empty, lambda array: array.dtype
    ),
    "number": Kind(_is(np.generic), lambda x: np.asarray(x)[None], _number),
    "objects": Kind(
        lambda x: isinstance(x, np.ndarray) and x.dtype == object,
        lambda array: [_texts(array), np.array([x is None for x in array], np.bool_)],
        _of_objects,
    ),
    "numpy": Kind(_is(np.ndarray), lambda array: [array.dtype.str, _numbers(array)], _of_numpy),
    "texts": Kind(
        _has_dtype(pd.StringDtype),
        lambda x: [x.dtype.storage, x.dtype.na_value is not pd.NA, pa.array(x)],
        _of_texts,
    ),
    "bare": Kind(_is(pd.arrays.NumpyExtensionArray), lambda x: [x.to_numpy()], _bare),
    "arrow": Kind(_has_dtype(pd.ArrowDtype), lambda x: [pa.array(x)], _of_arrow),
    "masked": Kind(_is(*MASKED), lambda x: [str(x.dtype), pa.array(x)], _of_mask),
    "categories": Kind(
        _is(pd.Categorical), lambda x: [x.codes, x.categories.array, x.ordered], _of_categories
    ),
    "times": Kind(
        lambda x: isinstance(x, _TIMES_ARRAYS) and _is_known(x.dtype),
        lambda x: [str(x.dtype), pa.array(x.asi8)],
        _of_times,
    ),
}
"""All kinds, by their names in files."""
