"""groupby: pandas' answers on the whole data, with equal keys adjacent or anywhere, on whatever partitions."""

from decimal import Decimal

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dask_gpuscan import bitwise_xor, last, maximum, multiply, operator
from helpers.asked import adjacent, computed
from helpers.backends import Backend, same
from helpers.strategies import OTHERS, TIMES, columns, cuts, partitioned, two_thirds
from helpers.versions import STRING, older
from helpers.widened import REDUCTIONS, as_nullable, can_be_null, widened

# each dtype is a kernel to compile for each operator: families here, the rest of them in the kernels' tests
KEYS = ("int64", "float64", "Int64", "str", "category", "string[pyarrow]")
VALUES = ("int64", "float64", "Int64")
pytestmark = pytest.mark.timeout(1800)
FLOATS_BESIDE_NULL_KEYS = older("pandas", "3.1")  # of Int64 with rows in no group
SCANS = ("cumsum", "cumprod", "cummax", "cummin", "ffill", "bfill")


@st.composite
def keyed(draw, dtypes, clustered, max_keys=1):
    """A frame with keys ``k``, and ``j`` if there are two, and a column ``x``; perhaps with equal keys adjacent."""
    keys = [
        draw(columns(KEYS if i == 0 else ("str",))) for i in range(draw(st.integers(1, max_keys)))
    ]
    x = draw(columns(dtypes))
    count = min(len(x), *(len(k) for k in keys))
    named = dict(zip("kj", keys, strict=False))
    frame = pd.DataFrame({n: k.iloc[:count] for n, k in named.items()} | {"x": x.iloc[:count]})
    frame.index = pd.Index(np.arange(count) * 2 + 10, name="row")
    return adjacent(frame, list(named)) if clustered else frame, list(named)


def expect(backend, frame, by, method, dropna, sort, **options):
    """What pandas says of the whole; examples that it or the partitions' own library refuses are left out."""

    def ask(frame, **more):
        key = by if len(by) > 1 else by[0]
        groups = frame.groupby(key, sort=sort, dropna=dropna, observed=True)
        return getattr(groups[["x"]], method)(**options, **more)

    assume(backend.answer(frame, ask) is not None and Backend().answer(frame, ask) is not None)
    # of no rows cuDF answers what it refuses of any
    assume(len(frame) or not (backend.name == "cuda" and frame.x.dtype.kind == "m"))
    nothing = backend.name == "cuda" and method in ("sum", "prod") and frame.x.dtype.kind != "O"
    return ask(frame, **({"min_count": 1} if nothing else {}))  # to cuDF a sum of nothing is null


def check(backend, frame, at, ask, expected, lazy=None):
    """Ask the whole frame and its partitions, on a backend; these may answer with other dtypes."""
    whole = backend.frame(frame)
    for each, answer in ((whole, expected), (partitioned(whole, at), lazy)):
        same(backend.to_pandas(computed(ask(each.gpuscan))), expected if answer is None else answer)


def narrow(backend):
    """Narrow integers, whose answers pandas widens by their values; others, and what cuDF does, are in test_narrow."""
    return ("int8",) if backend.name == "cpu" else ()


def with_nulls(backend, frame, by, dropna, expected, own):
    """What a frame answers to a scan of groups, and what partitions do: these cannot know whether a key is null.

    `own` has the dtypes of answers where no key is null.
    """
    if not dropna or backend.name != "cpu":
        return expected, expected
    is_null, can_be = frame[by].isna().any(axis=None), any(map(can_be_null, frame[by].dtypes))
    held = as_nullable(expected, own)
    return held if is_null else expected, held if can_be else expected


@pytest.mark.parametrize("clustered", [True, False])
@two_thirds
@given(data=st.data(), at=cuts(), method=st.sampled_from(REDUCTIONS), dropna=st.booleans())
def test_reductions(backend, clustered, data, at, method, dropna):
    dtypes = (*VALUES, *narrow(backend), "timedelta64[ns]", STRING)
    df, by = data.draw(keyed(dtypes, clustered, 2))
    expected = expect(backend, df, by, method, dropna, not clustered)
    options = {"clustered": clustered, "dropna": dropna}
    ask = lambda it: getattr(it.groupby(by, **options)[["x"]], method)()  # noqa: E731
    wide = widened(expected, method)
    # of rows in any order pandas itself is asked; of no rows it is not
    check(backend, df, at, ask, wide if clustered or not len(df) else expected, wide)


@pytest.mark.parametrize("clustered", [True, False])
@two_thirds
@given(data=st.data(), at=cuts(), method=st.sampled_from(SCANS), dropna=st.booleans())
def test_scans(backend, clustered, data, at, method, dropna):
    fills = (*TIMES, *OTHERS) if method in ("ffill", "bfill") else ()
    df, by = data.draw(keyed((*VALUES, *narrow(backend), *fills), clustered, 2))
    kept = df[by].notna().all(axis=1)
    assume(df.x.dtype != "Int64" or (kept.all() if FLOATS_BESIDE_NULL_KEYS else kept.any()))
    expected, own = (
        widened(expect(backend, df, by, method, d, True), method) for d in (dropna, False)
    )
    options = {"clustered": clustered, "dropna": dropna}
    ask = lambda it: getattr(it.groupby(by, **options)[["x"]], method)()  # noqa: E731
    check(backend, df, at, ask, *with_nulls(backend, df, by, dropna, expected, own))


@pytest.mark.parametrize("clustered", [True, False])
@given(data=st.data(), at=cuts(), limit=st.integers(1, 3), back=st.booleans())
def test_fills_with_a_limit(backend, clustered, data, at, limit, back):
    df, by = data.draw(keyed(("float64", "str", "Int64"), clustered))
    method = "bfill" if back else "ffill"
    expected = getattr(df.groupby(by[0], observed=True)[["x"]], method)(limit=limit)
    ask = lambda it: getattr(it.groupby(by, clustered=clustered)[["x"]], method)(limit=limit)  # noqa: E731
    check(backend, df, at, ask, expected)


@pytest.mark.parametrize("clustered", [True, False])
@given(data=st.data(), at=cuts(), dropna=st.booleans(), ascending=st.booleans())
def test_rows_are_counted(backend, clustered, data, at, dropna, ascending):
    df, by = data.draw(keyed(("float64",), clustered, 2))
    by_pandas = by if len(by) > 1 else by[0]
    groups = df.groupby(by_pandas, sort=not clustered, dropna=dropna, observed=True)
    options = {"clustered": clustered, "dropna": dropna}
    counted, numbers = groups.cumcount(ascending=ascending), groups.cumcount().rename("row_number")
    own = pd.Series(0, df.index)
    held = lambda expected: with_nulls(backend, df, by, dropna, expected, own)  # noqa: E731
    for ask, expected, lazy in (
        (lambda it: it.cumcount(ascending=ascending), *held(counted)),
        (lambda it: it.row_number(), *held(numbers)),
        (lambda it: it.size(), groups.size(), groups.size()),
        (lambda it: it["x"].size(), groups["x"].size(), groups["x"].size()),
    ):
        ask_of = lambda it, ask=ask: ask(it.groupby(by, **options))  # noqa: E731
        check(backend, df, at, ask_of, expected, lazy)


@pytest.mark.parametrize("clustered", [True, False])
@given(data=st.data(), at=cuts(), back=st.booleans(), exclusive=st.booleans())
def test_any_operator(backend, clustered, data, at, back, exclusive):
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
    scanned = pd.Series(0, index=df.index, name="x")
    for _, part in groups:
        scanned.loc[part.index] = walk(list(part))
    if df[by[0]].isna().any():
        scanned = scanned.astype(float).mask(df[by[0]].isna())
    ask = lambda it: it.groupby(by, clustered=clustered)["x"]  # noqa: E731
    scan = lambda it: ask(it).scan(affine, exclusive=exclusive, reverse=back)  # noqa: E731
    check(backend, df, at, scan, *with_nulls(backend, df, by, True, scanned, df.x))
    if len(df):
        reduced = groups.agg(lambda v: last(list(v))).astype("int64")
        check(backend, df, at, lambda it: ask(it).reduce(affine), reduced)


@pytest.mark.parametrize("clustered", [True, False])
@given(data=st.data(), at=cuts())
def test_runs_within_groups(backend, clustered, data, at):
    df, by = data.draw(keyed(("float64", "Int64", "str", "category"), clustered))

    def count(values):
        values = values.dropna()
        if values.dtype == "category":
            values = values.astype(object)  # which pandas compares with nulls
        changes = values != values.shift()  # null in the first row of a nullable column
        return int(changes.fillna(True).sum())

    groups = df.groupby(by[0], sort=not clustered, observed=True)
    expected = groups.x.size().rename("x").astype("int64")
    for i, (_, part) in enumerate(groups):
        expected.iloc[i] = count(part.x)
    ask = lambda it: it.groupby(by, clustered=clustered)["x"].nunique_consecutive()  # noqa: E731
    check(backend, df, at, ask, expected)


DECIMALS = pd.ArrowDtype(pa.decimal128(20, 2))
OF_ANY = {
    STRING: ["p", None, "q", "r", None, None],
    "datetime64[s]": pd.to_datetime(
        ["2026-01-03", None, "2026-01-02", "2026-01-07", "2026-01-05", None]
    ),
    "timedelta64[ns]": pd.to_timedelta([3, None, 1, 7, 5, None], unit="h"),
    DECIMALS: [Decimal("3.25"), None, Decimal("-1"), Decimal("7"), Decimal("5"), None],
}


@pytest.mark.parametrize("clustered", [True, None])
@pytest.mark.parametrize("method", ["min", "max", "first", "sum"])
def test_large_integers_among_objects_stay_what_they_are(clustered, method):
    values = pd.Series([2**60 + 1, 0.5, Decimal(3), None, 2**60 + 3, 2**60 + 5], dtype=object)
    frame = pd.DataFrame({"k": [0, 1, 2, 3, 4, 4], "x": values})
    expected = getattr(frame.groupby("k")["x"], method)().tolist()
    for at in ([], [0.4], [0.4, 0.9], [0, 0.2, 0.4, 0.6, 1]):
        groups = partitioned(frame, at).gpuscan.groupby("k", clustered=clustered)
        (found,) = dask.compute(getattr(groups["x"], method)())
        assert list(map(repr, found)) == list(map(repr, expected))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("clustered", [True, False])
@pytest.mark.parametrize("dtype", list(OF_ANY), ids=str)
@pytest.mark.parametrize("method", ["sum", "min", "max", "mean", "std", "first", "last", "count"])
def test_values_that_are_no_numbers(backend, clustered, dtype, method):
    x = pd.Series(OF_ANY[dtype], dtype=dtype)
    df = pd.DataFrame({"k": ["b", "b", "b", "a", "a", "c"], "x": x})
    groups = lambda it: it.groupby("k", sort=not clustered)["x"]  # noqa: E731
    ask = lambda it: getattr(it.groupby("k", clustered=clustered)["x"], method)()  # noqa: E731
    answer = backend.answer(df, lambda it: getattr(groups(it), method)())
    of_cuda = backend.name == "cuda"
    if answer is None or (method in ("mean", "std") and dtype == DECIMALS and of_cuda):
        with pytest.raises(TypeError, match=f"{method} of column 'x'.*cast it with astype"):
            ask(partitioned(backend.frame(df), [0.5]).gpuscan)
        return
    is_decimal = dtype == DECIMALS and method not in ("count", "std")
    if is_decimal:
        answer = answer.astype(DECIMALS)  # cuDF forgets how many digits there may be
    if clustered:
        answer = answer.loc[["b", "a", "c"]]  # cuDF has another order
    for at in ([], [0.2, 0.5, 0.5, 0.9]):
        found = ask(partitioned(backend.frame(df), at).gpuscan).compute()
        found = backend.to_pandas(found)
        same(found.astype(DECIMALS) if is_decimal else found, answer)


def test_means_of_times_are_exact(backend):
    odd = np.array([1_767_225_600_000_000_001, 1_767_225_600_000_000_004, -3, 7], "M8[ns]")
    df = pd.DataFrame({"k": [1, 1, 2, 2], "x": odd})
    if backend.answer(df, lambda it: it.groupby("k").x.mean()) is None:
        pytest.skip("the library has no means of times")
    for at in ([], [0.3, 0.8]):
        groups = partitioned(backend.frame(df), at).gpuscan.groupby("k", clustered=True)
        found = backend.to_pandas(groups["x"].mean().compute())
        assert found.astype("int64").tolist() == [1_767_225_600_000_000_002, 2]


@pytest.mark.parametrize("dtype", ["timedelta64[ns]", "datetime64[us]"])
def test_means_of_times_below_zero_are_rounded_as_by_pandas(dtype):
    rng = np.random.default_rng()
    numbers = rng.integers(-(10**10), 10**10, 60)
    df = pd.DataFrame({"k": np.sort(rng.integers(0, 9, 60)), "x": numbers.astype(dtype)})
    expected = df.groupby("k")["x"].mean()
    for at in ([], [0.3, 0.8]):
        groups = partitioned(df, at).gpuscan.groupby("k", clustered=True)
        pd.testing.assert_series_equal(groups["x"].mean().compute(), expected)


@pytest.mark.parametrize("clustered", [True, False])
def test_products_meet_no_infinity_that_a_walk_would_not(backend, clustered):
    tiny, huge = 1e-300, 1e300
    df = pd.DataFrame({"k": 1, "x": [tiny, huge, huge, tiny, tiny, 4.0, huge, 0.0, huge, huge]})
    for rows in (slice(0, 7), slice(2, 10), slice(0, 10)):
        part = df.iloc[rows]
        for at in ([], [0.1, 0.2, 0.4], [0.15, 0.5, 0.9]):
            groups = part.groupby("k").x
            for method, options, expected in (
                ("prod", (), groups.prod()),
                ("cumprod", (), groups.cumprod()),
                ("reduce", (multiply,), groups.prod()),
            ):
                ask = lambda it, m=method, o=options: (  # noqa: E731
                    getattr(it.groupby("k", clustered=clustered)["x"], m)(*o)
                )
                check(backend, part, at, ask, expected)


flights = pd.DataFrame(
    {
        "k": ["b", "b", "b", "a", "a", "c"],
        "j": [1, 1, 2, 2, 2, 2],
        "x": [1.0, np.nan, 3.0, 4.0, 5.0, np.nan],
        "n": [1, 2, 3, 4, 5, 6],
        "s": pd.Series(["p", None, "q", "r", None, None], dtype=STRING),
    }
)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("clustered", [True, None])
@pytest.mark.parametrize("at", [None, [0.2, 0.5, 0.5, 0.9]])
def test_agg(backend, clustered, at):
    whole = backend.frame(flights)
    frame = whole if at is None else partitioned(whole, at)
    mine = frame.gpuscan.groupby("k", clustered=clustered)
    theirs = flights.groupby("k", sort=not clustered)

    def equal(lazy, expected):
        same(backend.to_pandas(computed(lazy)), expected)

    for functions in (
        {"x": "mean", "n": "sum", "s": "first"},
        {"x": ["min", "max"], "s": ["count", "last", "max"]},
        {"x": ["var"], "n": "size"},
        {"x": ["median", "nunique", "std"], "n": ["sum"], "s": ["nunique", "last"]},
    ):
        equal(mine.agg(functions), theirs.agg(functions))
    named = {"low": ("x", "min"), "rows": pd.NamedAgg("x", "size"), "s": ("s", "last")}
    equal(mine.agg(**named), theirs.agg(**named))
    named = {"middle": ("x", "median"), "kinds": ("s", "nunique"), "rows": ("s", "size")}
    equal(mine.agg(**named), theirs.agg(**named))
    equal(mine["x"].agg(["min", "std"]), theirs["x"].agg(["min", "std"]))
    equal(mine["x"].agg(["nunique", "median"]), theirs["x"].agg(["nunique", "median"]))
    equal(mine["x"].agg("median"), theirs["x"].agg("median"))
    equal(mine["x"].agg(low="min", high="max"), theirs["x"].agg(low="min", high="max"))
    equal(mine[["x", "n"]].agg(["min"]), theirs[["x", "n"]].agg(["min"]))
    equal(mine[["x", "n"]].agg("max"), theirs[["x", "n"]].agg("max"))
    equal(mine["n"].agg("sum"), theirs["n"].agg("sum"))
    equal(mine["n"].agg({"n": "sum"}), theirs[["n"]].agg({"n": "sum"}))
    equal(mine.mean(numeric_only=True), theirs.mean(numeric_only=True))
    equal(mine[["n", "x"]].std(ddof=0), theirs[["n", "x"]].std(ddof=0))


@pytest.mark.parametrize("count", [1, 3, 20])
def test_a_group_may_span_any_number_of_partitions(backend, count):
    host = pd.DataFrame({"k": [7] * 3, "x": [1, 2, 3]})
    part = backend.frame(host)
    ddf = dd.from_map(lambda p: p, [part] * count, meta=part.iloc[:0])
    for clustered in (True, False):
        groups = ddf.gpuscan.groupby("k", clustered=clustered)["x"]
        assert backend.to_pandas(groups.sum().compute()).to_dict() == {7: 6 * count}
        expected = pd.concat([host] * count).x.cumsum()
        same(backend.to_pandas(groups.cumsum().compute()), expected)
        assert backend.to_pandas(groups.last().compute()).to_dict() == {7: 3}


@given(data=st.data(), parts=st.integers(1, 5))
def test_known_divisions_on_the_key_count_as_clustered(backend, data, parts):
    keys = data.draw(st.lists(st.integers(0, 5), min_size=1, max_size=20))
    df = pd.DataFrame({"x": range(len(keys))}, index=pd.Index(sorted(keys), name="k"))
    ddf = dd.from_pandas(df, npartitions=parts, sort=True)
    shuffled = ddf.map_partitions(lambda p: p.sample(frac=1, random_state=1), meta=df)
    whole = shuffled.compute()
    parts = [backend.frame(p) for p in dask.compute(*shuffled.to_delayed())]
    ddf = dd.from_map(lambda p: p, parts, meta=parts[0].iloc[:0], divisions=ddf.divisions)
    groups, theirs = ddf.gpuscan.groupby("k")["x"], whole.groupby("k").x
    assert "AdjacentReduce" in str(groups.sum().expr.tree_repr())
    for lazy, expected in (
        (groups.sum(), theirs.sum()),
        (groups.first(), theirs.first()),
        (groups.size(), theirs.size()),
        (groups.cumsum(), theirs.cumsum()),
        (groups.cumcount(ascending=False), theirs.cumcount(ascending=False)),
        (ddf["x"].gpuscan.groupby("k").max(), theirs.max()),
    ):
        same(backend.to_pandas(lazy.compute()), expected)


def test_series_are_grouped_by_their_index(backend):
    x = pd.Series([1, 2, 3, 4], index=pd.Index(["a", "a", "b", "a"], name="k"), name="x")
    for method in ("sum", "cumsum", "first", "size", "cumcount"):
        expected = getattr(x.groupby("k"), method)()
        ask = lambda it, m=method: getattr(it.groupby("k"), m)()  # noqa: E731
        keys, dropna = x.index.to_frame(), method.startswith("cum")
        both = with_nulls(backend, keys, ["k"], dropna, expected, expected)
        check(backend, x, [0.3, 0.8], ask, *both)
    expected = pd.Series([2, 3, 4], index=pd.Index(list("aba"), name="k"), name="x")
    check(backend, x, [0.3, 0.8], lambda it: it.groupby("k", clustered=True).max(), expected)


@pytest.mark.parametrize("clustered", [True, False])
def test_levels_and_columns_may_be_keys_together(backend, clustered):
    df = pd.DataFrame(
        {"j": ["x", "x", "y", "y"], "n": [1, 2, 3, 4]}, index=pd.Index([1, 1, 1, 2], name="k")
    )
    for method in ("sum", "max", "cumsum", "size"):
        expected = getattr(df.groupby(["k", "j"])["n"], method)()
        ask = lambda it, m=method: getattr(it.groupby(["k", "j"], clustered=clustered)["n"], m)()  # noqa: E731
        both = with_nulls(backend, df, ["j"], method == "cumsum", expected, expected)
        check(backend, df, [0.3, 0.6], ask, *both)


@pytest.mark.parametrize("clustered", [True, False])
def test_decimals_are_keys(backend, clustered):
    keys = [Decimal("1.50"), Decimal("1.50"), None, Decimal("2.25")]
    df = pd.DataFrame({"k": pd.Series(keys, dtype=DECIMALS), "x": [1, 2, 3, 4]})
    for dropna, sums in ((True, [3, 4]), (False, [3, 3, 4] if clustered else [3, 4, 3])):
        for at in ([], [0.3, 0.6]):
            groups = partitioned(backend.frame(df), at).gpuscan.groupby(
                "k", clustered=clustered, dropna=dropna
            )["x"]
            if backend.name == "cuda":
                with pytest.raises(TypeError, match=r"cuDF has no index of dtype .*cast the key"):
                    groups.sum()
            else:
                assert groups.sum().compute().tolist() == sums
            totals = backend.to_pandas(groups.cumsum().compute()).fillna(-1).tolist()
            assert totals == [1, 3, -1 if dropna else 3, 4]


def test_categories_may_differ_by_partition(backend):
    hosts = [
        pd.DataFrame({"k": pd.Categorical(["a", "b"]), "x": [1, 2]}),
        pd.DataFrame({"k": pd.Categorical(["b", "c"]), "x": [3, 4]}),
    ]
    parts = [backend.frame(host) for host in hosts]
    ddf = dd.from_map(lambda p: p, parts, meta=parts[0].iloc[:0])

    def pieces(lazy):  # cuDF cannot join such partitions
        return [backend.to_pandas(part) for part in dask.compute(*lazy.to_delayed())]

    for clustered in (True, False):
        groups = ddf.gpuscan.groupby("k", clustered=clustered)["x"]
        sums = [part.to_dict() for part in pieces(groups.sum())]
        assert {k: v for part in sums for k, v in part.items()} == {"a": 1, "b": 5, "c": 4}
        assert [v for part in pieces(groups.cumsum()) for v in part] == [1, 2, 5, 4]


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
    expected = flights.assign(total=groups.n.cumsum(), rows=groups.cumcount()).astype(
        {"total": "float64", "rows": "float64"}  # a key of strings might be null
    )
    same(wide.compute()[["total", "rows"]], expected[["total", "rows"]])
    assert not lazy.known_divisions


@pytest.mark.parametrize("kind", ["whole", "dask"])
def test_bad_input(backend, kind):
    frame = backend.frame(flights)
    frame = frame if kind == "whole" else partitioned(frame, [0.5])
    for by, error, message in [
        ("z", ValueError, "by='z' is not a column; columns are 'k', 'j'"),
        (["k", "k"], ValueError, "by names 'k', which is there twice"),
        ([], ValueError, "at least one"),
        (None, TypeError, "either by, the keys, or level"),
        (frame, TypeError, "assign other keys as columns"),
        (object(), TypeError, "by must be the name"),
    ]:
        with pytest.raises(error, match=message):
            frame.gpuscan.groupby(by)
    with pytest.raises(ValueError, match="dropna must be True or False"):
        frame.gpuscan.groupby("k", dropna=None)
    groups = frame.gpuscan.groupby("k", clustered=True)
    with pytest.raises(TypeError, match=r"mean of column 's': .*numeric_only=True"):
        groups.mean()
    with pytest.raises(TypeError, match=r"cumprod of column 's': .*numeric_only=True"):
        groups.cumprod()
    with pytest.raises(
        ValueError, match="agg: 'banana' is not a reduction; reductions are 'sum', 'prod'"
    ):
        groups.agg({"x": "banana"})
    with pytest.raises(ValueError, match="agg: <NA> is not a reduction; reductions are 'sum'"):
        groups.agg(z=("x", pd.NA))
    with pytest.raises(ValueError, match="agg: a numpy ndarray is not a reduction"):
        groups.agg(z=("x", np.arange(2)))
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


def test_operators_answer_identities_and_nulls(backend):
    df = backend.frame(pd.DataFrame({"k": [1, 1, 2], "x": [6, 3, 5]}))
    for clustered in (True, False):
        groups = df.gpuscan.groupby("k", clustered=clustered)
        assert backend.to_pandas(groups["x"].reduce(bitwise_xor)).to_dict() == {1: 5, 2: 5}
        assert backend.to_pandas(groups["x"].reduce(maximum)).to_dict() == {1: 6, 2: 5}


@pytest.mark.parametrize("clustered", [True, False])
@pytest.mark.parametrize("op", [maximum, last], ids=lambda op: op.name)
@given(data=st.data(), at=cuts(), back=st.booleans())
def test_exclusive_scans_are_null_where_nothing_came_before(backend, clustered, op, data, at, back):
    df, by = data.draw(keyed(("float64",), clustered))
    met = df[::-1] if back else df
    groups = met.groupby(by[0], sort=False, observed=True).x
    known = groups.cummax() if op is maximum else met.x
    filled = known.groupby([met[k] for k in by], sort=False, observed=True).ffill()
    before = filled.groupby([met[k] for k in by], sort=False, observed=True).shift()
    expected = before.reindex(df.index).mask(df.x.isna() | df[by[0]].isna()).rename("x")
    options = {"exclusive": True, "reverse": back}
    check(
        backend,
        df,
        at,
        lambda it: it.groupby(by, clustered=clustered)["x"].scan(op, **options),
        expected,
    )


def test_columns_are_attributes_and_keys_may_be_aggregated(backend):
    df = pd.DataFrame({"k": [1, 1, 2, 3], "x": [5, 3, 7, 1], "size": [1, 2, 3, 4]})
    groups = df.groupby("k")
    check(backend, df, [2], lambda it: it.groupby("k").x.cumsum(), groups.x.cumsum())
    expected = groups.agg(rows=("k", "size"), x=("x", "sum"))
    for clustered in (True, False):
        ask = lambda it, c=clustered: it.groupby("k", clustered=c).agg(  # noqa: E731
            rows=("k", "size"), x=("x", "sum")
        )
        check(backend, df, [2], ask, expected)
    found = backend.frame(df).gpuscan.groupby("k")
    assert callable(found.size)  # methods come before columns
    with pytest.raises(AttributeError, match="neither a method nor a column 'nothing'"):
        found.nothing  # noqa: B018


def test_names_of_the_columns(backend):
    df = pd.DataFrame({"k": [1, 1, 2], "x": [3.0, 1.0, 2.0], "i": [1, 2, 3]})
    df.columns = pd.Index(df.columns, name="cols")
    whole = backend.frame(df)
    for frame in (whole, partitioned(whole, [0.5])):
        groups = frame.gpuscan.groupby("k", clustered=True)
        for named in ({"i": ("x", "max")}, {"i": ("i", "max")}, {"f": ("x", "max")}):
            same(backend.to_pandas(computed(groups.agg(**named))), df.groupby("k").agg(**named))
        (found,) = dask.compute(groups.agg({"x": "max"}))
        same(backend.to_pandas(found), df.groupby("k").agg({"x": "max"}))


def test_columns_that_are_there_twice():
    df = pd.DataFrame([[1, 1.0, 2.0, 5], [1, 3.0, 4.0, 6]], columns=["k", "x", "x", "f"])
    same(df.gpuscan.groupby("k").sum(), df.groupby("k").sum())
    for groups in (df.gpuscan.groupby("k", clustered=True), df.gpuscan.groupby("k")):
        with pytest.raises(ValueError, match="column 'x' is there twice"):
            groups.cumsum()
    assert df.gpuscan.groupby("k")[["f"]].cumsum()["f"].tolist() == [5, 11]


def test_a_name_that_is_a_tuple():
    df = pd.DataFrame({("a", "sum"): [1, 2, 3], ("b", "k"): [1, 1, 2]})
    df.columns = pd.MultiIndex.from_tuples(df.columns)
    assert df.gpuscan.groupby([("b", "k")])[("a", "sum")].sum().tolist() == [3, 3]


def test_agg_of_names_that_are_tuples_and_of_no_columns():
    df = pd.DataFrame([[1, 2]], columns=pd.Index(["k", ("q", 1)], tupleize_cols=False))
    assert df.gpuscan.groupby("k").agg("max").iloc[0, 0] == 2
    nothing = pd.DataFrame({"k": [1]}).gpuscan.groupby("k").agg("sum")
    assert nothing.shape == (1, 0)
    twice = pd.DataFrame({"k": [1, 1], "v": [1, 2]}).gpuscan.groupby("k")[["v", "v"]].sum()
    assert twice.to_numpy().tolist() == [[3, 3]]


def test_names_that_are_none():
    df = pd.DataFrame([[1, 2], [1, 3]], columns=pd.Index([None, "v"], dtype=object))
    assert df.gpuscan.groupby([None])["v"].sum().to_dict() == {1: 5}
    assert df.gpuscan.groupby("v").sum().iloc[:, 0].tolist() == [1, 1]
    assert df.gpuscan.groupby("v").cumsum().iloc[:, 0].tolist() == [1, 1]


def test_half_floats_are_keys_of_scans_only():
    df = pd.DataFrame({"k": np.array([1, 2, np.nan, 1], "float16"), "v": [1, 2, 3, 4]})
    expected = df.astype({"k": "float32"}).groupby("k")["v"].cumsum()
    for frame in (df, partitioned(df, [0.5])):
        groups = frame.gpuscan.groupby("k")["v"]
        same(dask.compute(groups.cumsum())[0], expected)
        with pytest.raises(TypeError, match="column 'k' of dtype float16 cannot be an index"):
            groups.sum()


def test_ordered_categories_that_differ_between_partitions():
    parts = [
        pd.DataFrame({"k": pd.Categorical(["a"], order, ordered=True), "v": 1})
        for order in (["a", "b"], ["b", "a"])
    ]
    groups = dd.from_map(lambda i: parts[i], [0, 1], meta=parts[0].iloc[:0]).gpuscan.groupby("k")
    for answer in (groups.cumsum(), groups.sum()):
        with pytest.raises(ValueError, match=r"has other categories in some.*set_categories"):
            answer.compute()


@pytest.mark.parametrize("dtype", ["float16", "complex128", "int64"])
def test_fills_of_columns_without_nulls(dtype):
    df = pd.DataFrame({"k": [1, 1, 2], "v": np.array([1, 2, 3], dtype)})
    for frame in (df, partitioned(df, [0.5])):
        same(computed(frame.gpuscan.groupby("k", clustered=True)["v"].ffill()), df["v"])


def test_dictionaries_are_filled_with_values_of_their_own_group():
    codes = pa.array(["b", None, "a"]).dictionary_encode()
    df = pd.DataFrame({"k": ["a", "c", None], "v": pd.arrays.ArrowExtensionArray(codes)})
    filled = df.gpuscan.groupby("k")["v"].ffill()
    assert filled.isna().tolist() == [False, True, True]
    assert filled[0] == "b"


def test_answers_by_keys_of_objects_are_inputs():
    df = pd.DataFrame({"k": pd.Series(list("aabb"), dtype=object), "v": 1})
    df["s"] = df["k"]
    ddf = partitioned(df, [0.25, 0.5])
    sums = ddf.gpuscan.groupby("k", clustered=True)["v"].sum()
    runs = sums.gpuscan.reset_index().gpuscan.rle("k").compute()
    assert runs["k"].tolist() == ["a", "b"]
    least = ddf.gpuscan.groupby("k")["s"].min()
    assert least.dtype == least.compute().dtype == object


def _of_arrow(values):
    return pd.arrays.ArrowExtensionArray(pa.array(values))


def _of_pandas(values):
    return pd.arrays.FloatingArray(values, np.zeros(len(values), bool))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("nullable", [_of_arrow, _of_pandas])
@pytest.mark.parametrize("clustered", [True, False])
def test_extremes_pass_over_nan_that_is_no_null_in_every_partition(nullable, clustered):
    nan = float("nan")
    x = np.array([nan, 1.5, nan, nan, 2.0, 1.0, nan])
    frame = pd.DataFrame({"k": [1, 1, 1, 2, 2, 2, 2], "x": nullable(x)})
    expected = frame.groupby("k")["x"]
    for each in (frame, partitioned(frame, [2 / 7, 5 / 7])):
        groups = each.gpuscan.groupby("k", clustered=clustered)["x"]
        for method in ("max", "min", "cummax", "cummin"):
            (found,) = dask.compute(getattr(groups, method)())
            assert found.fillna(-1).tolist() == getattr(expected, method)().fillna(-1).tolist()


def test_products_of_decimals():
    """Rounded at each step, they would depend on the cut; those of integers do not."""
    tenths = pd.ArrowDtype(pa.decimal128(20, 1))
    for keys in (
        [1, 1, 2, 2],
        pd.arrays.IntervalArray.from_tuples([(0, 1), (0, 1), (1, 2), (1, 2)]),
    ):
        df = pd.DataFrame({"k": keys, "x": [0.3, 0.7, 1.5, 2.5]}).astype({"x": tenths})
        same(df.gpuscan.groupby("k")["x"].prod(), df.groupby("k")["x"].prod())
        lazy = dd.from_pandas(df, npartitions=2)
        for ask in (lambda it: it["x"].prod(), lambda it: it.agg({"x": "prod"})):
            with pytest.raises(TypeError, match="prod of column 'x': products of dtype decimal128"):
                ask(lazy.gpuscan.groupby("k"))
        whole = df.assign(x=[3, 7, 15, 25]).astype({"x": pd.ArrowDtype(pa.decimal128(20, 0))})
        found = partitioned(whole, [0.3, 0.6]).gpuscan.groupby("k")["x"].prod().compute()
        same(found, whole.groupby("k")["x"].prod())


@pytest.mark.parametrize(
    ("name", "key"),
    [
        *((n, "int64") for n in ("sum", "mean", "var", "min", "first", "any", "size", "prod")),
        *((n, key) for n in ("sum", "first") for key in ("int8", "Int64", "bool", "category")),
    ],
)
def test_many_rows_of_keys_that_need_no_hashing(name, key):
    """Rows from which on kernels reduce what pandas reduces where there are fewer."""
    rng, rows = np.random.default_rng(5), (1 << 16) + 1
    keys = pd.Series(rng.integers(-3, 3, rows)).astype("int8" if key == "int8" else "int64")
    df = pd.DataFrame({"k": (keys > 0 if key == "bool" else keys).astype(key)})
    df["x"] = np.where(rng.random(rows) < 0.1, np.nan, 1 + rng.random(rows) * 1e-6)
    df["i"], df["u"] = rng.integers(-9, 9, rows), rng.integers(0, 9, rows).astype("uint64")
    df["small"] = rng.integers(0, 9, rows).astype("int8")
    for names in (["x", "i", "u"], ["small", "x"]):
        for dropna in (True, False):
            found = getattr(df.gpuscan.groupby("k", dropna=dropna)[names], name)()
            groups = df.groupby("k", dropna=dropna, observed=True)[names]
            expected = getattr(groups, name)()
            same = (
                pd.testing.assert_frame_equal if found.ndim == 2 else pd.testing.assert_series_equal
            )
            same(found, expected, rtol=1e-9)


def test_many_rows_with_columns_of_one_name():
    rows = (1 << 16) + 1
    df = pd.DataFrame({"k": np.arange(rows) % 7, "x": np.ones(rows), "y": np.ones(rows)})
    df.columns = ["k", "x", "x"]
    pd.testing.assert_frame_equal(df.gpuscan.groupby("k").sum(), df.groupby("k").sum())


@pytest.mark.parametrize("method", ["sum", "mean", "prod", "std", "max", "min", "first", "median"])
def test_nan_of_arrow_is_a_number_whole_and_cut(method):
    """pandas has nulls for such groups, and infinities for extremes, which are not in the data."""
    nan = float("nan")
    values = pa.chunked_array([pa.array([1.0, nan, nan, None, 2.0, 3.0])])
    x = pd.Series(pd.arrays.ArrowExtensionArray(values))
    frame, answers = pd.DataFrame({"k": list("aabbcc"), "x": x}), []
    for each in (frame, partitioned(frame, [0.5]), partitioned(frame, [0.2, 0.4])):
        (found,) = dask.compute(getattr(each.gpuscan.groupby("k")["x"], method)())
        answers.append(found.array.__arrow_array__().to_pylist())
    expected, *others = answers
    assert [repr(expected)] * 2 == list(map(repr, others))
    assert not any(map(np.isinf, filter(None, expected)))
    if method in ("sum", "mean", "prod"):
        assert np.isnan(expected[:2]).all()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("cut", [[], [0.3, 0.6], np.arange(12) / 12])
@pytest.mark.parametrize("clustered", [None, True])
def test_sums_of_complex_numbers_lose_nothing_where_partitions_meet(cut, clustered):
    z = np.array([complex(1e16, -1e16)] + [1 + 1j] * 10 + [complex(np.nan, 1)])
    df = pd.DataFrame({"k": 1, "z": z})
    expected = df.groupby("k").sum()
    assert expected["z"].tolist() == [complex(1e16 + 10, -1e16 + 10)]
    for dtype in ("complex128", "complex64"):
        rows = df.astype({"z": dtype})
        whole = rows.gpuscan.groupby("k", clustered=clustered).sum()
        lazy = partitioned(rows, cut).gpuscan.groupby("k", clustered=clustered).sum()
        for found in (whole, lazy.compute()):
            same(found, rows.groupby("k").sum(), rtol=0, atol=0)
