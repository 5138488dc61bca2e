"""The fuzzer of cuts finds answers that depend on where rows are cut."""

import numpy as np
import pandas as pd
import pytest

from .cuts import CutCase, held

FRAME = pd.DataFrame({"x": [0.1, 0.2, 0.3, 0.7, -0.3, 2.5] * 3, "n": range(18)})


def case(step, exact):
    return CutCase(FRAME, [step], exact, [[2, 13], [1, 4, 9]])


@pytest.mark.parametrize(
    ("step", "exact"),
    [
        ("f['x'].gpuscan.cumsum()", True),  # has the same bits only if it is reproducible
        ("f if hasattr(f, 'plot') else f[['x']]", False),
        ("f['x'] if not hasattr(f, 'map_partitions') else f['x'].map_partitions(lambda x: x.cumsum())", False),
    ],
)  # fmt: skip
def test_answers_that_depend_on_cuts_are_found(step, exact):
    with pytest.raises(AssertionError):
        case(step, exact).check()


def test_answers_that_do_not_depend_on_cuts_pass():
    assert case("f['x'].gpuscan.cumsum()", False).check() == "same but for rounding, and a stream"
    step = "f['x'].gpuscan.cumsum(reproducible=True)"
    assert case(step, True).check() == "same bits, and a stream"
    assert case("f['x'].gpuscan.rank()", True).check() == "same bits, no stream"


def test_dtypes_of_partitions_are_those_of_each_step():
    frame = pd.DataFrame({"k": pd.Series(["a", "a"], dtype="str"), "n": [3, 1]})
    steps = [
        "f.assign(n=f.gpuscan.groupby('k')['n'].cumsum())",
        "f['n'].gpuscan.cummin(exclusive=True)",
    ]
    assert CutCase(frame, steps, True, [[], [1]]).check() == "same bits, and a stream"


def test_errors_of_what_the_last_step_leaves_out_are_those_of_the_whole_frame():
    frame = pd.DataFrame({"x": pd.array([0.0, 0.0], "Float64"), "n": [1, 2]})
    steps = [
        "f.assign(x=f['x'].gpuscan.rank(method='first'))",
        "f.assign(x=f['x'].gpuscan.diff(-1))",
    ]
    assert CutCase(frame, [*steps, "f['n'].gpuscan.cumsum()"], True, [[], [1]]).check() == "refused"
    assert CutCase(frame, ["f['n'].gpuscan.cumsum()"], True, [[], [1]]).check() != "refused"


def test_what_is_left_of_terms_that_cancel_is_rounding():
    x = np.float32([0, 0, 0.1, 0, -0.3, -0.3, 1, 0, 0.1, 0, 0, -0.3, 0, -0.3])
    cuts = [[0, 4], list(range(14))]
    checked = CutCase(pd.DataFrame({"x": x}), ["f['x'].gpuscan.cumsum()"], False, cuts).check()
    assert checked == "same but for rounding, and a stream"


def test_what_is_held_is_told_apart():
    assert held(pd.Series([0.0])) != held(pd.Series([-0.0]))
    assert held(pd.Series([1, 2])) != held(pd.Series([1, 2], dtype="Int64"))
    assert held(pd.Series([np.nan])) == held(pd.Series([-np.nan]))
    assert held(pd.Series([1.0], [3])) != held(pd.Series([1.0], [4]))
    assert held(FRAME) == held(FRAME.copy())
