"""On a local cluster of GPU workers: partitions of cuDF made without dask_cudf have sizes, and stay where they are."""

import dask.dataframe as dd
import pytest
from distributed import wait

cudf = pytest.importorskip("cudf")
pytest.importorskip("dask_cuda")
pytestmark = [pytest.mark.gpu, pytest.mark.cluster, pytest.mark.slow]

ROWS = 2_000_000


def maker():
    """Return a function that travels by value, so that a worker imports nothing but cuDF for it."""

    def make(number, rows):
        import cudf

        return cudf.DataFrame({"x": cudf.Series(range(number, number + 2)).repeat(rows // 2)})

    return make


def test_a_worker_that_has_imported_cudf_alone_knows_sizes(gpu_client):
    make = maker()

    def size():
        import sys

        from dask.sizeof import sizeof

        frame = make(0, 2_000_000)
        memory = sum(frame[c].memory_usage(index=False) for c in frame) + frame.index.memory_usage()
        return sizeof(frame), int(memory), "dask_cudf" in sys.modules

    for found, memory, has_dask_cudf in gpu_client.run(size).values():
        assert found == memory > 8 * ROWS
        assert not has_dask_cudf


def test_partitions_stay_on_their_gpu(gpu_client):
    if len(gpu_client.scheduler_info()["workers"]) < 2:
        pytest.skip("one GPU: there is nowhere to go")
    rows = 1 << 25  # so many that the scheduler thinks it long to move them
    ddf = dd.from_map(maker(), range(16), rows=rows, meta=maker()(0, 2).iloc[:0])
    ddf = gpu_client.persist(ddf)
    wait(ddf)
    wait(
        gpu_client.persist(ddf.gpuscan.cumsum())
    )  # while one worker compiles, another may take its tasks
    gpu_client.run(lambda dask_worker: dask_worker.transfer_incoming_log.clear())
    wait(gpu_client.persist(ddf.gpuscan.cumsum(initial=1)))
    logs = gpu_client.run(lambda dask_worker: list(dask_worker.transfer_incoming_log))
    moved = {str(key) for log in logs.values() for entry in log for key in entry["keys"]}
    assert not {key for key in moved if not key.startswith(("('aggregate-", "('prefix-"))}
