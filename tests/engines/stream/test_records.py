"""Records of what operations keep: the annotations of their fields say all that files and other libraries need."""

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dask_gpuscan
from dask_gpuscan.engines.stream.states.records import ARRAYS, HOLDS, checked, moved
from dask_gpuscan.frames.keys import BoundaryKey
from dask_gpuscan.frames.pandas.library import PANDAS
from dask_gpuscan.frames.registry import Schema
from dask_gpuscan.ops.groupby.adjacent import RunKeys
from dask_gpuscan.ops.groupby.hashed import Table
from dask_gpuscan.ops.kept import CARRIES, RECORDS
from dask_gpuscan.ops.runs import Open
from dask_gpuscan.ops.scan.value_scan import HostScalar
from dask_gpuscan.ops.time.buckets import Span
from dask_gpuscan.ops.windows.halo import RowArrays

SCHEMA = Schema(("k", "x"), (np.dtype("int64"), "string"), (("day", "object"),))
KEYS, SUMS = np.array([3, 4]), (np.array([1.5, 2.5]), np.array([0.0, 0.0]))
KEY = BoundaryKey.of((np.array([7]),))
FOUND: list[Any] = [
    SCHEMA,
    Table(PANDAS, [KEYS], [SUMS], SCHEMA),
    RowArrays(PANDAS, 2, [SUMS[0]], [KEYS], np.array([5, 6])),
    Open(9, KEY, 4, ((1.5, 0.0),)),
    RunKeys(PANDAS, [KEYS]),
    HostScalar(PANDAS, np.array([1.5]), np.dtype("float64")),
    Span(-4, 9),
]


@pytest.mark.parametrize("name", RECORDS)
def test_annotations_are_known(name: str) -> None:
    for field in fields(RECORDS[name]):
        kind = str(field.type).removesuffix(" | None")
        assert kind in ARRAYS or kind.partition("[")[0] in HOLDS, f"{field.name}: {field.type}"


@pytest.mark.parametrize("found", FOUND, ids=lambda one: type(one).__name__)
def test_what_is_kept_fits_and_moves(found: Any) -> None:
    assert checked(found) is found
    again = moved(found, PANDAS, PANDAS)
    assert type(again) is type(found)
    checked(again)


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (replace(SCHEMA, dtypes=(np.dtype("int64"),)), "parts that fit in Schema"),
        (replace(SCHEMA, names=(["k"], "x")), "parts that fit in Schema"),
        (Table(PANDAS, [KEYS], [(KEYS[:1],)], SCHEMA), "arrays of the same rows in Table"),
        (Table(PANDAS, [KEYS], [("no", "arrays")], SCHEMA), "arrays of the same rows in Table"),
        (Table(PANDAS, [], [], SCHEMA), "parts that fit in Table"),
        (Table(PANDAS, (KEYS,), [SUMS], SCHEMA), r"list\[Array\] as keys of Table"),
        (Table(PANDAS, [KEYS], [SUMS], "schema"), "Schema as schema of Table"),
        (Table(PANDAS, [KEYS], [SUMS], SCHEMA, 1), "bool as ordered of Table"),
        (Table("pandas", [KEYS], [SUMS], SCHEMA), "Library as library of Table"),
        (RowArrays(PANDAS, 3, [KEYS]), "arrays of the same rows in RowArrays"),
        (RowArrays(PANDAS, 2, [KEYS], times=np.array(["a", "b"])), "parts that fit in RowArrays"),
        (RowArrays(PANDAS, -1, []), "int as count of RowArrays"),
        (Open(3, None, 4), "parts that fit in Open"),
        (Open(True, None, 0), "int as rows of Open"),
        (Open(3, "key", 0), "BoundaryKey as border of Open"),
        (HostScalar(PANDAS, KEYS, np.dtype("int64")), "parts that fit in HostScalar"),
        (HostScalar(PANDAS, None, "int64"), "DType as dtype of HostScalar"),
        (Span("a", "b"), "Scalar as first of Span"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named(found: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"expected {message}"):
        checked(found)


def test_operations_are_read_as_they_were_written(tmp_path: Path) -> None:
    """Also what they are made of: operators that have a name, options, and numbers that JSON has not."""
    frame = pd.DataFrame({"k": list("aab"), "x": [1.5, 2.0, 4.0]})
    for method in (
        lambda d: d.gpuscan.groupby("k")["x"].cumsum(),
        lambda d: d["x"].gpuscan.cumsum(initial=np.inf),
        lambda d: d["x"].gpuscan.rolling(2).quantile(0.25),
    ):
        out = method(dask_gpuscan.stream([frame]))
        out.compute()
        out.state.save(tmp_path / "state")
        pairs = zip(
            dask_gpuscan.load_state(tmp_path / "state").operations,
            out.state.operations,
            strict=True,
        )
        for found, expected in pairs:
            assert found.carry == expected.carry
    assert not RECORDS.keys() & CARRIES.keys()


def test_columns_may_have_the_names_of_parts_of_records(tmp_path: Path) -> None:
    """Frames that wait in a state have attributes of these names."""
    names = ["keys", "times", "frame", "moved", "unpack", "fits", "count"]
    right = pd.DataFrame({"t": [1, 2, 9]} | {name: [0, 1, 2] for name in names})
    left = dask_gpuscan.stream([pd.DataFrame({"t": [1, 3]})])
    for out in (
        dask_gpuscan.merge_asof(left, dask_gpuscan.stream([right]), on="t"),
        dask_gpuscan.stream([right], ends=False).gpuscan.shift(-2),
    ):
        expected = out.compute()
        out.state.save(tmp_path / "state")
        state = dask_gpuscan.load_state(tmp_path / "state")
        assert state.keys() == state.to_pandas() == {}
        for one in state.operations:
            moved(one.seen, PANDAS, PANDAS)
        assert list(expected.columns) == list(right.columns)
