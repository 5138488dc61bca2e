"""Scans that write the state before each element in some outputs, and after it in the others."""

import numpy as np
import pytest

from dask_gpuscan import operator
from dask_gpuscan.kernels import scan, scan_by_code, scan_by_key
from dask_gpuscan.kernels.cpu.core.engine import TILE

sum_and_largest = operator(
    lambda a, b: (a[0] + b[0], max(a[1], b[1])),
    identity=(0, -100),
    lift=lambda x: (x, x),
    lower=lambda s: s,
)


def folded(x, keys, exclusive, reverse):
    """What a loop over the rows says, group by group."""
    outs, states = np.empty((2, len(x)), np.int64), {}
    for i in range(len(x))[:: -1 if reverse else 1]:
        before = states.get(keys[i], (0, -100))
        after = states[keys[i]] = before[0] + x[i], max(before[1], x[i])
        outs[:, i] = [(before if flag else after)[k] for k, flag in enumerate(exclusive)]
    return outs


@pytest.mark.sampled(2)
@pytest.mark.parametrize("exclusive", [(True, False), (False, True)])
@pytest.mark.parametrize("n", [0, 1, 2 * TILE + 3])
def test_each_output_has_its_own(backend, n, exclusive):
    rng = np.random.default_rng(n)
    x, codes = rng.integers(-99, 99, n), rng.integers(0, 9, n)
    sorted_ = np.sort(rng.integers(0, max(n // 50, 1), n))
    xs = backend.array(x)
    for reverse in (False, True):
        out, _ = scan(sum_and_largest, xs, exclusive=exclusive, reverse=reverse)
        expected = folded(x, np.zeros(n, int), exclusive, reverse)
        np.testing.assert_array_equal([backend.to_numpy(o) for o in out], expected)
        keys = [backend.array(sorted_)]
        out, _ = scan_by_key(sum_and_largest, keys, xs, exclusive=exclusive, reverse=reverse)
        expected = folded(x, sorted_, exclusive, reverse)
        np.testing.assert_array_equal([backend.to_numpy(o) for o in out], expected)
    out, _ = scan_by_code(sum_and_largest, backend.array(codes), xs, 9, exclusive=exclusive)
    expected = folded(x, codes, exclusive, False)
    np.testing.assert_array_equal([backend.to_numpy(o) for o in out], expected)


def test_one_for_each_output(backend):
    x = backend.array(np.arange(3))
    with pytest.raises(ValueError, match="a tuple of 2, one for each output"):
        scan(sum_and_largest, x, exclusive=(True,))
    with pytest.raises(ValueError, match="a tuple of 2, one for each output"):
        scan_by_key(sum_and_largest, [x], x, exclusive=(True, False, True))
    with pytest.raises(ValueError, match="a tuple of 2, one for each output"):
        scan_by_code(sum_and_largest, x, x, 3, exclusive=(True, False, True))
