"""Predicates that are functions: what is compiled for them, and how long they may run."""

import math

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from dask_gpuscan.kernels.cpu.core.engine import walk_tiles
from dask_gpuscan.kernels.operators import inference
from dask_gpuscan.kernels.operators.inference import probe_lift


def test_other_numbers_in_a_function_cost_no_compile():
    def late(limit):
        return lambda delay: delay > limit

    df = pd.DataFrame({"delay": np.arange(20)})
    ddf = dd.from_pandas(df, npartitions=2)
    assert len(df.gpuscan.filter(late(17))) == len(ddf.gpuscan.filter(late(17))) == 2
    kernels = len(walk_tiles.made.overloads), len(probe_lift.made.overloads)
    assert [len(ddf.gpuscan.filter(late(k))) for k in (0, 5, 18)] == [19, 14, 1]
    assert (len(walk_tiles.made.overloads), len(probe_lift.made.overloads)) == kernels
    assert len({ddf.gpuscan.filter(late(k))._name for k in (0, 0, 5)}) == 2


def test_a_function_that_never_ends(monkeypatch):
    monkeypatch.setattr(inference, "PATIENCE", 0.2)

    def forever(x):  # a second: what does not end at all would take a core from all other tests
        for _ in range(50_000_000):
            x = math.cos(x)
        return x

    with pytest.raises(ValueError, match="predicate <lambda>: lift did not end"):
        pd.DataFrame({"x": [1.0]}).gpuscan.filter(lambda x: forever(x) > 1)
