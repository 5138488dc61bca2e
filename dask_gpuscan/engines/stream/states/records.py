"""Records, the classes that states consist of: they are checked when a file is read, and moved between libraries.

The annotations of its fields say what a record holds, so that this module knows no operation. States of a GPU are saved
as those of pandas, and frames of either library go on from them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import Field, fields, replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from ....frames.keys import BoundaryKey
from ....frames.pandas.library import PANDAS
from ....frames.protocol import Library
from ....frames.registry import Schema, is_frame
from ....ops.kept import RECORDS


def is_record(value: Any) -> bool:
    """Return whether a value is a record."""
    return RECORDS.get(type(value).__name__) is type(value)


def part_of(value: Any, name: str) -> Any:
    """Return the field of a record; None for anything else, such as a frame with a column of that name."""
    return getattr(value, name, None) if is_record(value) else None


def _kind(field: Field[Any]) -> str:
    """Return the annotation of a field without None."""
    return str(field.type).removesuffix(" | None")


ARRAYS: dict[str, Callable[[Any], list[Any]]] = {
    "list[Array]": list,
    "list[States]": lambda parts: [one for part in parts for one in part],
    "Values": lambda array: [array],
    "HostRow": lambda row: [row],
}
"""For each annotation of fields whose arrays have the same rows, a function that lists these arrays."""

HOLDS: dict[str, Any] = {
    **{kind.__name__: kind for kind in (bool, int, list, tuple, BoundaryKey)},
    "Library": type(PANDAS),
    "Scalar": (int, float),
    "DType": (np.dtype, pd.api.extensions.ExtensionDtype),
    "Frame": (pd.DataFrame, pd.Series),
    "HostRow": (np.ndarray, pd.api.extensions.ExtensionArray),
    "Values": np.ndarray,
    "Reached": tuple,
    **RECORDS,
}
"""The classes that a field of a file may have, by the beginning of its annotation."""


def checked(found: Any) -> Any:
    """Return a value of a file; raises a ValueError if the fields of a record do not fit their annotations."""
    if not is_record(found):
        return found
    arrays = list[Any]()
    for field in fields(found):
        value, kind = getattr(found, field.name), _kind(field)
        if value is None and kind != field.type:
            continue
        is_one = isinstance(value, HOLDS[kind.partition("[")[0]])
        is_one = is_one and (kind != "int" or is_count(value))
        is_one = is_one and (kind != "Reached" or _is_reached(value))
        require(is_one, f"{kind} as {field.name} of {type(found).__name__}")
        arrays += ARRAYS[kind](value) if kind in ARRAYS else ()
    rows = getattr(found, "count", len(arrays[0]) if arrays else 0)
    check_arrays(arrays, rows, f"arrays of the same rows in {type(found).__name__}")
    require(getattr(found, "fits", True), f"parts that fit in {type(found).__name__}")
    return found


def _is_reached(value: tuple[Any, ...]) -> bool:
    """Return whether a value says how far the right side of a merge was read, as `AsOfStep` writes it."""
    rows, ahead, ended, steps, files, part = value
    is_part = part == -1 or (is_count(part) and bool(files))
    known = {tuple(map(type, one)) for one in files} <= {(str, int, int, int, int, str, str)}
    named = {(*map(type, one[:2]), len(one)) for one in steps} <= {(str, str, 3)}
    return (
        is_count(rows) and is_count(ahead) and type(ended) is bool and is_part and known and named
    )


def require(condition: bool, what: str) -> None:
    """Raise a ValueError if a condition is false; `what` was expected."""
    if not condition:
        raise ValueError(f"expected {what}")


def check_arrays(arrays: Sequence[Any], length: int | None, what: str) -> None:
    """Raise a ValueError unless all are one-dimensional arrays of pandas or NumPy, of this length if it is given."""
    for one in arrays:
        require(isinstance(one, HOLDS["HostRow"]), what)
        require(one.ndim == 1 and (length is None or len(one) == length), what)


def is_count(value: Any) -> bool:
    """Return whether a value is a number of rows."""
    return type(value) is int and 0 <= value < 2**63


# --- other libraries ---------------------------------------------------------------------------------

TEXTS = (np.dtype(object), "object", "str", "string")
"""The dtypes of strings in schemas."""


def moved(
    value: Any, source: Library, to: Library, columns: Sequence[Sequence[int]] | None = None
) -> Any:
    """Return the state of an operation on frames of one library as its state on frames of another.

    Parameters
    ----------
    value : object
    source, to : Library
    columns : sequence of sequences of int, optional
        For each part of a scan of groups, which of its states are values of a column. Needed if `source` has the same
        type of array for these and for the numbers of an operator.
    """

    def array(one: Any) -> Any:
        return to.from_pandas(source.to_pandas(one))

    def arrays(some: Sequence[Any]) -> list[Any]:
        return list(map(array, some))

    def numbers(one: Any) -> Any:
        if not isinstance(one, source.xp.ndarray) or one.dtype == object:
            return array(one)
        return to.xp.asarray(one.get() if hasattr(one, "get") else one)

    def states(parts: Sequence[Any]) -> list[Any]:
        pairs = zip(parts, columns or [()] * len(parts), strict=True)
        return [
            tuple([(array if i in some else numbers)(one) for i, one in enumerate(part)])
            for part, some in pairs
        ]

    def row(one: Any) -> Any:
        of_pandas = one.to_pandas().array if hasattr(one, "to_pandas") else one
        return to.host_row(to.as_column(to.from_pandas(of_pandas)), 0)

    def each(one: Any) -> Any:
        return moved(one, source, to)

    kind = type(value)
    if value is source:
        return to
    if kind in (tuple, list):
        return kind(map(each, value))
    if kind is Schema:
        return moved_schema(value, to)
    if part_of(value, "moved"):
        return value.moved(to)
    if is_record(value):
        whole = value.unpack() if hasattr(value, "unpack") else value
        ways: dict[str, Callable[[Any], Any]]
        ways = {"list[Array]": arrays, "list[States]": states, "Values": numbers}
        parts = [(f.name, getattr(whole, f.name), ways.get(_kind(f), each)) for f in fields(whole)]
        found = {name: part if part is None else way(part) for name, part, way in parts}
        return replace(whole, **found)
    if kind is BoundaryKey:
        return BoundaryKey(value.values, tuple(map(row, value.rows)))
    if is_frame(value) and hasattr(value, "iloc"):
        return to.frame_from_pandas(source.frame_to_pandas(value))
    if isinstance(value, pa.Array | pd.api.extensions.ExtensionArray):
        return row(value)
    if hasattr(value, "dtype") and not isinstance(value, np.generic):
        return array(value)
    return value


def moved_schema(schema: Schema, to: Library) -> Schema:
    """Return a schema with another library's dtype for strings."""
    texts = to.from_pandas(PANDAS.array(pd.Series([""]))).dtype
    known = texts if isinstance(texts, np.dtype) else str(texts)
    dtypes = tuple(known if dtype in TEXTS else dtype for dtype in schema.dtypes)
    levels = tuple((name, known if dtype in TEXTS else dtype) for name, dtype in schema.levels)
    return Schema(schema.names, dtypes, levels)
