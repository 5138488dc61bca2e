"""The way in which a group-by is done, by what its operations need and by where equal keys are."""

import pytest

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
