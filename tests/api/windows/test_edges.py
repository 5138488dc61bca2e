"""resample(...).asfreq, ffill, bfill and nearest against pandas on the whole data, over any partitions."""

import dask
import numpy as np
import pandas as pd
import pytest

from helpers.asked import computed
from helpers.strategies import partitioned
from helpers.versions import older, since

METHODS = ["asfreq", "ffill", "bfill", "nearest"]
LIMITED = {"ffill": 2, "bfill": 1, "nearest": 1}
ZONES = None, "Europe/Berlin"
STEPS = {"1h": "7min", "37min": "11min", "D": "5h", "ME": "9D", "W": "2D", "B": "7h", "QS": "20D"}


def cuts_of(rows, number):
    """Return cuts of a frame: none, few, and in one case of three each row by itself."""
    fine = [i / rows for i in range(1, rows)]
    return None, fine if number % 3 == 0 else [0.2, 0.2, 0.7]


def agree(found, expected):
    """Assert that values are equal: integers that may be null stay integers here."""
    assert found.index.equals(expected.index)
    assert found.index.dtype == expected.index.dtype
    assert found.index.name == expected.index.name
    pairs = [x.to_numpy("float64", na_value=np.nan) for x in (found, expected)]
    np.testing.assert_array_equal(*pairs)


def measured(rule, zone, seed):
    random = np.random.default_rng(seed)
    steps = np.unique(random.integers(0, 40, 12))
    times = pd.Timestamp("2026-03-27 10:00", tz=zone) + pd.Timedelta(STEPS[rule]) * steps
    times = pd.DatetimeIndex(times, name="t")
    if seed % 2:
        times = times.floor("h").unique()
    frame = pd.DataFrame({"x": random.normal(size=len(times)), "n": range(len(times))}, times)
    frame.iloc[2, 0] = np.nan
    return frame


FEW = ["37min", "D", "ME", "W"]
INTERPOLATED = [
    {},
    {"method": "time"},
    {"method": "index", "limit": 1, "limit_direction": "both"},
    {"limit": 2, "limit_direction": "backward"},
    {"limit_area": "inside"},
]
CASES = [
    *((rule, method, {}) for rule in STEPS for method in METHODS),
    *((rule, method, {"limit": n}) for rule in FEW for method, n in LIMITED.items()),
    *((rule, "interpolate", options) for rule in FEW for options in INTERPOLATED),
]


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("rule", "method", "options"), CASES, ids=str)
def test_as_pandas(backend, rule, method, options):
    number, lines = CASES.index((rule, method, options)), method == "interpolate"
    if lines and older("pandas", "3"):
        pytest.skip("pandas 2 takes rows at edges only")
    for seed, closed in enumerate((None, "left", "right")):
        frame = measured(rule, ZONES[(seed + number) % 2], seed)
        frame = frame[::2] if options and not lines else frame
        sides = {"closed": closed} if lines else {"closed": closed, "label": "right"}
        expected = getattr(frame.resample(rule, **sides), method)(**options)
        for at in cuts_of(len(frame), seed + number):
            d = backend.frame(frame) if at is None else partitioned(backend.frame(frame), at)
            lazy = getattr(d.gpuscan.resample(rule, **sides), method)(**options)
            (found,) = dask.compute(lazy)
            if at is not None:
                assert (found.dtypes == lazy.dtypes).all()
            found, is_pandas = backend.to_pandas(found), at is None and backend.name == "cpu"
            if lines:
                pd.testing.assert_frame_equal(
                    found, expected, check_dtype=is_pandas, check_freq=is_pandas, rtol=1e-12
                )
            else:
                agree(found, expected)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "method",
    [*METHODS, pytest.param("interpolate", marks=since("pandas", "3", "it takes rows at edges"))],
)
def test_columns_series_and_few_rows(backend, method):
    def ask(frame, columns=None, **options):
        buckets = frame.gpuscan.resample("2D", **options)
        return getattr(buckets if columns is None else buckets[columns], method)()

    frame = measured("D", None, 1)
    for rows in (frame, frame[:1], frame[:0]):
        expected = getattr(rows.resample("2D"), method)()
        for at in (None, [0.4], [0.4, 0.4]):
            d, e = (
                backend.frame(one) if at is None else partitioned(backend.frame(one), at)
                for one in (rows, rows.reset_index())
            )
            for series in dask.compute(ask(d["n"]), ask(d, "n"), ask(e, "n", on="t")):
                assert series.name == "n"
                agree(backend.to_pandas(series), expected["n"])
            for some in dask.compute(ask(d, ["n", "x"]), ask(e, ["n", "x"], on="t")):
                agree(backend.to_pandas(some), expected[["n", "x"]])
    unnamed, expected = frame["n"].rename(None), getattr(frame["n"].resample("2D"), method)()
    for series in (unnamed, partitioned(unnamed, [0.4])):
        (found,) = dask.compute(ask(series))
        assert found.name is None
        agree(found, expected.rename(None))


def test_strings_and_rows_at_one_time():
    times = pd.to_datetime(["2026-01-01", "2026-01-01", "2026-01-03"])
    s = pd.Series(["a", "b", "c"], index=times, name="s")
    for d in (s, partitioned(s, [0.5])):
        found = dask.compute(*(getattr(d.gpuscan.resample("D"), method)() for method in METHODS))
        lists = [[None if pd.isna(v) else v for v in each] for each in found]
        assert lists == [["b", None, "c"], ["b", "b", "c"], ["a", "c", "c"], ["a", "c", "c"]]


def test_times_that_decrease_are_refused():
    s = measured("D", None, 0)["n"][::-1]
    for d in (s, partitioned(s, [0.5])):
        with pytest.raises(ValueError, match="times must not decrease"):
            dask.compute(d.gpuscan.resample("D").ffill())


def test_nearest_keeps_dtypes_that_have_no_null():
    frame = measured("D", None, 0)
    for d in (frame, partitioned(frame, [0.4])):
        lazy = d.gpuscan.resample("7h").nearest()
        assert lazy.dtypes.tolist() == [np.float64, np.int64]
        (found,) = dask.compute(lazy)
        pd.testing.assert_frame_equal(found, frame.resample("7h").nearest(), check_freq=False)


@pytest.mark.parametrize("rule", ["7h", "W", "ME"])
def test_asfreq_with_a_value_for_edges_without_rows(backend, rule):
    frame = measured("D", None, 1).iloc[::2]
    frame["s"] = pd.Series(frame.index.astype(str), frame.index, dtype="str")
    numbers, texts = frame[["x", "n"]], frame["s"]
    for part, value in ((numbers, 7), (texts, "none")):
        expected = part.resample(rule).asfreq(fill_value=value)
        for at in (None, [0.3, 0.3], [0.2, 0.5, 0.9]):
            d = backend.frame(part) if at is None else partitioned(backend.frame(part), at)
            lazy = d.gpuscan.resample(rule).asfreq(fill_value=value)
            found = backend.to_pandas(computed(lazy))
            check = (
                pd.testing.assert_frame_equal if part.ndim == 2 else pd.testing.assert_series_equal
            )
            check(found, expected, check_freq=False)
    for null in (None, np.nan, pd.NA, pd.NaT):
        found = numbers.gpuscan.resample("7h").asfreq(fill_value=null)
        agree(found, numbers.resample("7h").asfreq())
    with pytest.raises(
        TypeError, match=r"asfreq of column 'n': dtype int64 cannot hold the fill_value 0\.5"
    ):
        numbers.gpuscan.resample("7h").asfreq(fill_value=0.5)


@since("pandas", "3", "it takes rows at edges only")
@pytest.mark.parametrize("method", ["time", "linear", "pad"])
@pytest.mark.parametrize("year", [1938, 2026])
def test_interpolate_where_the_last_partition_has_no_rows(backend, method, year):
    times = pd.DatetimeIndex([f"{year}-04-24 09:13:20", f"{year}-04-26 03:13:20"])
    series = pd.Series([-3.0, -16.0], times, name="x")
    for rule, closed in (("ME", None), ("D", "right")):
        expected = series.resample(rule, closed=closed)
        expected = expected.ffill() if method == "pad" else expected.interpolate(method)
        for at in ([1], [1, 1], [0.5, 1], [0, 0.5, 1, 1]):
            rows = partitioned(backend.frame(series.to_frame()), at)["x"]
            lazy = rows.gpuscan.resample(rule, closed=closed).interpolate(method)
            agree(backend.to_pandas(computed(lazy)), expected)


def test_interpolate_in_steps_and_of_other_dtypes():
    frame = measured("D", None, 0).assign(s="a")
    for d in (frame, partitioned(frame, [0.4])):
        (found,) = dask.compute(d.gpuscan.resample("12h").interpolate("pad"))
        assert found["s"].isna().tolist() == [True, *[False] * (len(found) - 1)]
        agree(found[["n"]], frame.resample("12h").ffill()[["n"]])
        with pytest.raises(TypeError, match="interpolate of column 's'"):
            d.gpuscan.resample("12h").interpolate()
        with pytest.raises(ValueError, match="method must be one of"):
            d.gpuscan.resample("12h").interpolate("cubic")
        with pytest.raises(ValueError, match="limit must be a positive integer"):
            d.gpuscan.resample("12h").ffill(limit=0)


def test_columns_in_another_order():
    frame = measured("D", None, 0)
    found = frame.gpuscan.resample("7h")[["n", "x"]].nearest()
    pd.testing.assert_frame_equal(found, frame.resample("7h").nearest()[["n", "x"]])


LABELS = {
    "numbers": pd.RangeIndex(2),
    "a name": pd.Index(["a", "b"], name="n"),
    "two levels": pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")], names=["p", "q"]),
    "True and False": pd.Index([False, True]),
}


@pytest.mark.sampled(3)
@since("pandas", "3", "interpolate takes rows at edges only")
@pytest.mark.parametrize("labels", LABELS)
def test_labels_of_columns(labels):
    times = pd.date_range("2026-01-01", periods=3, freq="90min")
    frame = pd.DataFrame([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], times, LABELS[labels])
    calls = [lambda r, m=m: getattr(r, m)() for m in (*METHODS, "interpolate")]
    calls += [lambda r: r.asfreq(fill_value=7.0), lambda r: r.ffill(limit=1)]
    for call in calls:
        expected = call(frame.resample("1h"))
        found = [call(frame.gpuscan.resample("1h"))]
        if labels != "True and False":  # which Dask cannot choose
            lazy = call(partitioned(frame, [0.5]).gpuscan.resample("1h"))
            pd.testing.assert_index_equal(lazy._meta.columns, expected.columns)
            found.append(lazy.compute())
        for each in found:
            pd.testing.assert_frame_equal(each, expected, check_freq=False)
    expected = frame.groupby([1, 2, 1]).resample("1h").ffill()
    found = frame.gpuscan.groupby(np.array([1, 2, 1])).resample("1h").ffill()
    pd.testing.assert_frame_equal(found, expected)
