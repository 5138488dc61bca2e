"""What only a GPU can get wrong of sorting: tiles, leading digits first, rows put near their places, and sizes."""

import cupy as cp
import numpy as np
import pytest

from dask_gpuscan.kernels import BUILT_IN, argsort, put, scan_by_code, sort, sort_pairs, take
from dask_gpuscan.kernels.by_code import max_groups
from dask_gpuscan.kernels.cuda.sort import permute
from dask_gpuscan.kernels.cuda.sort.tuning import FEW

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("poison")]

TILE = 384 * 24
LARGE = 1 << 21
FEW_ROWS = [32, 33, 2047, 2048, 2049, FEW - 1, FEW, FEW + 1]


@pytest.mark.parametrize("length", [0, 1, 31, TILE - 1, TILE, TILE + 1, 3 * TILE + 5, *FEW_ROWS])
@pytest.mark.parametrize("dtype", ["uint8", "int32", "float64"])
def test_tiles(length, dtype):
    x = np.random.default_rng(length).integers(0, 200, length + 1).astype(dtype)[1:]
    device = cp.asarray(np.r_[x[:1], x])[len(x[:1]) :]  # at an odd offset
    np.testing.assert_array_equal(argsort(device).get(), np.argsort(x, kind="stable"))
    np.testing.assert_array_equal(sort(device, descending=True).get(), np.sort(x)[::-1])


def test_what_is_in_order_is_copied():
    x, y = cp.full(10, 7, cp.int32), cp.arange(10.0)
    (keys,), (values,) = sort_pairs(x, y)
    keys[:], values[:] = 0, 0
    assert x.tolist() == [7] * 10
    assert y.tolist() == list(range(10))
    np.testing.assert_array_equal(argsort(x).get(), np.arange(10))


@pytest.mark.parametrize("ties", [0, 1000, LARGE // 2])
def test_leading_digits_first(ties):
    """Keys that the leading digits nearly tell apart, and some or many that they do not."""
    rng = np.random.default_rng(ties)
    x = rng.standard_normal(LARGE)
    x[:ties] = rng.choice(x[:7], ties)
    np.testing.assert_array_equal(argsort(cp.asarray(x)).get(), np.argsort(x, kind="stable"))


def test_digits_that_depend_on_each_other():
    """As if digits were independent, half of them would tell these keys apart."""
    few = np.random.default_rng(0).integers(0, 1 << 15, LARGE)
    x = sum(few << shift for shift in (0, 16, 32, 48))
    np.testing.assert_array_equal(argsort(cp.asarray(x)).get(), np.argsort(x, kind="stable"))


@pytest.mark.parametrize("length", [(1 << 22) - 1, 1 << 22, (1 << 22) + 4097, (1 << 24) + 5])
@pytest.mark.parametrize("dtype", ["int8", "float32", "int64", "complex128"])
def test_rows_are_put_at_positions(length, dtype):
    positions = cp.random.permutation(length)
    rows = (cp.arange(length) % 251).astype(dtype)
    placed = put(rows, positions)
    assert bool((placed[positions] == rows).all())
    assert bool((take(placed, positions) == rows).all())


def test_more_rows_than_31_bits_count(room):
    length = (1 << 31) + 7
    room(5 * length)
    x = cp.arange(length, dtype=cp.uint8)
    found = sort(x)
    del x
    for value in (0, 6, 7, 255):
        assert int((found == value).sum()) == length // 256 + (value < 7)
    assert bool((found[:-1] <= found[1:]).all())


def test_groups_that_there_is_no_room_for():
    codes = cp.zeros(3, cp.int32)
    most = max_groups(codes)
    with pytest.raises(ValueError, match=f"groups must be at most {most} of these arrays"):
        scan_by_code(BUILT_IN["add"], codes, cp.ones(3), most + 1)
    with pytest.raises(ValueError, match="codes must be from 0 to 1, found 5"):
        scan_by_code(BUILT_IN["add"], codes + 5, cp.ones(3), 2)


WIDTHS = ["i8", "f4", "?", "i2", "f8", "c16", "u1", "i4", "u8"]


@pytest.mark.parametrize("count", range(2, len(WIDTHS) + 1))
@pytest.mark.parametrize("length", [1, 31, 1000, 70_001])
def test_columns_that_are_taken_together(monkeypatch, count, length):
    monkeypatch.setattr(permute, "PACKED_FROM", 1)
    rng = np.random.default_rng(count)
    keys = rng.integers(0, 1 << 10, length + 1).astype("i4")
    columns = [rng.integers(0, 1 << 62, length + 1).astype(width) for width in WIDTHS[:count]]
    device = [cp.asarray(column)[1:] for column in columns]  # at odd offsets
    _, moved = sort_pairs(cp.asarray(keys)[1:], device, positions=True)
    order = np.argsort(keys[1:], kind="stable")
    for found, column in zip(moved, [*columns, np.arange(-1, length)], strict=True):
        np.testing.assert_array_equal(found.get(), column[1:][order])


def test_columns_of_many_rows_are_taken_together():
    rng = np.random.default_rng(0)
    length = permute.PACKED_FROM // 16 + 3
    keys, x, y = rng.integers(0, 9, length), rng.random(length), rng.integers(0, 99, length)
    (found,), moved = sort_pairs(cp.asarray(keys), [cp.asarray(x), cp.asarray(y)])
    order = np.argsort(keys, kind="stable")
    for a, b in zip([found, *moved], [keys, x, y], strict=True):
        np.testing.assert_array_equal(a.get(), b[order])
