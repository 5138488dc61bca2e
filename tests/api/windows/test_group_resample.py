"""groupby(...).resample(...) against pandas on the whole data, over any partitions, clustered or in any order."""

import warnings

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import dask_gpuscan
from helpers.asked import computed, null_keys
from helpers.backends import Backend, same
from helpers.strategies import partitioned

CPU = Backend()

CUTS = (None, [0.5], [0, 0.4, 0.4, 0.9, 1])
FINE = (*CUTS, [i / 24 for i in range(1, 24)])
"""Partitions of one row each, too."""
RULES = {
    "1h": "17min", "7h": "5h", "D": "9h", "2D": "15h", "37min": "11min", "W": "3D", "ME": "9D", "B": "13h",
    "QS": "20D", "MS": "11D",
}  # fmt: skip


RULES_FROM_FIRST = ["B", "QS", "MS"]


def measured(step, zone=None, seed=0):
    random = np.random.default_rng(seed)
    steps = np.sort(random.integers(0, 60, 24))
    times = pd.Timestamp("2026-03-27 10:40", tz=zone) + pd.Timedelta(step) * steps
    frame = pd.DataFrame(
        {
            "k": random.integers(0, 3, 24),
            "x": np.where(random.random(24) < 0.2, np.nan, random.integers(-9, 9, 24)),
            "n": range(24),
        },
        pd.DatetimeIndex(times, name="t"),
    )
    return frame


def answers(backend, frame, ask, clustered=None, cuts=CUTS):
    """Give what is asked of the groups of a frame, whole and in partitions."""
    whole = backend.frame(frame)
    for at in cuts:
        d = whole if at is None else partitioned(whole, at)
        lazy = ask(d.gpuscan.groupby("k", clustered=clustered))
        (found,) = dask.compute(lazy)
        if at is not None and hasattr(lazy, "_meta"):
            assert list(np.ravel(lazy.dtypes)) == list(np.ravel(found.dtypes))
        yield backend.to_pandas(found)


def agree(backend, found, expected, none=None):
    """Assert that values and labels are equal: integers that may be null stay integers here.

    `none` is what pandas answers for no values where cuDF answers with a null.
    """
    if found.ndim == 2:
        assert found.columns.equals(expected.columns)
        for name in expected.columns:
            agree(backend, found[name], expected[name], none)
        return
    if backend.name == "cpu":
        same(found.astype("float64") if expected.dtype == "float64" else found, expected)
        return
    assert list(found.index) == list(expected.index)
    numbers, wanted = (x.to_numpy(dtype=float, na_value=np.nan) for x in (found, expected))
    np.testing.assert_allclose(
        numbers if none is None else np.nan_to_num(numbers, nan=none), wanted
    )


@pytest.mark.sampled(8)
@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
@pytest.mark.parametrize("rule", RULES)
def test_as_pandas(backend, rule, zone):
    for seed, options in enumerate(({}, {"closed": "right"}, {"closed": "left", "label": "right"})):
        frame = measured(RULES[rule], zone, seed)
        days = ["D", "2D"] if pd.__version__.startswith("3.0.") else ["D"] if zone else []
        if options.get("closed") == "right" and rule in (*RULES_FROM_FIRST, *days):
            with pytest.raises(ValueError, match="rule must be closed as by default in groups"):
                frame.gpuscan.groupby("k").resample(rule, **options)
            continue
        if zone and rule == "2D":
            continue

        def ask(groups, options=options):
            return groups.resample(rule, **options)[["x", "n"]].sum()

        expected = ask(frame.groupby("k"))
        for found in answers(backend, frame, ask, cuts=CUTS if seed or zone else FINE):
            agree(backend, found, expected, 0)
        sorted_frame = frame.sort_values("k", kind="stable")
        for found in answers(backend, sorted_frame, ask, clustered=True, cuts=CUTS[::2]):
            agree(backend, found, expected, 0)


CALENDARS = {
    "2MS": "20D", "3MS": "40D", "2ME": "20D", "2QS": "30D", "3QE": "50D", "2YS": "90D", "2W": "5D", "3W-TUE": "4D",
    "2B": "13h", "2SMS": "9D",
}  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("rule", "zone"),
    [*((rule, None) for rule in CALENDARS), ("2MS", "Europe/Berlin"), ("2ME", "Europe/Berlin")],
)
def test_several_units_of_a_calendar(backend, rule, zone):
    """They are counted from the first time of each group."""
    for seed, options in enumerate(({}, {"label": "right"}, {"closed": "left"})):
        frame = measured(CALENDARS[rule], zone, seed)
        for name in ("sum", "ffill"):
            given = distinct(frame) if name == "ffill" else frame

            def ask(groups, name=name, options=options):
                return getattr(groups.resample(rule, **options)[["x", "n"]], name)()

            expected = ask(given.groupby("k")).astype("float64")
            for found in answers(backend, given, ask, cuts=[None] if seed else CUTS):
                agree(backend, found, expected, 0 if name == "sum" else None)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "options", [{"sort": False}, {"as_index": False}, {"sort": False, "as_index": False}]
)
@pytest.mark.parametrize("name", ["sum", "ffill", "size", "agg"])
def test_groups_in_order_of_appearance_and_without_their_keys(name, options):
    frame = distinct(measured("5h", seed=3))
    for rule in ("7h", "2ME"):

        def ask(groups, rule=rule):
            buckets = groups.resample(rule)
            if name == "agg":
                return buckets["n"].agg(["sum", "size"])
            return buckets.size() if name == "size" else getattr(buckets[["x", "n"]], name)()

        expected = ask(frame.groupby("k", **options))
        if name == "size" and "as_index" in options:  # pandas has keys as rows
            expected = ask(frame.groupby("k", sort=options.get("sort", True))).droplevel(0)
        for at in CUTS:
            d = frame if at is None else partitioned(frame, at)
            (found,) = dask.compute(ask(d.gpuscan.groupby("k", **options)))
            if name in ("size", "agg"):
                assert found.index.tolist() == expected.index.tolist()
                assert found.to_numpy().tolist() == expected.to_numpy().tolist()
            else:
                agree(CPU, found, expected.astype("float64"))


REDUCTIONS = [
    "sum", "mean", "min", "max", "count", "size", "first", "last", "std", "nunique", "median", "prod",
]  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize("clustered", [None, True])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(backend, name, clustered):
    frame = measured("9h").sort_values("k", kind="stable")
    for columns in ("n", "x"):

        def ask(groups, columns=columns):
            return getattr(groups.resample("D")[columns], name)()

        expected = ask(frame.groupby("k"))
        for found in answers(backend, frame, ask, clustered):
            found = found.rename(expected.name) if name == "size" else found
            agree(backend, found, expected, {"sum": 0, "prod": 1}.get(name))


@pytest.mark.parametrize(
    "options",
    [
        {"origin": "start"},
        {"offset": "1h"},
        {"origin": "epoch"},
        {"origin": pd.Timestamp("2026-03-01 00:13")},
        {"origin": "start", "offset": "-20min"},
    ],
    ids=str,
)
def test_origins(backend, options):
    for rule in ("7h", "1h", "2D"):
        frame = measured("5h")
        expected = frame.groupby("k").resample(rule, **options)["n"].sum()
        for found in answers(
            backend, frame, lambda g, rule=rule: g.resample(rule, **options)["n"].sum()
        ):
            agree(backend, found, expected, 0)


@pytest.mark.parametrize("rule", ["4h", "7h", "90min", "12h"])
@pytest.mark.parametrize("zone", ["Asia/Kolkata", "Europe/Berlin", "America/New_York"])
def test_the_epoch_is_that_of_the_clock_of_a_zone(zone, rule):
    frame = measured("5h", zone)
    expected = frame.groupby("k").resample(rule, origin="epoch")["n"].sum()
    for found in answers(CPU, frame, lambda g: g.resample(rule, origin="epoch")["n"].sum()):
        agree(CPU, found, expected, 0)


def test_aggregates_operators_and_times_in_a_column(backend):
    frame = measured("9h")
    expected = frame.groupby("k").resample("D")["n"].agg(["sum", "count"])
    for found in answers(backend, frame, lambda g: g.resample("D")["n"].agg(["sum", "count"])):
        agree(backend, found, expected, 0)
    expected = frame.groupby("k").resample("D")["n"].sum()
    columns = frame.reset_index()

    def reduced(groups):
        return groups.resample("D", on="t").n.reduce(dask_gpuscan.add)

    for found in answers(backend, columns, reduced):  # null where a bucket has no rows
        agree(backend, found.fillna(0).astype("int64"), expected)
    for found in answers(backend, columns, lambda g: g.resample("D", on="t").sum()):
        agree(backend, found, frame.groupby("k").resample("D")[["x", "n"]].sum(), 0)


def test_series_and_several_keys(backend):
    frame = measured("9h").assign(j=lambda f: f["n"] % 2)
    expected = frame.groupby(["j", "k"]).resample("D")["n"].sum()
    for at in FINE:
        whole = backend.frame(frame)
        d = whole if at is None else partitioned(whole, at)
        (found,) = dask.compute(d.gpuscan.groupby(["j", "k"]).resample("D")["n"].sum())
        agree(backend, backend.to_pandas(found), expected, 0)
    for name in ("n", None):
        series = frame["n"].rename(name)
        expected = series.groupby(frame["k"]).resample("D").sum()
        found = series.gpuscan.groupby(frame["k"]).resample("D").sum()
        agree(backend, found, expected, 0)


@pytest.mark.parametrize("dropna", [True, False])
@pytest.mark.parametrize("keys", ["text", "categories", "floats", "nullable", "times"])
def test_null_keys(keys, dropna):
    frame = measured("9h").assign(k=null_keys(keys, 24).array)
    expected = frame.groupby("k", dropna=dropna, observed=True).resample("D")["n"].sum()
    for at in CUTS:
        d = frame if at is None else partitioned(frame, at)
        groups = d.gpuscan.groupby("k", dropna=dropna)
        agree(CPU, computed(groups.resample("D")["n"].sum()), expected, 0)


def test_few_rows():
    frame = measured("9h")
    for count in (0, 1, 2):
        for at in (None, [0.5], [0.5, 0.5]):
            d = frame[:count] if at is None else partitioned(frame[:count], at)
            (found,) = dask.compute(d.gpuscan.groupby("k").resample("D")["n"].sum())
            if count:
                agree(CPU, found, frame[:count].groupby("k").resample("D")["n"].sum())
            else:  # of which pandas leaves out the levels of keys
                assert len(found) == 0
                assert found.index.names == ["k", "t"]
                assert found.dtype == "int64"


WRONG = [
    (
        lambda g: g.resample("2MS", closed="right"),
        ValueError,
        "rule must be closed as by default in groups",
    ),
    (lambda g: g.resample("x"), ValueError, "rule must be a duration"),
    (lambda g: g.resample("D", on="n"), TypeError, "resample needs datetimes"),
    (lambda g: g.resample("D")["y"], KeyError, "'y' is not a column"),
    (lambda g: g.resample("D").pad(), AttributeError, "ffill"),
    (lambda g: g.resample("D").summ, AttributeError, "did you mean 'sum'"),
]


@pytest.mark.parametrize(("ask", "error", "message"), WRONG)
def test_wrong_arguments(ask, error, message):
    frame = measured("9h")
    for d in (frame, partitioned(frame, [0.5])):
        with pytest.raises(error, match=message):
            ask(d.gpuscan.groupby("k"))


def test_times_without_order_and_options_of_groups():
    frame = measured("9h")
    for d in (frame[::-1], partitioned(frame[::-1], [0.5])):
        for clustered in (None, True):
            lazy = d.assign(k=1).gpuscan.groupby("k", clustered=clustered).resample("D")
            with pytest.raises(ValueError, match="times must not decrease within a group"):
                dask.compute(lazy["n"].sum())
    found = frame.gpuscan.groupby("k").resample("D")
    assert repr(found) == "<GroupResampler by 'k' and D of the index>"


# --- rows at the edges of buckets --------------------------------------------------------------------

EDGES = [
    ("asfreq", {}), ("asfreq", {"fill_value": -1}), ("ffill", {}), ("ffill", {"limit": 2}), ("bfill", {}),
    ("bfill", {"limit": 1}), ("nearest", {}), ("nearest", {"limit": 1}),
]  # fmt: skip


def distinct(frame):
    """Leave out rows at times that their group has already: pandas refuses them."""
    return frame[~frame.reset_index().duplicated(["k", "t"]).to_numpy()]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("rule", ["7h", "D", "ME"])
@pytest.mark.parametrize(("name", "options"), EDGES, ids=str)
def test_rows_at_edges(backend, name, options, rule):
    if "fill_value" in options and backend.name != "cpu":
        pytest.skip("the answers of cuDF are compared without")
    for seed, sides in enumerate(({}, {"closed": "right"})):
        if rule != "7h" and sides:
            continue
        frame = distinct(measured(RULES[rule], None, seed))

        def ask(groups, sides=sides):
            return getattr(groups.resample(rule, **sides)[["x", "n"]], name)(**options)

        expected = ask(frame.groupby("k"))
        for clustered in (None, True):
            given = frame.sort_values("k", kind="stable") if clustered else frame
            for found in answers(backend, given, ask, clustered, CUTS[::2]):
                agree(backend, found, expected.astype("float64"))


def test_rows_at_edges_of_a_series_and_of_times_in_a_column(backend):
    frame = distinct(measured("5h", "Europe/Berlin"))
    expected = frame.groupby("k")["n"].resample("7h").ffill()
    for found in answers(backend, frame, lambda g: g["n"].resample("7h").ffill()):
        agree(backend, found, expected.astype("float64"))
    for found in answers(
        backend, frame.reset_index(), lambda g: g.resample("7h", on="t")["n"].ffill()
    ):
        agree(backend, found, expected.astype("float64"))


def test_edges_of_several_keys_and_of_null_ones():
    frame = distinct(measured("5h")).assign(
        c=lambda d: pd.Categorical(["a", "b"] * (len(d) // 2) + ["a"] * (len(d) % 2))
    )
    frame["k"] = frame["k"].where(frame["k"] > 0).astype("Int64")
    for keys, options in (
        (["k", "c"], {"observed": True}),
        (["k"], {"dropna": False}),
        (["c"], {"observed": True}),
    ):
        expected = frame.groupby(keys, **options).resample("7h")[["x"]].bfill(limit=2)
        for d in (frame, partitioned(frame, [0, 0.3, 0.3, 1])):
            found = d.gpuscan.groupby(keys, **options).resample("7h")[["x"]].bfill(limit=2)
            (found,) = dask.compute(found)
            assert found["x"].tolist() == pytest.approx(expected["x"].tolist(), nan_ok=True)
            assert [tuple(map(str, row)) for row in found.index] == [
                tuple(map(str, row)) for row in expected.index
            ]


def test_several_rows_at_one_time_in_groups():
    times = pd.to_datetime(["2026-01-01 09:00"] * 4)
    frame = pd.DataFrame({"k": [1, 2, 1, 2], "x": [1, 2, 3, 4]}, times)
    groups = frame.gpuscan.groupby("k").resample("1h").x
    assert groups.ffill().tolist() == groups.asfreq().tolist() == [3, 4]
    assert groups.bfill().tolist() == groups.nearest().tolist() == [1, 2]


def test_edges_of_no_rows():
    frame = measured("5h")[:0]
    found = frame.gpuscan.groupby("k").resample("7h").ffill()
    assert len(found) == 0
    assert list(found.columns) == ["x", "n"]
    with pytest.raises(AttributeError, match="interpolate"):
        frame.gpuscan.groupby("k").resample("7h").interpolate  # noqa: B018


def test_times_among_the_columns_are_left_out():
    frame = pd.DataFrame(
        {
            "k": list("aabb"),
            "f": [1.0, 2, 3, 4],
            "t": pd.date_range("2026", periods=4, freq="10min"),
        }
    )
    expected = frame.groupby("k")[["f", "t"]].resample("1h", on="t").sum()
    for each in (frame, partitioned(frame, [0.5])):
        same(computed(each.gpuscan.groupby("k")[["f", "t"]].resample("1h", on="t").sum()), expected)


@pytest.mark.parametrize("origin", ["start", "epoch"])
@pytest.mark.parametrize("npartitions", [0, 1, 3])
def test_times_in_nanoseconds_beside_null_keys(origin, npartitions):
    """They are more than float64 holds, and rows in no group have no first time."""
    start = pd.Timestamp("2024-01-01 00:00:00.000000001")
    after = pd.to_timedelta([0, 0, 59_999_999_999, 60_000_000_000, 60_000_000_000], "ns")
    df = pd.DataFrame({"k": ["a", None, "a", "a", None], "t": start + after, "x": range(5)})
    expected = df.groupby("k").resample("1min", on="t", origin=origin)["x"].sum()
    given = dd.from_pandas(df, npartitions=npartitions) if npartitions else df
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        found = given.gpuscan.groupby("k").resample("1min", on="t", origin=origin)["x"].sum()
        found = found.compute() if npartitions else found
    pd.testing.assert_series_equal(found, expected)
