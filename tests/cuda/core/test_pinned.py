"""Pinned memory that a GPU may still write to is not handed out again; CuPy's own pool, without a GPU."""

import ctypes
import gc
import struct
from types import SimpleNamespace

import cupy
import numpy as np
import pytest
from cuda.bindings import driver

from dask_gpuscan.kernels.cuda.core import devices, launch
from dask_gpuscan.kernels.cuda.core.pinned import PinnedBuffer, pinned_buffer

OUT_OF_MEMORY = driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY
SUCCESS = driver.CUresult.CUDA_SUCCESS


class HostMemory:
    """Memory of the host in place of pinned memory."""

    def __init__(self, size):
        self._bytes = np.zeros(size, np.uint8)
        self.size, self.ptr = size, self._bytes.ctypes.data


class Event:
    """Is done once a test says so; like that of CuPy, it is gone once its finalizer has run, whoever holds it then."""

    def __init__(self, disable_timing):
        self.ptr, self._done = id(self), False

    @property
    def done(self):
        assert self.ptr, "the event is gone"
        return self._done

    @done.setter
    def done(self, done):
        self._done = done

    def synchronize(self):
        self.done = True

    def __del__(self):
        self.ptr = 0


@pytest.fixture
def device(monkeypatch):
    """What a test knows and decides of a GPU that there is not."""
    known = SimpleNamespace(recorded=[], events=[], refuses=None)

    def allocate(size):
        if known.refuses is not None:
            raise cupy.cuda.runtime.CUDARuntimeError(known.refuses)
        return cupy.cuda.PinnedMemoryPointer(HostMemory(size), 0)

    def event(**options):
        known.events.append(Event(**options))
        return known.events[-1]

    known.pool = cupy.cuda.PinnedMemoryPool(allocate)
    monkeypatch.setattr(cupy.cuda, "Event", event)
    monkeypatch.setattr(
        cupy.cuda.runtime, "eventRecord", lambda *given: known.recorded.append(given)
    )
    monkeypatch.setattr(PinnedBuffer, "written", set())
    cupy.cuda.set_pinned_memory_allocator(known.pool.malloc)
    yield known
    cupy.cuda.set_pinned_memory_allocator(cupy.get_default_pinned_memory_pool().malloc)


def test_memory_that_was_waited_for_is_used_again(device):
    buffer = pinned_buffer(8)
    buffer.record(7)
    place = buffer.ptr
    assert device.recorded == [(device.events[0].ptr, 7)]
    assert buffer.wait().ptr == place
    del buffer
    assert device.pool.n_free_blocks() == 1
    assert pinned_buffer(8).ptr == place


def test_memory_that_nothing_writes_to_is_used_again(device):
    place = pinned_buffer(8).ptr
    assert pinned_buffer(8).ptr == place


def test_memory_of_a_buffer_that_is_dropped_is_held_until_the_work_is_done(device):
    places = set()
    for _ in range(3):
        buffer = pinned_buffer(8)
        buffer.record(0)
        places.add(buffer.ptr)
        del buffer
    assert len(places) == 3
    assert device.pool.n_free_blocks() == 0
    device.events[1].done = True  # another stream than that of the others
    later = pinned_buffer(8)
    assert later.ptr in places
    assert len(PinnedBuffer.written) == 2
    for event in device.events:
        event.done = True
    assert {pinned_buffer(8).ptr, later.ptr} < places
    assert not PinnedBuffer.written


def test_a_buffer_that_garbage_collection_finds_leaves_its_event_and_memory_whole(device):
    held = [pinned_buffer(8)]
    held[0].record(0)
    held.append(held)
    place = held[0].ptr
    device.events.clear()
    del held
    gc.collect()
    assert device.pool.n_free_blocks() == 0
    [event] = [done for _, done in PinnedBuffer.written]
    event.done = True
    assert pinned_buffer(8).ptr == place
    assert not PinnedBuffer.written


def test_what_is_read_of_memory_outlives_the_buffer(device):
    buffer = pinned_buffer(8)
    buffer.record(0)
    read = np.frombuffer(buffer.wait(), np.uint8, 8)
    del buffer
    assert device.pool.n_free_blocks() == 0
    del read
    assert device.pool.n_free_blocks() == 1


def test_memory_whose_event_fails_is_held(device, monkeypatch):
    def fails(*given):
        raise cupy.cuda.runtime.CUDARuntimeError(700)

    monkeypatch.setattr(cupy.cuda.runtime, "eventRecord", fails)
    buffer = pinned_buffer(8)
    place = buffer.ptr
    with pytest.raises(cupy.cuda.runtime.CUDARuntimeError):
        buffer.record(0)
    del buffer
    assert pinned_buffer(8).ptr != place


def test_there_may_be_no_pinned_memory(device):
    device.refuses = int(OUT_OF_MEMORY)
    assert pinned_buffer(8) is None
    device.refuses = 700
    with pytest.raises(cupy.cuda.runtime.CUDARuntimeError):
        pinned_buffer(8)


# --- launches -------------------------------------------------------------------------------------


class Driver:
    """Launches that have one status after another."""

    CUresult = driver.CUresult

    def __init__(self, statuses):
        self._statuses, self.launched = iter(statuses), []

    def cuLaunchKernel(self, *arguments):
        self.launched.append(arguments)
        return (next(self._statuses),)

    def cuGetErrorString(self, status):
        return status, b"no room"


@pytest.fixture
def launched(device, monkeypatch):
    """Make a launch whose attempts have these statuses; return it, the driver and what was freed."""
    step = launch.Step(
        SimpleNamespace(
            name="add", function=1, threads=32, shared=0, parameters=struct.Struct("PPPqqq0s0s")
        ),
        1, (1, 1, 1), 0, 0, 0,
    )  # fmt: skip
    space = launch.Space((step,), (), 0, 0, np.dtype("i8"), 8, 1, 0, 0)

    def make(*statuses):
        freed, fake = [], Driver(statuses)
        monkeypatch.setattr(launch, "driver", fake)
        monkeypatch.setattr(devices, "driver", fake)
        monkeypatch.setattr(devices, "frees_kept", [lambda: freed.append("pool")])
        return launch.Launch(space, True), fake, freed

    stream = SimpleNamespace(ptr=5)
    monkeypatch.setattr(cupy.cuda, "get_current_stream", lambda: stream)
    monkeypatch.setattr(cupy.cuda.runtime, "getDevice", lambda: 0)
    return make


def test_a_launch_is_read(device, launched):
    begun, fake, freed = launched(SUCCESS)
    begun.run(0, [1])
    assert device.recorded == [(device.events[0].ptr, 5)]
    assert begun.read().tolist() == [0]
    del begun
    assert device.pool.n_free_blocks() == 1
    assert len(fake.launched) == 1
    assert not freed


def test_a_launch_that_nobody_reads_keeps_its_memory_until_it_is_done(device, launched):
    begun, _, _ = launched(SUCCESS)
    begun.run(0, [1])
    del begun
    assert device.pool.n_free_blocks() == 0
    device.events[0].done = True
    pinned_buffer(8)
    assert device.pool.n_free_blocks() == 1


def test_a_launch_without_room_frees_what_is_kept(device, launched):
    begun, fake, freed = launched(OUT_OF_MEMORY, SUCCESS)
    begun.run(0, [1])
    first, second = fake.launched
    assert first == second
    assert freed == ["pool"]
    assert len(device.recorded) == 1


@pytest.mark.parametrize(
    ("statuses", "error"),
    [
        ([OUT_OF_MEMORY, OUT_OF_MEMORY], MemoryError),
        ([driver.CUresult.CUDA_ERROR_LAUNCH_FAILED], RuntimeError),
    ],
)
def test_a_launch_that_fails_is_told(device, launched, statuses, error):
    begun, _, _ = launched(*statuses)
    match = r"add could not be launched on GPU 0: no room \(CUDA_ERROR_\w+\)"
    with pytest.raises(error, match=match) as told:
        begun.run(0, [1])
    assert ("smaller partitions" in str(told.value)) == (error is MemoryError)
    del begun, told
    assert device.pool.n_free_blocks() == 1  # nothing writes to it


def test_a_launch_does_without_pinned_memory(device, launched, monkeypatch):
    def copy(host, *given):
        ctypes.memset(host, 1, 8)

    waits = []
    monkeypatch.setattr(cupy.cuda.runtime, "memcpyAsync", copy)
    monkeypatch.setattr(cupy.cuda.runtime, "streamSynchronize", waits.append)
    device.refuses = int(OUT_OF_MEMORY)
    begun, _, _ = launched(SUCCESS)
    begun.run(0, [1])
    assert begun.read().tolist() == [0x0101010101010101]
    assert waits == [5]
    assert not device.recorded
