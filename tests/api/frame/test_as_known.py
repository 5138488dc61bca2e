"""merge_asof(known=): what a loop over the rows that were known at the time gives, whatever the cuts of both sides."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dask_gpuscan
from dask_gpuscan import merge_asof
from helpers.asked import computed
from helpers.strategies import cuts, partitioned


@st.composite
def tables(draw):
    """Moments in order, and facts in any order, some of which were never known."""
    keys, times = st.sampled_from("ab"), st.integers(0, 12)
    asked = sorted(draw(st.lists(st.tuples(times, keys), max_size=12)))
    facts = draw(st.lists(st.tuples(times, keys, st.integers(-2, 6) | st.none()), max_size=14))
    left = pd.DataFrame(asked, columns=["t", "k"]).astype({"t": "float64", "k": "str"})
    rows = [(t, k, None if delay is None else t + delay) for t, k, delay in facts]
    right = pd.DataFrame(rows, columns=["t", "k", "since"])
    right = right.astype({"t": "float64", "k": "str", "since": "float64"})
    return left, right.assign(v=np.arange(len(right)) * 1.0)


def loop(left, right, keyed, exact):
    found = []
    for row in left.itertuples():
        best, value = None, np.nan
        for fact in right.itertuples():
            seen = max(fact.t, fact.since)  # NaN was never known
            is_known = not np.isnan(fact.since) and (seen <= row.t if exact else seen < row.t)
            if (
                is_known
                and (not keyed or fact.k == row.k)
                and (best is None or (fact.t, seen) >= best)
            ):
                best, value = (fact.t, seen), fact.v
        found.append(value)
    return found


@given(sides=tables(), cut=cuts(), other=cuts(), keyed=st.booleans(), exact=st.booleans())
def test_the_newest_that_was_known(backend, sides, cut, other, keyed, exact):
    expected = loop(*sides, keyed, exact)
    left, right = map(backend.frame, sides)
    if not keyed:
        right = right.drop(columns="k")
    options = {
        "on": "t",
        "by": "k" if keyed else None,
        "known": "since",
        "allow_exact_matches": exact,
    }
    for rows in (left, partitioned(left, cut)):
        for facts in (right, partitioned(right, other)):
            found = backend.to_pandas(computed(merge_asof(rows, facts, **options)))
            np.testing.assert_array_equal(found["v"].to_numpy("float64"), expected)
            assert list(found) == ["t", "k", "since", "v"]


def test_a_stream_of_rows():
    left, right = (
        pd.DataFrame({"t": [3, 5, 7]}),
        pd.DataFrame({"t": [1, 1], "since": [2, 6], "v": [10, 12]}),
    )
    answers = merge_asof(dask_gpuscan.stream([left[:1], left[1:]]), right, on="t", known="since")
    assert [batch["v"].tolist() for batch in answers] == [[10], [10, 12]]
    with pytest.raises(NotImplementedError, match="needs rows that come later"):
        merge_asof(dask_gpuscan.stream([left]), dask_gpuscan.stream([right]), on="t", known="since")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"on": "t", "tolerance": 3}, ValueError, "without tolerance"),
        ({"on": "t", "direction": "forward"}, ValueError, "backwards"),
        ({"left_index": True, "right_on": "t"}, ValueError, "on columns"),
        ({}, ValueError, "known needs on"),
        ({"on": "t", "known": "x"}, ValueError, "known='x' is not a column"),
        (
            {"on": "t", "known": "v"},
            TypeError,
            "must have the dtype of 't', found float64 and int64",
        ),
    ],
)
def test_refused(options, error, message):
    left = pd.DataFrame({"t": [3, 5]})
    right = pd.DataFrame({"t": [1], "since": [2], "v": [0.5]})
    with pytest.raises(error, match=message):
        merge_asof(left, right, **{"known": "since"} | options)
