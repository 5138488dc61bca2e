"""On a local cluster of two worker processes: equal results, also when a worker dies in mid-job."""

import os
import signal
import time

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from backends import same
from dask_gpuscan import operator, precompile_plugin

pytestmark = [pytest.mark.cluster, pytest.mark.slow]


def slow_part(i, marker):
    """A partition that takes its time; the marker file says that the job is under way."""
    if i == 5:
        with open(marker, "w") as file:
            file.write(str(os.getpid()))
    time.sleep(0.05)
    rng = np.random.default_rng(i)
    return pd.DataFrame({"x": rng.integers(0, 100, 100), "y": rng.normal(size=100)})


def slow_collection(marker, count=40):
    meta = pd.DataFrame({"x": np.array([], np.int64), "y": np.array([], np.float64)})
    return dd.from_map(slow_part, range(count), marker=str(marker), meta=meta)


def test_results_equal_the_threaded_scheduler(client, tmp_path):
    ddf = slow_collection(tmp_path / "marker")
    lazy = ddf.gpuscan.cumsum()
    expected = lazy.compute(scheduler="threads")
    same(client.compute(lazy).result(), expected, rtol=0)
    same(lazy.persist().compute(), expected, rtol=0)


def test_users_operators_travel(client, tmp_path):
    offset = 3
    clipped = operator(lambda a, b: min(a + b, 1000), identity=0, lift=lambda x: x + offset)
    ddf = slow_collection(tmp_path / "marker", 6)
    lazy = ddf.x.gpuscan.scan(clipped, reverse=True)
    same(client.compute(lazy).result(), lazy.compute(scheduler="sync"), rtol=0)


def test_a_killed_worker_costs_recomputation_and_nothing_else(client, tmp_path):
    marker = tmp_path / "marker"
    lazy = slow_collection(marker).gpuscan.cumsum()
    expected = lazy.compute(scheduler="threads")
    marker.unlink()
    future = client.compute(lazy)
    deadline = time.monotonic() + 60
    while not (marker.exists() and marker.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    victim = int(marker.read_text())
    assert victim != os.getpid()
    os.kill(victim, signal.SIGKILL)
    same(future.result(timeout=120), expected, rtol=0)


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
