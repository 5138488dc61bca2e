"""Answers have the same bits in any thread: the main one takes helpers, and others do not."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from dask_gpuscan import operator
from dask_gpuscan.kernels import (
    BUILT_IN,
    InBand,
    argsort,
    reduce_by_key,
    scan,
    scan_by_key,
    select,
)
from dask_gpuscan.kernels.cpu.core.engine import TILE
from dask_gpuscan.kernels.operators.compensated import SUM
from dask_gpuscan.kernels.options import ScanOptions
from dask_gpuscan.kernels.scan import BoundScan

COUNT, ADD, RNG = 40 * TILE + 11, BUILT_IN["add"], np.random.default_rng(0)
FLOATS, INTEGERS = RNG.normal(size=COUNT), RNG.integers(0, 1000, COUNT)
KEY = np.cumsum(RNG.random(COUNT) < 1 / 5000)
CLIPPED = operator(lambda a, b: min(a + b, 100), identity=0, check=False)
CALLS = {
    "scan": lambda x, n, key: [scan(ADD, x)[0]],
    "scan by key": lambda x, n, key: [scan_by_key(ADD, [key], x)[0]],
    "reduce by key": lambda x, n, key: [reduce_by_key(ADD, [key], x)[1]],
    "exact sums by key": lambda x, n, key: reduce_by_key(SUM, [key], x)[1],
    "select": lambda x, n, key: select([x, n], x > 0),
    "argsort": lambda x, n, key: [argsort(n)],
    "operator of a user": lambda x, n, key: [scan(CLIPPED, n - 500)[0]],  # is never taken for exact
}


@pytest.mark.parametrize("name", CALLS)
def test_bits_are_those_of_the_main_thread(backend, name):
    given = [backend.array(array) for array in (FLOATS, INTEGERS, KEY)]

    def bits(_=0):
        return [backend.to_numpy(found).tobytes() for found in CALLS[name](*given)]

    with ThreadPoolExecutor(4) as pool:
        assert {tuple(found) for found in pool.map(bits, range(8))} == {tuple(bits())}


def test_a_bound_scan_is_shared_by_threads():
    x, bound = FLOATS[:64_000].reshape(64, 1000), BoundScan(ADD, ScanOptions(InBand()))
    with ThreadPoolExecutor(64) as pool:
        for _ in range(20):
            for values, (found, _) in zip(
                x, pool.map(lambda each: bound(each, None, False), x), strict=True
            ):
                np.testing.assert_array_equal(found, scan(ADD, values, nulls=InBand())[0])
