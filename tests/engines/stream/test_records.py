"""Records of what operations keep: the annotations of their fields say all that files and other libraries need."""

from dataclasses import fields
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dask_gpuscan
from dask_gpuscan.engines.stream.states.records import ARRAYS, HOLDS, moved
from dask_gpuscan.frames.pandas.library import PANDAS
from dask_gpuscan.ops.kept import CARRIES, RECORDS


@pytest.mark.parametrize("name", RECORDS)
def test_annotations_are_known(name: str) -> None:
    for field in fields(RECORDS[name]):
        kind = str(field.type).removesuffix(" | None")
        assert kind in ARRAYS or kind.partition("[")[0] in HOLDS, f"{field.name}: {field.type}"


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
