"""Columns of many rows, moved by kernels."""

import numpy as np
import pandas as pd
import pytest

from dask_gpuscan import kernels
from helpers.thresholds import MANY_ROWS

MANY = np.random.default_rng(0).integers(-(2**50), 2**50, MANY_ROWS)


@pytest.mark.parametrize("subtracts", [False, True])
def test_many_rows_are_moved_by_all_cores(monkeypatch, subtracts):
    for many in (MANY, MANY / 7):
        pd.Series(many).gpuscan.diff()  # dtypes of answers are asked for once
    calls, shift = [], kernels.shift

    def move(*given, subtract=False, **options):
        calls.append(subtract)
        return shift(*given, subtract=subtract, **options)

    monkeypatch.setattr(kernels, "shift", move)
    for x in (pd.Series(MANY), pd.Series(MANY / 7)):
        if subtracts:
            x.gpuscan.diff()
        else:
            x.gpuscan.shift(fill_value=0)
    assert calls == [subtracts] * 2
