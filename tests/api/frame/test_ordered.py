"""order_by: what pandas computes on sorted rows, brought back to the rows' own order, whatever the partitions."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dask_gpuscan
from helpers.asked import computed
from helpers.backends import same
from helpers.strategies import cuts, partitioned


@st.composite
def frames(draw):
    """Rows in any order, with ties and nulls among the times, and labels that repeat."""
    times = st.one_of(st.none(), st.integers(0, 6))
    rows = draw(st.lists(st.tuples(st.sampled_from("ab"), times, st.integers(-5, 5)), max_size=20))
    frame = pd.DataFrame(rows, columns=["k", "t", "x"])
    frame = frame.astype({"k": "str", "t": "float64", "x": "float64"})
    return frame.set_axis(pd.Index(np.arange(len(rows)) // 2, name="label"))


def by_pandas(df, by, ascending, ask):
    rows = df.reset_index(drop=True)
    found = ask(rows.sort_values(by, ascending=ascending, kind="stable"))
    return found.sort_index().set_axis(df.index)


CALLS = {
    "cumsum": (lambda m: m["x"].cumsum(), lambda s: s["x"].cumsum()),
    "ffill": (lambda m: m[["t", "x"]].ffill(), lambda s: s[["t", "x"]].ffill()),
    "rolling": (
        lambda m: m["x"].rolling(3, min_periods=1).max(),
        lambda s: s["x"].rolling(3, min_periods=1).max(),
    ),
    "groups": (lambda m: m.groupby("k")["x"].shift(), lambda s: s.groupby("k")["x"].shift()),
    "windows of groups": (
        lambda m: m.groupby("k").rolling(2, min_periods=1)["x"].sum(),
        lambda s: s.groupby("k")["x"].transform(lambda x: x.rolling(2, min_periods=1).sum()),
    ),
    "fold": (
        lambda m: m.fold(lambda total, x: (total + x, total), "x", initial=0.0),
        lambda s: (s["x"].cumsum() - s["x"]).rename("x"),
    ),
}


@pytest.mark.parametrize("name", CALLS)
@given(df=frames(), at=cuts(), ascending=st.booleans())
def test_answers(name, df, at, ascending):
    ours, theirs = CALLS[name]
    expected = by_pandas(df, ["t"], ascending, theirs)
    for rows in (df, partitioned(df, at)):
        answer = ours(rows.gpuscan.order_by("t", ascending))
        found = computed(answer)
        same(found, expected)
        if rows is not df:
            assert answer.divisions == rows.divisions
            same(
                computed(rows.assign(y=answer if answer.ndim == 1 else answer["x"]))[
                    ["k", "t", "x"]
                ],
                df,
            )


@given(df=frames(), at=cuts())
def test_several_keys_and_the_short_way(df, at):
    expected = by_pandas(df, ["k", "t"], [True, False], lambda s: s["x"].cumsum())
    of_groups = by_pandas(df, ["t"], True, lambda s: s.groupby("k")["x"].cumsum())
    for rows in (df, partitioned(df, at)):
        methods = rows.gpuscan.order_by(["k", "t"], ascending=[True, False])
        same(computed(methods.x.cumsum()), expected)
        same(computed(rows.gpuscan.groupby("k", order_by="t")["x"].cumsum()), of_groups)


@given(df=frames(), at=cuts())
def test_partitions_keep_their_rows(df, at):
    rows = partitioned(df, at)
    answer = rows.gpuscan.order_by("t")["x"].cumsum()
    lengths = [len(part) for part in rows.partitions]
    assert [len(part) for part in answer.partitions] == lengths


def test_polars_and_rows_that_are_in_order():
    pl = pytest.importorskip("polars")
    df = pd.DataFrame({"t": [3, 1, 2], "x": [1, 2, 4]})
    assert pl.from_pandas(df).gpuscan.order_by("t")["x"].cumsum().to_list() == [7, 2, 6]
    methods = df.sort_values("t").gpuscan.order_by("t")
    assert methods["x"].cumsum().to_dict() == {1: 2, 2: 6, 0: 7}
    assert methods["x"].row_number().tolist() == [0, 1, 2]
    assert "cumsum" in dir(methods)
    assert "in another order" in repr(methods)


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        (
            lambda m: m.order_by("z"),
            ValueError,
            "by='z' is not a column; columns are 'k', 't', 'x'",
        ),
        (lambda m: m.order_by("t", ascending=[True, False]), ValueError, "one flag a key"),
        (lambda m: m.order_by("t", na_position="middle"), ValueError, "na_position"),
        (lambda m: m.order_by("t").filter("x > 1"), AttributeError, "order_by has no 'filter'"),
        (
            lambda m: m.order_by("t").groupby("k")["x"].sum(),
            AttributeError,
            "order_by has no 'sum'",
        ),
        (lambda m: m.order_by("t").groupby(pd.Series([1, 2])), TypeError, "takes names of columns"),
        (lambda m: m.order_by("t").nothing(), AttributeError, "no method 'nothing'"),
    ],
)
def test_refused(asked, error, message):
    df = pd.DataFrame({"k": list("ab"), "t": [1, 2], "x": [1, 2]})
    for rows in (df, dd.from_pandas(df, npartitions=2)):
        with pytest.raises(error, match=message):
            asked(rows.gpuscan)
    with pytest.raises(TypeError, match="found a Series"):
        df["x"].gpuscan.order_by("t")
    with pytest.raises(NotImplementedError, match="needs rows that come later"):
        dask_gpuscan.stream([df]).gpuscan.order_by("t")
