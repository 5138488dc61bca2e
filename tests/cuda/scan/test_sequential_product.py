"""Products' states in any tree of combinations, on the host: what CUDA's own functions do is done by NumPy here."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dask_gpuscan import segmented
from dask_gpuscan.kernels import BUILT_IN, signature
from dask_gpuscan.kernels.cuda.scan import sequential_product

ON_THE_HOST = SimpleNamespace(
    double2hiint=lambda x: np.int32(np.float64(x).view(np.int64) >> 32),
    float_as_int=lambda x: np.float32(x).view(np.int32),
    int_as_float=lambda x: np.int32(x).view(np.float32),
    fmaxf=np.fmax,
    fminf=np.fmin,
)


@pytest.fixture(autouse=True)
def silent():
    with np.errstate(all="ignore"):
        yield


def products(x):
    """Scan by combinations of neighbours, then of neighbours' neighbours, and so on."""
    combine, lift, lower = sequential_product.functions(x.dtype, ON_THE_HOST)
    states, step = [lift(item) for item in x], 1
    while step < len(states):
        pairs = zip(states, states[step:], strict=False)
        states, step = states[:step] + [combine(a, b) for a, b in pairs], 2 * step
    return np.array([lower(s) for s in states])


def pieces(dtype):
    limits, rng = np.finfo(dtype), np.random.default_rng(6)
    far, most = float(limits.max) ** 0.75, int(limits.maxexp) // 16
    return {
        "zero, then far": [far, 1 / far, 0.0, *[far] * 9],
        "tiny for good": [1 / far, 1 / far, *[2.0] * 100],
        "tiny for good, then far": [1 / far, 1 / far, *[far] * 9],
        "infinite for good": [-far, far, *[0.5] * 100],
        "back and forth": [far, 1 / far] * 50,
        "never far": [*np.exp(rng.normal(size=300) * 0.1), *[far, 1 / far] * 100],
        "not a number": [far, far, 0.0, 1.0],
        "near the end for long": [2.0 ** (limits.maxexp - 1), *[1.0] * 700, 0.5, *[1.0] * 300],
        "near the other end": [2.0**limits.minexp, *[1.0] * 700, 2.0, *[1.0] * 300],
        "infinity": [1.0, np.inf, 0.5, -1.0],
        "infinity, then tiny": [np.inf, *[1 / far] * 9],
        "infinity, then zero": [np.inf, 0.0, 1.0],
        "zero, then infinity": [0.0, np.inf, 2.0],
        "subnormal": [limits.smallest_subnormal * 4, 0.5, 2.0**20],
        "minus zero": [-0.0, 5.0, far, far, -1.0],
        "powers of two": [*2.0 ** rng.integers(-most, most + 1, 500)],
    }


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", pieces("f8"))
@pytest.mark.parametrize("ones", [0, 37])
def test_a_tree_ends_as_a_walk_does(dtype, name, ones):
    x = np.concatenate([np.ones(ones), pieces(dtype)[name]]).astype(dtype)
    found, expected = products(x), np.cumprod(x)
    np.testing.assert_allclose(found, expected, rtol=1e-12 if dtype == "f8" else 1e-4)
    assert (np.signbit(found) == np.signbit(expected))[~np.isnan(expected)].all()


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_states_are_entered_and_left(dtype):
    stable = sequential_product.stable_product(
        BUILT_IN["multiply"], signature(BUILT_IN["multiply"], [dtype])
    )
    limits = np.finfo(dtype)
    for x in (0.0, -0.0, 1.0, -3.7, math.inf, math.nan, limits.max, limits.smallest_subnormal):
        x = np.dtype(dtype).type(x)
        state = stable.enter(x)
        np.testing.assert_array_equal(stable.leave(state), x)
        combine, lift, lower = sequential_product.functions(np.dtype(dtype), ON_THE_HOST)
        np.testing.assert_array_equal(lower(state), x)
        np.testing.assert_array_equal(lower(combine(state, lift(np.dtype(dtype).type(1)))), x)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@given(data=st.data())
def test_any_tree_of_powers_of_two(dtype, data):
    limits = np.finfo(dtype)
    least, most = int(limits.minexp - limits.nmant), int(limits.maxexp) - 1
    ends = [most, most - 1, least, least + 1, int(limits.minexp), 2 * most // 3, -2 * most // 3]
    exponents = st.sampled_from(ends) | st.integers(least, most)
    odd = st.sampled_from([0.0, -0.0, np.inf, -np.inf, np.nan])
    numbers = st.builds(lambda e, s: s * 2.0**e, exponents, st.sampled_from([1.0, -1.0])) | odd
    x = np.array(data.draw(st.lists(numbers, min_size=1, max_size=12)), dtype)
    expected = np.multiply.accumulate(x)
    steps = np.frexp(expected[:-1])[1] - 1.0 + np.frexp(x[1:])[1] - 1.0
    told = least - 1 - sequential_product.SLACK
    assume(not ((steps >= told) & (steps < least)).any())  # vanishes by less than is told

    stable = sequential_product.stable_product(
        BUILT_IN["multiply"], signature(BUILT_IN["multiply"], [dtype])
    )
    combine, lift, lower = sequential_product.functions(x.dtype, ON_THE_HOST)

    def tree(states):
        if len(states) == 1:
            return states[0]
        cut = data.draw(st.integers(1, len(states) - 1))
        return combine(tree(states[:cut]), tree(states[cut:]))

    enters = data.draw(st.booleans())
    state = tree([stable.enter(x[0]) if enters else lift(x[0]), *map(lift, x[1:])])
    for found in (lower(state), stable.leave(state)):
        np.testing.assert_array_equal(found, expected[-1])
        assert np.isnan(found) or np.signbit(found) == np.signbit(expected[-1])


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_an_answer_follows_from_the_one_before(dtype):
    multiply = BUILT_IN["multiply"]
    plain = sequential_product.stable_product(multiply, signature(multiply, [dtype]))
    number = np.dtype(dtype).type(3)
    assert plain.follow(number, 2.5) == 7.5
    flags = signature(segmented(multiply), ["?", dtype])
    runs = sequential_product.stable_product(segmented(multiply), flags)
    assert [runs.follow(number, begins, 2.5) for begins in (False, True)] == [7.5, 2.5]
