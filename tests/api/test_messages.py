"""What messages say of names that are not there: what was meant, and in few words."""

import pickle

import dask
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dask_gpuscan
from dask_gpuscan import on, operator
from helpers.strategies import partitioned

df = pd.DataFrame(
    {"key": ["a", "b"], "delay": [1.0, 2.0], "when": pd.to_datetime(["2026-01-01", "2026-01-02"])}
)


@pytest.fixture(params=["pandas", "dask"])
def frame(request):
    return df if request.param == "pandas" else partitioned(df, [0.5])


COLUMNS = {  # calls that name a column, how it is shown, a name that is near to a column's, and that column's
    "by": (lambda it, name: it.groupby(name), "by=", "keys", "key"),
    "several keys": (lambda it, name: it.groupby(["key", name]), "by=", "Delay", "delay"),
    "column of groups": (lambda it, name: it.groupby("key")[name], "", "dealy", "delay"),
    "columns of groups": (lambda it, name: it.groupby("key")[["when", name]], "", "dealy", "delay"),
    "agg": (lambda it, name: it.groupby("key").agg({name: "sum"}), "agg: ", "dely", "delay"),
    "column of windows": (lambda it, name: it.rolling(2)[name], "", "dely", "delay"),
    "agg of windows": (lambda it, name: it.rolling(2).agg({name: "sum"}), "agg: ", "dely", "delay"),
    "times of windows": (lambda it, name: it.rolling("1h", on=name), "on=", "whenn", "when"),
    "times of weights": (
        lambda it, name: it.ewm(halflife="1h", times=name),
        "times=",
        "whenn",
        "when",
    ),
    "column of buckets": (lambda it, name: it.resample("D", on="when")[name], "", "dely", "delay"),
    "times of buckets": (lambda it, name: it.resample("1h", on=name), "on=", "whn", "when"),
    "sort": (lambda it, name: it.sort_values(name), "by=", "delayed", "delay"),
    "subset": (lambda it, name: it.unique_consecutive(name), "subset=", "keyy", "key"),
    "largest": (lambda it, name: it.nlargest(1, name), "columns=", "dely", "delay"),
    "lists": (lambda it, name: it.explode(name), "column=", "dely", "delay"),
    "sessions": (lambda it, name: it.sessionize(name, gap="1h"), "time=", "wen", "when"),
    "initial": (
        lambda it, name: it.cumsum(numeric_only=True, initial={name: 1}),
        "",
        "dlay",
        "delay",
    ),
    "predicate": (lambda it, name: it.filter(f"{name} > 1"), "", "dlay", "delay"),
    "function": (
        lambda it, name: it.filter(eval(f"lambda {name}: {name} > 1")),
        "",
        "dlay",
        "delay",
    ),
    "scan": (lambda it, name: it.scan({"a": (dask_gpuscan.add, name)}), "", "dlay", "delay"),
}
WORDS = {
    "reduction": (
        lambda it, word: it.groupby("key").agg(x=("delay", word)),
        "agg: ",
        "summ",
        "sum",
    ),
    "statistic": (lambda it, word: it.rolling(2).agg({"delay": word}), "agg: ", "meen", "mean"),
    "keep": (lambda it, word: it.drop_duplicates(keep=word), "found ", "frist", "first"),
    "method": (lambda it, word: it.rank(method=word), "found ", "averge", "average"),
    "closed": (lambda it, word: it.rolling(2, closed=word), "found ", "lft", "left"),
    "direction": (
        lambda it, word: it.interpolate(limit_direction=word),
        "found ",
        "foward",
        "forward",
    ),
}


@pytest.mark.parametrize("call", [*COLUMNS, *WORDS])
def test_what_was_meant(frame, call):
    ask, shown, given, meant = (COLUMNS | WORDS)[call]
    with pytest.raises(ValueError, match=r"; did you mean") as caught:
        ask(frame.gpuscan, given)
    assert f"{shown}{given!r}" in str(caught.value)
    assert str(caught.value).endswith(f"; did you mean {meant!r}?")


@pytest.mark.parametrize("call", COLUMNS)
def test_wrong_columns_are_key_errors_and_value_errors(frame, call):
    with pytest.raises(KeyError) as caught:
        COLUMNS[call][0](frame.gpuscan, "z")
    assert isinstance(caught.value, ValueError)
    assert "'z' is not a column; columns are 'key', 'delay'" in str(caught.value)
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (type(copy), str(copy)) == (type(caught.value), str(caught.value))


def test_methods_and_columns_that_were_meant(frame):
    groups = frame.gpuscan.groupby("key")
    with pytest.raises(AttributeError, match=r"column 'cumsumm'; did you mean 'cumsum'\?"):
        groups.cumsumm()
    with pytest.raises(AttributeError, match=r"column 'delai'; did you mean 'delay'\?"):
        groups.delai.sum()
    with pytest.raises(AttributeError, match=r"column 'ohcl'; did you mean 'ohlc'\?"):
        frame.gpuscan.resample("1h", on="when").ohcl()


def test_options_of_array_functions():
    for x in (np.arange(3), df[["delay"]]):
        with pytest.raises(TypeError, match=r"cumsum takes .*'exclusive'.*mean 'exclusive'\?"):
            dask_gpuscan.cumsum(x, exclusiv=True)
    with pytest.raises(TypeError, match="numeric_only is for frames, found x of type ndarray"):
        dask_gpuscan.cumsum(np.arange(3), numeric_only=True)


def test_messages_are_short():
    wide = pd.DataFrame([[1] * 5000], columns=[f"column_number_{i}" for i in range(5000)])
    long = pd.DataFrame({"x" * 10_000: [1]})
    text = "".join(f"column_number_{i} + " for i in range(900)) + "other > 1"
    calls = [
        lambda: wide.gpuscan.groupby("colunm_number_1"),
        lambda: wide.gpuscan.groupby(list(range(5000))),
        lambda: wide.gpuscan.groupby(wide),
        lambda: wide.gpuscan.groupby(partitioned(wide, []).column_number_1),
        lambda: wide.gpuscan.filter("other > 1"),
        lambda: wide.gpuscan.filter(text),
        lambda: long.gpuscan.unique_consecutive("y" * 10_000),
        lambda: wide.gpuscan.cumsum(initial="i" * 10_000),
        lambda: wide.gpuscan.cumsum(initial={f"c{i}": 0 for i in range(9000)}),
        lambda: wide.gpuscan.rank(method=[0.5] * 100_000),
        lambda: wide.gpuscan.ffill(limit=wide),
        lambda: wide.gpuscan.sort_values("column_number_1", ascending="down" * 1000),
        lambda: wide.gpuscan.groupby("column_number_1").agg(wide),
        lambda: wide.gpuscan.groupby("column_number_1").agg("z" * 10_000),
        lambda: wide.gpuscan.rolling("w" * 10_000),
        lambda: wide.gpuscan.nlargest(long),
        lambda: on("o" * 10_000),
        lambda: dask_gpuscan.merge_asof(wide, wide, on="colunm_number_1"),
        lambda: dask_gpuscan.operator(lambda a, b: a + b, identity="0" * 10_000),
    ]
    for call in calls:
        with pytest.raises((TypeError, ValueError)) as caught:
            call()
        assert len(str(caught.value)) < 500, caught.value
        assert "\n" not in str(caught.value), caught.value


def test_on_is_the_accessor(frame):
    found, expected = dask.compute(
        on(frame).cumsum(numeric_only=True), frame.gpuscan.cumsum(numeric_only=True)
    )
    pd.testing.assert_frame_equal(found, expected)
    assert type(on(frame)) is dask_gpuscan.Gpuscan
    for other in ([1, 2], np.arange(3), frame.index, None, pd.DataFrame):
        with pytest.raises(TypeError, match="obj must be a Series or DataFrame"):
            on(other)


def undefined(a, b):
    return a + nowhere  # noqa: F821


UNDEFINED = {
    "combine": lambda it: it.delay.gpuscan.scan(operator(undefined, identity=0)),
    "lift": lambda it: it.delay.gpuscan.scan(
        operator(lambda a, b: a + b, identity=0, lift=lambda x: x + nowhere)  # noqa: F821
    ),
    "groups": lambda it: it.gpuscan.groupby("key").delay.reduce(operator(undefined, identity=0)),
    "windows": lambda it: it.gpuscan.rolling(2).delay.scan(operator(undefined, identity=0)),
    "predicate": lambda it: it.gpuscan.filter(lambda delay: delay > nowhere),  # noqa: F821
}


@pytest.mark.parametrize("call", UNDEFINED)
def test_undefined_names_are_named(frame, call):
    with pytest.raises(TypeError, match="uses the name 'nowhere', which is not defined"):
        UNDEFINED[call](frame)


def test_functions_of_the_frame(frame):
    with pytest.raises(KeyError, match=r"'df' is not a column.*a function takes columns by name"):
        frame.gpuscan.filter(lambda df: df.delay > 1)


def test_how_keys_of_merges_are_sorted():
    with pytest.raises(
        ValueError, match="right keys must be sorted; sort the right side by column"
    ):
        dask_gpuscan.merge_asof(df[["when"]], df[["when"]][::-1], on="when")


GROUPER = pd.Grouper(key="when", freq="4h", origin="epoch")
WHAT_TO_DO = {
    "options of agg": (
        lambda it: it.groupby("key").agg("std", ddof=0),
        TypeError,
        r"no options; methods take these, as in std\(ddof=0\)",
    ),
    "a pair": (
        lambda it: it.groupby("key").agg(total="delay"),
        TypeError,
        r"total must be \(column, reduction\), found 'delay'",
    ),
    "origins of groupers": (
        lambda it: it.groupby(["key", GROUPER]),
        ValueError,
        "Grouper of 'when': buckets among other keys are durations .* counted from midnight",
    ),
    "levels": (
        lambda it: it.sort_index(level="when"),
        ValueError,
        "level must be among the levels of the index, 0 to 0, found 'when'",
    ),
}


@pytest.mark.parametrize("call", WHAT_TO_DO)
def test_what_can_be_done(frame, call):
    ask, error, message = WHAT_TO_DO[call]
    with pytest.raises(error, match=message):
        ask(frame.gpuscan)


def test_series_have_no_columns():
    with pytest.raises(ValueError, match=r"by='x' is not a column: a Series has none; give keys"):
        df.delay.gpuscan.groupby("x")


def test_columns_that_are_there_twice():
    twice = df.set_axis(["key", "key", "when"], axis=1)
    with pytest.raises(ValueError, match=r"column 'key' is there twice; name columns by subset="):
        twice.gpuscan.drop_duplicates()


def test_durations_have_no_buckets():
    x = pd.Series([1, 2], pd.to_timedelta([0, 50], unit="s"))
    with pytest.raises(TypeError, match=r"resample needs datetimes, .* add a timestamp"):
        x.gpuscan.resample("1min")


def test_sides_that_are_in_no_order():
    left, right = df[["when", "delay"]], df[["when", "key"]]
    for side, pair in (("right", (left, right[::-1])), ("left", (left[::-1], right))):
        with pytest.raises(ValueError, match=f"sort the {side} side by column 'when' first"):
            dask_gpuscan.merge_asof(*pair, on="when")
        lazy = [partitioned(each, [0.0]) for each in pair]
        with pytest.raises(ValueError, match=f"sort the {side} side by its keys first"):
            dask_gpuscan.merge_asof(*lazy, on="when").compute()


def test_keys_of_two_dtypes_can_be_cast():
    left = pd.DataFrame({"when": [1, 2]})
    for right in (pa.table({"when": [1, 2]}), left.astype("int32")):
        with pytest.raises(ValueError, match=r"incompatible merge keys .* cast those of one side"):
            dask_gpuscan.merge_asof(left, right, on="when")


def test_methods_and_levels_that_tables_have_not():
    table = on(pa.table({"key": ["a", "b"], "delay": [1.0, 2.0]}))
    with pytest.raises(
        AttributeError, match="gpuscan has no method 'cumsun'; did you mean 'cumsum'"
    ):
        table.cumsun()
    with pytest.raises(TypeError, match="groupby: a table has no index, and no level of one"):
        table.groupby(level=0)


def test_options_that_parquet_has_not(tmp_path):
    rows = dask_gpuscan.stream([df])
    with pytest.raises(TypeError, match=r"ParquetWriter, which has no 'compresion'"):
        rows.to_parquet(tmp_path / "rows.parquet", compresion="zstd")
    assert not list(tmp_path.iterdir())
