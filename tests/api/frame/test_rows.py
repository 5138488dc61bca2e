"""row_number, cumcount and reset_index over all partitions."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.asked import computed
from helpers.backends import same
from helpers.strategies import FLOATS, OTHERS, columns, cuts, frames, partitioned


@given(df=frames((*FLOATS, *OTHERS)), at=cuts())
def test_row_number(backend, df, at):
    ddf = partitioned(backend.frame(df), at)
    expected = pd.Series(range(len(df)), index=df.index, name="row_number", dtype="int64")
    same(backend.to_pandas(ddf.gpuscan.row_number().compute()), expected)
    same(backend.to_pandas(backend.frame(df).gpuscan.row_number()), expected)


@given(df=frames((*FLOATS, *OTHERS)), at=cuts(), ascending=st.booleans())
def test_cumcount_is_that_of_one_group(backend, df, at, ascending):
    expected = df.groupby(np.zeros(len(df)), sort=False).cumcount(ascending=ascending)
    for obj in (df, df[df.columns[0]]):
        for each in (backend.frame(obj), partitioned(backend.frame(obj), at)):
            same(backend.to_pandas(computed(each.gpuscan.cumcount(ascending=ascending))), expected)


def test_cumcount_takes_a_flag():
    with pytest.raises(ValueError, match="ascending must be True or False, found 'down'"):
        pd.Series([1]).gpuscan.cumcount(ascending="down")


@given(df=frames((*FLOATS, *OTHERS)), at=cuts(), drop=st.booleans())
def test_reset_index(backend, df, at, drop):
    lazy = partitioned(backend.frame(df), at).gpuscan.reset_index(drop=drop)
    assert not lazy.known_divisions
    out = backend.to_pandas(lazy.compute())
    same(out, df.reset_index(drop=drop))
    assert out.index.equals(pd.RangeIndex(len(df)))


@given(x=columns(("int64", "str")), at=cuts(), drop=st.booleans())
def test_reset_index_of_series(backend, x, at, drop):
    lazy = partitioned(backend.frame(x), at).gpuscan.reset_index(drop=drop)
    same(backend.to_pandas(lazy.compute()), x.reset_index(drop=drop))


@pytest.mark.parametrize(
    "labels",
    [[1, 2], ["a", "b"], [1, "b"], [True, False], [1.5, None], [pd.Timestamp("2026"), pd.NaT]],
    ids=repr,
)
def test_labels_that_are_objects_become_what_they_are(labels):
    one = pd.DataFrame({"x": [1, 2]}, index=pd.Index(labels, dtype=object))
    two = one.set_index(pd.MultiIndex.from_arrays([one.index, [3, 4]]))
    for frame in (one, two):
        same(frame.gpuscan.reset_index(), frame.reset_index())
        same(frame["x"].gpuscan.reset_index(), frame["x"].reset_index())
