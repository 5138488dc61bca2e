"""Columns chosen from windows: pandas' answers on the whole data, on whatever partitions."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dask_gpuscan
from helpers.asked import check
from helpers.backends import Backend
from helpers.strategies import cuts

CPU = Backend()

CHOICES = {
    "rows": lambda it, c: it.rolling(3, min_periods=1)[c].sum(),
    "median of rows": lambda it, c: it.rolling(3, min_periods=1)[c].median(),
    "all rows": lambda it, c: it.expanding()[c].max(),
    "median of all rows": lambda it, c: it.expanding()[c].median(),
    "weights": lambda it, c: it.ewm(alpha=0.5)[c].mean(),
    "several statistics": lambda it, c: it.rolling(3, min_periods=1)[c].agg(["sum", "min"]),
}


@st.composite
def frames(draw):
    values = st.integers(-8, 8).map(float) | st.none()
    row = st.tuples(st.sampled_from("abc"), values, values, st.integers(0, 2))
    rows = draw(st.lists(row, max_size=16))
    frame = pd.DataFrame(rows, columns=["k", "x", "y", "hours"])
    hours = pd.to_timedelta(frame["hours"].astype("int64").cumsum(), "h")
    numbers = frame[["x", "y"]].astype("float64")
    when = (pd.Timestamp("2026-01-01") + hours).astype("datetime64[ns]")
    return frame[["k"]].assign(x=numbers["x"], y=numbers["y"], t=when)


@pytest.mark.parametrize("name", CHOICES)
@given(frame=frames(), at=cuts(), chosen=st.sampled_from(["x", ["x"], ["y", "x"]]))
def test_as_in_pandas(name, frame, at, chosen):
    ask = CHOICES[name]
    check(CPU, frame, at, lambda it: ask(it, chosen), ask(frame, chosen))


@given(frame=frames(), at=cuts(), chosen=st.sampled_from(["x", ["x"], ["y", "x"]]))
def test_with_a_column_of_times(frame, at, chosen):
    ask = lambda it: it.rolling("2h", on="t")[chosen].sum()  # noqa: E731
    check(CPU, frame, at, ask, ask(frame))
    if isinstance(chosen, list):
        return
    check(CPU, frame, at, lambda it: it.rolling("2h", on="t").x.sum(), ask(frame))
    both = lambda it: it.rolling("2h", on="t")["x"].agg(["sum", "max"])  # noqa: E731
    own = {name: getattr(frame.rolling("2h", on="t")["x"], name)() for name in ("sum", "max")}
    check(CPU, frame, at, both, pd.DataFrame(own))
    weighted = lambda it: it.ewm(halflife="1h", times="t")["x"].mean()  # noqa: E731
    check(CPU, frame, at, weighted, frame["x"].ewm(halflife="1h", times=frame["t"]).mean())


GROUPS = {
    "rows": lambda it: it.rolling(2),
    "times": lambda it: it.rolling("2h", on="t"),
    "all rows": lambda it: it.expanding(),
    "weights": lambda it: it.ewm(alpha=0.5),
}


@pytest.mark.parametrize("name", GROUPS)
@given(frame=frames(), at=cuts(), chosen=st.sampled_from(["x", ["y", "x"]]))
def test_of_groups(name, frame, at, chosen):
    ask = lambda it: GROUPS[name](it.groupby("k"))[chosen].mean()  # noqa: E731
    expected = GROUPS[name](frame.gpuscan.groupby("k")[chosen]).mean()
    check(CPU, frame, at, ask, expected)
    if name in ("rows", "all rows") and len(frame):
        expected = GROUPS[name](frame.groupby("k"))[chosen].mean().droplevel(0).sort_index()
        check(CPU, frame, at, ask, expected)


def test_operators_and_pairs_of_a_chosen_column():
    frame = pd.DataFrame({"x": [3, 1, 2], "y": [1.0, 5.0, 4.0]})
    found = frame.gpuscan.rolling(2, min_periods=0)["x"].scan(dask_gpuscan.bitwise_or)
    assert found.tolist() == [3, 3, 3]
    pd.testing.assert_series_equal(
        frame.gpuscan.rolling(2)["x"].corr(frame["y"]), frame.rolling(2)["x"].corr(frame["y"])
    )


def test_columns_that_cannot_be_chosen():
    frame = pd.DataFrame({"x": [1.0], "t": pd.to_datetime(["2026-01-01"])})
    with pytest.raises(TypeError, match="a Series has no columns"):
        frame["x"].gpuscan.rolling(2)["x"]
    for windows in (
        frame.gpuscan.rolling("1h", on="t"),
        frame.gpuscan.ewm(halflife="1h", times="t"),
    ):
        with pytest.raises(KeyError, match="'t' is not a column; columns are 'x'"):
            windows["t"]
