"""Clusters of workers."""

import pytest

from helpers.clusters import local_client


@pytest.fixture(scope="module")
def client():
    """Two worker processes on CPUs, for one module: an idle cluster takes a tenth of a core.

    Dask also asks whether there is a connection when it chooses how rows are moved.
    """
    with local_client(2) as connected:
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
