"""Many pandas partitions: ours against the floor of one task for each partition, and against Dask's own cumsum.

Inputs are persisted, and outputs stay in memory partition by partition, so that neither loading nor
concatenation on the client is timed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import dask.dataframe as dd
import dask.threaded
import numpy as np
import pandas as pd
from distributed import Client, LocalCluster, wait
from timing import Bench, same

import dask_gpuscan  # noqa: F401  (registers .gpuscan)

Materialise = Callable[[Any], Any]


def run(bench: Bench) -> None:
    for name, scheduler in [("threads", threads), ("local cluster", local_cluster)]:
        if any(bench.wanted(title) for title in titles(name)):
            with scheduler() as materialise:
                partitions(bench, name, materialise)
    graph(bench)


def titles(scheduler: str) -> list[str]:
    return [f"cumsum of {what}, {scheduler}" for what in ("one column", "three columns")]


@contextmanager
def threads() -> Iterator[Materialise]:
    """Two threads of this process."""

    def materialise(lazy: Any) -> Any:
        # As persist(), without its last step, which names the result by a hash of all its values.
        plan = lazy.optimize()
        return dask.threaded.get(plan.__dask_graph__(), plan.__dask_keys__(), num_workers=2)

    yield materialise


@contextmanager
def local_cluster() -> Iterator[Materialise]:
    """Two worker processes of one thread."""
    options = {"dashboard_address": None, "silence_logs": logging.CRITICAL}
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, **options)
    with cluster, Client(cluster) as client:

        def materialise(lazy: Any) -> Any:
            result = client.persist(lazy)
            wait(result)
            return result

        yield materialise


def make(seed: int, rows: int) -> pd.DataFrame:
    values = np.random.default_rng(seed).standard_normal((3, rows))
    return pd.DataFrame({"a": values[0], "b": values[1], "c": values[2]})


def add_nothing(frame: Any) -> Any:
    return frame + 0


def partitions(bench: Bench, scheduler: str, materialise: Materialise) -> None:
    """500 partitions of 100,000 rows."""
    count, rows = bench.scale(500, 50), 100_000
    frame = dd.from_map(make, range(count), rows=rows, meta=make(0, 1)).persist()
    whole = frame.compute()
    same(frame.gpuscan.cumsum().compute(), whole.cumsum())
    del whole

    one, three = titles(scheduler)
    size: Any = {"dtype": "float64", "n": count * rows, "partitions": count}
    column = frame.a

    def one_column() -> Any:
        return materialise(column.gpuscan.cumsum())

    bench.compare(
        one,
        one_column,
        {"floor": lambda: materialise(column.map_partitions(add_nothing))},
        targets={"floor": "times_floor <= 2.2"},
        **size,
    )
    bench.compare(one, one_column, {"dask": lambda: materialise(column.cumsum())}, rounds=3, **size)
    bench.compare(
        three,
        lambda: materialise(frame.gpuscan.cumsum()),
        {
            "one column": one_column,
            "floor": lambda: materialise(frame.map_partitions(add_nothing)),
        },
        targets={"one column": "times_one_column <= 1.3"},
        **size,
    )


def graph(bench: Bench) -> None:
    """10,000 partitions: the time to build and optimise the graph, and the number of its tasks."""
    name = "graph of 10,000 partitions"
    if not bench.wanted(name):
        return
    count = bench.scale(10_000, 1_000)
    frame = dd.from_map(make, range(count), rows=10, meta=make(0, 1))

    def ours() -> int:
        return len(frame.a.gpuscan.cumsum().optimize().__dask_graph__())

    def dasks() -> int:
        return len(frame.a.cumsum().optimize().__dask_graph__())

    bench.compare(
        name,
        ours,
        {"dask": dasks},
        dtype="float64",
        n=count,
        targets={"dask": "ours_ms <= 3000 and tasks_a_partition <= 2.2"},
        tasks_a_partition=round(ours() / count - 1, 3),  # without the one that makes the partition
        peer_tasks_a_partition=round(dasks() / count - 1, 3),
    )
