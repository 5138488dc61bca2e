"""Where the first run of equal keys ends and the last one starts, however many rows they have."""

import numpy as np
import pandas as pd
import pytest

from dask_gpuscan.keys import AT_ONCE, first_end, last_start

ROWS = 9 * AT_ONCE


@pytest.mark.parametrize(
    "heads",
    [
        [0],
        [0, 1],
        [0, ROWS - 1],
        [0, AT_ONCE - 1, ROWS - AT_ONCE],
        [0, AT_ONCE, ROWS - AT_ONCE - 1],
    ],
)
def test_runs_at_either_end(backend, heads):
    keys = np.zeros(ROWS, np.int64)
    keys[heads] = 1
    series = [backend.frame(pd.Series(keys.cumsum()))]
    assert last_start(series) == heads[-1]
    assert first_end(series) == (heads[1] if len(heads) > 1 else ROWS)
