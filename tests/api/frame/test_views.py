"""Answers have memory of their own: writing into one changes neither its input nor another answer.

In pandas 3 any frame copies what it shares when it is written to; pandas 2 does not.
"""

import numpy as np
import pandas as pd
import pytest

from dask_gpuscan import merge_asof

COUNT = 4
FRAME = pd.DataFrame(
    {"k": [1, 1, 2, 2], "x": [1.0, 2.0, 3.0, 4.0], "n": np.arange(COUNT)},
    index=pd.date_range("2026-01-01", periods=COUNT, freq="D"),
)

RIGHT = pd.DataFrame({"n": np.arange(COUNT), "y": 0})

# each in the case in which all rows stay what and where they are
SAME_ROWS = {
    "ffill": lambda f: f.gpuscan.ffill(),
    "bfill": lambda f: f.gpuscan.bfill(limit=1),
    "interpolate": lambda f: f.gpuscan.interpolate(),
    "cummax": lambda f: f.gpuscan.cummax(),
    "shift": lambda f: f.gpuscan.shift(0),
    "rolling": lambda f: f.gpuscan.rolling(1).max(),
    "ewm": lambda f: f.gpuscan.ewm(alpha=1).mean(),
    "filter": lambda f: f.gpuscan.filter("x > 0"),
    "partition": lambda f: f.gpuscan.partition("x > 0")[0],
    "unique_consecutive": lambda f: f.gpuscan.unique_consecutive(),
    "rle": lambda f: f.gpuscan.rle(),
    "drop_duplicates": lambda f: f.gpuscan.drop_duplicates(),
    "sort_values": lambda f: f.gpuscan.sort_values("x"),
    "sort_index": lambda f: f.gpuscan.sort_index(),
    "nsmallest": lambda f: f.gpuscan.nsmallest(COUNT, "x"),
    "reset_index": lambda f: f.gpuscan.reset_index(drop=True),
    "head": lambda f: f.gpuscan.groupby("k").head(COUNT),
    "tail": lambda f: f.gpuscan.groupby("k").tail(COUNT),
    "nth": lambda f: f.gpuscan.groupby("n").nth(0),
    "shift of groups": lambda f: f.gpuscan.groupby("k").shift(0),
    "ffill of groups": lambda f: f.gpuscan.groupby("k").ffill(),
    "ffill of clustered groups": lambda f: f.gpuscan.groupby("k", clustered=True).ffill(),
    "first of groups": lambda f: f.gpuscan.groupby("n").first(),
    "first of clustered groups": lambda f: f.gpuscan.groupby("n", clustered=True).first(),
    "resample": lambda f: f.gpuscan.resample("D").first(),
    "merge_asof": lambda f: merge_asof(f, RIGHT, on="n"),
}


@pytest.mark.parametrize("dtype", ["float64", "Float64", "double[pyarrow]"])
@pytest.mark.parametrize("method", SAME_ROWS)
def test_writing_into_an_answer_changes_no_input(method, dtype):
    frame = FRAME.astype({"x": dtype})
    before = frame.copy(deep=True)
    answer = SAME_ROWS[method](frame)
    assert len(answer) == COUNT
    for i, dtype in enumerate(answer.dtypes):
        if dtype.kind in "if":
            answer.iloc[0, i] = -1
    pd.testing.assert_frame_equal(frame, before)


def test_runs_of_no_rows_are_another_frame():
    for empty in (FRAME.iloc[:0], FRAME["x"].iloc[:0]):
        answer = empty.gpuscan.unique_consecutive()
        assert answer is not empty
        answer.index.name = "other"
        assert empty.index.name is None
