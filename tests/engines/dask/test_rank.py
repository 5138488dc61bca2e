"""Ranks and quantiles on a local cluster: Dask's shuffles move the rows, and the answers are those of threads."""

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask.utils import key_split

from fuzz.schedules import CUTS, ScheduleCase, jobs
from fuzz.simulation import Harms
from helpers.backends import same
from helpers.thresholds import wide_ranks


def part(i):
    rng = np.random.default_rng(i)
    x = np.where(rng.random(300) < 0.1, np.nan, rng.integers(0, 40, 300))
    words = rng.integers(0, 9, 300).astype(str)
    return pd.DataFrame({"k": rng.integers(0, 5, 300), "w": words, "x": x})


WHOLE = pd.concat([part(i) for i in range(7)])


@pytest.mark.cluster
@pytest.mark.slow
@pytest.mark.parametrize("way", ["tasks", None])
def test_rows_are_moved_between_workers(client, way):
    ddf = dd.from_map(part, range(7), meta=part(0).iloc[:0])
    with dask.config.set({"dataframe.shuffle.method": way}):
        for lazy, expected in (
            (ddf.x.gpuscan.rank(), WHOLE.x.rank()),
            (ddf.gpuscan.groupby("k")["w"].rank("dense"), WHOLE.groupby("k")["w"].rank("dense")),
            (ddf.gpuscan.groupby("w").median(), WHOLE.groupby("w").median()),
            (ddf.gpuscan.groupby("k")["w"].nunique(), WHOLE.groupby("k")["w"].nunique()),
        ):
            if way:  # here first: workers would compile the same kernels at once
                same(lazy.compute(scheduler="sync"), expected)
            same(client.compute(lazy).result(), expected)


@pytest.mark.parametrize("method", ["average", "dense"])
def test_ranks_among_many_rows(method):
    ddf = dd.from_map(part, range(7), meta=part(0).iloc[:0])
    with wide_ranks(), dask.config.set({"dataframe.shuffle.method": "tasks"}):
        (found,) = dask.compute(ddf.x.gpuscan.rank(method=method), scheduler="sync")
    same(found, WHOLE.x.rank(method=method))


def test_no_task_waits_for_all_buckets():
    """Rows to be sorted are made where they are used, and a bucket is gone when its ranks are."""
    ddf = dd.from_map(part, range(7), meta=part(0).iloc[:0])
    with dask.config.set({"dataframe.shuffle.method": "tasks"}):
        graph = ddf.x.gpuscan.rank().optimize(fuse=False).__dask_graph__()
    tasks = {name: {k for k in graph if key_split(k) == name} for name in map(key_split, graph)}
    ends, ranks = tasks["ends-of-bucket"], tasks["ranks-of-buckets"]
    buckets = {key for end in ends for key in graph[end].dependencies}
    assert {key for key, task in graph.items() if task.dependencies & buckets} == ends | ranks
    assert all(len(graph[key].dependencies & ends) == 1 for key in ranks)
    assert "rank-rows" not in tasks


@pytest.mark.parametrize("name", ["Gpuscan.rank", "GroupBy.rank"])
def test_ranks_of_other_tasks_are_not_written_to(name):
    jobs_of_rank = jobs(name, tuple(CUTS[2]))
    for seed in range(3):
        ScheduleCase(name, lambda: jobs_of_rank, "", Harms(moved=True), seed).check()
