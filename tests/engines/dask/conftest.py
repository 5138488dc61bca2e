"""Clusters of workers."""

import pytest


@pytest.fixture(scope="session")
def cluster():
    """Two worker processes on CPUs, for all test modules: they import and load kernels once."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as started:
        yield started


@pytest.fixture(scope="module")
def client(cluster):
    """A connection, of one module: Dask asks whether there is one when it chooses how rows are moved."""
    from distributed import Client

    with Client(cluster) as connected:
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
