"""States of streams from one library to another: those of a GPU are saved by pandas, and go on on either side."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pandas as pd

from ...frames.keys import BoundaryKey
from ...frames.pandas.library import PANDAS
from ...frames.protocol import Library
from ...frames.registry import Schema, is_frame
from ...ops.asof.in_turn import RightRows
from ...ops.groupby.adjacent import RunKeys
from ...ops.groupby.hashed import Table
from ...ops.runs import Open, RunCount
from ...ops.scan.value_scan import HostScalar
from ...ops.time.resample import OpenBucket
from ...ops.windows.halo import RowArrays

TEXTS = (np.dtype(object), "object", "str", "string")
"""Dtypes of strings, as schemas have them."""


def moved(value: Any, source: Library, to: Library) -> Any:
    """Return what an operation has seen of frames of one library as it would have seen it of those of another."""

    def array(one: Any) -> Any:
        return to.from_pandas(source.to_pandas(one))

    def state(one: Any) -> Any:
        if isinstance(one, source.xp.ndarray) and one.dtype != object:  # of the operator's own
            return to.xp.asarray(one.get() if hasattr(one, "get") else one)
        return array(one)

    def row(one: Any) -> Any:
        of_pandas = one.to_pandas().array if hasattr(one, "to_pandas") else one
        return to.host_row(to.as_column(to.from_pandas(of_pandas)), 0)

    def each(one: Any) -> Any:
        return moved(one, source, to)

    kind = type(value)
    if kind in (tuple, list):
        return kind(map(each, value))
    if kind is Table:
        keys = [array(one) for one in value.keys]
        states = [tuple(map(state, one)) for one in value.states]
        return Table(to, keys, states, moved_schema(value.schema, to), value.ordered)
    if kind is RowArrays:
        found = value.unpack()
        columns, keys = (
            None if some is None else [array(one) for one in some]
            for some in (found.columns, found.keys)
        )
        times = None if found.times is None else state(found.times)
        return RowArrays(to, found.count, columns, keys, times, found.clustered)
    if kind is RunKeys:
        return RunKeys(to, [array(one) for one in value.arrays])
    if kind is HostScalar:
        one = array(value.array)
        known = None if value.row is None else to.host_row(to.as_column(one), 0)
        return HostScalar(to, known, one.dtype)
    if kind is BoundaryKey:
        return BoundaryKey(value.values, tuple(map(row, value.rows)))
    if kind in (Open, RunCount, OpenBucket, RightRows):
        return replace(value, **{f.name: each(getattr(value, f.name)) for f in fields(value)})
    if is_frame(value) and hasattr(value, "iloc"):
        return to.frame_from_pandas(source.frame_to_pandas(value))
    return value


def moved_schema(schema: Schema, to: Library) -> Schema:
    """Return a schema with the dtype that another library has for strings."""
    texts = to.from_pandas(PANDAS.array(pd.Series([""]))).dtype
    known = texts if isinstance(texts, np.dtype) else str(texts)
    dtypes = tuple(known if dtype in TEXTS else dtype for dtype in schema.dtypes)
    levels = tuple((name, known if dtype in TEXTS else dtype) for name, dtype in schema.levels)
    return Schema(schema.names, dtypes, levels)
