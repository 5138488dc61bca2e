"""Covariances and correlations of windows against pandas on the whole: of columns with others, and of all pairs."""

import dask
import numpy as np
import pandas as pd
import pytest

from helpers.asked import computed
from helpers.backends import same
from helpers.strategies import partitioned


@pytest.mark.sampled(4)
@pytest.mark.parametrize("periods", [0, 3])
@pytest.mark.parametrize("name", ["cov", "corr"])
def test_pairs_as_pandas(backend, name, periods):
    rng = np.random.default_rng(0)
    df = pd.DataFrame(rng.normal(size=(50, 3)), columns=list("abc"))
    df[rng.random(df.shape) < 0.2] = np.nan
    df.iloc[7, 0] = np.inf
    x, y, other = df["a"], df["b"], (df + rng.normal(size=df.shape))[["c", "a", "b"]]
    asked = {
        "series": (x, (y,), {}),
        "itself": (x, (), {}),
        "frame and series": (df, (y,), {}),
        "series and frame": (x, (df,), {}),
        "frames": (df, (other,), {}),
        "column by column": (df, (), {"pairwise": False}),
        "all pairs": (df, (), {}),
        "all pairs of frames": (df, (other[["a", "c"]],), {"pairwise": True}),
    }
    for obj, others, options in asked.values():
        expected = getattr(obj.expanding(periods), name)(*others, **options)
        weighted = getattr(obj.ewm(span=5, min_periods=periods), name)(*others, **options)
        for cut in (None, [0.1, 0.5, 0.5]):
            own, *theirs = (
                backend.frame(o) if cut is None else partitioned(backend.frame(o), cut)
                for o in (obj, *others)
            )
            found = getattr(own.gpuscan.expanding(periods), name)(*theirs, **options)
            decayed = getattr(own.gpuscan.ewm(span=5, min_periods=periods), name)(
                *theirs, **options
            )
            if cut is not None:
                found, decayed = found.compute(), decayed.compute()
            same(
                backend.to_pandas(found)[list(expected)]
                if expected.ndim > 1
                else backend.to_pandas(found),
                expected,
            )
            decayed = backend.to_pandas(decayed)
            same(decayed[list(weighted)] if weighted.ndim > 1 else decayed, weighted)


def test_pairs_keep_names_that_are_numbers():
    df = pd.DataFrame(np.arange(6.0).reshape(3, 2) ** 2)
    for each in (df, partitioned(df, [0.5])):
        same(computed(each.gpuscan.expanding().cov(each[0])), df.expanding().cov(df[0]))


@pytest.mark.parametrize("name", ["cov", "corr"])
def test_all_pairs_of_windows_and_groups(name):
    rng = np.random.default_rng(1)
    names = pd.Index(list("bac"), name="column")
    df = pd.DataFrame(rng.normal(size=(20, 3)), pd.Index(np.arange(20) // 2, name="row"), names)
    keys = rng.integers(0, 3, 20)
    for cut in ([], [0.3, 0.3, 0.8]):
        each = partitioned(df, cut)
        (found,) = dask.compute(getattr(each.gpuscan.rolling(3), name)())
        pd.testing.assert_frame_equal(found, getattr(df.rolling(3), name)())
        (found,) = dask.compute(getattr(each.gpuscan.rolling(3), name)(each[["c"]], pairwise=True))
        expected = getattr(df.rolling(3), name)(df[["c"]], pairwise=True)
        pd.testing.assert_frame_equal(found, expected)
        grouped = partitioned(df.reset_index(drop=True).assign(k=keys), cut).gpuscan.groupby("k")
        (found,) = dask.compute(getattr(grouped.rolling(3), name)())
        expected = getattr(df.reset_index(drop=True).groupby(keys).rolling(3), name)()
        pd.testing.assert_frame_equal(found, expected.droplevel(0).loc[found.index])
    (found,) = dask.compute(getattr(df[:0].gpuscan.expanding(), name)())
    pd.testing.assert_frame_equal(found, getattr(df[:0].expanding(), name)())


def test_pairs_that_do_not_match():
    df = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 5.0]})
    windows = df.gpuscan.expanding()
    for several in (df.set_index("a", append=True), pd.concat({"a": df}, axis=1)):
        with pytest.raises(ValueError, match="must have one level for statistics of all pairs"):
            several.gpuscan.rolling(2).cov()
    with pytest.raises(TypeError, match="other must be a Series or DataFrame"):
        windows.cov(np.zeros(len(df)))
    with pytest.raises(TypeError, match="other must be a Series or DataFrame"):
        windows.cov([1.0, 2.0])
    twice = df.set_axis(["a", "a"], axis=1)
    for pairwise in (True, False):
        with pytest.raises(ValueError, match="column 'a' is there twice; rename one"):
            df.gpuscan.rolling(2).cov(twice, pairwise=pairwise)
    with pytest.raises(ValueError, match="other must have the index"):
        windows.cov(df["a"][::-1])
    with pytest.raises(ValueError, match="other must have as many rows"):
        windows.cov(df["a"][:1])
    with pytest.raises(ValueError, match="other must have the columns 'a', 'b'"):
        windows.cov(df[["a"]])
    lazy = partitioned(df, [0.5])
    with pytest.raises(TypeError, match="other must be of a Dask collection"):
        lazy.gpuscan.expanding().cov(df["a"])
    with pytest.raises(ValueError, match="other must have the 2 partitions"):
        lazy.gpuscan.expanding().cov(partitioned(df, [])["a"])


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", ["cov", "corr"])
@pytest.mark.parametrize("ignore_na", [False, True])
def test_weighted_pairs_without_adjust(backend, name, ignore_na):
    rng = np.random.default_rng(2)
    df = pd.DataFrame(rng.normal(size=(60, 2)) + 5, columns=["x", "y"])
    df[rng.random(df.shape) < 0.3] = np.nan
    df["c"] = 2.0
    each, cuts = backend.frame(df), [0.0, 0.02, 0.3, 0.3, 0.9]
    for alpha, bias in ((0.1, True), (0.5, False), (1.0, True), (0.7, False)):
        weights = {"alpha": alpha, "adjust": False, "ignore_na": ignore_na, "min_periods": 2}
        options = {"bias": bias} if name == "cov" else {}
        for x, y in (("x", "y"), ("x", "c")):
            expected = getattr(df[x].ewm(**weights), name)(df[y], **options)
            if y == "c" and name == "corr":
                expected = expected * np.nan  # pandas may round a deviation of zero
            for own in (each, partitioned(each, cuts)):
                windows = own[x].gpuscan.ewm(**weights)
                (found,) = dask.compute(getattr(windows, name)(own[y], **options))
                same(backend.to_pandas(found), expected, 1e-6)
