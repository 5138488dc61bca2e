"""The warning about memory from no pool."""

import logging
import sys
import types

import pytest

from dask_gpuscan.frames.cudf.memory import warn_if_unpooled


def resource(name, **fields):
    return type(name, (), fields)()


@pytest.mark.parametrize(
    ("found", "warned"),
    [
        (resource("CudaMemoryResource"), True),
        (resource("ManagedMemoryResource"), True),
        (resource("StatisticsResourceAdaptor", upstream_mr=resource("CudaMemoryResource")), True),
        (resource("PoolMemoryResource", upstream_mr=resource("CudaMemoryResource")), False),
        (resource("CudaAsyncMemoryResource"), False),
    ],
)
def test_memory_from_no_pool(found, warned, caplog, monkeypatch):
    memory = types.SimpleNamespace(get_current_device_resource=lambda: found)
    monkeypatch.setitem(sys.modules, "rmm.mr", memory)
    warn_if_unpooled.cache_clear()
    with caplog.at_level(logging.WARNING, "dask_gpuscan"):
        warn_if_unpooled()
        warn_if_unpooled()
    assert caplog.text.count("cluster_options()") == warned
