"""Arguments of clusters of GPU workers."""

import pytest

from dask_gpuscan import cluster_options


@pytest.mark.parametrize(
    ("gpus", "visible"), [(1, [0]), (3, [0, 1, 2]), ([2, 5], [2, 5]), ((1,), [1])]
)
def test_gpus(gpus, visible):
    assert cluster_options(gpus)["CUDA_VISIBLE_DEVICES"] == visible
    assert "CUDA_VISIBLE_DEVICES" not in cluster_options()


def test_pool_and_spilling():
    options = cluster_options(pool="20GB", spill=False)
    assert options["rmm_pool_size"] == "20GB"
    assert options["enable_cudf_spill"] is False
    assert options["rmm_allocator_external_lib_list"] == ["cupy"]


@pytest.mark.parametrize(
    "wrong",
    [
        *(
            {"gpus": gpus}
            for gpus in (0, -1, [], [-1], "0", True, 1.5, [1.5], {}, 10**9, int, range(2000))
        ),
        *({"pool": pool} for pool in (0, 1.5, 0.0, True, None, -0.5)),
        {"spill": "yes"},
    ],
)
def test_wrong_arguments(wrong):
    (name,) = wrong
    with pytest.raises(ValueError, match=f"{name} must be .* found"):
        cluster_options(**wrong)


@pytest.mark.gpu
@pytest.mark.cluster
@pytest.mark.slow
def test_a_cluster_has_a_pool():
    dask_cuda = pytest.importorskip("dask_cuda")
    from distributed import Client

    def names():
        import cupy
        import rmm

        return type(rmm.mr.get_current_device_resource()).__name__, repr(cupy.cuda.get_allocator())

    options = cluster_options(1, pool=0.2, spill=False)
    with (
        dask_cuda.LocalCUDACluster(**options, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        ((memory, allocator),) = client.run(names).values()
    assert memory == "PoolMemoryResource"
    assert "rmm" in allocator
