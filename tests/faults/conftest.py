"""Clusters whose workers are harmed."""

import multiprocessing

import dask
import pytest

from faults.harm import Harm


@pytest.fixture(scope="module")
def client():
    """Three worker processes, each of which can be harmed, and comes back."""
    from distributed import Client, LocalCluster
    from distributed.utils import get_mp_context

    # Dask gives up a nanny whose worker is away for longer, also if one was killed again while it started
    patient = {"distributed.deploy.lost-worker-timeout": "1h"}
    with dask.config.set({"distributed.worker.multiprocessing-method": "forkserver", **patient}):
        get_mp_context()  # says once what is imported before workers are forked: here it is more
        multiprocessing.set_forkserver_preload(["distributed", "dask.dataframe", "dask_gpuscan"])
        with (
            LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=None) as cluster,
            Client(cluster) as connected,
        ):
            connected.register_plugin(Harm())
            yield connected
