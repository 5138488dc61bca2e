"""ewm and expanding against pandas on the whole."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends import same
from strategies import FLOATS, INTEGERS, columns, cuts, frames, partitioned

NUMBERS = (*INTEGERS, *FLOATS)
STATISTICS = ["sum", "mean", "var", "std", "min", "max", "count"]


@given(
    df=frames(NUMBERS), at=cuts(), statistic=st.sampled_from(STATISTICS), periods=st.integers(0, 4)
)
def test_expanding_as_pandas(backend, df, at, statistic, periods):
    expected = getattr(df.expanding(periods), statistic)()
    lazy = getattr(partitioned(backend.frame(df), at).gpuscan.expanding(periods), statistic)()
    assert lazy.dtypes.tolist() == expected.dtypes.tolist()
    same(backend.to_pandas(lazy.compute()), expected, rtol=1e-6)


@given(
    x=columns(NUMBERS),
    at=cuts(),
    alpha=st.sampled_from([0.1, 0.5, 1.0]),
    adjust=st.booleans(),
    ignore_na=st.booleans(),
    periods=st.integers(0, 4),
)
def test_ewm_as_pandas(backend, x, at, alpha, adjust, ignore_na, periods):
    options = {"alpha": alpha, "adjust": adjust, "ignore_na": ignore_na, "min_periods": periods}
    expected = x.ewm(**options).mean()
    lazy = partitioned(backend.frame(x), at).gpuscan.ewm(**options).mean()
    same(backend.to_pandas(lazy.compute()), expected, rtol=1e-6)
    same(backend.to_pandas(backend.frame(x).gpuscan.ewm(**options).mean()), expected, rtol=1e-6)


@pytest.mark.parametrize("decay", [{"com": 2}, {"span": 5}, {"halflife": 3.5}, {"alpha": 0.3}])
def test_every_way_to_name_the_decay(backend, decay):
    x = pd.Series(np.random.default_rng(0).normal(size=100))
    lazy = partitioned(backend.frame(x), [0.3, 0.6]).gpuscan.ewm(**decay).mean()
    same(backend.to_pandas(lazy.compute()), x.ewm(**decay).mean())


def test_long_series_and_infinities(backend):
    rng = np.random.default_rng(0)
    x = pd.Series(rng.normal(100, 1, 50_000))
    x[rng.random(len(x)) < 0.2] = np.nan
    x[[5, 40_000]] = np.inf
    ddf = partitioned(backend.frame(x), [0.1, 0.5, 0.5, 0.9])
    for statistic in STATISTICS:
        lazy = getattr(ddf.gpuscan.expanding(), statistic)()
        same(backend.to_pandas(lazy.compute()), getattr(x.expanding(), statistic)(), rtol=1e-9)
    for adjust in (True, False):
        lazy = ddf.gpuscan.ewm(span=1000, adjust=adjust).mean()
        same(backend.to_pandas(lazy.compute()), x.ewm(span=1000, adjust=adjust).mean(), rtol=1e-9)


@pytest.mark.parametrize("alpha", [0.3, 0.5, 0.9, 2 / 11, 1.0])
@pytest.mark.parametrize("ignore_na", [False, True])
def test_long_gaps_keep_the_mean(backend, alpha, ignore_na):
    x = pd.Series([5.0, np.nan, 7.0, *[np.nan] * 5000, 1.0, np.nan, np.nan, 2.0])
    for adjust in (True, False):
        options = {"alpha": alpha, "adjust": adjust, "ignore_na": ignore_na}
        lazy = partitioned(backend.frame(x), [0.3, 0.6, 0.9]).gpuscan.ewm(**options).mean()
        same(backend.to_pandas(lazy.compute()), x.ewm(**options).mean())


def test_constants_stay_constant(backend):
    x = pd.Series(np.full(40_000, 0.1))
    ddf = partitioned(backend.frame(x), [0.3, 0.6])
    assert (ddf.gpuscan.ewm(alpha=0.3).mean().compute() == 0.1).all()
    means = backend.to_pandas(ddf.gpuscan.expanding().mean().compute())
    np.testing.assert_allclose(means, 0.1, rtol=3e-16)


def test_sums_keep_what_rounding_loses(backend):
    x = pd.Series([1e16, 1.0, 1.0, -1e16])
    assert partitioned(backend.frame(x), [0.5]).gpuscan.expanding().sum().compute().iloc[-1] == 2.0


def test_count_counts_what_is_not_null():
    import pyarrow as pa

    values = pa.array([1.0, np.nan, None, 3.0])
    x = pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([values])))
    same(x.gpuscan.expanding().count(), x.expanding().count())


@pytest.mark.parametrize("ddof", [0, 1, 2])
def test_ddof(backend, ddof):
    x = pd.Series([1.0, 4.0, None, 2.0, 8.0])
    windows = partitioned(backend.frame(x), [0.5]).gpuscan.expanding()
    same(backend.to_pandas(windows.var(ddof).compute()), x.expanding().var(ddof=ddof))
    same(backend.to_pandas(windows.std(ddof=ddof).compute()), x.expanding().std(ddof=ddof))


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"com": 1, "span": 2},
        {"com": -1},
        {"span": 0},
        {"alpha": 0},
        {"alpha": 1.5},
        {"halflife": 0},
    ],
)
def test_bad_decay_as_pandas(arguments):
    x = pd.Series([1.0])
    with pytest.raises(ValueError) as theirs:  # noqa: PT011 (the message is compared)
        x.ewm(**arguments)
    with pytest.raises(ValueError) as ours:  # noqa: PT011
        x.gpuscan.ewm(**arguments)
    assert str(ours.value) == str(theirs.value)


def test_bad_arguments():
    x = pd.Series([1.0], name="x")
    with pytest.raises(ValueError, match="halflife must be a number"):
        x.gpuscan.ewm(halflife="1D")
    with pytest.raises(ValueError, match="min_periods"):
        x.gpuscan.expanding(-1)
    with pytest.raises(ValueError, match="ddof must be an integer"):
        x.gpuscan.expanding().var(0.5)
    for bad in (pd.Series(["a"], name="s"), pd.Series(pd.to_datetime(["2026"]), name="s")):
        for series in (bad, partitioned(bad, [])):
            with pytest.raises(TypeError, match="column 's'"):
                series.gpuscan.expanding().sum()
            with pytest.raises(TypeError, match="column 's'"):
                series.gpuscan.ewm(alpha=0.5).mean()


def test_no_min_periods_as_pandas():
    x = pd.Series([np.nan, 1.0, 2.0])
    same(x.gpuscan.expanding(None).sum(), x.expanding(None).sum())
