"""The way in which a group-by is done, by what its operations need and by where equal keys are."""

import numpy as np
import pandas as pd
import pytest

import dask_gpuscan  # noqa: F401
from dask_gpuscan import kernels
from dask_gpuscan.frames.keys import By
from dask_gpuscan.ops.core.operation import Needs, Part
from dask_gpuscan.ops.groupby.adjacent import AdjacentReduce, AdjacentScan
from dask_gpuscan.ops.groupby.hashed import HashedReduce
from dask_gpuscan.ops.groupby.hashed_scan import HashedScan
from dask_gpuscan.ops.groupby.reduce import ReduceColumn
from dask_gpuscan.ops.groupby.sorted_values import MEDIAN
from dask_gpuscan.ops.groupby.spec import GroupBySpec
from dask_gpuscan.ops.groupby.strategy import KeyOrder, strategy
from dask_gpuscan.ops.groupby.whole_groups import WholeGroupReduce
from dask_gpuscan.ops.scan.row_number import CountRows
from dask_gpuscan.ops.statistics.table import REDUCTIONS

SUM, NUMBERS = ReduceColumn(REDUCTIONS["sum"]), CountRows()


@pytest.mark.parametrize(
    ("operations", "needs", "adjacent", "anywhere"),
    [
        ([SUM], Needs.STATES, AdjacentReduce, HashedReduce),
        ([SUM, MEDIAN], Needs.WHOLE_GROUPS, AdjacentReduce, WholeGroupReduce),
        ([NUMBERS], Needs.STATES, AdjacentScan, HashedScan),
        ([], Needs.STATES, AdjacentReduce, HashedReduce),
    ],
)
def test_the_most_demanding_operation_decides(operations, needs, adjacent, anywhere):
    parts = tuple(Part(i, ("x",), operation) for i, operation in enumerate(operations))
    spec = GroupBySpec(By(("k",)), parts=parts, each_row=operations == [NUMBERS])
    assert spec.needs is needs
    assert strategy(spec, KeyOrder.ANYWHERE) == anywhere(spec)
    assert strategy(spec, KeyOrder.ADJACENT) == adjacent(spec)
    assert strategy(spec, KeyOrder.ONE_PARTITION) == adjacent(spec, sorts=True)


def test_where_groups_start_is_found_by_those_that_read_all_rows(monkeypatch):
    frame = pd.DataFrame({"k": np.repeat(range(5), 3), "x": np.arange(15.0) % 4})
    columns = {"first": ("x", "first"), "least": ("x", "min"), "rows": ("x", "size")}
    expected = frame.groupby("k").agg(**columns)
    monkeypatch.delattr(kernels, "run_length_encode")
    found = frame.gpuscan.groupby("k", clustered=True).agg(**columns)
    pd.testing.assert_frame_equal(found, expected)
    with pytest.raises(AttributeError):  # which asks for it
        frame.gpuscan.groupby("k", clustered=True).first()
