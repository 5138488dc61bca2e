"""row_number and reset_index over all partitions."""

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from backends import same
from strategies import FLOATS, OTHERS, columns, cuts, frames, partitioned


@given(df=frames((*FLOATS, *OTHERS)), at=cuts())
def test_row_number(backend, df, at):
    ddf = partitioned(backend.frame(df), at)
    expected = pd.Series(range(len(df)), index=df.index, name="row_number", dtype="int64")
    same(backend.to_pandas(ddf.gpuscan.row_number().compute()), expected)
    same(backend.to_pandas(backend.frame(df).gpuscan.row_number()), expected)


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
