"""Labels of columns that are no plain strings: answers over partitions are those of eager calls, or a clear error."""

import re

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import dask_gpuscan

NAN = float("nan")
LABELS = {"None": None, "NaN": NAN, "1": 1, "tuple": (1, 2), "True": True, "surrogate": "\ud800"}
CHOSEN = "Dask cannot choose column .* by its label; rename it first"

FRAMES = {
    "rle": lambda f, name: f.gpuscan.rle([name]),
    "rle agg": lambda f, name: f.gpuscan.rle("t", agg={"a": ("x", "sum")}),
    "rle decode": lambda f, name: dask_gpuscan.rle_decode(f.gpuscan.rle([name])),
    "sessionize": lambda f, name: f.gpuscan.sessionize("t", gap="10s", by=[name]),
    "sessions": lambda f, name: f.gpuscan.sessions("t", gap="10s", by=[name]),
    "sessions agg": lambda f, name: f.gpuscan.sessions("t", gap="10s", a=(name, "sum")),
    "resample": lambda f, name: f.gpuscan.resample("1min", on="t").sum(),
    "resample agg": lambda f, name: f.gpuscan.resample("1min", on="t").agg(["sum", "max"]),
    "agg": lambda f, name: f.gpuscan.groupby([name])[["x"]].agg(["sum", "max"]),
    "agg of": lambda f, name: f.gpuscan.groupby("x").agg({name: "sum"}),
    "groups": lambda f, name: f.gpuscan.groupby([name], clustered=True)["x"].sum(),
    "median": lambda f, name: f.gpuscan.groupby([name])["x"].median(),
    "nlargest": lambda f, name: f.gpuscan.groupby([name], clustered=True)["x"].nlargest(1),
    "cumsum": lambda f, name: f.gpuscan.groupby([name]).x.cumsum(),
    "rolling": lambda f, name: f.drop(columns="t").gpuscan.rolling(3).sum(),
    "rolling agg": lambda f, name: f.drop(columns="t").gpuscan.rolling(3).agg(["sum", "max"]),
    "corr": lambda f, name: f.drop(columns="t").gpuscan.rolling(3).corr(),
    "ewm": lambda f, name: f.drop(columns="t").gpuscan.ewm(span=3).mean(),
    "filter": lambda f, name: f.gpuscan.filter("x > 1"),
    "partition": lambda f, name: f.gpuscan.partition("x > 1")[1],
    "sort": lambda f, name: f.gpuscan.sort_values([name, "t"]),
    "drop_duplicates": lambda f, name: f.gpuscan.drop_duplicates([name]),
    "unique": lambda f, name: f.gpuscan.unique_consecutive([name]),
    "rank": lambda f, name: f.gpuscan.rank(),
    "shift": lambda f, name: f.gpuscan.shift(1),
    "ffill": lambda f, name: f.gpuscan.ffill(),
    "reset_index": lambda f, name: f.gpuscan.reset_index(),
    "head": lambda f, name: f.gpuscan.groupby([name]).head(1),
    "asof": lambda f, name: dask_gpuscan.merge_asof(f, f[["t", "x"]], on="t"),
}

SERIES = {
    "rle": lambda s: s.gpuscan.rle(),
    "rle decode": lambda s: dask_gpuscan.rle_decode(s.gpuscan.rle()),
    "cumsum": lambda s: s.gpuscan.cumsum(),
    "rolling agg": lambda s: s.gpuscan.rolling(3).agg(["sum", "max"]),
    "filter": lambda s: s.gpuscan.filter(lambda x: x > 1),
    "sort": lambda s: s.gpuscan.sort_values(),
    "value_counts": lambda s: s.gpuscan.value_counts(),
    "reset_index": lambda s: s.gpuscan.reset_index(),
    "nlargest": lambda s: s.gpuscan.nlargest(2),
    "unique": lambda s: s.gpuscan.unique_consecutive(),
}


def frame(label, of_strings):
    """Return rows whose labels are as pandas makes them of a dict, or are kept as they are."""
    seconds = [0, 1, 2, 50, 51, 52, 90, 91, 92, 93, 94, 200]
    times = pd.Timestamp("2026-01-01") + pd.to_timedelta(seconds, unit="s")
    columns = [np.repeat([3, 1, 2], 4), np.arange(12.0) % 5, times]
    made = pd.DataFrame(dict(enumerate(columns)))
    names = [label, "x", "t"]
    made.columns = pd.Index(names) if of_strings else pd.Index(names, dtype=object)
    return made


def check(call, data):
    try:
        with dask.config.set(scheduler="sync"):
            found = call(dd.from_pandas(data, npartitions=3)).compute()
    except ValueError as error:
        if re.match(CHOSEN, str(error)):
            return False
        raise
    expected = call(data)
    if expected.ndim == 1:
        pd.testing.assert_series_equal(found, expected, check_dtype=False)
    else:
        pd.testing.assert_frame_equal(found, expected, check_dtype=False, check_freq=False)
    return True


@pytest.mark.sampled(2)
@pytest.mark.parametrize("of_strings", [True, False])
@pytest.mark.parametrize("label", LABELS)
def test_frames(label, of_strings):
    if label == "surrogate" and of_strings:
        pytest.skip("pandas itself refuses it")
    data = frame(LABELS[label], of_strings)
    name = data.columns[0]
    answers = {each: check(lambda f, c=call: c(f, name), data) for each, call in FRAMES.items()}
    plain = label in ("1", "tuple") or (of_strings and label != "True")
    assert set(answers.values()) == {plain}, answers


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("name", SERIES)
def test_series(name, label):
    data = pd.Series([3, 1, 1, 2, 2, 2, 3], name=LABELS[label])
    message = {"surrogate": CHOSEN, "NaN": "Dask does not keep nan as the name of a series"}.get(
        label
    )
    if message is not None:
        with pytest.raises(ValueError, match=message):
            SERIES[name](dd.from_pandas(data, npartitions=3))
    else:
        assert check(SERIES[name], data)


@pytest.mark.parametrize("partitions", [1, 3])
def test_groups_of_a_column_named_nan(partitions):
    data = pd.DataFrame(
        [[1, 2.0], [1, 3.0], [2, 4.0]], columns=pd.Index(["k", np.nan], dtype="str")
    )
    lazy = dd.from_pandas(data, npartitions=partitions).gpuscan.groupby("k")[np.nan]
    for method in ("sum", "first", "median"):
        found, expected = getattr(lazy, method)(), getattr(data.groupby("k")[np.nan], method)()
        pd.testing.assert_series_equal(found.compute(), expected)
    for method in ("cumsum", "shift", "rank"):
        with pytest.raises(ValueError, match="Dask does not keep nan as the name of a series"):
            getattr(lazy, method)()


@pytest.mark.parametrize("name", [NAN, np.float64("nan"), pd.NaT])
@pytest.mark.parametrize("of", ["pandas", "dask", "stream"])
def test_series_whose_name_is_not_equal_to_itself(of, name):
    data = pd.Series([3, 1, 2], name=name)
    if of == "dask":
        with pytest.raises(
            ValueError, match=r"Dask does not keep \S+ as the name of a series; rename it"
        ):
            dd.from_pandas(data, npartitions=2).gpuscan.cumsum()
        return
    found = (data if of == "pandas" else dask_gpuscan.stream([data[:1], data[1:]])).gpuscan.cumsum()
    found = found if of == "pandas" else found.compute()
    assert found.name is name or found.name != found.name
    assert found.tolist() == [3, 4, 6]


BOTH = {
    "sum": lambda f: f.groupby(False).sum(),
    "sum of both": lambda f: f.groupby(level=0).sum(),
    "size": lambda f: f.groupby([False, True]).size(),
    "any": lambda f: f.groupby(level=0).any(),
    "agg": lambda f: f.groupby(False).agg({True: "sum"}),
    "transform": lambda f: f.groupby(False).transform("sum"),
    "rolling": lambda f: f.rolling(2).agg("sum"),
    "rolling agg": lambda f: f.rolling(2).agg({True: "sum", False: "mean"}),
    "value_counts": lambda f: f.value_counts(subset=[False]),
    "all value_counts": lambda f: f.value_counts(),
}


@pytest.mark.parametrize("name", BOTH)
def test_lists_of_true_and_false_are_no_masks(name):
    index = pd.Index([4, 4, 5], name="i")
    data = pd.DataFrame({False: [1, 1, 2], True: [5.0, 7.0, 7.0]}, index)
    for rows in (data, data.iloc[:2]):  # as many rows as labels, too
        found, expected = BOTH[name](rows.gpuscan), BOTH[name](rows)
        check_equal = getattr(
            pd.testing, f"assert_{'frame' if found.ndim == 2 else 'series'}_equal"
        )
        check_equal(found, expected)
    stream = dask_gpuscan.stream([data.iloc[:1], data.iloc[1:]])
    pd.testing.assert_frame_equal(stream[[True]].compute(), data.iloc[:, 1:])


@pytest.mark.parametrize("of", ["pandas", "dask", "stream"])
def test_a_column_named_na_is_refused(of):
    frame = pd.DataFrame([[1, 2.0]], columns=pd.Index([pd.NA, "x"], dtype=object))
    message = "column is named <NA>, which no name can be compared with; rename it first"
    for each in (frame, frame[pd.NA]):
        rows = {
            "pandas": each,
            "dask": dd.from_map(lambda part: part, [each], meta=each.iloc[:0]),
            "stream": dask_gpuscan.stream([each]),
        }[of]
        with pytest.raises(ValueError, match=message):
            rows.gpuscan.cumsum()


def test_na_names_no_column():
    frame = pd.DataFrame({"k": [1, 1], "x": [1.0, 2.0]})
    for each in (frame, dd.from_pandas(frame, npartitions=2)):
        for ask in (
            lambda it: it.groupby(pd.NA),
            lambda it: it.groupby("k")[pd.NA],
            lambda it: it.sort_values(pd.NA),
            lambda it: it.drop_duplicates(pd.NA),
            lambda it: it.value_counts([pd.NA]),
            lambda it: it.nlargest(1, pd.NA),
        ):
            with pytest.raises((TypeError, ValueError), match="<NA>"):
                ask(each.gpuscan)
