"""On a local cluster of two worker processes: equal results. Workers that die are in tests/faults."""

import os

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from backends import same
from dask_gpuscan import operator, precompile_plugin

pytestmark = [pytest.mark.cluster, pytest.mark.slow]


def part(i):
    rng = np.random.default_rng(i)
    return pd.DataFrame({"x": rng.integers(0, 100, 100), "y": rng.normal(size=100)})


def collection(count=40):
    meta = pd.DataFrame({"x": np.array([], np.int64), "y": np.array([], np.float64)})
    return dd.from_map(part, range(count), meta=meta)


def test_results_equal_the_threaded_scheduler(client):
    ddf = collection()
    lazy = ddf.gpuscan.cumsum()
    expected = lazy.compute(scheduler="threads")
    same(client.compute(lazy).result(), expected, rtol=0)
    same(lazy.persist().compute(), expected, rtol=0)


def test_users_operators_travel(client):
    offset = 3
    clipped = operator(lambda a, b: min(a + b, 1000), identity=0, lift=lambda x: x + offset)
    ddf = collection(6)
    lazy = ddf.x.gpuscan.scan(clipped, reverse=True)
    same(client.compute(lazy).result(), lazy.compute(scheduler="sync"), rtol=0)


def test_workers_compile_ahead(client, tmp_path):
    def folder_of(folder):
        os.environ["DASK_GPUSCAN_CACHE"] = str(folder)

    kept = client.run(lambda: os.environ["DASK_GPUSCAN_CACHE"])
    client.run(folder_of, tmp_path / "cache")
    try:
        client.register_plugin(precompile_plugin(["cumsum", "cummax"], dtypes=["float32"]))
        assert len(list((tmp_path / "cache").iterdir())) > 3
    finally:
        client.run(folder_of, next(iter(kept.values())))
