"""Reproducible sums on a GPU have the bits of those on a CPU, in whole tiles, at their borders and over many."""

import cupy as cp
import numpy as np
import pytest

from dask_gpuscan.kernels import BUILT_IN, InBand, bitmap, reduce, scan
from dask_gpuscan.kernels.operators.reproducible import FINITE_MEAN, FINITE_SUM, MEAN

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("schedule")]

TILES = {"f8": 4096, "f4": 8192}
OPERATORS = {op.name: op for op in (BUILT_IN["add_reproducible"], MEAN)}
OF_FINITE = {op.name: op for op in (FINITE_SUM, FINITE_MEAN)}


def numbers(n, dtype, endless=False):
    """Numbers of one bin, of many, and from the ends of the type; some of them zero, infinite or NaN."""
    rng = np.random.default_rng(n)
    x = rng.standard_normal(n)
    x[n // 3 :] *= 1e6
    few = min(40, n - n // 2)
    powers = rng.integers(-1070, 60, few) if dtype == "f8" else rng.integers(-150, 60, few)
    x[n // 2 : n // 2 + few] = np.ldexp(x[:few], powers)
    x[rng.integers(0, n, n // 50)] = 0.0
    if endless:
        x[rng.integers(0, n, n // 100 + 1)] = rng.choice([np.inf, -np.inf, np.nan], n // 100 + 1)
    return x.astype(dtype)


def lengths(dtype):
    tile = TILES[dtype]
    return [1, tile - 1, tile, tile + 1, 3 * tile + 77, 171 * tile + 5]


def check(op, x, **options):
    """Compare a scan and a reduction of an array on both backends, bit for bit."""
    nulls = options.pop("nulls", None)
    cuda, cpu = (None, None) if nulls is None else nulls
    dtype = x.dtype
    found, last = scan(op, cp.asarray(x), nulls=cuda, dtype=dtype, **options)
    expected, state = scan(op, x, nulls=cpu, dtype=dtype, **options)
    bits = f"u{dtype.itemsize}"
    same = found.get().view(bits) == expected.view(bits)
    np.testing.assert_array_equal(found.get()[~same], expected[~same])  # NaN have many bits
    assert np.isnan(expected[~same]).all()
    assert tuple(map(int, last)) == tuple(map(int, state))
    whole = reduce(op, cp.asarray(x), nulls=cuda, reverse=options.get("reverse", False))
    assert tuple(map(int, whole)) == tuple(map(int, state))


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("name", OPERATORS)
def test_sums_and_means(name, dtype):
    for n in lengths(dtype):
        x = numbers(n, dtype)
        for reverse in (False, True):
            check(OPERATORS[name], x, reverse=reverse)
        check(OPERATORS[name], x, exclusive=True)
    check(OPERATORS[name], numbers(lengths(dtype)[-1] + 3, dtype)[3:])  # not aligned


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("mark", [False, True])
def test_missing_numbers(name, dtype, mark):
    op = OPERATORS[name]
    for n in lengths(dtype)[1:]:
        x = numbers(n, dtype)
        valid = np.random.default_rng(1).random(n) < 0.7
        bits = np.packbits(valid, bitorder="little")
        check(op, x, nulls=(bitmap(cp.asarray(bits)), bitmap(bits)), mark_nulls=mark)
        x[~valid] = np.nan
        check(op, x, nulls=(InBand(), InBand()), mark_nulls=mark)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("name", OF_FINITE)
def test_finite_numbers(name, dtype):
    for n in lengths(dtype):
        check(OF_FINITE[name], numbers(n, dtype, endless=True))


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("name", OPERATORS)
def test_large_sums(name, dtype):
    """Sums that are far larger than their numbers."""
    x = np.random.default_rng(2).uniform(8192, 16384, 500 * TILES[dtype] + 5).astype(dtype)
    check(OPERATORS[name], x)
    check(OPERATORS[name], -x, exclusive=True)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("name", OPERATORS)
def test_rising_numbers(name, dtype):
    """The largest number so far rises by a bin in every other segment."""
    n = 40 * TILES[dtype] + 5
    x = np.random.default_rng(3).standard_normal(n)
    powers = (
        np.linspace(-120, 120, n).astype(int)
        if dtype == "f4"
        else np.linspace(-900, 900, n).astype(int)
    )
    check(OPERATORS[name], np.ldexp(x, powers).astype(dtype))


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_infinite_numbers(dtype):
    for n in lengths(dtype):
        check(BUILT_IN["add_reproducible"], numbers(n, dtype, endless=True))
