"""Where the examples run: on threads, on a local cluster of processes or GPUs, or on a running cluster."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import dask

import dask_gpuscan

Compute = Callable[[Any], Any]
"""Computes a collection with a progress bar; GPU frames are returned as pandas frames."""


class Engine(NamedTuple):
    """A scheduler, and the library of its frames."""

    name: str
    scheduler: str
    frames: str


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add options that choose where the job runs."""
    schedulers = ["synchronous", "threads", "distributed"]
    parser.add_argument("--scheduler", choices=schedulers, default="threads")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="threads, or processes")
    parser.add_argument("--gpus", type=int, default=0, help="run on so many GPUs as well")
    parser.add_argument(
        "--scheduler-address",
        help="join a cluster that runs, whose workers have GPUs if --gpus is given",
    )


def engines(options: argparse.Namespace) -> list[Engine]:
    """Return the engines, which run one after another; the last one was requested, others are for comparison."""
    joined = "cluster" if options.scheduler_address else ""
    if not options.gpus:
        return [Engine(joined or options.scheduler, joined or options.scheduler, "pandas")]
    name = f"{options.gpus} GPU{'s' * (options.gpus > 1)}"
    return [
        Engine("CPU", options.scheduler, "pandas"),
        Engine(name, joined or "gpus", "cudf"),
    ]


def write(frame: Any, folder: Path, index: bool = True) -> Any:
    """Return a lazy write of a collection as Parquet; the names of the files are in order."""
    return frame.to_parquet(
        folder,
        name_function="{:06}.parquet".format,
        write_index=index,
        overwrite=True,
        compute=False,
    )


@contextmanager
def started(engine: Engine, options: argparse.Namespace) -> Iterator[Compute]:
    """Start an engine, and yield a function that computes on it; frames read in this context are of its library."""
    with ExitStack() as stack:
        stack.enter_context(dask.config.set({"dataframe.backend": engine.frames}))
        if engine.scheduler not in ("gpus", "cluster", "distributed"):
            chosen = dask.config.set(scheduler=engine.scheduler, num_workers=options.workers)
            stack.enter_context(chosen)
            stack.enter_context(dask_gpuscan.ProgressBar())
            yield lambda lazy: lazy.compute()
            return
        from distributed import Client, progress

        client = stack.enter_context(Client(_cluster(engine, options, stack)))
        show_compiles(client)

        def compute(lazy: Any) -> Any:
            future = client.compute(lazy)
            progress(future)
            print()
            found = future.result()
            return found.to_pandas() if hasattr(found, "to_pandas") else found

        yield compute


def _cluster(engine: Engine, options: argparse.Namespace, stack: ExitStack) -> Any:
    """Return the address of a running cluster, or a local cluster that is closed with the stack."""
    if engine.scheduler == "cluster":
        return options.scheduler_address
    quiet = {
        "silence_logs": logging.CRITICAL,
        "dashboard_address": ":0",
    }  # workers log warnings when they are closed
    if engine.scheduler == "gpus":
        from dask_cuda import LocalCUDACluster

        return stack.enter_context(
            LocalCUDACluster(**dask_gpuscan.cluster_options(options.gpus), **quiet)
        )
    from distributed import LocalCluster

    return stack.enter_context(
        LocalCluster(n_workers=options.workers, threads_per_worker=1, **quiet)
    )


def show_compiles(client: Any) -> None:
    """Print what workers compile, once for all workers."""
    shown: set[str] = set()

    def is_new(record: logging.LogRecord) -> bool:
        message = record.getMessage()
        return message not in shown and not shown.add(message)

    handler = logging.StreamHandler(sys.stdout)
    handler.addFilter(is_new)
    logger = logging.getLogger("dask_gpuscan")
    logger.handlers, logger.propagate = [handler], False
    logger.setLevel(logging.INFO)
    client.forward_logging("dask_gpuscan", level=logging.INFO)
