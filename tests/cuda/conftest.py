"""What tests of the CUDA backend need: the extra cuda13 for all, a GPU for some."""

import os
from importlib.util import find_spec

import pytest

from backends import has_cuda

collect_ignore = []
if not all(find_spec(package) for package in ("cupy", "numba_cuda", "cuda")):
    collect_ignore += ["test_compile.py", "test_compact_compile.py", "test_errors.py"]
    collect_ignore += [
        "test_as_bits.py",
        "test_in_order.py",
        "test_plan.py",
        "test_rolling_compile.py",
    ]
    collect_ignore += [
        "test_sort_compile.py",
        "test_wavelet_compile.py",
        "test_interval_compile.py",
        "test_grid_compile.py",
    ]
if not has_cuda():
    collect_ignore += ["test_device.py", "test_compact_device.py", "test_sort_device.py"]
    collect_ignore += ["test_rolling_device.py", "test_interval_device.py"]
    collect_ignore += ["test_digits_device.py"]
elif os.environ.get("MEMCHECK"):
    import cupy

    def in_words(size):
        """Take memory from no pool, so that compute-sanitizer knows where arrays end; README.md says why in words."""
        return cupy.cuda.MemoryPointer(cupy.cuda.Memory(-(-size // 16) * 16), 0)

    cupy.cuda.set_allocator(in_words)


@pytest.fixture(params=["classic", "pipelined"])
def schedule(request, monkeypatch):
    """One of the schedules of long lines, for every length."""
    import cupy
    from dask_gpuscan.kernels.cuda import launch

    if request.param == "pipelined" and int(cupy.cuda.Device().compute_capability) < 90:
        pytest.skip("needs compute capability 9.0")
    monkeypatch.setattr(launch, "SCHEDULE", request.param)
    return request.param
