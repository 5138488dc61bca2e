"""What tests of the CUDA backend need: the extra cuda13 for all, a GPU for those in `test_*device.py`."""

import os
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from helpers.backends import has_cuda

HAS_EXTRA = all(find_spec(package) for package in ("cupy", "cuda")) and any(
    find_spec(package) for package in ("numba_cuda", "numba_cuda_mlir")
)

if has_cuda() and os.environ.get("MEMCHECK"):
    import cupy

    def in_words(size):
        """Take memory from no pool, so that compute-sanitizer knows where arrays end; README.md says why in words."""
        return cupy.cuda.MemoryPointer(cupy.cuda.Memory(-(-size // 16) * 16), 0)

    cupy.cuda.set_allocator(in_words)


class Skipped(pytest.Module):
    """A module that is not imported, because what it needs is absent."""

    def collect(self):
        pytest.skip("needs a CUDA device" if HAS_EXTRA else "needs the extra cuda13")


def pytest_pycollect_makemodule(module_path, parent):
    if not HAS_EXTRA or (module_path.stem.endswith("device") and not has_cuda()):
        return Skipped.from_parent(parent, path=module_path)


@pytest.fixture(autouse=True)
def unlinked(request, monkeypatch):
    """End a test that is marked so when its kernel has been compiled; return what does, or None."""
    if not request.node.get_closest_marker("unlinked"):
        return None
    from dask_gpuscan.kernels.cuda.core import build

    def skip(*parts, options=None):
        pytest.skip("compiled; linked another day, and by make spills")

    monkeypatch.setattr(build, "Linker", skip)
    return skip


@pytest.fixture
def poison():
    """Leave memory that is reused full of what no answer is."""
    import cupy

    block = cupy.full(1 << 24, 0xA5, cupy.uint8)
    del block


@pytest.fixture
def room():
    """Skip a test for which a GPU has not so many bytes; one process at a time has such a test, and keeps no memory."""
    import cupy

    fcntl = pytest.importorskip("fcntl", reason="needs locks of files")
    pool = cupy.get_default_memory_pool()

    def check(size):
        pool.free_all_blocks()
        if cupy.cuda.runtime.memGetInfo()[0] < size:
            pytest.skip(f"needs {size / 1e9:.0f} GB of free memory")

    place = Path(tempfile.gettempdir(), f"dask-gpuscan-tests-{os.getuid()}.lock")
    with place.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield check
        pool.free_all_blocks()


@pytest.fixture(params=["classic", "pipelined"])
def schedule(request, monkeypatch):
    """One of the schedules of long lines, for every length."""
    import cupy

    from dask_gpuscan.kernels.cuda.core import launch

    if request.param == "pipelined" and int(cupy.cuda.Device().compute_capability) < 90:
        pytest.skip("needs compute capability 9.0")
    monkeypatch.setattr(launch, "SCHEDULE", request.param)
    return request.param
