"""Small blocks of memory of RMM for CuPy: they are used again, and others are not kept."""

import pytest

pytest.importorskip("cudf")

import cupy

from dask_gpuscan.frames.cudf import small_blocks

pytestmark = pytest.mark.gpu


def test_small_blocks_are_used_again():
    pool = small_blocks._small_blocks()
    first = small_blocks.allocate(5000)
    held, used, place = pool.total_bytes(), pool.used_bytes(), first.ptr
    assert used >= 5000
    del first
    assert pool.used_bytes() < used
    again = small_blocks.allocate(5000)
    assert (again.ptr, pool.total_bytes()) == (place, held)


@pytest.mark.parametrize(("size", "kept"), [(small_blocks.SMALL + 1, small_blocks.KEPT), (8, 0)])
def test_others_come_from_rmm(monkeypatch, size, kept):
    monkeypatch.setattr(small_blocks, "KEPT", kept)
    pool = small_blocks._small_blocks()
    used = pool.used_bytes()
    block = small_blocks.allocate(size)
    assert block.ptr
    assert pool.used_bytes() == used


def test_no_bytes():
    with cupy.cuda.using_allocator(small_blocks.allocate):
        assert cupy.empty(0).size == 0
