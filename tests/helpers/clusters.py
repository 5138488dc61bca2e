"""Local clusters with workers that are forks of a process with all imports."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import dask

from helpers.programs import context


@contextmanager
def local_client(workers: int, **options: Any) -> Iterator[Any]:
    """Yield a client of new workers with one thread each."""
    from distributed import Client, LocalCluster
    from distributed.utils import get_mp_context

    method = context().get_start_method()
    with dask.config.set({"distributed.worker.multiprocessing-method": method}):
        get_mp_context()  # sets once what is imported before workers are forked: here we import more
        context()
        with (
            LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                dashboard_address=None,
                # a process that was started by another test has the environment of that test
                env={"DASK_GPUSCAN_CACHE": os.environ["DASK_GPUSCAN_CACHE"]},
                **options,
            ) as cluster,
            Client(cluster) as client,
        ):
            yield client
