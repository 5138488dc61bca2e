"""Answers share no memory with what they were made of: a write to one leaves the other as it is."""

import importlib
import sys
from pathlib import Path

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import dask_gpuscan
from helpers.versions import older

sys.path.insert(0, str(Path(__file__).parents[2] / "docs" / "tools"))
calls = importlib.import_module("support_calls")

COPY_ON_WRITE = [False, True] if older("pandas", "3") else [None]


def unchanged():
    """Rows that sorts, fills and filters leave as they are, under their times."""
    frame = calls.frame().fillna({"x": 7.0, "y": 2.5})
    return frame.assign(n=range(7)).set_index(pd.DatetimeIndex(frame["t"], name="label"))


def of_many_dtypes():
    """The same columns of other dtypes."""
    zoned = pd.date_range("2026-01-01", periods=7, tz="Europe/Berlin")
    return pd.DataFrame(
        {
            "k": pd.array([1, 1, 2, 2, 2, 3, 3], "Int64"),
            "x": pd.array(range(7), "Float64"),
            "a": pd.array(range(7), "double[pyarrow]"),
            "t": zoned,
            "n": range(7),
            "o": pd.Series(list("abcdefg"), dtype=object),
            "c": pd.Categorical(list("abcabca")),
            "p": pd.period_range("2026-01-01", periods=7, freq="D"),
            "i": pd.arrays.IntervalArray.from_breaks(range(8)),
        }
    ).set_index(zoned.rename("label"))


KEPT = {
    "shift(0)": lambda rows: rows.shift(0),
    "shift(freq)": lambda rows: rows.shift(1, freq="D"),
    "shift(0, freq)": lambda rows: rows.shift(0, freq="D"),
    "ffill": lambda rows: rows.ffill(),
    "bfill(limit)": lambda rows: rows.bfill(limit=1),
    "reset_index": lambda rows: rows.reset_index(),
    "reset_index(drop)": lambda rows: rows.reset_index(drop=True),
    "sort_index": lambda rows: rows.sort_index(),
}
"""Methods of series and frames that may have nothing to do."""

OF_FRAMES = {
    "sort_values": lambda rows: rows.sort_values("n"),
    "filter": lambda rows: rows.filter("n >= 0"),
    "drop_duplicates": lambda rows: rows.drop_duplicates("n"),
    "unique_consecutive": lambda rows: rows.unique_consecutive("n"),
    "nlargest": lambda rows: rows.nlargest(9, "n"),
    "windows of one row": lambda rows: rows.rolling(1).max(numeric_only=True),
    "weights of one row": lambda rows: rows.ewm(alpha=1).mean(numeric_only=True),
    "buckets of one row": lambda rows: rows.resample("D").first(),
    "first of groups of one row": lambda rows: rows.groupby("n").first(),
    "first of runs of one row": lambda rows: rows.groupby("n", clustered=True).first(),
    "groups": lambda rows: rows.groupby("k").ffill(),
    "adjacent groups": lambda rows: rows.groupby("k", clustered=True).ffill(),
    "groups of shift(0)": lambda rows: rows.groupby("k").shift(0),
    "head": lambda rows: rows.groupby("k").head(9),
}


def written(answer):
    """Write to each column of an answer, and return how many."""
    if isinstance(answer, tuple):
        return sum(map(written, answer))
    if isinstance(answer, np.ndarray) and answer.ndim:
        answer[...] = answer[::-1].copy()
        return 1
    if isinstance(answer, pd.DataFrame):
        for place in range(answer.shape[1]):
            column = answer.iloc[::-1, place].array.copy()
            for row in range(
                len(answer)
            ):  # a whole column would be put in the place of the old one
                answer.iloc[row, place] = column[row]
        return answer.shape[1]
    if isinstance(answer, pd.Series) and not isinstance(answer.array, pd.arrays.SparseArray):
        answer.iloc[:] = answer.iloc[::-1].array.copy()
        return 1
    return 0


def computed(answer):
    if isinstance(answer, tuple):
        return tuple(map(computed, answer))
    return answer.compute() if hasattr(answer, "compute") else answer


RECEIVERS = {
    "pandas": lambda rows: rows,
    "Dask": lambda rows: dd.from_pandas(rows, npartitions=1, sort=False),
    "stream": lambda rows: dask_gpuscan.stream([rows]),
}


@pytest.fixture(params=COPY_ON_WRITE)
def copies(request):
    """Whether pandas copies what is written to."""
    if request.param is None:
        yield
        return
    with pd.option_context("mode.copy_on_write", request.param):
        yield


@pytest.mark.sampled(3)
@pytest.mark.usefixtures("copies")
@pytest.mark.parametrize("receiver", RECEIVERS)
@pytest.mark.parametrize("frame", [unchanged, of_many_dtypes])
def test_rows_that_stay_as_they_are(frame, receiver):
    count = 0
    for columns in (None, *frame()):
        for call in (KEPT | OF_FRAMES if columns is None else KEPT).values():
            rows = frame()
            before = rows.copy(deep=True)
            given = rows if columns is None else rows[columns]
            if receiver == "stream" and call in (KEPT["sort_index"], OF_FRAMES["sort_values"]):
                continue  # of a stream there is no order of all rows
            count += written(computed(call(RECEIVERS[receiver](given).gpuscan)))
            pd.testing.assert_frame_equal(rows, before)
    assert count > 100


@pytest.mark.usefixtures("copies")
def test_every_method():
    count = 0
    for name, call in calls.CALLS.items():
        if not name.endswith((".idxmax", ".idxmin", "Gpuscan.resume")):
            rows = unchanged()
            before = rows.copy(deep=True)
            count += written(computed(call(rows)))
            pd.testing.assert_frame_equal(rows, before)
    for call in calls.ARRAY_CALLS.values():
        numbers = calls.numbers()
        count += written(call(numbers))
        assert numbers.tolist() == calls.numbers().tolist()
    assert count > len(calls.CALLS) // 2


LABELLED = {
    **KEPT,
    "cumsum": lambda rows: rows.cumsum(),
    "diff": lambda rows: rows.diff(),
    "rolling": lambda rows: rows.rolling(2).sum(),
    "rank": lambda rows: rows.rank(),
    "groups": lambda rows: rows.groupby("k").cumsum(),
    "unique_consecutive": lambda rows: rows.unique_consecutive(),
}


@pytest.mark.skipif(older("pandas", "3"), reason="older pandas shares labels, too")
@pytest.mark.parametrize("method", LABELLED)
@pytest.mark.parametrize("of", ["frame", "levels", "stream"])
def test_the_names_of_labels_are_the_answers_own(method, of):
    rows = pd.DataFrame({"k": [1, 1, 2], "x": [1.0, 2.0, 2.5]}, pd.RangeIndex(3, name="label"))
    if of == "levels" or "freq" in method:
        rows.index = pd.date_range("2026-01-01", periods=3, name="label")
    if of == "levels" and "freq" not in method:
        rows.index = pd.MultiIndex.from_arrays([rows.index, range(3)], names=["label", None])
    source = dask_gpuscan.stream([rows]) if of == "stream" else rows
    try:
        answer = LABELLED[method](source.gpuscan)
    except NotImplementedError:
        pytest.skip("a stream has no such method")
    answer = answer.compute() if of == "stream" else answer
    answer.index.names = ["other"] * answer.index.nlevels
    answer.columns.name = "other"
    assert rows.index.names[0] == "label"
    assert rows.columns.name is None


def test_runs_of_no_rows_are_another_frame():
    rows = unchanged().iloc[:0]
    for empty in (rows, rows["x"]):
        answer = empty.gpuscan.unique_consecutive()
        assert answer is not empty
        answer.index.name = "other"
        assert empty.index.name == "label"
