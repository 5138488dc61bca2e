"""What objects that were read of a file must be like, so that operations can go on from them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ....frames.keys import BoundaryKey
from ....frames.pandas.library import PANDAS
from ....frames.registry import Schema, is_frame
from ....ops.asof.in_turn import RightRows
from ....ops.groupby.adjacent import RunKeys
from ....ops.groupby.hashed import Table
from ....ops.runs import Open, RunCount
from ....ops.scan.value_scan import HostScalar
from ....ops.time.buckets import Span
from ....ops.time.resample import OpenBucket
from ....ops.windows.halo import RowArrays


def require(condition: bool, what: str) -> None:
    """Raise a ValueError if what was read is not what stands there."""
    if not condition:
        raise ValueError(f"expected {what}")


def check_arrays(arrays: Sequence[Any], length: int | None, what: str) -> None:
    """Raise a ValueError unless all are arrays of pandas or NumPy, of one dimension and, if given, this length."""
    for one in arrays:
        require(isinstance(one, np.ndarray | pd.api.extensions.ExtensionArray), what)
        require(one.ndim == 1 and (length is None or len(one) == length), what)


def checked(found: Any) -> Any:
    """Return an object of a class that states have; raises a ValueError if its fields do not fit each other."""
    CHECKS[type(found)](found)
    return found


def is_count(value: Any) -> bool:
    """Tell whether a value is a number of rows."""
    return type(value) is int and 0 <= value < 2**63


def is_dtype(value: Any) -> bool:
    """Tell whether a value is a dtype of NumPy or pandas."""
    return isinstance(value, np.dtype | pd.api.extensions.ExtensionDtype)


def _schema(found: Schema) -> None:
    parts = (found.names, found.dtypes, found.levels)
    require(all(isinstance(part, tuple) for part in parts), "a schema")
    require(len(found.names) == len(found.dtypes), "a dtype for each name")
    require(all(isinstance(one, tuple) and len(one) == 2 for one in found.levels), "levels")
    names = [*found.names, *(name for name, _ in found.levels)]
    require(all(isinstance(name, Hashable) for name in names), "names")
    dtypes = [*found.dtypes, *(dtype for _, dtype in found.levels)]
    require(all(isinstance(one, np.dtype | str) for one in dtypes), "dtypes")


def _table(found: Table) -> None:
    require(found.library is PANDAS and isinstance(found.schema, Schema), "a table of pandas")
    require(isinstance(found.keys, list) and bool(found.keys), "keys")
    require(isinstance(found.states, list) and type(found.ordered) is bool, "a table")
    require(all(isinstance(each, tuple) for each in found.states), "states")
    count, states = len(found.keys[0]), [one for each in found.states for one in each]
    check_arrays([*found.keys, *states], count, "a state for each key")


def _row_arrays(found: RowArrays) -> None:
    flags = (found.clustered, found.packed, found.whole)
    require(found.library is PANDAS and is_count(found.count), "rows of pandas")
    require(all(type(flag) is bool for flag in flags), "rows")
    require(isinstance(found.columns, list) and isinstance(found.keys, list | None), "rows")
    check_arrays([*found.columns, *(found.keys or [])], found.count, "columns of the same rows")
    if found.times is not None:
        check_arrays([found.times], found.count, "times of the same rows")
        require(isinstance(found.times, np.ndarray), "times")
        require(found.times.dtype.kind in "iuf", "times")


def _open(found: Open) -> None:
    require(is_count(found.rows) and is_count(found.start), "numbers of rows")
    require(found.start <= found.rows and isinstance(found.states, tuple), "an open run")
    require(isinstance(found.border, BoundaryKey | None), "a key")


def _run_count(found: RunCount) -> None:
    require(is_count(found.runs), "a number of runs")
    require(isinstance(found.first, BoundaryKey | None), "a key")
    require(isinstance(found.last, BoundaryKey | None), "a key")


def _run_keys(found: RunKeys) -> None:
    require(found.library is PANDAS and isinstance(found.arrays, list), "keys of runs")
    check_arrays(found.arrays, len(found.arrays[0]) if found.arrays else 0, "keys of runs")


def _scalar(found: HostScalar) -> None:
    require(found.library is PANDAS, "a value of pandas")
    require(is_dtype(found.dtype), "a dtype")
    if found.row is not None:
        check_arrays([found.row], 1, "a value")


def _span(found: Span) -> None:
    for time in (found.first, found.last):
        require(time is None or type(time) is int, "a time")


def _open_bucket(found: OpenBucket) -> None:
    require(isinstance(found.open, Open) and isinstance(found.span, Span), "an open bucket")


def _right_rows(found: RightRows) -> None:
    require(is_rows(found.waiting) and is_count(found.count), "rows")
    require(found.before is None or is_rows(found.before), "rows")
    for end in (found.left_end, found.right_end):
        require(end is None or type(end) in (int, float), "a time")
    if found.source is None:
        return
    rows, ahead, ended, steps, files, part = found.source
    require(is_count(rows) and is_count(ahead) and type(ended) is bool, "a source")
    require(isinstance(steps, list) and isinstance(files, list), "steps and files")
    require(part == -1 or (is_count(part) and bool(files)), "how far files were read")
    for one in files:
        kinds = [type(part) for part in one] if isinstance(one, tuple) else []
        require(kinds == [str, int, int, int, int, str, str], "a file")
    for one in steps:
        require(isinstance(one, tuple) and len(one) == 3, "a step")
        require(isinstance(one[0], str) and isinstance(one[1], str), "a step")


def is_rows(found: Any) -> bool:
    """Tell whether a value is a frame, or a series."""
    return is_frame(found) and hasattr(found, "iloc")


CHECKS: dict[type, Callable[[Any], None]] = {
    Schema: _schema,
    Table: _table,
    RowArrays: _row_arrays,
    Open: _open,
    RunCount: _run_count,
    RunKeys: _run_keys,
    HostScalar: _scalar,
    Span: _span,
    OpenBucket: _open_bucket,
    RightRows: _right_rows,
}
"""How objects of each class are checked."""
