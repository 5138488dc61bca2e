"""Values and names in messages: on one line, in few words."""

import numpy as np
import pandas as pd

from dask_gpuscan.kernels.messages import hint, name_list, not_among, shown
from helpers.strategies import partitioned

FRAME = pd.DataFrame({"key": ["a", "b"], "delay": [1.0, 2.0]})


def test_nothing_like_it_is_no_hint():
    assert hint("zzz", ["key", "delay"]) == hint(3, ["3"]) == hint("k" * 1000, ["k"]) == ""
    assert not_among(("a", 1), [("a", 2)]) == "('a', 1) is not a column; columns are ('a', 2)"


def test_values_are_shown_on_one_line():
    class Odd:
        def __repr__(self):
            return "one\ntwo" * 100

    class Broken:
        def __repr__(self):
            raise RuntimeError

    for value in (
        Odd(),
        Broken(),
        FRAME,
        partitioned(FRAME, []),
        np.zeros((3, 3)),
        list(range(10**6)),
    ):
        assert len(shown(value)) <= 100
        assert "\n" not in shown(value)
    assert shown(FRAME) == "a pandas DataFrame"
    assert shown(np.ndarray) == "<class 'numpy.ndarray'>"
    assert shown(np.float64(2.5)) == "np.float64(2.5)"
    assert name_list([]) == "none"
    assert name_list(range(3)) == "0, 1, 2"
    assert name_list(range(10**6)).endswith(", ...")
