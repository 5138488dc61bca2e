"""Memory that runs out, on the host and on a GPU: a MemoryError, and the next answer is right."""

import os

import numpy as np
import pandas as pd
import pytest

from faults.harm import WHOLE
from helpers.backends import has_cuda
from helpers.programs import python

# Calls that compute by kernels of ours alone: a hash table of pandas' does not look whether it got its memory.
ASKED = """
import dask_gpuscan
CALLS = {
    "cumsum": lambda f: f.gpuscan.cumsum(),
    "fill": lambda f: f.gpuscan.ffill(),
    "groups": lambda f: f.gpuscan.groupby("k")["x"].cumsum(),
    "clustered": lambda f: f.gpuscan.groupby("k", clustered=True).reduce(dask_gpuscan.add),
    "sort": lambda f: f.gpuscan.sort_values(["n", "x"]),
    "rank": lambda f: f["x"].gpuscan.rank(),
    "rolling": lambda f: f.gpuscan.rolling(100).mean(),
    "median": lambda f: f["x"].gpuscan.rolling(100).median(),
    "filter": lambda f: f.gpuscan.filter("x > 0 and n == 2"),
    "runs": lambda f: f["n"].gpuscan.rle(),
}
"""

FEW = ("cumsum", "rolling")

ON_HOSTS = """
import gc, resource
import numpy as np, pandas as pd, pyarrow as pa

rows = 300_000
rng = np.random.default_rng(0)
frame = pd.DataFrame({"k": np.arange(rows) // 7, "x": rng.normal(size=rows), "n": rng.integers(0, 9, rows)})
expected = {name: CALLS[name](frame) for name in NAMES or CALLS}

def limit(room):
    gc.collect()
    pa.default_memory_pool().release_unused()
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    free = resource.RLIM_INFINITY
    resource.setrlimit(resource.RLIMIT_AS, (free if room is None else used + room, free))

for name in NAMES or CALLS:
    call, failed = CALLS[name], 0
    for megabytes in (0, 1, 3, 6, 9, 14):
        limit(megabytes << 20)
        try:
            answer = call(frame)
        except MemoryError:
            answer = expected[name]
            failed += 1
        limit(None)
        assert answer.equals(expected[name]), name
        del answer
    assert failed, name
    assert call(frame).equals(expected[name]), name
print("all asked")
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="only Linux tells the memory")
def test_answers_are_right_after_memory_of_the_host_ran_out():
    small = {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "65536"}  # so that none is kept
    program = ASKED + ON_HOSTS.replace("NAMES", str(() if WHOLE else FEW))
    small["ARROW_DEFAULT_MEMORY_POOL"] = "system"
    assert python("-X", "faulthandler", "-c", program, **small).stdout == "all asked\n"


THREADLESS = """
import _thread
import numpy as np
from dask_gpuscan import cumsum
from dask_gpuscan.kernels.cpu.core import launch

def refuses(*given):
    raise RuntimeError("can't start new thread")

def begins_nothing(*given):  # for want of memory
    pass

for _thread.start_new_thread in (refuses, begins_nothing):
    for rows in (launch.PARALLEL + 1, launch.LONG + 1):
        assert launch.helpers_for(rows) > 0
        assert (cumsum(np.ones(rows, "i4")) == np.arange(1, rows + 1)).all()
"""


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="needs affinities")
def test_without_room_for_threads_one_computes():
    cores = "import os; os.sched_getaffinity = lambda _: {0, 1, 2, 3}"
    python("-c", cores + THREADLESS)


# --- of a GPU -------------------------------------------------------------------------------------


@pytest.mark.gpu
@pytest.mark.skipif(not has_cuda(), reason="needs a GPU")
@pytest.mark.parametrize("name", ["scan", "reduce", "sort", "select"])
def test_answers_are_right_after_memory_of_cupy_ran_out(name):
    import cupy

    from dask_gpuscan.kernels import BUILT_IN, reduce, scan, sort

    calls = {
        "scan": lambda x: scan(BUILT_IN["add"], x)[0],
        "reduce": lambda x: reduce(BUILT_IN["add"], x),
        "sort": sort,
        "select": lambda x: cupy.asnumpy(scan(BUILT_IN["maximum"], x[x > 0])[0]),
    }
    call, rows = calls[name], 1 << 20
    host = np.random.default_rng(0).integers(-99, 99, rows)
    pool = cupy.cuda.MemoryPool()
    with cupy.cuda.using_allocator(pool.malloc):
        x = cupy.asarray(host)
        expected = cupy.asnumpy(call(x))
        pool.free_all_blocks()
        failed = 0
        for room in (0, 1 << 18, 1 << 22, 1 << 26):
            pool.set_limit(size=pool.total_bytes() + room if room else pool.total_bytes() or 1)
            try:
                answer = cupy.asnumpy(call(x))
            except MemoryError:
                failed += 1
            else:
                np.testing.assert_array_equal(answer, expected)
            pool.free_all_blocks()
        pool.set_limit(size=0)
        np.testing.assert_array_equal(cupy.asnumpy(call(x)), expected)
        assert failed or name == "reduce"


@pytest.mark.gpu
@pytest.mark.skipif(not has_cuda(), reason="needs a GPU")
def test_answers_are_right_after_memory_of_cudf_ran_out():
    cudf = pytest.importorskip("cudf")
    rmm = pytest.importorskip("rmm")
    from dask_gpuscan.frames.cudf import kept_blocks

    space: dict = {}
    exec(ASKED, space)
    rows = 1 << 20
    rng = np.random.default_rng(0)
    host = pd.DataFrame(
        {"k": np.arange(rows) // 7, "x": rng.normal(size=rows), "n": rng.integers(0, 9, rows)}
    )
    before = rmm.mr.get_current_device_resource()
    frame = cudf.from_pandas(host)
    for name, call in space["CALLS"].items():
        expected, failed = call(frame).to_pandas(), 0
        for room in (1 << 10, 1 << 20, 1 << 23, 1 << 25):
            for _, _, pool in kept_blocks._pools(0):  # what is kept would not be asked for
                pool.free_all_blocks()
            rmm.mr.set_current_device_resource(rmm.mr.LimitingResourceAdaptor(before, room))
            try:
                answer = call(frame)
            except MemoryError:
                failed += 1
            else:
                assert answer.to_pandas().equals(expected), name
                del answer
            finally:
                rmm.mr.set_current_device_resource(before)
        assert failed, name
        assert call(frame).to_pandas().equals(expected), name
