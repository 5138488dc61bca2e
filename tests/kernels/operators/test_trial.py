"""Operators tried on the data that they combine."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

from dask_gpuscan import kernels, operator
from dask_gpuscan.kernels.operators import trial

CLIPPED = operator(lambda a, b: max(min(a + b, 100), -100), identity=0, name="clipped")
"""Associative on 1, 2 and 3."""

STEPS = np.array([60, 70, -50, 20] * 9)


def test_an_operator_that_travels_is_tried_where_it_arrives(tmp_path):
    message = "the states 60, 70, -50 combine to 50 from left to right, to 80 from right to left, and to 80"
    code = (
        "import pickle, sys, numpy as np\n"
        "from dask_gpuscan import kernels\n"
        "op = pickle.loads(bytes.fromhex(sys.argv[1]))\n"
        "try:\n    kernels.reduce(op, np.array([60, 70, -50]))\n"
        "except ValueError as error:\n    print(error)"
    )
    argument = pickle.dumps(CLIPPED).hex()
    run = [sys.executable, "-c", code, argument]
    found = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True)
    assert message in found.stdout, found.stderr


def test_what_the_trial_lets_pass():
    """Rounding, numbers that are not finite, integers that wrap around; and what is not to be checked."""
    twice = operator(lambda a, b: max(min(a + b, 100), -100), identity=0, check=False)
    assert kernels.reduce(twice, STEPS) in range(-100, 101)
    plus = operator(lambda a, b: a + b + 0, identity=0, name="plus")
    times = operator(lambda a, b: 1 * a * b, identity=1, name="times")
    rng = np.random.default_rng(0)
    normal = rng.standard_normal(500)
    for values in (normal, normal.astype("f4"), normal * 1e300, [1e16, 1.0, -1e16, np.nan, 1.0]):
        trial._tried.clear()
        kernels.reduce(plus, np.asarray(values))
        kernels.reduce(times, np.asarray(values) * 1e3)
    tank = operator(
        lambda a, b: (a[0] + b[0], max(a[1] + b[0], b[1])),
        identity=(0, -(2**40)),
        lift=lambda x: (x, max(x, 0)),
        lower=lambda s: s[1],
        name="tank",
    )
    for bits in (8, 40, 63):
        trial._tried.clear()
        kernels.reduce(tank, rng.integers(-(2**bits) + 1, 2**bits - 1, 500))
    missing = np.tile([False, False, True, False], 9)  # without -50, nothing tells
    kernels.reduce(CLIPPED, STEPS.astype(np.int32), nulls=kernels.byte_mask(missing))


@pytest.mark.parametrize("dtype", ["int64", "float64", "int32"])
@pytest.mark.parametrize(
    ("op", "values", "message"),
    [
        (operator(lambda a, b: max(a + b, 0), identity=0, name="tank"), [4, 6, -20, 3], "-20"),
        (operator(lambda a, b: a**b, identity=1, name="power"), [2, 3, 2], "1 gives 2|gives 1"),
        (operator(lambda a, b: max(a, b), identity=0, name="largest"), [-5, -3, -9], "-5"),
    ],
)
def test_an_element_that_the_identity_changes_is_refused(dtype, op, values, message):
    trial._tried.clear()
    values = np.array(values, dtype)
    with pytest.raises(ValueError, match=f"identity of {op.name}.*({message})"):
        kernels.reduce(op, values)
    trial._tried.clear()
    with pytest.raises(ValueError, match=f"identity of {op.name}"):  # pieces of one row
        [kernels.reduce(op, np.array([value])) for value in values]


def test_a_state_that_the_identity_changes_without_another_answer_is_taken():
    """The value of one that was not seen tells nothing."""
    newest = operator(
        lambda a, b: b if b[1] else a,
        identity=(0.0, False),
        lift=lambda x: (x, x > 0),
        lower=lambda s: s[0] if s[1] else np.nan,
    )
    values = np.array([-1.0, 2.0, -3.0, 4.0])
    np.testing.assert_array_equal(kernels.scan(newest, values)[0], [np.nan, 2, 2, 4])


def test_any_axis_is_tried():
    rows = STEPS.reshape(1, -1)
    for values, axis in ((np.repeat(rows, 3, axis=0), 1), (np.repeat(rows, 3, axis=0).T, 0)):
        trial._tried.clear()
        with pytest.raises(ValueError, match="not associative on the data"):
            kernels.reduce(CLIPPED, values, axis=axis)


def test_the_same_elements_are_tried_once(monkeypatch):
    plus = operator(lambda a, b: b + a + 0, identity=0, name="plus")
    calls = []
    monkeypatch.setattr(trial, "_difference", lambda *given: calls.append(given))
    for dtype in ("int64", "int64", "float64", "float64"):
        kernels.reduce(plus, np.arange(4).astype(dtype))
    assert len(calls) == 4  # of four elements and of all, for two dtypes
    for k in range(-100, 100):
        kernels.reduce(plus, np.array([abs(k), 50, 99, 0]))
    assert len(calls) == 4 + 2 * (trial.TRIALS - 1)
    for size in (10, 150, 1000, 1000):  # out of the range of what was tried twice over
        kernels.reduce(plus, np.array([size, 0, 1, 0]))
    assert len(calls) == 4 + 2 * trial.TRIALS


@pytest.mark.parametrize("dtype", ["int64", "float64", "int16"])
def test_data_on_which_it_is_associative_hide_nothing(dtype):
    """Data of before, rows before, and partitions and batches of one row."""
    harmless = np.arange(3, dtype=dtype)
    harmful = STEPS.astype(dtype)
    message = "not associative on the data"
    trial._tried.clear()
    assert kernels.reduce(CLIPPED, harmless) == 3
    assert kernels.reduce(CLIPPED, np.array([100, 0, 0, -100], dtype)) == 0
    with pytest.raises(ValueError, match=message):
        kernels.reduce(CLIPPED, harmful)
    for place in (300, 29_000):
        trial._tried.clear()
        rows = np.concatenate([np.tile(harmless, place), harmful, harmful])
        with pytest.raises(ValueError, match=message):
            kernels.reduce(CLIPPED, rows)
    trial._tried.clear()
    found = []
    for element in harmful:
        try:
            kernels.reduce(CLIPPED, np.array([element]))
        except ValueError as error:
            found.append(str(error))
    assert message in "".join(found)
