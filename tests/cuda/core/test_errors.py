"""What goes wrong outside of the kernels is told in words, with what to do; none of this needs a GPU."""

from types import SimpleNamespace

import pytest
from cuda.bindings import driver

from dask_gpuscan.kernels import BUILT_IN, INT128, signature
from dask_gpuscan.kernels.cuda.core import build, devices
from dask_gpuscan.kernels.cuda.core.requirements import package, require
from dask_gpuscan.kernels.cuda.scan.scan import _advice, on_host


def modules(**versions):
    def find(name):
        if name not in versions:
            raise ImportError(f"No module named {name!r}")
        return SimpleNamespace(__version__=versions[name])

    return find


GOOD = {"cupy": "14.2.0", "numba_cuda": "0.30.4", "cuda.core": "1.2.0"}


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize("found", [None, "0.1"])
def test_what_is_missing_or_too_old_is_named(name, found):
    versions = {**GOOD, name: found} if found else {k: v for k, v in GOOD.items() if k != name}
    require(modules(**GOOD))
    with pytest.raises(
        ImportError, match=rf"{name} .* found .*pip install 'dask-gpuscan\[cuda13\]'"
    ):
        require(modules(**versions))


def test_either_compiler_will_do():
    others = {name: version for name, version in GOOD.items() if name != "numba_cuda"}
    require(modules(**others, numba_cuda_mlir="0.6.0"))
    require(modules(**others, numba_cuda="0.1", numba_cuda_mlir="0.6.0"))
    with pytest.raises(ImportError, match=r"numba_cuda 0\.30 or numba_cuda_mlir 0\.6 or later"):
        require(modules(**others, numba_cuda_mlir="0.5.1"))


def test_the_one_that_is_new_enough_compiles():
    assert package(modules(numba_cuda="0.30.4", numba_cuda_mlir="0.6.0")) == "numba_cuda"
    assert package(modules(numba_cuda="0.1", numba_cuda_mlir="0.6.0")) == "numba_cuda_mlir"
    assert package(modules()) == "numba_cuda"


def test_no_more_is_imported_than_is_needed():
    imported = []

    def find(name):
        imported.append(name)
        return modules(**GOOD, numba_cuda_mlir="0.6.0")(name)

    require(find)
    assert "numba_cuda_mlir" not in imported


def fake_gpu(monkeypatch, capability="90", version=13000):
    monkeypatch.setattr(devices.cupy.cuda.runtime, "driverGetVersion", lambda: version)
    found = SimpleNamespace(compute_capability=capability, attributes={"MultiProcessorCount": 4})
    monkeypatch.setattr(devices.cupy.cuda, "Device", lambda number: found)


def test_an_old_driver_is_told(monkeypatch):
    fake_gpu(monkeypatch, version=12080)
    with pytest.raises(RuntimeError, match=r"CUDA 13\.0 or later .* CUDA 12\.8: update"):
        devices.device.__wrapped__(0)


def test_an_old_gpu_is_told(monkeypatch):
    fake_gpu(monkeypatch, capability="61")
    with pytest.raises(RuntimeError, match=r"7\.0 or later, GPU 0 has 6\.1: compute on the CPU"):
        devices.device.__wrapped__(0)


def test_capabilities_of_two_digits(monkeypatch):
    fake_gpu(monkeypatch, capability="120")
    assert devices.device.__wrapped__(0).capability == (12, 0)


IMAGE = "CUDA_ERROR_NO_BINARY_FOR_GPU: there is no kernel image"
ROOM = "CUDA_ERROR_OUT_OF_MEMORY: unable to allocate enough memory"


def loading(monkeypatch, fails, text=IMAGE):
    """Return the calls of `cubin`, and what loads a kernel, which fails where its code `fails`."""
    asked = []

    def from_cubin(code):
        if fails(code):
            raise RuntimeError(text)
        return SimpleNamespace(get_kernel=lambda name: SimpleNamespace(handle=1))

    def cubin(each, schedule, capability, fresh):
        asked.append(fresh)
        return b"new" if fresh else b"kept"

    monkeypatch.setattr(build, "cubin", cubin)
    monkeypatch.setattr(build, "ObjectCode", SimpleNamespace(from_cubin=from_cubin))
    on = devices.Device(0, (9, 0), 4)
    return asked, lambda: build._loaded(SimpleNamespace(name="add"), "classic", on)


def test_a_kept_kernel_that_cannot_be_loaded_is_made_anew(monkeypatch):
    asked, load = loading(monkeypatch, lambda code: code == b"kept")
    load()
    assert asked == [False, True]


def test_a_kernel_that_cannot_be_loaded_is_told(monkeypatch):
    asked, load = loading(monkeypatch, lambda code: True)
    with pytest.raises(
        RuntimeError, match=r"compute capability 9\.0.* of add: .*NO_BINARY.*driver"
    ):
        load()
    assert asked == [False, True]


@pytest.mark.parametrize(
    ("text", "error"), [(ROOM, MemoryError), ("CUDA_ERROR_ILLEGAL_ADDRESS", RuntimeError)]
)
def test_what_new_code_would_not_mend_is_told_at_once(monkeypatch, text, error):
    asked, load = loading(monkeypatch, lambda code: True, text)
    with pytest.raises(error, match=f"could not load the kernel of add: {text}") as told:
        load()
    assert asked == [False]
    assert "Is its NVIDIA driver" not in str(told.value)
    assert ("smaller partitions" in str(told.value)) == (error is MemoryError)


@pytest.mark.parametrize("shortages", [0, 1, 2])
def test_a_kernel_without_room_is_loaded_once_more(monkeypatch, shortages):
    left, freed, loaded = [MemoryError] * shortages, [], []

    def load(*given):
        if left:
            raise left.pop()
        loaded.append(given)
        return given

    monkeypatch.setattr(build, "_load", load)
    monkeypatch.setattr(build, "device", lambda number: number)
    monkeypatch.setattr(build, "_kernels", {})
    monkeypatch.setattr(devices, "frees_kept", [lambda: freed.append("pool")])
    if shortages == 2:
        with pytest.raises(MemoryError):
            build.kernel("add", "classic", 0)
        assert not build._kernels
    else:
        assert build.kernel("add", "classic", 0) is build.kernel("add", "classic", 0)
        assert len(loaded) == 1
    assert freed == ["pool"] * min(shortages, 1)


@pytest.mark.parametrize(
    ("name", "error"), [("OUT_OF_MEMORY", MemoryError), ("INVALID_VALUE", RuntimeError)]
)
def test_a_status_is_told_with_what_was_done(monkeypatch, name, error):
    monkeypatch.setattr(devices.driver, "cuGetErrorString", lambda s: (s, b"no good"))
    with pytest.raises(error, match=rf"it failed: no good \(CUDA_ERROR_{name}\)"):
        devices.check(getattr(driver.CUresult, f"CUDA_ERROR_{name}"), "it failed")
    devices.check(driver.CUresult.CUDA_SUCCESS, "it failed")


def test_memory_that_is_not_there_is_told():
    advice = _advice((10,), signature(BUILT_IN["add"], ["f8"]), True)
    assert "80 bytes" in advice
    assert "smaller partitions" in advice


@pytest.mark.parametrize("value", [1 << 127, -(1 << 127) - 1, 0.5, (1, True)])
def test_a_carry_must_have_128_bits(value):
    types_ = signature(BUILT_IN["add"], [INT128])
    with pytest.raises(TypeError, match="carry_in must be an integer of at most 128 bits"):
        on_host(value, types_)
