"""Blocks of memory of RMM for CuPy: those that are not large are used again, and others are not kept."""

from functools import cache

import pytest

pytest.importorskip("cudf")

import cupy

from dask_gpuscan.frames.cudf import kept_blocks
from dask_gpuscan.frames.cudf.kept_blocks import KEPT

pytestmark = pytest.mark.gpu


def pool_of(size):
    return next(pool for most, _, pool in kept_blocks._pools(0) if size <= most)


@pytest.fixture(autouse=True)
def own_pools(monkeypatch):
    """Blocks that arrays of other tests still use are in other pools; a test's own are made when it asks for one."""
    monkeypatch.setattr(kept_blocks, "_pools", cache(kept_blocks._pools.__wrapped__))
    yield
    for _, _, pool in kept_blocks._pools(0):
        pool.free_all_blocks()


@pytest.mark.parametrize("size", [5000, 1 << 18, (1 << 18) + 1, 1 << 24])
def test_blocks_are_used_again(size):
    pool = pool_of(size)
    first = kept_blocks.allocate(size)
    held, used, place = pool.total_bytes(), pool.used_bytes(), first.ptr
    assert used >= size
    del first
    assert pool.used_bytes() < used
    again = kept_blocks.allocate(size)
    assert (again.ptr, pool.total_bytes()) == (place, held)


def test_a_pool_that_is_full_is_used_again():
    most, kept = max(KEPT.items())
    pool = pool_of(most)
    blocks = [kept_blocks.allocate(most) for _ in range(kept // most)]
    places = {block.ptr for block in blocks}
    blocks.clear()
    blocks = [kept_blocks.allocate(most) for _ in range(kept // most)]
    assert {block.ptr for block in blocks} == places
    assert pool.used_bytes() <= kept


def test_little_more_is_kept_than_is_said():
    most, kept = max(KEPT.items())
    pool, blocks = pool_of(most), []
    for size in (most, most // 2 + 1, most // 3 + 1):
        blocks = [kept_blocks.allocate(size) for _ in range(2 * kept // size)]
        assert len({block.ptr for block in blocks}) == len(blocks)
        assert pool.total_bytes() <= kept + most
    blocks.clear()
    kept_blocks.allocate(most)
    assert pool.total_bytes() <= kept + most


@pytest.mark.parametrize(("size", "kept"), [((1 << 24) + 1, None), (8, -1)])
def test_others_come_from_rmm(monkeypatch, size, kept):
    pools = [pool_of(most) for most in KEPT]
    if kept is not None:
        full = tuple((most, kept, pool_of(most)) for most in KEPT)
        monkeypatch.setattr(kept_blocks, "_pools", lambda device: full)
    used = [pool.used_bytes() for pool in pools]
    block = kept_blocks.allocate(size)
    assert block.ptr
    assert [pool.used_bytes() for pool in pools] == used


@pytest.mark.parametrize("size", [1 << 25, 1 << 20, 4096])
def test_what_is_kept_is_given_back_where_memory_ends(monkeypatch, size):
    asked, all_of, kept = [], kept_blocks.rmm_cupy_allocator, 1 << 19

    def scarce(size):
        asked.append(size)
        if len(asked) == 2:
            raise MemoryError
        return all_of(size)

    monkeypatch.setattr(kept_blocks, "rmm_cupy_allocator", scarce)  # which pools ask as well
    kept_blocks.allocate(kept)  # and given back at once
    pool = pool_of(kept)
    assert pool.free_bytes() == kept
    assert kept_blocks.allocate(size).ptr
    assert asked == [kept, size, size]
    assert pool.free_bytes() == 0


def test_no_bytes():
    with cupy.cuda.using_allocator(kept_blocks.allocate):
        assert cupy.empty(0).size == 0
