"""Columns of many rows, moved by kernels."""

import numpy as np
import pandas as pd
import pytest

from dask_gpuscan import kernels
from helpers.thresholds import MANY_ROWS

MANY = np.random.default_rng(0).integers(-(2**50), 2**50, MANY_ROWS)


@pytest.mark.parametrize("kernel", ["shift", "difference"])
def test_many_rows_are_moved_by_all_cores(monkeypatch, kernel):
    for few in (MANY[:2], MANY[:2] / 7):
        pd.Series(few).gpuscan.diff()  # dtypes of answers are asked for once
    calls, move = [], getattr(kernels, kernel)
    monkeypatch.setattr(
        kernels, kernel, lambda *given, **options: calls.append(given) or move(*given, **options)
    )
    for x in (pd.Series(MANY), pd.Series(MANY / 7)):
        if kernel == "shift":
            x.gpuscan.shift(fill_value=0)
        else:
            x.gpuscan.diff()
    assert len(calls) == 2
