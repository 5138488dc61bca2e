"""groupby: pandas' answers on the whole data, with equal keys adjacent or anywhere, on whatever partitions."""

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from backends import same
from dask_gpuscan import bitwise_xor, maximum, operator
from strategies import OTHERS, TIMES, columns, cuts, partitioned

# each dtype is a kernel to compile for each operator: families here, the rest of them in the kernels' tests
KEYS = ("int64", "float64", "Int64", "str", "category", "string[pyarrow]")
VALUES = ("int64", "float64", "Int64")
pytestmark = pytest.mark.timeout(1800)
REDUCTIONS = (
    "sum",
    "prod",
    "min",
    "max",
    "any",
    "all",
    "count",
    "mean",
    "var",
    "std",
    "first",
    "last",
)
SCANS = ("cumsum", "cumprod", "cummax", "cummin", "ffill", "bfill")


@st.composite
def keyed(draw, dtypes, clustered, max_keys=1):
    """A frame with keys ``k``, and ``j`` if there are two, and a column ``x``; perhaps with equal keys adjacent."""
    keys = [draw(columns(KEYS)) for _ in range(draw(st.integers(1, max_keys)))]
    x = draw(columns(dtypes))
    count = min(len(x), *(len(k) for k in keys))
    named = dict(zip("kj", keys, strict=False))
    frame = pd.DataFrame({n: k.iloc[:count] for n, k in named.items()} | {"x": x.iloc[:count]})
    frame.index = pd.Index(np.arange(count) * 2 + 10, name="row")
    if clustered:
        groups = frame.groupby(list(named), sort=False, dropna=False, observed=True).ngroup()
        frame = frame.iloc[np.argsort(groups.to_numpy(), kind="stable")]
    return frame, list(named)


def expect(frame, by, method, dropna, sort, **options):
    groups = frame.groupby(by if len(by) > 1 else by[0], sort=sort, dropna=dropna, observed=True)
    try:
        return getattr(groups[["x"]], method)(**options)
    except TypeError:
        assume(False)


@pytest.mark.parametrize("clustered", [True, False])
@given(data=st.data(), at=cuts(), method=st.sampled_from(REDUCTIONS), dropna=st.booleans())
def test_reductions(backend, clustered, data, at, method, dropna):
    df, by = data.draw(keyed(VALUES, clustered, 2))
    expected = expect(df, by, method, dropna, not clustered)
    frame = backend.frame(df)
    options = {"clustered": clustered, "dropna": dropna}
    found = getattr(frame.gpuscan.groupby(by, **options)[["x"]], method)()
    same(backend.to_pandas(found), expected)
    lazy = getattr(partitioned(frame, at).gpuscan.groupby(by, **options)[["x"]], method)()
    same(backend.to_pandas(lazy.compute()), expected)


@pytest.mark.parametrize("clustered", [True, False])
@given(data=st.data(), at=cuts(), method=st.sampled_from(SCANS), dropna=st.booleans())
def test_scans(backend, clustered, data, at, method, dropna):
    dtypes = (*VALUES, *TIMES, *OTHERS) if method in ("ffill", "bfill") else VALUES
    df, by = data.draw(keyed(dtypes, clustered, 2))
    expected = expect(df, by, method, dropna, True)
    frame = backend.frame(df)
    options = {"clustered": clustered, "dropna": dropna}
    found = getattr(frame.gpuscan.groupby(by, **options)[["x"]], method)()
    same(backend.to_pandas(found), expected)
    lazy = getattr(partitioned(frame, at).gpuscan.groupby(by, **options)[["x"]], method)()
    same(backend.to_pandas(lazy.compute()), expected)


@pytest.mark.parametrize("clustered", [True, False])
@given(data=st.data(), at=cuts(), limit=st.integers(1, 3), back=st.booleans())
def test_fills_with_a_limit(clustered, data, at, limit, back):
    df, by = data.draw(keyed(("float64", "str", "Int64"), clustered))
    method = "bfill" if back else "ffill"
    expected = expect(df, by, method, True, True, limit=limit)
    groups = partitioned(df, at).gpuscan.groupby(by, clustered=clustered)[["x"]]
    same(getattr(groups, method)(limit=limit).compute(), expected)


@pytest.mark.parametrize("clustered", [True, False])
@given(data=st.data(), at=cuts(), dropna=st.booleans(), ascending=st.booleans())
def test_rows_are_counted(clustered, data, at, dropna, ascending):
    df, by = data.draw(keyed(VALUES, clustered, 2))
    by_pandas = by if len(by) > 1 else by[0]
    groups = df.groupby(by_pandas, sort=not clustered, dropna=dropna, observed=True)
    for frame in (df, partitioned(df, at)):
        mine = frame.gpuscan.groupby(by, clustered=clustered, dropna=dropna)
        (found,) = dask.compute(mine.cumcount(ascending=ascending))
        same(found, groups.cumcount(ascending=ascending))
        (found,) = dask.compute(mine.row_number())
        same(found, groups.cumcount().rename("row_number"))
        (found,) = dask.compute(mine.size())
        same(found, groups.size())


@pytest.mark.parametrize("clustered", [True, False])
@given(data=st.data(), at=cuts(), back=st.booleans(), exclusive=st.booleans())
def test_any_operator(clustered, data, at, back, exclusive):
    df, by = data.draw(keyed(("int64",), clustered))
    affine = operator(
        lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1]),
        identity=(1, 0),
        lift=lambda x: (3, x),
        lower=lambda s: s[1],
    )

    def walk(values):
        out, state = [], 0
        for x in values[::-1] if back else values:
            after = 3 * state + x
            out.append(state if exclusive else after)
            state = after
        return out[::-1] if back else out

    def last(values):
        state = 0
        for x in values:
            state = 3 * state + x
        return state

    groups = df.groupby(by[0], sort=not clustered, observed=True).x
    reduced = groups.agg(lambda v: last(list(v))).astype("int64") if len(df) else None
    scanned = pd.Series(0, index=df.index, name="x")
    for _, part in groups:
        scanned.loc[part.index] = walk(list(part))
    if df[by[0]].isna().any():
        scanned = scanned.astype(float).mask(df[by[0]].isna())
    for frame in (df, partitioned(df, at)):
        mine = frame.gpuscan.groupby(by, clustered=clustered)["x"]
        (found,) = dask.compute(mine.scan(affine, exclusive=exclusive, reverse=back))
        same(found, scanned)
        if reduced is not None:
            (found,) = dask.compute(mine.reduce(affine))
            same(found, reduced)


@pytest.mark.parametrize("clustered", [True, False])
@given(data=st.data(), at=cuts())
def test_runs_within_groups(clustered, data, at):
    df, by = data.draw(keyed(("int64", "float64", "Int64", "datetime64[ns]"), clustered))

    def count(values):
        values = values.dropna()
        changes = values != values.shift()  # null in the first row of a nullable column
        return int(changes.fillna(True).sum())

    groups = df.groupby(by[0], sort=not clustered, observed=True).x
    expected = pd.Series({k: count(v) for k, v in groups}, dtype="int64")
    for frame in (df, partitioned(df, at)):
        mine = frame.gpuscan.groupby(by, clustered=clustered)["x"]
        (found,) = dask.compute(mine.nunique_consecutive())
        assert found.tolist() == expected.tolist()


flights = pd.DataFrame(
    {
        "k": ["b", "b", "b", "a", "a", "c"],
        "j": [1, 1, 2, 2, 2, 2],
        "x": [1.0, np.nan, 3.0, 4.0, 5.0, np.nan],
        "n": [1, 2, 3, 4, 5, 6],
        "s": ["p", None, "q", "r", None, None],
    }
)


@pytest.mark.parametrize("clustered", [True, None])
@pytest.mark.parametrize("at", [None, [0.2, 0.5, 0.5, 0.9]])
def test_agg(clustered, at):
    frame = flights if at is None else partitioned(flights, at)
    mine = frame.gpuscan.groupby("k", clustered=clustered)
    theirs = flights.groupby("k", sort=not clustered)
    for functions in (
        {"x": "mean", "n": "sum", "s": "first"},
        {"x": ["min", "max"], "s": ["count", "last"]},
        {"x": ["var"], "n": "size"},
    ):
        (found,) = dask.compute(mine.agg(functions))
        same(found, theirs.agg(functions))
    named = {"low": ("x", "min"), "rows": ("x", "size"), "s": ("s", "last")}
    (found,) = dask.compute(mine.agg(**named))
    same(found, theirs.agg(**named))
    (found,) = dask.compute(mine["x"].agg(["min", "std"]))
    same(found, theirs["x"].agg(["min", "std"]))
    (found,) = dask.compute(mine[["x", "n"]].agg("sum"))
    same(found, theirs[["x", "n"]].agg("sum"))
    (found,) = dask.compute(mine["n"].agg("sum"))
    same(found, theirs["n"].agg("sum"))
    (found,) = dask.compute(mine.mean(numeric_only=True))
    same(found, theirs.mean(numeric_only=True))
    (found,) = dask.compute(mine[["n", "x"]].std(ddof=0))
    same(found, theirs[["n", "x"]].std(ddof=0))


@pytest.mark.parametrize("count", [1, 3, 17, 40])
def test_a_group_may_span_any_number_of_partitions(count):
    part = pd.DataFrame({"k": [7] * 3, "x": [1, 2, 3]})
    ddf = dd.from_map(lambda p: p, [part] * count, meta=part.iloc[:0])
    for clustered in (True, False):
        groups = ddf.gpuscan.groupby("k", clustered=clustered)["x"]
        assert groups.sum().compute().to_dict() == {7: 6 * count}
        expected = pd.concat([part] * count).x.cumsum()
        same(groups.cumsum().compute(), expected)
        assert groups.last().compute().to_dict() == {7: 3}


def test_a_key_that_comes_again_is_another_group_if_clustered():
    df = pd.DataFrame({"k": [1, 2, 1], "x": [1, 2, 3]})
    for frame in (df, partitioned(df, [0.4, 0.7])):
        (found,) = dask.compute(frame.gpuscan.groupby("k", clustered=True)["x"].sum())
        assert found.index.tolist() == [1, 2, 1]
        assert found.tolist() == [1, 2, 3]


@given(data=st.data(), parts=st.integers(1, 5))
def test_known_divisions_on_the_key_count_as_clustered(data, parts):
    keys = data.draw(st.lists(st.integers(0, 5), min_size=1, max_size=20))
    df = pd.DataFrame({"x": range(len(keys))}, index=pd.Index(sorted(keys), name="k"))
    ddf = dd.from_pandas(df, npartitions=parts, sort=True)
    shuffled = ddf.map_partitions(lambda p: p.sample(frac=1, random_state=1), meta=df)
    whole = shuffled.compute()
    groups = shuffled.gpuscan.groupby("k")["x"]
    assert "ClusteredReduce" in str(groups.sum().expr.tree_repr())
    same(groups.sum().compute(), whole.groupby("k").x.sum())
    same(groups.first().compute(), whole.groupby("k").x.first())
    same(groups.cumsum().compute(), whole.groupby("k").x.cumsum())
    same(groups.cumcount(ascending=False).compute(), whole.groupby("k").x.cumcount(ascending=False))


def test_series_are_grouped_by_their_index():
    x = pd.Series([1, 2, 3, 4], index=pd.Index(["a", "a", "b", "a"], name="k"), name="x")
    for series in (x, partitioned(x, [0.3, 0.8])):
        groups = series.gpuscan.groupby("k")
        for method in ("sum", "cumsum", "first", "size", "cumcount"):
            (found,) = dask.compute(getattr(groups, method)())
            same(found, getattr(x.groupby("k"), method)())
        (found,) = dask.compute(series.gpuscan.groupby("k", clustered=True).max())
        same(found, pd.Series([2, 3, 4], index=pd.Index(list("aba"), name="k"), name="x"))


def test_categories_may_differ_by_partition():
    parts = [
        pd.DataFrame({"k": pd.Categorical(["a", "b"]), "x": [1, 2]}),
        pd.DataFrame({"k": pd.Categorical(["b", "c"]), "x": [3, 4]}),
    ]
    ddf = dd.from_map(lambda p: p, parts, meta=parts[0].iloc[:0])
    groups = ddf.gpuscan.groupby("k", clustered=True)["x"]
    assert groups.sum().compute().to_dict() == {"a": 1, "b": 5, "c": 4}
    assert groups.cumsum().compute().tolist() == [1, 2, 5, 4]
    assert ddf.gpuscan.groupby("k")["x"].cumsum().compute().tolist() == [1, 2, 5, 4]


def test_a_collection_like_any_other(tmp_path):
    dd.from_pandas(flights, npartitions=2).to_parquet(tmp_path)
    ddf = dd.read_parquet(tmp_path)
    lazy = ddf.gpuscan.groupby("j", clustered=True)["n"].sum()
    tree = str(lazy.optimize(fuse=False).expr.tree_repr())
    assert "'x'" not in tree.split("ReadParquet")[-1]
    assert lazy._name.startswith("groupby-sum-")
    assert lazy._name == ddf.gpuscan.groupby("j", clustered=True)["n"].sum()._name
    assert lazy._name != ddf.gpuscan.groupby("j", clustered=True)["n"].max()._name
    scanned = ddf.gpuscan.groupby("k")["n"].cumsum()
    assert scanned.divisions == ddf.divisions
    wide = ddf.assign(total=scanned, rows=ddf.gpuscan.groupby("k").cumcount())
    groups = flights.groupby("k")
    expected = flights.assign(total=groups.n.cumsum(), rows=groups.cumcount())
    same(wide.compute()[["total", "rows"]], expected[["total", "rows"]])
    assert not lazy.known_divisions


@pytest.mark.parametrize("kind", ["pandas", "dask"])
def test_bad_input(kind):
    frame = flights if kind == "pandas" else partitioned(flights, [0.5])
    for by, error, message in [
        ("z", ValueError, "by names 'z', found 'k', 'j'"),
        (["k", "k"], ValueError, "by names 'k', which is there twice"),
        ([], ValueError, "at least one"),
        (None, TypeError, "by must be the name of a column"),
        (frame["k"], TypeError, "assign other keys as columns"),
        (len, TypeError, "by must be the name"),
    ]:
        with pytest.raises(error, match=message):
            frame.gpuscan.groupby(by)
    with pytest.raises(ValueError, match="clustered must be True or False"):
        frame.gpuscan.groupby("k", clustered="yes")
    with pytest.raises(ValueError, match="dropna must be True or False"):
        frame.gpuscan.groupby("k", dropna=None)
    groups = frame.gpuscan.groupby("k", clustered=True)
    with pytest.raises(TypeError, match=r"sum of column 's': .*numeric_only=True"):
        groups.sum()
    with pytest.raises(TypeError, match=r"cumsum of column 's': .*numeric_only=True"):
        groups.cumsum()
    with pytest.raises(ValueError, match="column 'z' is not there"):
        groups["z"]
    with pytest.raises(ValueError, match="agg names reduction 'banana', accepted are sum, prod"):
        groups.agg({"x": "banana"})
    with pytest.raises(ValueError, match="agg names column 'z'"):
        groups.agg({"z": "sum"})
    with pytest.raises(TypeError, match="agg takes"):
        groups.agg()
    with pytest.raises(TypeError, match="op must be an Operator"):
        groups.scan(max)
    with pytest.raises(TypeError, match="op must be an Operator"):
        groups.reduce("sum")
    with pytest.raises(TypeError, match="takes 2 input columns, found 1"):
        groups["x"].scan(operator(lambda a, b: a, identity=(1.0, 0.0)))
    with pytest.raises(ValueError, match="limit must be a positive integer"):
        groups.ffill(limit=0)
    with pytest.raises(ValueError, match="ddof must be an integer"):
        groups.var(ddof=0.5)


def test_operators_answer_identities_and_nulls():
    df = pd.DataFrame({"k": [1, 1, 2], "x": [6, 3, 5]})
    for clustered in (True, False):
        groups = df.gpuscan.groupby("k", clustered=clustered)
        assert groups["x"].reduce(bitwise_xor).to_dict() == {1: 5, 2: 5}
        assert groups["x"].reduce(maximum).to_dict() == {1: 6, 2: 5}
