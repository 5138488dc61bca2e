"""On a local cluster of two worker processes: equal results. Workers that die are in tests/faults."""

import os

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask.dataframe.dask_expr._expr import Expr
from distributed import wait
from distributed.diagnostics.plugin import SchedulerPlugin

from dask_gpuscan import operator, precompile_plugin
from dask_gpuscan.engines.dask.lookback import WINDOW
from helpers.backends import same

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


class Priorities(SchedulerPlugin):
    """Keeps which priorities Dask was asked for, and of how many tasks."""

    name = "priorities"

    def update_graph(self, scheduler, *, tasks, annotations, **others):
        self.asked = dict(annotations.get("priority", {}))
        self.tasks = len(tasks)


@pytest.mark.skipif(
    not hasattr(Expr, "__dask_annotations__"), reason="this Dask asks no expression for priorities"
)
@pytest.mark.parametrize(
    ("persisted", "ask", "first"),
    [
        (True, lambda it: it.cumsum(), 4 * WINDOW - 1 + 4),
        (True, lambda it: it.rolling(9, center=True).sum(), 2 * (4 * WINDOW - 1 + 4)),
        (True, lambda it: it.rolling(2000).sum(), 0),
        (False, lambda it: it.cumsum(), 0),
    ],
)
def test_prefixes_of_persisted_partitions_come_first(client, persisted, ask, first):
    watch = Priorities()
    ddf = collection(4 * WINDOW)
    ddf = client.persist(ddf) if persisted else ddf
    lazy = ask(ddf.gpuscan)
    client.cluster.scheduler.add_plugin(watch)
    try:
        wait(client.persist(lazy))
    finally:
        client.cluster.scheduler.remove_plugin(watch.name)
    assert watch.tasks > 8 * WINDOW - 1
    assert list(watch.asked.values()) == [1] * first
    assert not watch.asked.keys() & set(lazy.__dask_keys__())


def test_users_operators_travel(client):
    offset = 3
    clipped = operator(lambda a, b: min(a + b, 1000), identity=0, lift=lambda x: x + offset)
    ddf = collection(6)
    lazy = ddf.x.gpuscan.scan(clipped, reverse=True)
    expected = lazy.compute(scheduler="sync")
    same(client.compute(lazy).result(), expected, rtol=0)


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
