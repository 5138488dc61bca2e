"""States of streams from one library to another: those of a GPU are saved by pandas, and go on on either side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from ....frames.keys import BoundaryKey
from ....frames.pandas.library import PANDAS
from ....frames.protocol import Library
from ....frames.registry import Schema, is_frame
from ....ops.asof.in_turn import RightRows
from ....ops.groupby.adjacent import RunKeys
from ....ops.groupby.hashed import Table
from ....ops.runs import Open, RunCount
from ....ops.scan.value_scan import HostScalar
from ....ops.time.resample import OpenBucket
from ....ops.windows.halo import RowArrays

TEXTS = (np.dtype(object), "object", "str", "string")
"""Dtypes of strings, as schemas have them."""


def moved(
    value: Any, source: Library, to: Library, columns: Sequence[Sequence[int]] | None = None
) -> Any:
    """Return what an operation has seen of frames of one library as it would have seen it of those of another.

    Parameters
    ----------
    value : object
    source, to : Library
    columns : sequence of sequences of int, optional
        For each part of a scan of groups, which of its states are values of a column. Needed where `source` has the
        same arrays for these as for an operator's own numbers.
    """

    def array(one: Any) -> Any:
        return to.from_pandas(source.to_pandas(one))

    def numbers(one: Any, is_column: bool = False) -> Any:
        if is_column or not isinstance(one, source.xp.ndarray) or one.dtype == object:
            return array(one)
        return to.xp.asarray(one.get() if hasattr(one, "get") else one)

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
    if kind is Table:
        keys = [array(one) for one in value.keys]
        of_columns = columns or [()] * len(value.states)
        states = [
            tuple([numbers(one, i in some) for i, one in enumerate(part)])
            for part, some in zip(value.states, of_columns, strict=True)
        ]
        return Table(to, keys, states, moved_schema(value.schema, to), value.ordered)
    if kind is RowArrays:
        found = value.unpack()
        arrays, times = [array(one) for one in found.columns], found.times
        of_groups = None if found.keys is None else [array(one) for one in found.keys]
        times = None if times is None else numbers(times)
        return RowArrays(to, found.count, arrays, of_groups, times, found.clustered)
    if kind is RunKeys:
        return RunKeys(to, [array(one) for one in value.arrays])
    if kind is HostScalar:
        one = array(value.array)
        of_row = None if value.row is None else to.host_row(to.as_column(one), 0)
        return HostScalar(to, of_row, one.dtype)
    if kind is BoundaryKey:
        return BoundaryKey(value.values, tuple(map(row, value.rows)))
    if kind in (Open, RunCount, OpenBucket, RightRows):
        return replace(value, **{f.name: each(getattr(value, f.name)) for f in fields(value)})
    if is_frame(value) and hasattr(value, "iloc"):
        return to.frame_from_pandas(source.frame_to_pandas(value))
    if isinstance(value, pa.Array | pd.api.extensions.ExtensionArray):
        return row(value)
    if hasattr(value, "dtype") and not isinstance(value, np.generic):
        return array(value)
    return value


def moved_schema(schema: Schema, to: Library) -> Schema:
    """Return a schema with the dtype that another library has for strings."""
    texts = to.from_pandas(PANDAS.array(pd.Series([""]))).dtype
    known = texts if isinstance(texts, np.dtype) else str(texts)
    dtypes = tuple(known if dtype in TEXTS else dtype for dtype in schema.dtypes)
    levels = tuple((name, known if dtype in TEXTS else dtype) for name, dtype in schema.levels)
    return Schema(schema.names, dtypes, levels)
