"""Options of scans within groups: each group is scanned as if it were the whole frame, whatever the partitions."""

import pickle

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dask_gpuscan
from dask_gpuscan import stream
from helpers.asked import computed
from helpers.backends import same
from helpers.strategies import columns, cuts, partitioned
from helpers.thresholds import MANY_ROWS
from helpers.versions import STRING, known_to_pandas, older

SCANS = ("cumsum", "cumprod", "cummax")  # cummin is cummax the other way round
VALUES = ("float64", "Int64")


@st.composite
def grouped(draw, dtypes=VALUES):
    """A frame with a key without nulls, in any order or clustered, and a column ``x``; and whether it is clustered."""
    x = draw(columns(dtypes))
    keys = draw(st.lists(st.integers(0, 3), min_size=len(x), max_size=len(x)))
    clustered = draw(st.booleans())
    if clustered:
        keys = sorted(keys)
    frame = pd.DataFrame({"k": np.array(keys, "int64"), "x": x})
    frame.index = pd.Index(np.arange(len(x)) * 2 + 10, name="row")
    return frame, clustered


def by_group(frame, ask):
    """Answer for each group alone, and put the rows back where they were."""
    found = [ask(frame.loc[frame.k == k, "x"]) for k in sorted(set(frame.k))]
    if not found:
        return ask(frame.x)
    return pd.concat(found).reindex(frame.index)


def check(backend, frame, clustered, at, ask, expected):
    """Ask the groups of the whole frame and of its partitions, on a backend."""
    whole = backend.frame(frame)
    for each in (whole, partitioned(whole, at)):
        found = computed(ask(each.gpuscan.groupby("k", clustered=clustered or None)["x"]))
        same(backend.to_pandas(found), expected)


@given(
    data=grouped(),
    at=cuts(),
    method=st.sampled_from(SCANS),
    exclusive=st.booleans(),
    reverse=st.booleans(),
    skipna=st.booleans(),
    initial=st.sampled_from([None, 3]),
)
def test_a_group_is_scanned_like_a_frame(
    backend, data, at, method, exclusive, reverse, skipna, initial
):
    frame, clustered = data
    options = {"exclusive": exclusive, "reverse": reverse, "skipna": skipna, "initial": initial}

    def alone(x):
        return backend.to_pandas(getattr(backend.frame(x).gpuscan, method)(**options))

    expected = by_group(frame, alone)
    check(backend, frame, clustered, at, lambda g: getattr(g, method)(**options), expected)


@given(data=grouped(("float64",)), at=cuts(), method=st.sampled_from(("cumsum", "cummax")))
def test_a_dtype_is_what_groups_accumulate_in(backend, data, at, method):
    frame, clustered = data
    frame["x"] = frame.x.fillna(0)

    def alone(x):
        return backend.to_pandas(getattr(backend.frame(x).gpuscan, method)(dtype="float32"))

    expected = by_group(frame, alone)
    check(backend, frame, clustered, at, lambda g: getattr(g, method)(dtype="float32"), expected)


@given(
    data=grouped(),
    at=cuts(),
    statistic=st.sampled_from(
        known_to_pandas(
            ["sum", "mean", "std", "sem", "min", "count", "first", "last", "skew", "kurt"]
        )
    ),
    min_periods=st.integers(1, 3),
)
def test_expanding_groups(backend, data, at, statistic, min_periods):
    frame, clustered = data
    found = getattr(frame.groupby("k")["x"].expanding(min_periods), statistic)()
    expected = found.droplevel("k").reindex(frame.index).rename("x").astype("float64")

    def ask(groups):
        return getattr(groups.expanding(min_periods), statistic)().astype("float64")

    check(backend, frame, clustered, at, ask, expected)


@given(
    data=grouped(("float64",)),
    at=cuts(),
    weights=st.sampled_from([(True, False), (False, True)]),  # the others are tested ungrouped
    min_periods=st.integers(0, 3),
    statistic=st.sampled_from(["sum", "mean", "var"]),
)
def test_ewm_of_groups(backend, data, at, weights, min_periods, statistic):
    frame, clustered = data
    adjust, ignore_na = weights
    if statistic == "sum":
        adjust = True
    options = {"alpha": 0.4, "adjust": adjust, "ignore_na": ignore_na, "min_periods": min_periods}

    def alone(x):
        answer = getattr(x.ewm(**options), statistic)()
        # where one value alone has a variance of 0.0 from rounding
        return answer.mask(x.expanding(0).count() < 2) if statistic == "var" else answer

    expected = by_group(frame, alone).astype("float64")
    check(
        backend,
        frame,
        clustered,
        at,
        lambda g: getattr(g.ewm(**options), statistic)().astype("float64"),
        expected,
    )


@given(
    data=grouped(("float64",)),
    at=cuts(),
    seconds=st.lists(st.integers(0, 9), min_size=24, max_size=24),
    adjust=st.just(True) if older("pandas", "3") else st.booleans(),  # pandas 2 has no other
    as_column=st.booleans(),
)
def test_times_of_groups(backend, data, at, seconds, adjust, as_column):
    frame, clustered = data
    times = pd.to_datetime(np.cumsum(seconds)[: len(frame)], unit="s")
    frame = frame.assign(t=times.astype("datetime64[ns]"))
    options = {"halflife": "3s", "adjust": adjust}

    def alone(x):
        return x.ewm(times=frame.t.loc[x.index], **options).mean()

    expected = by_group(frame, alone)
    whole = backend.frame(frame)
    for each in (whole, partitioned(whole, at)):
        groups = each.gpuscan.groupby("k", clustered=clustered or None)["x"]
        found = computed(groups.ewm(times="t" if as_column else each["t"], **options).mean())
        same(backend.to_pandas(found), expected)


@pytest.mark.parametrize(("name", "clustered"), [("cov", True), ("corr", None)])
def test_pairs_of_groups(backend, name, clustered):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(40, 2)), columns=["x", "y"])
    frame = frame.assign(k=np.sort(rng.integers(0, 3, 40)) if clustered else rng.integers(0, 3, 40))

    def alone(x):
        return getattr(x.expanding(), name)(frame.y.loc[x.index])

    expected, whole = by_group(frame, alone).rename(None), backend.frame(frame)
    for each in (whole, partitioned(whole, [0.1, 0.1, 0.7])):
        windows = each.gpuscan.groupby("k", clustered=clustered)["x"].expanding()
        same(backend.to_pandas(computed(getattr(windows, name)(each["y"]))), expected)


@pytest.mark.parametrize("clustered", [True, None])
def test_agg_of_windows_of_groups(backend, clustered):
    frame = pd.DataFrame({"k": [1, 1, 2, 2], "x": [3.0, None, 1.0, 5.0], "y": [1, 2, 4, 8]})
    asked = {"x": ["sum", "max"], "y": "mean"}
    found = frame.groupby("k").expanding().agg(asked).droplevel("k")
    whole = backend.frame(frame)
    for each in (whole, partitioned(whole, [0.3])):
        answer = computed(each.gpuscan.groupby("k", clustered=clustered).expanding().agg(asked))
        same(backend.to_pandas(answer), found)


argmax = dask_gpuscan.operator(
    lambda a, b: b if b[0] > a[0] else a,
    identity=(-np.inf, -1),
    lift=lambda x, i: (x, i),
    lower=lambda s: s[1],
    name="argmax",
)


@given(data=grouped(("float64",)), at=cuts())
def test_an_operator_may_take_the_rows_position(backend, data, at):
    frame, clustered = data
    frame["x"] = frame.x.fillna(0.0)
    rows = pd.Series(np.arange(len(frame)), frame.index)

    def first_largest(x):
        return pd.Series(
            [float(rows[x.iloc[: i + 1].idxmax()]) for i in range(len(x))], x.index, dtype="float64"
        )

    expected = by_group(frame, first_largest).rename(None)
    whole = backend.frame(frame)
    for each in (whole, partitioned(whole, at)):
        found = computed(
            each.gpuscan.groupby("k", clustered=clustered or None)["x"].scan(argmax, positions=True)
        )
        same(backend.to_pandas(found).astype("float64"), expected)  # cuDF keeps integers
        whole_frame = computed(each[["x"]].gpuscan.scan(argmax, positions=True))
        same(backend.to_pandas(whole_frame).astype("float64"), first_largest(frame.x).rename(None))


@pytest.mark.parametrize("name", [None, "x", "row_number"])
def test_positions_of_a_series_grouped_by_a_level(backend, name):
    x = pd.Series([1.0, 5.0, 3.0], pd.Index([1, 2, 1], name="k"), name=name)
    found = backend.frame(x).gpuscan.groupby("k").scan(argmax, positions=True)
    assert backend.to_pandas(found).tolist() == [0, 1, 2]


@pytest.mark.filterwarnings("error")
def test_positions_beside_columns_of_several_levels():
    frame = pd.DataFrame({("k", ""): [1, 2, 1], ("a", "x"): [1.0, 5.0, 3.0]})
    for each in (frame, partitioned(frame, [0.5])):
        found = computed(
            each.gpuscan.groupby([("k", "")])[[("a", "x")]].scan(argmax, positions=True)
        )
        assert found.tolist() == [0, 1, 2]


@pytest.mark.parametrize("method", ["cumsum", "ffill", "var", "std", "sum", "first", "mean"])
def test_tasks_of_groups_are_pickled(method):
    groups = partitioned(pd.DataFrame({"k": [1, 2, 1], "x": [1.0, 5.0, 3.0]}), [0.5]).gpuscan
    tasks = getattr(groups.groupby("k"), method)().optimize().__dask_graph__()
    assert set(pickle.loads(pickle.dumps(dict(tasks)))) == set(tasks)


def test_rows_in_no_group_are_null(backend):
    frame = pd.DataFrame({"k": [1.0, np.nan, 1.0], "x": [1.0, 2.0, 3.0]})
    groups = backend.frame(frame).gpuscan.groupby("k")["x"]
    for found in (
        groups.cumsum(exclusive=True, initial=5),
        groups.expanding().sum(),
        groups.ewm(alpha=0.5).mean(),
    ):
        assert backend.to_pandas(found.isna()).tolist() == [False, True, False]


def test_options_are_checked():
    groups = pd.DataFrame({"k": [1, 2], "x": [1, 2]}).gpuscan.groupby("k")
    with pytest.raises(ValueError, match="skipna must be True or False"):
        groups.cumsum(skipna="no")
    with pytest.raises(ValueError, match="initial: 'y' is not a column"):
        groups.cumsum(initial={"y": 1})
    with pytest.raises(TypeError, match="dtype must be a dtype"):
        groups.cummax(dtype="no")
    with pytest.raises(ValueError, match="positions must be True or False"):
        groups["x"].scan(dask_gpuscan.add, positions=1)
    assert groups.cumsum(initial={"x": 10}).x.tolist() == [11, 12]


def test_what_objects_say_of_themselves():
    frame = pd.DataFrame({"k": [1, 2], "x": [1, 2]})
    groups = frame.gpuscan.groupby("k", clustered=True)["x"]
    assert repr(groups) == "<GroupBy of 'x' by 'k', clustered>"
    assert repr(groups.expanding(2)) == "<Expanding min_periods=2>"
    assert repr(frame.gpuscan) == "<gpuscan of a pandas DataFrame>"
    assert (
        repr(groups.ewm(alpha=0.5)) == "<Ewm alpha=0.5 min_periods=0 adjust=True ignore_na=False>"
    )


def test_as_many_groups_in_order_of_appearance_as_all_cores_move():
    frame = pd.DataFrame({"k": np.arange(MANY_ROWS)[::-1] * 1_000_003, "v": 1})
    for keys in (frame, frame.astype({"k": STRING})):
        expected = keys.groupby("k", sort=False)["v"].sum()
        for each in (keys, partitioned(keys, [0.5])):
            (found,) = dask.compute(each.gpuscan.groupby("k", sort=False)["v"].sum())
            assert found.index.equals(expected.index)
            assert (found == 1).all()


def test_a_key_that_is_a_number_of_numpy():
    frame = pd.DataFrame(np.ones((3, 2)), columns=[7, 10])
    key = frame.columns[0]
    expected = frame.groupby(key, as_index=False).agg(["sum", "max"])
    for each in (frame, partitioned(frame, [0.5])):
        (found,) = dask.compute(each.gpuscan.groupby(key, as_index=False).agg(["sum", "max"]))
        assert found.columns.tolist() == expected.columns.tolist()
        np.testing.assert_array_equal(found.to_numpy(), expected.to_numpy())


FLAGS = [True, False, None, False, True, True, None]
FLAG_KEYS = [1, 2, 2, 1, 2, 1, 3]
FLAG_DTYPES = ("boolean", "bool[pyarrow]", "Int64", "float64", "int8[pyarrow]")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("method", ["cumany", "cumall"])
def test_flags_so_far(method, exclusive):
    """A null is no value; a group begins with what no value gives."""
    so_far = {1: [], 2: [], 3: []}
    expected = []
    for key, flag in zip(FLAG_KEYS, FLAGS, strict=True):
        before = list(so_far[key])
        so_far[key] += [] if flag is None else [flag]
        seen = before if exclusive else so_far[key]
        expected.append(any(seen) if method == "cumany" else all(seen))
    for dtype in FLAG_DTYPES if not exclusive else FLAG_DTYPES[:2]:
        x = pd.Series(FLAGS, dtype=object).astype(dtype)
        frame = pd.DataFrame({"k": FLAG_KEYS, "x": x})
        pieces = [stream([frame[i : i + rows] for i in range(0, 7, rows)]) for rows in (1, 3)]
        whole = getattr(x[:1].gpuscan, method)(exclusive=exclusive)
        lazy = [dd.from_pandas(frame, npartitions=parts) for parts in (7, 3)]
        for rows in (frame, *pieces, *lazy):
            found = computed(getattr(rows.gpuscan.groupby("k")["x"], method)(exclusive=exclusive))
            assert found.astype(object).tolist() == expected, dtype
            assert found.dtype == whole.dtype


def test_flags_so_far_of_other_columns():
    frame = pd.DataFrame({"k": [1, 1, 2, 1], "s": list("abcd"), "x": [0, 1, 0, 0]})
    groups = frame.gpuscan.groupby("k")
    assert groups["x"].cumany(reset="x == 1").tolist() == [False, True, False, False]
    assert groups["x"].cumany(reverse=True).tolist() == [True, True, False, False]
    assert groups[["x"]].cumall().columns.tolist() == ["x"]
    with pytest.raises(TypeError, match=r"cumany of column 's'.*leave it out$"):
        groups.cumany()
