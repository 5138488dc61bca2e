"""The parts of scaling: partitions made on the workers, jobs over them, digests of answers, and traffic of workers.

Run by scaling_gpu.py.
"""

from __future__ import annotations

import logging
import statistics
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from distributed import Client, LocalCluster, wait

import dask_gpuscan

RUN = 512
"""Rows of a key; runs begin in the middle of partitions, so that each border between partitions lies within a run."""
DTYPES = {"a": "float64", "abc": "3 float64", "k": "int32", "frame": "int32, 3 float64"}

Collection = Any
Digests = list[int]


# --- data and digests -------------------------------------------------------------------------------------------------


def libraries(cpu: bool) -> tuple[Any, Any]:
    """Return the libraries of frames and of arrays."""
    if cpu:
        return pd, np
    import cudf
    import cupy
    import dask_cudf  # noqa: F401  (tells Dask of cuDF, on the workers too)

    return cudf, cupy


def make(first: int, rows: int, cpu: bool) -> Any:
    """Return keys in runs, and three columns of random numbers, with the numbers of rows as index."""
    frames, xp = libraries(cpu)
    keys = (xp.arange(first, first + rows) + RUN // 2) // RUN
    values = xp.random.default_rng(first + 1).standard_normal((3, rows))
    columns = {"k": keys.astype("int32"), **dict(zip("abc", values, strict=True))}
    return frames.DataFrame(columns, index=frames.RangeIndex(first, first + rows))


def mixed(values: Any) -> Any:
    """Return mixed numbers of 64 bits, by the mix of splitmix64 (Steele et al., 2014)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def digest(partition: Any, cpu: bool) -> pd.Series:
    """Return 64 bits that depend on each bit of a partition and its place, but not on the order of additions."""
    xp = libraries(cpu)[1]
    frame = partition.to_frame("value") if partition.ndim == 1 else partition
    columns = [frame.index.values]
    for name in frame.columns:
        columns += [frame[name].isna().values, frame[name].fillna(0).values]
    total = len(frame)
    for place, values in enumerate(columns):
        is_float = values.dtype == np.float64
        bits = values.view(np.uint64) if is_float else values.astype(np.uint64)
        rows = xp.arange(len(bits), dtype=np.uint64) + np.uint64((place + 1) << 40)
        total += int(mixed(bits + mixed(rows)).sum())
    return pd.Series([total % (1 << 64)], dtype="uint64")


def digests(answer: Collection, cpu: bool) -> Collection:
    """Return the digests of all partitions, as a Dask Series."""
    meta = pd.Series([], dtype="uint64")
    return answer.map_partitions(digest, cpu, meta=meta, enforce_metadata=False)


# --- jobs -------------------------------------------------------------------------------------------------------------


def add_nothing(partition: Any) -> Any:
    return partition + 0


def floor(data: Collection) -> Collection:
    """Return a collection of one trivial task for each partition."""
    return data.map_partitions(add_nothing, meta=data._meta)


@dataclass(frozen=True)
class Job:
    """A computation, and its columns; one that `moves` rows between workers has no target against the floor."""

    name: str
    columns: str
    call: Callable[[Collection], Collection]
    moves: bool = False


FLOOR = Job("floor", "a", floor)
SORT = Job("sort_values", "frame", lambda f: f.gpuscan.sort_values("a"), moves=True)
CUMSUM = Job("cumsum", "a", lambda s: s.gpuscan.cumsum())
FILTER = Job("filter", "frame", lambda f: f.gpuscan.filter("a > 0"))
GROUPBY = Job("groupby_sum", "frame", lambda f: f.gpuscan.groupby("k", clustered=True).sum())
SCANS = (
    FLOOR,
    CUMSUM,
    Job("cumsum_x3", "abc", lambda f: f.gpuscan.cumsum()),
    FILTER,
    GROUPBY,
    Job("rle", "k", lambda s: s.gpuscan.rle()),
    Job("rolling_sum_100", "a", lambda s: s.gpuscan.rolling(100).sum()),
)
KILLED = (CUMSUM, FILTER, GROUPBY, SORT)


@dataclass(frozen=True)
class Case:
    """Partitions and their rows, in all or for each GPU; each is a pair, with ``--quick`` second."""

    name: str
    jobs: tuple[Job, ...]
    partitions: tuple[int, int]
    rows: tuple[int, int]
    most_floors: float
    grows: bool = False

    def efficiency(self, one: float, several: float, gpus: int) -> float:
        """Return the share of the ideal speed that several GPUs reach, from the times of one and of several."""
        return one / several / (1 if self.grows else gpus)

    def common(self, job: Job, one: Digests, several: Digests) -> tuple[Digests, Digests]:
        """Return the digests that must be equal: if data grow, those of the shorter answer without its end."""
        upto = (0 if job.moves else len(one) - 1) if self.grows else None
        return one[:upto], several[:upto]


CASES = (
    Case("weak", (*SCANS, SORT), (16, 4), (1 << 25, 1 << 16), 1.5, grows=True),
    Case("strong", SCANS, (1024, 32), (1 << 20, 1 << 12), 2.2),
    # n partitions are cut into n^2 pieces: 1,024 would give a million frames of 1,024 rows
    Case("strong", (SORT,), (64, 8), (1 << 22, 1 << 14), 2.2),
)


# --- clusters ---------------------------------------------------------------------------------------------------------


@contextmanager
def cluster(gpus: int, cpu: bool, protocol: str | None = None) -> Iterator[Client]:
    """Return a client of a local cluster with one worker for each GPU, which has a memory pool."""
    options: Any = {
        "dashboard_address": None,
        "silence_logs": logging.CRITICAL,
        "protocol": protocol,
    }
    if cpu:
        workers = LocalCluster(n_workers=gpus, threads_per_worker=1, **options)
    else:
        from dask_cuda import LocalCUDACluster

        options |= dask_gpuscan.cluster_options(gpus, spill=False)
        workers = LocalCUDACluster(**options)
    with workers, Client(workers) as client:
        client.wait_for_workers(gpus)
        yield client


def materialise(client: Client, lazy: Collection) -> Collection:
    """Compute a collection, and leave its partitions on the workers."""
    result = client.persist(lazy)
    for future in wait(result).done:
        if future.status != "finished":
            future.result()  # raises
    return result


def clear_log(dask_worker: Any) -> None:
    dask_worker.transfer_outgoing_log = deque()  # Dask's own log drops the oldest


def read_log(dask_worker: Any) -> list[tuple[int, dict[Any, int]]]:
    """Return the bytes of each message that was written to another worker, and the size of each object in it."""
    return [(entry["compressed"], entry["keys"]) for entry in dask_worker.transfer_outgoing_log]


class Traffic:
    """What workers send each other within this context: bytes that are written, and the objects in them."""

    def __init__(self, client: Client) -> None:
        self.client = client

    def __enter__(self) -> Traffic:
        self.client.run(clear_log)
        return self

    def __exit__(self, *error: object) -> None:
        logs = [] if error[0] else self.client.run(read_log).values()
        self.messages = [message for log in logs for message in log]

    @property
    def bytes(self) -> int:
        return sum(size for size, _ in self.messages)

    def of(self, *collections: Collection) -> int:
        """Return the bytes sent of partitions of collections that were persisted, under all their names."""
        keys = {key for collection in collections for key in dict(collection.dask)}
        return sum(size for _, sent in self.messages for key, size in sent.items() if key in keys)


@dataclass
class Taken:
    """The seconds of all rounds, and the most bytes in a round that workers sent, in all and of partitions."""

    seconds: list[float] = field(default_factory=list)
    moved: int = 0
    partitions: int = 0

    @property
    def ms(self) -> float:
        return 1e3 * statistics.median(self.seconds)
