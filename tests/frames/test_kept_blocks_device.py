"""Blocks of memory of RMM for CuPy: those that are not large are used again, and others are not kept."""

import pytest

pytest.importorskip("cudf")

import cupy

from dask_gpuscan.frames.cudf import kept_blocks

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("size", [5000, 1 << 18, (1 << 18) + 1, 1 << 24])
def test_blocks_are_used_again(size):
    pool = kept_blocks._pool(next(most for most in kept_blocks.KEPT if size <= most))
    first = kept_blocks.allocate(size)
    held, used, place = pool.total_bytes(), pool.used_bytes(), first.ptr
    assert used >= size
    del first
    assert pool.used_bytes() < used
    again = kept_blocks.allocate(size)
    assert (again.ptr, pool.total_bytes()) == (place, held)


def test_no_more_is_kept_than_is_said():
    most, kept = max(kept_blocks.KEPT.items())
    pool, blocks = kept_blocks._pool(most), []
    for size in (most, most // 2 + 1, most // 3 + 1):
        blocks = [kept_blocks.allocate(size) for _ in range(2 * kept // size)]
        assert len({block.ptr for block in blocks}) == len(blocks)
        assert pool.total_bytes() <= kept + 512  # sizes are rounded up
    blocks.clear()
    kept_blocks.allocate(most)
    assert pool.total_bytes() <= kept + 512  # sizes are rounded up


@pytest.mark.parametrize(("size", "kept"), [((1 << 24) + 1, None), (8, 0)])
def test_others_come_from_rmm(monkeypatch, size, kept):
    pools = [kept_blocks._pool(most) for most in kept_blocks.KEPT]
    if kept is not None:
        monkeypatch.setattr(kept_blocks, "KEPT", dict.fromkeys(kept_blocks.KEPT, kept))
    used = [pool.used_bytes() for pool in pools]
    block = kept_blocks.allocate(size)
    assert block.ptr
    assert [pool.used_bytes() for pool in pools] == used


def test_what_is_kept_is_given_back_where_memory_ends(monkeypatch):
    asked, all_of = [], kept_blocks.rmm_cupy_allocator

    def scarce(size):
        asked.append(size)
        if len(asked) == 1:
            raise MemoryError
        return all_of(size)

    pool = kept_blocks._pool(max(kept_blocks.KEPT))
    kept_blocks.allocate(1 << 22)  # and given back at once
    assert pool.free_bytes() > 0
    monkeypatch.setattr(kept_blocks, "rmm_cupy_allocator", scarce)
    assert kept_blocks.allocate(1 << 25).ptr
    assert (asked, pool.free_bytes()) == ([1 << 25] * 2, 0)


def test_no_bytes():
    with cupy.cuda.using_allocator(kept_blocks.allocate):
        assert cupy.empty(0).size == 0
