"""What faults are tested on: collections of slow partitions, workers that are harmed, and answers to the last bit."""

import os
import signal
import time
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from distributed.diagnostics.plugin import WorkerPlugin

WHOLE = bool(os.environ.get("FAULTS"))
"""Whether all faults are tried, as in `make faults`, or few, as in `make test`."""

ROWS, PARTITIONS = 13, 12

FRAME = {"k": "i8", "x": "f8", "y": "f8", "n": "i8", "late": "?", "t": "datetime64[ns]"}


def rows(i: int, seconds: float = 0.0) -> pd.DataFrame:
    """Return a partition: its groups and sessions reach into the next ones. It takes some seconds to load."""
    time.sleep(seconds)
    rng = np.random.default_rng(i)
    at = np.arange(ROWS * i, ROWS * (i + 1))
    x, y = np.where(rng.random((2, ROWS)) < 0.2, np.nan, rng.normal(size=(2, ROWS)))
    t = pd.to_datetime(at * 60 + rng.integers(0, 50, ROWS), unit="s").as_unit("ns")
    n, late = rng.integers(0, 5, ROWS), rng.random(ROWS) < 0.5
    return pd.DataFrame({"k": at // 20, "x": x, "y": y, "n": n, "late": late, "t": t}, index=at)


def frame(seconds: float = 0.0, load: Any = rows) -> Any:
    """Return a collection of all partitions."""
    cuts = [*range(0, ROWS * PARTITIONS, ROWS), ROWS * PARTITIONS - 1]
    meta = pd.DataFrame({name: np.empty(0, kind) for name, kind in FRAME.items()})
    return dd.from_map(load, range(PARTITIONS), seconds=seconds, meta=meta, divisions=cuts)


def undisturbed(call: Any, make: Any) -> Any:
    """Return what is answered without a cluster, as a tuple."""
    with dask.config.set({"dataframe.shuffle.method": "tasks"}):
        return dask.compute(call(make()), scheduler="synchronous")


def block(values: np.ndarray, seconds: float) -> np.ndarray:
    """Return a chunk, which takes some seconds to load."""
    time.sleep(seconds)
    return values


def blocks(seconds: float = 0.0) -> Any:
    """Return an array of small chunks."""
    values = np.random.default_rng(0).normal(size=ROWS * PARTITIONS)
    return da.from_array(values, chunks=ROWS).map_blocks(block, seconds, dtype="f8")


def bits(answer: Any) -> Any:
    """Return what an answer holds to the last bit, and what it is called; not how it lies in memory."""
    if isinstance(answer, (tuple, list)):
        return [bits(each) for each in answer]
    if isinstance(answer, pd.DataFrame):
        columns = [bits(answer.iloc[:, at]) for at in range(answer.shape[1])]
        return [list(answer.columns), bits(answer.index), columns]
    if isinstance(answer, pd.Series):
        return [answer.name, bits(answer.index), bits(answer.array)]
    values = np.asarray(answer)
    if values.dtype == object:
        return [str(getattr(answer, "dtype", "")), repr(list(values))]
    return [str(getattr(answer, "dtype", "")), values.tobytes()]


class Harm(WorkerPlugin):
    """Sends its worker or another process a signal, or holds its worker up, when it begins a task."""

    name = "harm"

    def __init__(self) -> None:
        self.left = self.signal = self.process = 0
        self.seconds = 0.0
        self.note = ""

    def transition(self, key: Any, start: str, finish: str, **_: Any) -> None:
        if finish != "executing":
            return
        time.sleep(self.seconds)
        self.left -= 1
        if self.left == 0:
            Path(self.note).write_text(str(os.getpid()))
            os.kill(self.process or os.getpid(), self.signal)


def harm(dask_worker: Any, **how: Any) -> None:
    """Say what is done to a worker: which signal it or a `process` gets, `left` tasks from now; how long tasks wait."""
    vars(dask_worker.plugins["harm"]).update(how)


def harm_one(
    client: Any, note: Path, left: int, number: int = signal.SIGKILL, process: int = 0
) -> None:
    """Let a worker send itself or a process a signal when it begins a task, `left` from now; it notes its number."""
    worker = min(client.scheduler_info(n_workers=-1)["workers"])
    note.unlink(missing_ok=True)
    how = {"left": left, "signal": int(number), "note": str(note), "process": process}
    client.run(harm, **how, workers=[worker])


def wait_for(happens: Any, seconds: float = 60.0) -> None:
    """Wait until something happens."""
    until = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.01)
