"""Sorting on a local cluster: Dask's P2P shuffle moves the rows, and the answer is that of threads."""

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask.utils import key_split

from helpers.backends import same


def part(i):
    rng = np.random.default_rng(i)
    words = rng.integers(0, 30, 500).astype(str)
    odd = {"o": rng.integers(0, 9, 500).astype(object), "p": pd.period_range("2026", periods=500)}
    return pd.DataFrame({"k": rng.integers(0, 7, 500), "w": words, "x": rng.random(500), **odd})


@pytest.mark.cluster
@pytest.mark.slow
@pytest.mark.parametrize("way", ["tasks", None])
def test_rows_are_moved_between_workers(client, way):
    ddf = dd.from_map(part, range(12), meta=part(0).iloc[:0])
    whole = pd.concat([part(i) for i in range(12)])
    with dask.config.set({"dataframe.shuffle.method": way}):
        lazy = ddf.gpuscan.sort_values(["w", "k"], ascending=[True, False])
        names = {key_split(key) for key in lazy.optimize().__dask_graph__()}
        assert any(name.startswith("shuffle-transfer") for name in names) == (way is None)
        expected = whole.sort_values(["w", "k"], ascending=[True, False], kind="stable")
        if way:  # here first: workers would compile the same kernels at once
            same(lazy.compute(scheduler="sync"), expected)
        parts = client.gather(client.compute(lazy.to_delayed()))
        same(pd.concat(parts), expected)
        assert all(abs(len(p) - 500) <= 50 for p in parts)
        series = ddf.x.gpuscan.sort_values()
        sorted_series = whole.x.sort_values(kind="stable")
        if way:
            same(series.compute(scheduler="sync"), sorted_series)
        same(client.compute(series).result(), sorted_series)


@pytest.mark.parametrize("count", [2, 7, 26, 64])
def test_moves_by_tasks_take_one_step(count):
    ddf = dd.from_map(part, range(count), meta=part(0).iloc[:0])
    with dask.config.set({"dataframe.shuffle.method": "tasks"}):
        lazy = ddf.gpuscan.sort_values("x")
        tasks = [key_split(key) for key in lazy.optimize().__dask_graph__()]
        same(lazy.compute(), pd.concat([part(i) for i in range(count)]).sort_values("x"))
    bundles = sum(name.startswith("bundle") for name in tasks)
    parts = sum(name.startswith("part-") for name in tasks)
    assert parts == count * bundles
    assert 1.4 * count**0.5 <= bundles <= 2.9 * count**0.5
    assert len(tasks) <= parts + bundles + 6 * count
