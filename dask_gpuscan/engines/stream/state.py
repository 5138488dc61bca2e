"""States of streams: what their operations have seen, as values that can be written to files of Arrow and read again.

A file holds one record batch with one row: each column is an array of a state, as a list. The metadata of its schema
say what the arrays are parts of. Nothing in a file is ever run: values are of the few kinds that are listed here.
"""

from __future__ import annotations

import hashlib
import json
import os
from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from decimal import Decimal
from enum import Enum
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from ...frames.keys import BoundaryKey
from ...frames.pandas.layouts import one_array
from ...frames.pandas.library import PANDAS
from ...frames.registry import Schema, columns_of, is_frame, library_of, names_of, schema_of
from ...kernels import Operator
from ...ops.groupby.adjacent import RunKeys
from ...ops.groupby.hashed import Table
from ...ops.runs import Open, RunCount
from ...ops.scan.value_scan import HostScalar
from ...ops.time.buckets import Span
from ...ops.time.resample import OpenBucket
from ...ops.windows.halo import RowArrays

VERSION = 1
"""The version of the files, which are read by no other."""

_UNSIGNED = "0" * 64
"""Stands in a file for its digest while the digest is made."""


@dataclass(frozen=True)
class Operation:
    """An operation of a stream: its name, its options as a text, and what it has seen."""

    name: str
    options: str
    seen: Any


@dataclass(frozen=True, repr=False)
class State:
    """What the operations of a stream have seen so far: what `stream` goes on from.

    A state does not change. It grows with the keys of groups and the rows that windows reach, not with the rows that
    were seen.

    Parameters
    ----------
    schema : Schema
        Of the source.
    operations : sequence of Operation
        In the order in which rows go through them.
    rows : int
        How many rows were read.
    files : int, default 0
        How many files of a directory were written; see `Stream.to_parquet`.
    ended : bool, default False
        Whether runs and groups that were open have been answered, as no rows were to follow.

    Examples
    --------
    >>> import pandas as pd, dask_gpuscan
    >>> monday = dask_gpuscan.stream([pd.DataFrame({"sold": [4, 2]})]).gpuscan.cumsum()
    >>> monday.compute()["sold"].tolist()
    [4, 6]
    >>> tuesday = dask_gpuscan.stream([pd.DataFrame({"sold": [5]})], state=monday.state).gpuscan.cumsum()
    >>> tuesday.compute()["sold"].tolist()
    [11]
    >>> tuesday.state.rows, tuesday.state.names
    (3, ['cumsum'])
    """

    schema: Schema
    operations: tuple[Operation, ...]
    rows: int
    files: int = 0
    ended: bool = False

    def __repr__(self) -> str:
        return f"<State of {_listed(self.names)} after {self.rows} rows>"

    @property
    def names(self) -> list[str]:
        """The names of the operations that have seen something."""
        return [one.name for one in self.operations if one.seen is not None]

    @property
    def nbytes(self) -> int:
        """How many bytes its arrays have."""
        return sum(leaf.nbytes for leaf in self._written()[1])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a file of Arrow IPC, whole or not at all.

        Parameters
        ----------
        path : path

        Raises
        ------
        TypeError
            For values that a file cannot hold, such as Python objects; it names the operation.
        """
        shape, leaves = self._written()
        columns = [pa.LargeListArray.from_arrays([0, len(leaf)], leaf) for leaf in leaves]
        named = [pa.field(f"array {i}", column.type) for i, column in enumerate(columns)]
        metadata = {"dask_gpuscan.state": json.dumps(shape), "dask_gpuscan.digest": _UNSIGNED}
        schema = pa.schema(named, metadata)
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, schema) as writer:
            writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))
        unsigned = sink.getvalue().to_pybytes()
        write_whole(path, unsigned.replace(_UNSIGNED.encode(), _digest(unsigned)))

    def _written(self) -> tuple[Any, list[pa.Array]]:
        """Return the state as a value of JSON, and the arrays that it names by number."""
        leaves: list[pa.Array] = []
        operations = []
        for one in self.operations:
            try:
                seen = _write(one.seen, leaves)
            except (TypeError, pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
                raise TypeError(f"state of {one.name} cannot be written: {error}") from error
            operations.append({"name": one.name, "options": one.options, "seen": seen})
        schema = _write(self.schema, leaves)
        counts = {"rows": self.rows, "files": self.files, "ended": self.ended}
        shape = {"version": VERSION, "schema": schema, "operations": operations, "counts": counts}
        return shape, leaves

    def start(self, schema: Schema, operations: Sequence[tuple[str, str]]) -> list[Any]:
        """Return what operations go on from.

        Parameters
        ----------
        schema : Schema
            Of the source.
        operations : sequence of pairs of str
            Names and options.

        Raises
        ------
        ValueError
            If the state is of other columns or operations, naming the first difference.
        """
        _check_columns(self.schema, schema)
        if len(operations) != len(self.operations):
            known = _listed([one.name for one in self.operations])
            found = _listed([name for name, _ in operations])
            raise ValueError(f"state is of the operations {known}, and the stream has {found}")
        for one, (name, options) in zip(self.operations, operations, strict=True):
            if one.name != name:
                raise ValueError(f"state is of {one.name} where the stream has {name}")
            if one.options != options:
                raise ValueError(
                    f"state of {name} has other options: {one.options}, and the stream has {options}"
                )
        return [one.seen for one in self.operations]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "(none)"


def _check_columns(known: Schema, found: Schema) -> None:
    if known.names != found.names:
        raise ValueError(
            f"state is of the columns {_listed([*map(str, known.names)])}, and the source has "
            f"{_listed([*map(str, found.names)])}"
        )
    for name, dtype, other in zip(known.names, known.dtypes, found.dtypes, strict=True):
        if dtype != other:
            raise ValueError(
                f"state is of column {name!r} with dtype {dtype}, and the source has {other}"
            )


def load_state(path: str | os.PathLike[str]) -> State:
    """Read a state that `State.save` has written; files of others may be read, as nothing in them is run.

    Parameters
    ----------
    path : path

    Returns
    -------
    State

    Raises
    ------
    ValueError
        For a file that holds no state, was changed or cut off, or is of another version.

    See Also
    --------
    stream : Goes on from a state.

    Examples
    --------
    >>> import os, tempfile, pandas as pd, dask_gpuscan
    >>> totals = dask_gpuscan.stream([pd.DataFrame({"sold": [4, 2]})]).gpuscan.cumsum()
    >>> totals.compute()["sold"].tolist()
    [4, 6]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     totals.state.save(os.path.join(folder, "totals.arrow"))
    ...     state = dask_gpuscan.load_state(os.path.join(folder, "totals.arrow"))
    >>> state.names, state.rows
    (['cumsum'], 2)
    """
    found = Path(path).read_bytes()
    try:
        with pa.ipc.open_file(found) as reader:
            batch = reader.get_batch(0)
        metadata = batch.schema.metadata or {}
        shape = json.loads(metadata[b"dask_gpuscan.state"])
        digest = metadata[b"dask_gpuscan.digest"]
        version = shape["version"]
    except (pa.ArrowInvalid, KeyError, ValueError, TypeError, OSError) as error:
        raise ValueError(f"{path} holds no state of a stream, or was cut off") from error
    if version != VERSION:
        raise ValueError(f"{path} is of version {version!r} of states, and {VERSION} is read")
    if (
        len(digest) != len(_UNSIGNED)
        or _digest(found.replace(digest, _UNSIGNED.encode())) != digest
    ):
        raise ValueError(f"{path} was changed after it was written: its digest is another")
    try:
        leaves = [column.values for column in batch.columns]
        operations = [
            Operation(one["name"], one["options"], _read(one["seen"], leaves))
            for one in shape["operations"]
        ]
        return State(_read(shape["schema"], leaves), tuple(operations), **shape["counts"])
    except (KeyError, IndexError, TypeError, AttributeError, pa.ArrowInvalid) as error:
        raise ValueError(f"{path} holds a state that is not understood: {error}") from error


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file whole or not at all: under another name first, which it loses once it is on disk."""
    near = Path(path).with_name(f"{Path(path).name}.part")
    with near.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    near.replace(path)


# --- values as JSON and arrays -----------------------------------------------------------------------

CLASSES: dict[str, Any] = {
    one.__name__: one
    for one in (Schema, Table, RowArrays, Open, RunCount, RunKeys, HostScalar, Span, OpenBucket)
}
"""The classes whose objects states have, with all their fields."""


def _write(value: Any, leaves: list[pa.Array]) -> Any:
    """Return a value as one of JSON; arrays are put behind others, and named by their number."""
    kind = type(value)
    if value is None or kind in (bool, int, str):
        return value
    if kind in (tuple, list):
        return {kind.__name__: [_write(one, leaves) for one in value]}
    if value is PANDAS:
        return {"library": "pandas"}
    if kind is BoundaryKey:
        return {"key": [_write(row, leaves) for row in value.rows]}
    if CLASSES.get(kind.__name__) is kind:
        found = value.pack() if kind is RowArrays else value
        return {
            "class": kind.__name__,
            "fields": {f.name: _write(getattr(found, f.name), leaves) for f in fields(found)},
        }
    if is_frame(value) and hasattr(value, "iloc"):
        return {"frame": _write(_parts(value), leaves)}
    for name, (accepted, write, _) in SCALARS.items():
        if kind is accepted:
            return {name: write(value)}
    if isinstance(value, np.dtype):
        return {"dtype": value.str}
    if isinstance(value, pd.api.extensions.ExtensionDtype):
        empty: Any = value.construct_array_type()
        return {"dtype of": _write(empty._from_sequence([], dtype=value), leaves)}
    if isinstance(value, np.generic):
        return {"number": _write(np.asarray(value)[None], leaves)}
    return _write_array(value, leaves)


def _read(value: Any, leaves: list[pa.Array]) -> Any:
    """Return what `_write` was given."""
    if not isinstance(value, dict):
        return value
    if "class" in value:
        given = {name: _read(one, leaves) for name, one in value["fields"].items()}
        return CLASSES[value["class"]](**given)
    ((name, one), *_) = value.items()
    if name in SCALARS:
        return SCALARS[name][2](one)
    if name in ARRAYS:
        return ARRAYS[name](*[_read(part, leaves) for part in one])
    return READ[name](one, leaves)


def _parts(frame: Any) -> tuple[Any, ...]:
    """Return what a frame, or a series, of pandas is made of."""
    library = library_of(frame)
    names = library.index_names(frame)
    levels = [library.array(library.index_level(frame, i)) for i in range(len(names))]
    columns = [library.array(column) for column in columns_of(frame)]
    return frame.ndim, names_of(frame), columns, list(names), levels


def _of_parts(ndim: int, names: Any, columns: Any, levels: Any, arrays: Any) -> Any:
    index = PANDAS.key_index(arrays, levels)
    if ndim == 1:
        return PANDAS.series(columns[0], index, names[0])
    return PANDAS.frame(columns, names, index)


SCALARS: dict[str, tuple[type, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "float": (float, float.hex, float.fromhex),
    "bytes": (bytes, lambda x: b64encode(x).decode(), b64decode),
    "decimal": (Decimal, str, Decimal),
}
"""Scalars that JSON has not: their type, how they are written, and how they are read."""

READ: dict[str, Callable[[Any, list[pa.Array]], Any]] = {
    "tuple": lambda one, leaves: tuple(_read(part, leaves) for part in one),
    "list": lambda one, leaves: [_read(part, leaves) for part in one],
    "library": lambda one, leaves: {"pandas": PANDAS}[one],
    "key": lambda one, leaves: BoundaryKey.of(tuple(_read(row, leaves) for row in one)),
    "dtype": lambda one, leaves: np.dtype(one),
    "dtype of": lambda one, leaves: _read(one, leaves).dtype,
    "number": lambda one, leaves: _read(one, leaves)[0],
    "frame": lambda one, leaves: _of_parts(*_read(one, leaves)),
    "leaf": lambda one, leaves: leaves[one],
}
"""How values are read, by the names under which they are written."""


# --- arrays ------------------------------------------------------------------------------------------


def _leaf(array: pa.Array | pa.ChunkedArray, leaves: list[pa.Array]) -> Any:
    if isinstance(array, pa.ChunkedArray):
        array = one_array(array)
    leaves.append(array.chunk(0) if isinstance(array, pa.ChunkedArray) else array)
    return {"leaf": len(leaves) - 1}


MASKED = (pd.arrays.BooleanArray, pd.arrays.FloatingArray, pd.arrays.IntegerArray)


def _write_array(array: Any, leaves: list[pa.Array]) -> Any:
    if isinstance(array, (pa.Array, pa.ChunkedArray)):
        return _leaf(array, leaves)
    if isinstance(array, np.ndarray) and array.dtype == object:
        texts = _texts(array)
        nones = np.array([value is None for value in array], np.bool_)
        return {"objects": [_leaf(texts, leaves), _write_array(nones, leaves)]}
    if isinstance(array, np.ndarray):
        return {"numpy": [array.dtype.str, _leaf(_numbers(array), leaves)]}
    dtype = getattr(array, "dtype", None)
    if isinstance(dtype, pd.StringDtype):
        is_nan = dtype.na_value is not pd.NA
        return {"texts": [dtype.storage, is_nan, _leaf(pa.array(array), leaves)]}
    if isinstance(array, pd.arrays.NumpyExtensionArray):
        return {"bare": [_write_array(array.to_numpy(), leaves)]}
    if isinstance(dtype, pd.ArrowDtype):
        return {"arrow": [_leaf(pa.array(array), leaves)]}
    if isinstance(array, MASKED):
        return {"masked": [str(dtype), _leaf(pa.array(array), leaves)]}
    if isinstance(array, pd.Categorical):
        parts = [_write_array(one, leaves) for one in (array.codes, array.categories.array)]
        return {"categories": [*parts, array.ordered]}
    if isinstance(
        array, (pd.arrays.DatetimeArray, pd.arrays.TimedeltaArray, pd.arrays.PeriodArray)
    ):
        return {"times": [str(dtype), _leaf(pa.array(array.asi8), leaves)]}
    raise TypeError(
        f"it holds {type(array).__name__}" + (f" of {dtype}" if dtype is not None else "")
    )


def _texts(array: np.ndarray) -> pa.Array:
    """Return objects that are strings and nulls as an array of Arrow."""
    if not all(isinstance(x, str) or x is None or x != x for x in array):
        raise TypeError("it holds Python objects; cast the column with astype")
    return pa.array(array, pa.large_string(), from_pandas=True)


def _numbers(array: np.ndarray) -> pa.Array:
    """Return the bytes of an array of NumPy as one of Arrow, as numbers where Arrow has them."""
    array = np.ascontiguousarray(array)
    if array.dtype.kind in "mM":
        array = array.view(np.int64)
    if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
        array = array.view(np.uint8)
    return pa.array(array)


def _of_numpy(dtype: str, values: pa.Array) -> np.ndarray:
    found = np.dtype(dtype)
    array: np.ndarray = values.to_numpy(zero_copy_only=False)
    array = array.astype(found) if found.kind == "b" else array.view(found)
    return array.copy()  # what is read of a file may not be written to


def _of_objects(texts: pa.Array, nones: np.ndarray) -> np.ndarray:
    array: np.ndarray = texts.to_numpy(zero_copy_only=False)
    array[~nones & np.asarray(texts.is_null())] = np.nan
    return array


def _of_texts(storage: str, is_nan: bool, texts: pa.Array) -> Any:
    named = is_nan and not storage.endswith("_numpy")  # as pandas 2.2 calls those whose null is NaN
    dtype: Any = pd.StringDtype(storage, np.nan) if named else pd.StringDtype(storage)
    return dtype.__from_arrow__(texts)


def _of_times(dtype: str, values: pa.Array) -> Any:
    found, numbers = pd.api.types.pandas_dtype(dtype), values.to_numpy()
    if isinstance(found, pd.PeriodDtype):
        return pd.arrays.PeriodArray(numbers, dtype=found)
    if isinstance(found, pd.DatetimeTZDtype):
        stored = numbers.view(f"M8[{found.unit}]")
        return pd.DatetimeIndex(stored).tz_localize("UTC").tz_convert(found.tz).array
    return pd.array(numbers.view(found), dtype=found)


ARRAYS: dict[str, Callable[..., Any]] = {
    "numpy": _of_numpy,
    "bare": lambda array: pd.arrays.NumpyExtensionArray(array),
    "objects": _of_objects,
    "texts": _of_texts,
    "arrow": lambda array: pd.arrays.ArrowExtensionArray(pa.chunked_array([array])),
    "masked": lambda dtype, values: pd.api.types.pandas_dtype(dtype).__from_arrow__(values),
    "categories": lambda codes, categories, ordered: pd.Categorical.from_codes(
        codes, pd.Index(categories), ordered=ordered
    ),
    "times": _of_times,
}
"""How arrays are made again of their parts."""


# --- what operations are -----------------------------------------------------------------------------


def described(value: Any) -> str:
    """Return the options of an operation as a text, which is the same in every process.

    An operator counts by its name and the numbers that its functions take from around them, a function by its name.
    """
    if isinstance(value, Operator):
        numbers = [x.item() for each in value.code.values for x in each]
        return value.name + (f" {numbers}" if numbers else "")
    if isinstance(value, FunctionType):
        return value.__qualname__
    if is_frame(value) and hasattr(value, "ndim"):
        return described(schema_of(value)) if hasattr(value, "iloc") else str(value.dtype)
    if is_dataclass(value) and not isinstance(value, type):
        shown = [(f.name, getattr(value, f.name)) for f in fields(value) if f.repr and f.compare]
        parts = [f"{name}={described(one)}" for name, one in shown]
        return f"{type(value).__name__}({', '.join(parts)})"
    if isinstance(value, (tuple, list)):
        return f"({', '.join(map(described, value))})"
    if isinstance(value, dict):
        pairs = [f"{described(key)}: {described(one)}" for key, one in value.items()]
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, np.generic):
        return repr(value.item())
    text = str(value) if isinstance(value, (np.dtype, Enum)) else repr(value)
    return type(value).__name__ if " at 0x" in text else text
