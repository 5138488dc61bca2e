"""Running and whole products at the ends of their types, over partitions and in groups, against a walk over all."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dask_gpuscan  # noqa: F401
from helpers.backends import same
from helpers.strategies import cuts, partitioned

FAR = [1e308, 2.0**1023, 2.0**-1022, 1e-308, 5e-324, 0.5, 2.0, -1.0, 0.0, np.nan, np.inf]
NEAR = [2.0**127, 2.0**-126, 2.0**-149, 0.5, 4.0, -1.0, 0.0, np.nan, np.inf]


def is_told_from_the_ends(items, dtype):
    """Whether no product on the way is so close to an end, or so small, that rounding decides."""
    limits, size = np.finfo(dtype), 1.0
    for x in abs(np.array(items, dtype)[np.isfinite(items)]):
        size = np.longdouble(size) * np.longdouble(x)
        if size == 0:
            return True
        with np.errstate(all="ignore"):
            walked = dtype.type(size)
        exact = walked == size
        if not exact and (
            0.9 < size / np.longdouble(2) ** int(limits.maxexp) < 1.1 or size < limits.tiny
        ):
            return False
    return True


@pytest.mark.parametrize(("dtype", "numbers"), [("float64", FAR), ("float32", NEAR)])
@given(data=st.data(), at=cuts())
def test_partitions_are_of_no_effect(backend, dtype, numbers, data, at):
    items = data.draw(
        st.lists(st.sampled_from(numbers), max_size=8).filter(
            lambda found: is_told_from_the_ends(found, np.dtype(dtype))
        )
    )
    x = pd.Series(items, dtype=dtype, name="x")
    frame = pd.DataFrame({"k": 1, "x": x})
    with np.errstate(all="ignore"):
        expected, total = x.cumprod(), frame.groupby("k")[["x"]].prod()
    same(backend.to_pandas(partitioned(backend.frame(x), at).gpuscan.cumprod().compute()), expected)
    for clustered in (True, False) * (dtype == "float64"):
        lazy = partitioned(backend.frame(frame), at).gpuscan.groupby("k", clustered=clustered)
        same(backend.to_pandas(lazy["x"].cumprod().compute()), expected)
        if len(x.dropna()):
            same(backend.to_pandas(lazy[["x"]].prod().compute()), total)


@pytest.mark.parametrize(
    "items",
    [[1e308, 0.5], [1e308, 0.0], [1e308, 1.0, -1.0], [5e-324, 1.0, 1e308], [1e308, 10.0, 0.1]],
)
def test_one_row_a_partition(backend, items):
    x = pd.Series(items)
    at = [(i + 0.5) / len(x) for i in range(1, len(x))]
    with np.errstate(all="ignore"):
        expected = x.cumprod()
    same(backend.to_pandas(partitioned(backend.frame(x), at).gpuscan.cumprod().compute()), expected)
