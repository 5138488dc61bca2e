"""Workers with little memory: data that spills to disk, workers that are killed for want of memory."""

import os
from contextlib import contextmanager
from itertools import pairwise

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import psutil
import pytest

from faults.harm import WHOLE, bits, undisturbed
from helpers.clusters import local_client

pytestmark = [pytest.mark.cluster, pytest.mark.slow, pytest.mark.timeout(240)]

ROWS, PARTITIONS = 200_000, 16
SIZE = 3 * 8 * ROWS * PARTITIONS  # bytes of all columns and the index: 77 MB

SOON = 100.0
"""Seconds within which an error or an answer comes."""


def rows(i, length):
    """Return a partition; its groups reach into the next ones."""
    rng = np.random.default_rng(i)
    at = np.arange(length * i, length * (i + 1))
    return pd.DataFrame({"k": at // 300_000, "x": rng.normal(size=length)}, index=at)


def frame(length=ROWS):
    cuts = [*range(0, length * PARTITIONS, length), length * PARTITIONS - 1]
    meta = pd.DataFrame({"k": np.empty(0, "i8"), "x": np.empty(0, "f8")})
    return dd.from_map(rows, range(PARTITIONS), length=length, meta=meta, divisions=cuts)


CALLS = {
    "cumsum": lambda f: f[["x"]].gpuscan.cumsum(),
    "clustered sum": lambda f: f.gpuscan.groupby("k", clustered=True)["x"].sum(),
    "sort": lambda f: f.gpuscan.sort_values("x"),
}


INTEGERS, MANY, TIED = 12_000_000, 24, 4
"""Values to be ranked, 48 MB of them, in how many partitions, and how many are equal."""


def shuffled(at):
    """Return the rows from one to another, of integers from 0 to INTEGERS / TIED in no order."""
    rows = pd.RangeIndex(*at)
    places = rows.to_numpy() * 7_654_321 % INTEGERS
    x, k = ((places // TIED).astype("i4"), (places % TIED).astype("i4"))
    return pd.DataFrame({"x": x, "k": k}, rows, copy=False)


RANKS = {
    "rank": (lambda f: f["x"].gpuscan.rank(), lambda f: TIED * f["x"] + (TIED + 1) / 2),
    "rank of groups": (lambda f: f.gpuscan.groupby("k")["x"].rank(), lambda f: f["x"] + 1.0),
}


def wrong(ranks, known):
    """Return how many ranks of a partition are wrong."""
    expected = known(shuffled((ranks.index[0], ranks.index[-1] + 1)))
    return pd.Series([(ranks != expected).sum()])


@contextmanager
def workers(count, folder, memory_limit, **fractions):
    """Give a client of workers of one thread, which do what is named at these fractions of their memory, and no more.

    The first worker that is killed ends the job.
    """
    none = dict.fromkeys(["target", "spill", "pause", "terminate"], False)
    memory = {f"distributed.worker.memory.{name}": at for name, at in {**none, **fractions}.items()}
    at_once = {
        "distributed.worker.memory.monitor-interval": "10ms",
        "distributed.scheduler.allowed-failures": 0,
    }
    with (
        dask.config.set({**memory, **at_once}),
        local_client(count, memory_limit=memory_limit, local_directory=str(folder)) as client,
    ):
        yield client


def spilled(dask_worker):
    """Return how many bytes of a worker's data are on its disk."""
    return dask_worker.data.spilled_total.disk


def answer(client, lazy):
    return [client.compute(lazy).result(timeout=SOON)]


@pytest.mark.parametrize("shuffle", ["tasks", "p2p"] if WHOLE else ["tasks"])
def test_data_that_spills(tmp_path, shuffle):
    with workers(2, tmp_path, SIZE // 6, target=0.6) as client:
        held = client.persist(frame())
        for name in CALLS if WHOLE else ["cumsum"]:
            with dask.config.set({"dataframe.shuffle.method": shuffle}):
                lazy = client.persist(CALLS[name](held))  # so that answers spill too
            found = answer(client, lazy)
            assert sum(client.run(spilled).values()) > SIZE // 2
            assert bits(found) == bits(undisturbed(CALLS[name], frame))


@pytest.mark.parametrize("name", RANKS if WHOLE else ["rank"])
def test_ranks_need_the_memory_of_a_few_partitions(tmp_path, name):
    call, known = RANKS[name]

    def lazy(partitions):
        cuts = range(0, INTEGERS + 1, INTEGERS // MANY)
        parts = list(pairwise(cuts))[:partitions]
        ranks = call(dd.from_map(shuffled, parts, meta=shuffled((0, 0))))
        return ranks.map_partitions(wrong, known, meta=(None, "i8")).sum()

    # Dask itself would keep up to 1 GiB that is on its way
    small_buffers = {f"distributed.p2p.{which}.buffer": "20 MB" for which in ("comm", "storage")}
    with dask.config.set(small_buffers):
        with workers(1, tmp_path, 0) as client:  # how much a worker needs by itself
            answer(client, lazy(2))
            (used,) = client.run(lambda: psutil.Process(os.getpid()).memory_info().rss).values()
        with workers(1, tmp_path, used + 430_000_000, terminate=1.0) as client:
            assert answer(client, lazy(MANY)) == [0]


@pytest.mark.skipif(not WHOLE, reason="starts three clusters: make faults")
@pytest.mark.parametrize("name", ["cumsum", "sort"])
def test_a_worker_that_is_killed_for_want_of_memory(tmp_path, name):
    from distributed import KilledWorker

    call = CALLS[name]
    small, large = call(frame(ROWS // 50)), call(frame())
    of_small = undisturbed(call, lambda: frame(ROWS // 50))
    with workers(1, tmp_path, 0) as client:  # without a limit: how much a worker needs by itself
        assert bits(answer(client, small)) == bits(of_small)
        (used,) = client.run(lambda: psutil.Process(os.getpid()).memory_info().rss).values()
    with workers(1, tmp_path, used + SIZE // 2, terminate=1.0) as client:
        with pytest.raises(KilledWorker, match="workers died while running it"):
            answer(client, large)
        client.wait_for_workers(1, timeout=SOON)
        assert bits(answer(client, small)) == bits(of_small)
    with workers(1, tmp_path, 0) as client:
        assert bits(answer(client, large)) == bits(undisturbed(call, frame))
