"""What tests of the CUDA backend need: the extra cuda13 for all, a GPU for some."""

from importlib.util import find_spec

from backends import has_cuda

collect_ignore = []
if not all(find_spec(package) for package in ("cupy", "numba_cuda", "cuda")):
    collect_ignore.append("test_compile.py")
if not has_cuda():
    collect_ignore.append("test_device.py")
