"""The operators of statistics of windows by themselves: that weights end, and from where on there are answers."""

import numpy as np
import pandas as pd
import pytest

from dask_gpuscan import kernels
from dask_gpuscan.kernels.operators.numerics import NORMAL
from dask_gpuscan.ops.statistics.ewm import Decay
from dask_gpuscan.ops.statistics.inputs import read
from dask_gpuscan.ops.statistics.table import (
    STATISTICS,
    WEIGHTED,
    WINDOWS,
    ewm_operator,
    window_operator,
)


@pytest.mark.parametrize("name", list(WEIGHTED))
@pytest.mark.parametrize("adjust", [True, False])
def test_weights_do_not_stay_subnormal(name, adjust):
    op = ewm_operator(name, Decay(0.2, adjust, ignore_na=False))
    for steps in ([7.0], [np.nan], [7.0, np.nan], [7.0, 3.0] if name == "mean" else [7.0]):
        state = op.identity
        for x in np.repeat(steps, 5000):
            state = op.combine(state, op.lift(*[x] * op.inputs))
        decays = {"sum": [0], "mean": slice(None)}.get(name, [0, -1])
        numbers = np.array(state)[decays]
        assert ((numbers == 0) | (np.abs(numbers) >= NORMAL)).all()


OPTIONS = {"var": [{}, {"ddof": 0}, {"ddof": 3}, {"ddof": -2}]}


@pytest.mark.parametrize(
    ("name", "options"),
    [
        (name, options)
        for name, statistic in WINDOWS.items()
        if statistic.enough is not None
        for options in OPTIONS.get(name, [{}])
    ],
)
def test_enough_observations_are_always_answered(name, options):
    statistic, op = WINDOWS[name], window_operator(name, **options)
    enough = statistic.enough(**options)
    x = pd.Series([np.nan, 2.0, 2.0, np.inf, np.nan, 2.0, -1.0, 0.0, 5.0, np.nan, 7.0])
    inputs = read([x] * 2, statistic.inputs)
    out, _ = kernels.scan(op, inputs if op.inputs > 1 else inputs[0])
    seen = np.arange(1, len(x) + 1) if name == "count" else np.isfinite(x).cumsum()
    assert not np.isnan(out[seen >= enough]).any()
    assert np.isnan(out[seen < enough]).all()


@pytest.mark.parametrize(
    "name", sorted(name for name, row in STATISTICS.items() if row.weighted_enough is not None)
)
@pytest.mark.parametrize("alpha", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("adjust", [False, True])
@pytest.mark.parametrize("ignore_na", [False, True])
def test_steady_answers_stay_numbers(name, alpha, adjust, ignore_na):
    x = np.full(5000, np.nan)
    x[[3, 4, 4900]] = [1.0, 7.0, -2.0]
    out, _ = kernels.scan(ewm_operator(name, Decay(alpha, adjust, ignore_na)), x)
    assert not np.isnan(out[3:]).any()
