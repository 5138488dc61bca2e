"""The largest values of a partition, by themselves."""

import numpy as np
import pandas as pd

from dask_gpuscan.ops.groupby import top_rows


def test_partitions_stand_for_few_rows():
    x = pd.Series(np.random.default_rng(0).permutation(5000).astype("float64"))
    x[::3] = np.nan
    top = top_rows.TopOfAll(top_rows.By(()), top_rows.Top(3, True))
    table = top.table(x)
    assert len(table.rows) == 4
    assert top.finish([table], x[:0]).tolist() == x.nlargest(3).tolist()
