"""As-of matches on a GPU at the borders of tiles, where both sides are merged, and where rows are out of order."""

import cupy as cp
import numpy as np
import pytest

from dask_gpuscan.kernels import asof
from dask_gpuscan.kernels.cuda.core.tuning import PLAIN_ITEMS, PLAIN_THREADS
from dask_gpuscan.kernels.options import Unsorted

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("poison")]

TILE = PLAIN_ITEMS * PLAIN_THREADS
LENGTHS = [1, 31, TILE - 1, TILE, TILE + 1, 5 * TILE + 3]


@pytest.mark.parametrize("rows", LENGTHS)
@pytest.mark.parametrize("others", LENGTHS)
@pytest.mark.parametrize("dtype", ["int8", "int64", "float32"])
def test_borders_of_tiles(rows, others, dtype):
    rng = np.random.default_rng()
    for most in (3, 120):
        left, right = (np.sort(rng.integers(-most, most, n)).astype(dtype) for n in (rows, others))
        codes = tuple(rng.integers(0, 7, n).astype(np.int32) for n in (rows, others))
        for by in (None, codes):
            on_device = None if by is None else tuple(map(cp.asarray, by))
            for direction in ("backward", "forward", "nearest"):
                for exact in (True, False):
                    options = {"direction": direction, "exact": exact}
                    found = asof(
                        cp.asarray(left), cp.asarray(right), on_device, 7, **options, tolerance=20
                    )
                    expected = asof(left, right, by, 7, **options, tolerance=20)
                    np.testing.assert_array_equal(found.get(), expected)


@pytest.mark.parametrize("codes", [False, True])
@pytest.mark.parametrize("direction", ["backward", "forward", "nearest"])
def test_one_row_out_of_order(codes, direction):
    rng, rows = np.random.default_rng(), 5 * TILE + 3
    good = cp.asarray(np.sort(rng.standard_normal(rows)))
    by = (cp.zeros(rows, np.int32),) * 2 if codes else None
    asof(good, good, by, 1, direction=direction)
    for at in (0, 1, TILE - 1, TILE, 3 * TILE, rows - 1):
        for wrong in (np.nan, -9.0 if at else 9.0):
            bad = good.copy()
            bad[at] = wrong
            for sides in ((bad, good), (good, bad), (bad, bad)):
                with pytest.raises(Unsorted):
                    asof(*sides, by, 1, direction=direction)
    shuffled = cp.asarray(rng.permutation(good.get()))
    for sides in ((shuffled, good), (good, shuffled), (good[::-1], good)):
        with pytest.raises(Unsorted):
            asof(*sides, by, 1, direction=direction)
