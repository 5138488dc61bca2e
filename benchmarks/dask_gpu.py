"""Many partitions on GPUs: ours against the floor of one task for each partition, and against dask-cudf's own cumsum.

Run by frames_gpu.py on a LocalCUDACluster with one worker a GPU. Inputs are persisted, and outputs stay on the GPUs
partition by partition, so that neither loading nor moving to the client is timed.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import cudf
import cupy as cp
import dask.array as da
import dask.dataframe as dd
import dask_cudf  # noqa: F401  (registers cuDF with Dask)
from dask.utils import key_split
from dask_cuda import LocalCUDACluster
from distributed import Client, get_task_stream, wait

import dask_gpuscan

POOL = "40GB"


@contextmanager
def cluster(gpus: int) -> Iterator[Client]:
    """Return a client of a local cluster with one worker for each GPU, which has a memory pool."""
    options = {
        "CUDA_VISIBLE_DEVICES": list(range(gpus)),
        "rmm_pool_size": POOL,
        "rmm_allocator_external_lib_list": ["cupy"],
        "dashboard_address": None,
        "silence_logs": logging.ERROR,
    }
    with LocalCUDACluster(**options) as workers, Client(workers) as client:
        client.wait_for_workers(gpus)
        yield client


def materialise(client: Client, lazy: Any) -> Any:
    """Compute a collection, and leave its partitions on the workers."""
    result = client.persist(lazy)
    wait(result)
    return result


def run(bench: Any, *, profiled: bool) -> None:
    with cluster(bench.gpus) as client:
        many = Many(bench, client)
        many.frames(profiled)
        many.arrays()
        sorts(bench, client)
        windows(bench, client)


def make(seed: int, rows: int) -> Any:
    values = cp.random.default_rng(seed).standard_normal((3, rows))
    return cudf.DataFrame({"a": values[0], "b": values[1], "c": values[2]})


def make_block(seed: int, rows: int) -> Any:
    return cp.random.default_rng(seed).standard_normal(rows)


def add_nothing(partition: Any) -> Any:
    return partition + 0


def gap(ours: Any, theirs: Any) -> Any:
    """Return the largest difference and the largest value of two partitions, as one row."""
    assert type(ours) is type(theirs), f"{type(ours)} is not {type(theirs)}"
    ours, theirs = ours.values, theirs.values
    return cudf.DataFrame(
        {"gap": [float(abs(ours - theirs).max())], "top": [float(abs(theirs).max())]}
    )


def same_partitions(ours: Any, theirs: Any) -> None:
    """Raise unless two persisted collections hold the same numbers up to rounding."""
    assert ours.npartitions == theirs.npartitions
    meta = cudf.DataFrame({"gap": [0.0], "top": [0.0]})
    worst = dd.map_partitions(gap, ours, theirs, meta=meta, align_dataframes=False)
    worst = worst.compute().max()
    assert worst["gap"] <= 1e-10 * worst["top"], f"values differ by {worst['gap']}"


def make_keys(seed: int, rows: int) -> Any:
    rng = cp.random.default_rng(seed)
    return cudf.DataFrame({"key": rng.integers(-(2**31), 2**31 - 1, rows, dtype="int32")})


def sorts(bench: Any, client: Client) -> None:
    """64 partitions of 2^22 keys in order, against dask-cudf's own sort."""
    name = "dask_sort_values"
    if not bench.wanted(name):
        return
    count, rows = 64, bench.scale(1 << 22, 1 << 14)
    frame = dd.from_map(make_keys, range(count), rows=rows, meta=make_keys(0, 1))
    frame = materialise(client, frame)

    def check(ours: Any, theirs: Any) -> None:  # partitions have other borders
        ours, theirs = (answer.compute()["key"].values for answer in (ours, theirs))
        assert bool((ours == theirs).all()), "keys differ"

    bench.compare(
        name,
        lambda: materialise(client, frame.gpuscan.sort_values("key")),
        {"dask-cudf": lambda: materialise(client, frame.sort_values("key"))},
        dtype="int32",
        n=count * rows,
        partitions=count,
        gpus=bench.gpus,
        check=check,
        rounds=1,  # that of dask-cudf takes most of a minute
        moved=8 * count * rows,
        targets={"dask-cudf": "ratio >= 2"},
    )


class Many:
    """512 partitions of 2^19 rows on the workers of a client."""

    def __init__(self, bench: Any, client: Client) -> None:
        self.bench = bench
        self.client = client
        self.count, self.rows = bench.scale(512, 32), bench.scale(1 << 19, 1 << 14)
        self.size: Any = {
            "dtype": "float64",
            "n": self.count * self.rows,
            "partitions": self.count,
            "gpus": bench.gpus,
        }

    def materialise(self, lazy: Any) -> Any:
        return materialise(self.client, lazy)

    def frames(self, profiled: bool) -> None:
        """One column and three, against dask-cudf, the floor, and three columns against one."""
        bench, materialise = self.bench, self.materialise
        one, three = "dask_cumsum_512", "dask_cumsum_512_x3"
        if not bench.wanted(one) and not bench.wanted(three):
            return
        frame = dd.from_map(make, range(self.count), rows=self.rows, meta=make(0, 1))
        frame = materialise(frame)
        column = materialise(frame.a)
        moved = 16 * self.size["n"]

        def one_column() -> Any:
            return materialise(column.gpuscan.cumsum())

        def floor_one() -> Any:
            return materialise(column.map_partitions(add_nothing))

        def three_columns() -> Any:
            return materialise(frame.gpuscan.cumsum())

        def floor_three() -> Any:
            return materialise(frame.map_partitions(add_nothing))

        bench.compare(
            one,
            one_column,
            {"floor": floor_one},
            targets={"floor": "times_floor <= 2.2"},
            rounds=bench.scale(7, 3),
            columns=1,
            moved=moved,
            **self.size,
        )
        bench.compare(
            three,
            three_columns,
            {"one column": one_column, "floor": floor_three},
            targets={"one column": "times_one_column <= 1.2"},
            rounds=bench.scale(7, 3),
            columns=3,
            moved=3 * moved,
            **self.size,
        )
        if profiled:
            for title, work in [("ours", one_column), ("floor", floor_one)]:
                self.profile(title, work)
        for name, ours, chain, columns in [
            (one, one_column, lambda: materialise(column.cumsum()), 1),
            (three, three_columns, lambda: materialise(frame.cumsum()), 3),
        ]:
            bench.compare(
                name,
                ours,
                {"dask-cudf": chain},
                rounds=3,
                check=same_partitions,
                columns=columns,
                moved=columns * moved,
                **self.size,
            )

    def arrays(self) -> None:
        """A Dask array of CuPy blocks."""
        bench, name = self.bench, "dask_array_cumsum"
        if not bench.wanted(name):
            return
        n, rows = self.size["n"], self.rows
        seeds = da.arange(self.count, chunks=1)
        x = seeds.map_blocks(
            lambda seed: make_block(int(seed[0]), rows),
            chunks=((rows,) * self.count,),
            dtype="f8",
            meta=cp.empty(0),
        )
        x = self.materialise(x)

        def ours() -> Any:
            return self.materialise(dask_gpuscan.cumsum(x, axis=0))

        def close(answer: Any, theirs: Any) -> None:
            worst = abs(answer - theirs).max().compute()
            top = abs(theirs).max().compute()
            assert float(worst) <= 1e-10 * float(top), f"values differ by {worst}"

        floor = {"floor": lambda: self.materialise(x.map_blocks(add_nothing, meta=x._meta))}
        options: Any = {"moved": 16 * n, "columns": 1, **self.size}
        target = {"floor": "times_floor <= 2.2"}
        bench.compare(name, ours, floor, targets=target, rounds=bench.scale(7, 3), **options)
        chain = {"dask": lambda: self.materialise(da.cumsum(x, axis=0))}
        bench.compare(name, ours, chain, check=close, rounds=3, **options)

    def profile(self, title: str, work: Any) -> None:
        """Print the time that workers spent, by kind of task and by action."""
        with get_task_stream(self.client) as stream:
            work()
        spent: dict[tuple[str, str], list[float]] = defaultdict(list)
        for task in stream.data:
            for span in task["startstops"]:
                kind = key_split(task["key"]), span["action"]
                spent[kind].append(1e3 * (span["stop"] - span["start"]))
        print(f"\ntasks of {title}, milliseconds")
        for (task, action), taken in sorted(spent.items()):
            mean = sum(taken) / len(taken)
            print(f"{task:<40} {action:<12} {len(taken):>6} x {mean:8.3f} = {sum(taken):9.1f}")


def windows(bench: Any, client: Client) -> None:
    """Sums of 1,000 rows, over 64 large partitions, and over 4,096 that are shorter than the window."""
    name = "dask_rolling_sum_1000"
    if not bench.wanted(name):
        return
    large, short = (64, bench.scale(1 << 22, 1 << 14), 5), (bench.scale(4096, 64), 300, 1)
    for count, rows, rounds in (large, short):
        frame = dd.from_map(make, range(count), rows=rows, meta=make(0, 1))
        column = materialise(client, frame.a)
        bench.compare(
            name,
            lambda c=column: materialise(client, c.gpuscan.rolling(1000).sum()),
            {"floor": lambda c=column: materialise(client, c.map_partitions(add_nothing))},
            targets={"floor": "times_floor <= 2.2"},
            rounds=rounds,
            dtype="float64",
            n=count * rows,
            moved=16 * count * rows,
            partitions=count,
            gpus=bench.gpus,
        )
