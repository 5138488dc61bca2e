"""Products' states in any tree of combinations, on the host: what CUDA's own functions do is done by NumPy here."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from dask_gpuscan.kernels import BUILT_IN, signature
from dask_gpuscan.kernels.cuda import in_order


@pytest.fixture(autouse=True)
def on_the_host(monkeypatch):
    def ldexp(x, exponent):
        return np.ldexp(np.float64(x), int(exponent))

    functions = {
        "double2hiint": lambda x: np.int32(np.float64(x).view(np.int64) >> 32),
        "float_as_int": lambda x: np.float32(x).view(np.int32),
        "int_as_float": lambda x: np.int32(x).view(np.float32),
        "fmaxf": np.fmax,
        "fminf": np.fmin,
        "ldexp": ldexp,
    }
    monkeypatch.setattr(in_order, "libdevice", SimpleNamespace(**functions))
    with np.errstate(all="ignore"):
        yield


def products(x):
    """Scan by combinations of neighbours, then of neighbours' neighbours, and so on."""
    combine, lift, lower = in_order._functions(x.dtype)
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
        "infinite for good": [-far, far, *[0.5] * 100],
        "back and forth": [far, 1 / far] * 50,
        "never far": [*np.exp(rng.normal(size=300) * 0.1), *[far, 1 / far] * 100],
        "not a number": [far, far, 0.0, 1.0],
        "near the end for long": [2.0 ** (limits.maxexp - 1), *[1.0] * 700, 0.5, *[1.0] * 300],
        "near the other end": [2.0**limits.minexp, *[1.0] * 700, 2.0, *[1.0] * 300],
        "infinity": [1.0, np.inf, 0.5, -1.0],
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
    instead = in_order.substitute(BUILT_IN["multiply"], signature(BUILT_IN["multiply"], [dtype]))
    limits = np.finfo(dtype)
    for x in (0.0, -0.0, 1.0, -3.7, math.inf, math.nan, limits.max, limits.smallest_subnormal):
        x = np.dtype(dtype).type(x)
        state = instead.enter(x)
        np.testing.assert_array_equal(instead.leave(state), x)
        combine, lift, lower = in_order._functions(np.dtype(dtype))
        np.testing.assert_array_equal(lower(state), x)
        np.testing.assert_array_equal(lower(combine(state, lift(np.dtype(dtype).type(1)))), x)
