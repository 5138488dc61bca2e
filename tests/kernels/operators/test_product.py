"""Products in pieces against a walk over the whole, to the bit where it rounds nothing, at the ends of the type too."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dask_gpuscan.kernels import BUILT_IN, scan
from dask_gpuscan.kernels.scan import aggregating, carry_in_from, fold

MULTIPLY = BUILT_IN["multiply"]


@st.composite
def powers(draw, dtype):
    """Numbers whose products are exact: powers of two, most of them near an end of the type, and what is none."""
    limits = np.finfo(dtype)
    far = [limits.maxexp - 1, limits.minexp, limits.minexp - limits.nmant]
    near = [end + by for end in far for by in (-1, 0, 1) if far[2] <= end + by <= far[0]]
    middle = int(limits.maxexp) * 2 // 3
    exponents = st.sampled_from([*near, middle, -middle, -1, 0, 1])
    numbers = st.builds(
        lambda e, s: s * 2.0 ** int(e), exponents, st.sampled_from([1.0, 1.0, -1.0])
    )
    odd = st.sampled_from([0.0, -0.0, np.inf, -np.inf, np.nan])
    return np.array(draw(st.lists(numbers | numbers | odd, min_size=1, max_size=12)), dtype)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@given(data=st.data(), from_end=st.booleans())
def test_a_seed_is_what_a_walk_comes_to(dtype, data, from_end):
    x = data.draw(powers(dtype))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(x)), max_size=4)))
    initial = data.draw(st.sampled_from([None, 0.5, 2.0**100, 0.0]))
    with np.errstate(all="ignore"):
        whole = x if initial is None else np.concatenate([np.array([initial], dtype), x])
        expected = np.multiply.accumulate(whole)[-1]
    pieces = [aggregating(MULTIPLY, piece) for piece in np.split(x, cuts)]
    op, states = pieces[0][0], [read() for _, read in pieces]
    state = states[-1] if from_end else states[0]
    for other in states[-2::-1] if from_end else states[1:]:
        state = fold(op, [other, state] if from_end else [state, other])
    found = carry_in_from(MULTIPLY, state, np.dtype(dtype), initial)
    np.testing.assert_array_equal(found, expected)
    assert np.isnan(expected) or np.signbit(found) == np.signbit(expected)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_the_largest_number_is_no_overflow(dtype):
    limits = np.finfo(dtype)
    for x in (
        [limits.max, 1.0],
        [limits.max, limits.tiny, 0.5],
        [2.0 ** (limits.maxexp - 1), 1.5, 0.25],
        [2.0 ** (limits.maxexp - 1), 2.0, 0.25],
        [limits.smallest_subnormal, 2.0],
        [limits.smallest_subnormal, 0.5, 4.0],
        [np.inf, *[limits.tiny] * 3],
        [*[limits.tiny] * 3, *[limits.max] * 5],
        [*[limits.max] * 3, *[limits.tiny] * 5],
    ):
        x = np.array(x, dtype)
        with np.errstate(all="ignore"):
            expected = np.multiply.accumulate(x)
        for at in range(1, len(x)):
            state = aggregating(MULTIPLY, x[:at])[1]()
            out, _ = scan(MULTIPLY, x[at:], carry_in=carry_in_from(MULTIPLY, state, x.dtype))
            np.testing.assert_allclose(out, expected[at:], rtol=1e-6)
