"""The parts that threads sort: words spread evenly and not, many that are equal, on any number of threads."""

import numpy as np
import pytest

from dask_gpuscan import kernels
from dask_gpuscan.kernels.cpu.core import launch
from dask_gpuscan.kernels.cpu.sort import radix_sort

ROWS = 20_000
RNG = np.random.default_rng(29)
NORMAL = RNG.standard_normal(ROWS)

SPREAD = {
    "even": RNG.integers(0, 10**6, ROWS),
    "bell": NORMAL,
    "far ends": np.exp(50 * NORMAL),
    "zeros": np.where(RNG.random(ROWS) < 0.9, 0.0, NORMAL),
    "two": RNG.integers(0, 2, ROWS) * 1e300,
    "long tail": RNG.zipf(1.2, ROWS) % (1 << 62),
    "few far apart": RNG.integers(0, 5, ROWS) << 40,
    "one": np.zeros(ROWS, np.float32),
    "NaN": np.where(RNG.random(ROWS) < 0.5, np.nan, NORMAL).astype("f4"),
    "sorted": np.sort(NORMAL),
    "sorted but for the end": np.append(np.zeros(ROWS - 1), 1e9),
}


@pytest.fixture(params=[1, 2, 4, 16])
def threads(request, monkeypatch):
    """Part small inputs as large ones, on so many threads."""
    for module in (launch, radix_sort):
        monkeypatch.setattr(module, "helpers_for", lambda _: request.param - 1)
    monkeypatch.setattr(launch, "PARALLEL", 1)
    for name, value in {"LEAF": 512, "SHARE": 64, "SHORT": 6, "MANY": 128}.items():
        monkeypatch.setattr(radix_sort, name, value)


@pytest.mark.parametrize("spread", SPREAD)
def test_order_is_stable(threads, spread):
    x = SPREAD[spread]
    assert (kernels.argsort(x) == np.argsort(x, kind="stable")).all()
    group = RNG.integers(0, 3, ROWS)
    assert (kernels.argsort([group, x]) == np.lexsort((x, group))).all()
    (keys,), (moved, order) = kernels.sort_pairs(x, [x], positions=True)
    np.testing.assert_array_equal(keys, x[order])
    np.testing.assert_array_equal(moved, x[order])
    given = [x, group, group.astype("f4"), x[::-1]]
    (_, keys), moved = kernels.sort_pairs([group, x], given)
    for found, array in zip([keys, *moved], [x, *given], strict=True):
        np.testing.assert_array_equal(found, array[np.lexsort((x, group))])
