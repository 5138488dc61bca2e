"""The rows that a partition hands on."""

import numpy as np
import pandas as pd

from dask_gpuscan.ops.windows.halo import Halo
from dask_gpuscan.ops.windows.shift import Shift
from dask_gpuscan.ops.windows.surroundings import ColumnOverlap


def test_a_partition_that_is_handed_on_is_not_kept():
    x = pd.Series(np.arange(1000.0))
    (halo,) = Halo(ColumnOverlap(Shift(3))).aggregate(x).columns
    assert halo.tolist() == [997.0, 998.0, 999.0]
    assert not np.shares_memory(halo, x.to_numpy())
