"""Methods of Parquet collections, of which Dask reads several files of few columns as one partition."""

import importlib
import sys
from pathlib import Path

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import dask_gpuscan

sys.path.insert(0, str(Path(__file__).parents[3] / "docs" / "tools"))
support_matrix = importlib.import_module("support_matrix")

LENGTHS = [5, 28, 19, 96, 2]


@pytest.fixture(scope="module")
def whole():
    count = sum(LENGTHS)
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "k": np.arange(count) // 7,
            "x": np.where(rng.random(count) < 0.1, np.nan, rng.integers(-9, 9, count)),
            "y": rng.integers(-9, 9, count).astype("f8"),
            "n": rng.integers(0, 9, count),
            "late": rng.random(count) < 0.5,
            "t": pd.Timestamp("2026-01-01") + pd.to_timedelta(37 * np.arange(count), unit="s"),
            "text": [f"{i:01000}" for i in range(count)],
        }
    )


@pytest.fixture(scope="module")
def lazy(whole, tmp_path_factory):
    folder = tmp_path_factory.mktemp("parquet")
    start = 0
    for i, length in enumerate(LENGTHS):
        whole[start : start + length].to_parquet(folder / f"part.{i}.parquet")
        start += length
    read = dd.read_parquet(folder)
    assert (read[["n"]] + 1).optimize().npartitions < read.npartitions == len(LENGTHS)
    return read


@pytest.fixture(autouse=True)
def sync():
    with dask.config.set(scheduler="sync"):
        yield


@pytest.mark.sampled(10)
@pytest.mark.parametrize("name", support_matrix.CALLS)
def test_every_method(name, whole, lazy):
    call = support_matrix.CALLS[name]
    support_matrix.compare(support_matrix.plain(call(lazy)), support_matrix.plain(call(whole)))


PROJECTED = {
    "filter": lambda g: g.filter("n > 3"),
    "rebalance": lambda g: g.filter("n > 3", rebalance=True),
    "partition": lambda g: g.partition("n > 3")[1],
    "sort_values": lambda g: g.sort_values(["n", "t"]),
    "drop_duplicates": lambda g: g.drop_duplicates("n"),
    "nlargest": lambda g: g.nlargest(9, ["n", "t"]),
    "sessionize": lambda g: g.sessionize("t", gap="1min", by="k"),
    "ffill": lambda g: g.ffill(),
    "shift": lambda g: g.shift(40),
    "reset_index": lambda g: g.reset_index(drop=True),
    "unique_consecutive": lambda g: g.unique_consecutive("k"),
    "head": lambda g: g.groupby("k").head(2),
    "keep_apart": lambda g: g.keep_apart("1min", "t", "k"),
    "keep_apart alone": lambda g: g.keep_apart("1min", "t"),
    "latest": lambda g: g.latest("k", by="n"),
    "latest of texts": lambda g: g.latest("text", by="n"),
    "ffill in time": lambda g: g.ffill("1min", on="t"),
}


JOINED = {
    "ffill in time": lambda f: f.gpuscan.groupby("k")["x"].ffill("1min", on="t"),
    "ffill of texts in time": lambda f: f.gpuscan.groupby("k")[["text"]].ffill("1min", on="t"),
    "long gaps": lambda f: f.gpuscan.groupby("k")["x"].interpolate(max_gap=1),
    "age": lambda f: f.gpuscan.groupby("text")["x"].fill_age(),
    "rate": lambda f: f.gpuscan.groupby("k")["n"].rate(on="t"),
    "growth": lambda f: f.gpuscan.groupby("text")["n"].increase(),
    "sessions": lambda f: f.gpuscan.sessionize("t", by="k", gap="1min", longest="1h"),
    "order": lambda f: f.gpuscan.order_by("n")["x"].cumsum(),
    "order of groups": lambda f: f.gpuscan.groupby("k", order_by="n")["x"].ffill(),
    "known": lambda f: dask_gpuscan.merge_asof(
        f[["n"]].gpuscan.sort_values("n"), f[["n", "k", "x"]], on="n", known="k"
    ),
}


@pytest.mark.parametrize("name", JOINED)
def test_several_parts_of_the_same_rows(name, whole, lazy):
    call = JOINED[name]
    support_matrix.compare(support_matrix.plain(call(lazy)), support_matrix.plain(call(whole)))


@pytest.mark.parametrize("name", PROJECTED)
@pytest.mark.parametrize("columns", [["x"], "n", ["late", "k"], ["text"]])
def test_some_columns_of_an_answer(name, columns, whole, lazy):
    call = PROJECTED[name]
    expected = call(whole.gpuscan)
    if name == "sessionize":
        expected, lazy_answer = expected.to_frame("n"), call(lazy.gpuscan).to_frame("n")
        columns = "n"
    else:
        lazy_answer = call(lazy.gpuscan)
    support_matrix.compare(lazy_answer[columns].compute(), expected[columns])


def test_columns_of_a_rebalanced_frame_beside_others(whole, lazy):
    even = lazy.gpuscan.filter("n > 3", rebalance=True)
    expected = whole[whole.n > 3]
    support_matrix.compare((even.x + even.y).compute(), expected.x + expected.y)
    again = even.gpuscan.filter("y > 0", rebalance=True)[["n"]].optimize(fuse=False)
    assert again.npartitions == len(LENGTHS)
    support_matrix.compare(again.compute(), expected.loc[expected.y > 0, ["n"]])
    support_matrix.compare(even["n"].gpuscan.cumsum().compute(), expected["n"].cumsum())


@pytest.mark.sampled(10)
@pytest.mark.parametrize("name", support_matrix.CALLS)
def test_divisions_are_true(name, whole):
    """No answer promises others than its input, whose labels repeat."""
    labels = pd.Index(np.arange(len(whole)) // 4, name="label")
    lazy = dd.from_pandas(whole.set_index(labels).drop(columns="text"), npartitions=4)
    answers = support_matrix.CALLS[name](lazy)
    for answer in answers if isinstance(answers, tuple) else (answers,):
        if getattr(answer, "known_divisions", False):
            answer.enforce_runtime_divisions().compute()
