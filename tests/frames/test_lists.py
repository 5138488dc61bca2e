"""Columns of lists taken apart, without a copy."""

import numpy as np
import pandas as pd
import pyarrow as pa

from dask_gpuscan.frames.pandas.library import PANDAS


def test_items_are_shown_where_they_lie():
    items = pa.array(np.arange(6.0))
    array = pa.ListArray.from_arrays(pa.array([0, 2, 2, 6], pa.int32()), items)
    for rows in (array, array.slice(1)):
        found = PANDAS.lists(pd.Series(rows, dtype=pd.ArrowDtype(rows.type)).array)
        shown = pa.chunked_array(found.items.__arrow_array__()).chunk(0)
        assert shown.buffers()[1].address == items.buffers()[1].address
        assert found.offsets.tolist() == np.subtract(rows.offsets, rows.offsets[0].as_py()).tolist()
