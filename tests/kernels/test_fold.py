"""Steps of folds: compiled once for what they do, with what they capture."""

import dask.dataframe as dd
import numpy as np
import pandas as pd

import dask_gpuscan
from dask_gpuscan.kernels import fold


def test_a_function_with_what_it_captures_is_compiled_once(monkeypatch):
    made, compile_ = [], fold._compile
    monkeypatch.setattr(fold, "_compile", lambda *given: made.append(given) or compile_(*given))
    table = np.array([1.5, 2.5])

    def step(total, x):
        return total + table[x], total * factor

    lazy = dd.from_pandas(pd.DataFrame({"x": [0, 1, 0]}), npartitions=3)
    for factor in (3.0, 3.0, 4.0):  # the closure changes
        found = dask_gpuscan.on(lazy.x).fold(step, initial=0.0)
        assert found.compute().tolist() == [0.0, 1.5 * factor, 4.0 * factor]
    assert len(made) == 2


def test_states_that_grow():
    step = fold.Step.of(lambda total, x: (total + x, total), 0)
    assert step.forms((np.dtype("float32"),)).state == (np.dtype("float64"),)
    assert step == fold.Step.of(lambda total, x: (total + x, total), 0)
    assert step != fold.Step.of(lambda total, x: (total + x, total), 1)
    state = [np.zeros(2)]
    codes, skipped = np.array([1, 0, 1]), np.array([False, False, True])
    (found,) = step.run([np.array([1.0, 2.0, 4.0])], state, codes, skipped)
    assert (found.tolist(), state[0].tolist()) == ([0.0, 0.0, 0.0], [2.0, 1.0])
