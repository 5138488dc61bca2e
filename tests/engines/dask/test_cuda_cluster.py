"""On a local cluster of GPU workers: answers equal the synchronous scheduler's, and carries are host values."""

import numpy as np
import pytest

from dask_gpuscan import operator

cudf = pytest.importorskip("cudf")
dask_cudf = pytest.importorskip("dask_cudf")
pytest.importorskip("dask_cuda")
pytestmark = [pytest.mark.gpu, pytest.mark.cluster, pytest.mark.slow]


def frame():
    rng = np.random.default_rng()
    df = cudf.DataFrame({"x": rng.integers(0, 100, 100_000), "y": rng.normal(size=100_000)})
    df.iloc[rng.integers(0, 100_000, 9_000), 1] = None
    return df


def test_answers_equal_those_of_one_process(gpu_client):
    ddf = dask_cudf.from_cudf(frame(), npartitions=40)
    for lazy in (ddf.gpuscan.cumsum(), ddf.gpuscan.ffill(), ddf.y.gpuscan.expanding().mean()):
        expected = lazy.compute(scheduler="synchronous")
        out = gpu_client.compute(lazy).result()
        assert type(out) is type(expected)
        if out.ndim == 1:
            cudf.testing.assert_series_equal(out, expected)
        else:
            cudf.testing.assert_frame_equal(out, expected)


def test_users_operators_travel(gpu_client):
    offset = 3
    clipped = operator(lambda a, b: min(a + b, 1000), identity=0, lift=lambda x: x + offset)
    lazy = dask_cudf.from_cudf(frame(), npartitions=5).x.gpuscan.scan(clipped, reverse=True)
    out = gpu_client.compute(lazy).result()
    cudf.testing.assert_series_equal(out, lazy.compute(scheduler="synchronous"))


def test_carries_are_small_host_values(gpu_client):
    lazy = dask_cudf.from_cudf(frame(), npartitions=20).gpuscan.cumsum()
    graph = lazy.optimize().__dask_graph__()
    keys = [key for key in graph if str(key).startswith(("('aggregate-", "('prefix-"))]
    assert len(keys) == 19 + 1
    for value in gpu_client.get(graph, keys):
        parts = [field for states in value.inner for field in states]
        assert all(isinstance(part, np.generic) for part in parts)
