"""Clusters of workers."""

import pytest


@pytest.fixture(scope="module")
def client():
    """Two worker processes on CPUs, for one module: an idle cluster takes a tenth of a core.

    Dask also asks whether there is a connection when it chooses how rows are moved.
    """
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as connected,
    ):
        yield connected


@pytest.fixture(scope="module")
def gpu_client():
    """A worker process for each GPU."""
    dask_cuda = pytest.importorskip("dask_cuda")
    from distributed import Client

    with (
        dask_cuda.LocalCUDACluster(dashboard_address=None) as cluster,
        Client(cluster) as connected,
    ):
        yield connected
