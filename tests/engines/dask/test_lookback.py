"""The outer look-back: what the graph looks like, whatever the carry computes."""

import shutil

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask.core import flatten
from dask.optimization import cull
from dask.task_spec import TaskRef
from hypothesis import given
from hypothesis import strategies as st

import dask_gpuscan
from dask_gpuscan.engines.dask.lookback import CHAIN, WINDOW, tasks
from dask_gpuscan.ops.core.carry import DataFrameCarry
from helpers.backends import same
from helpers.strategies import cuts, partitioned
from helpers.versions import culled


class Words(DataFrameCarry):
    """A carry that knows no numbers and does not commute: each partition is a word."""

    label = "words"
    columnwise = keeps_index = True

    def __init__(self, reverse=False):
        self.reverse = reverse

    def aggregate(self, partition):
        return partition

    def combine(self, aggregates):
        return "".join(aggregates)

    def apply(self, partition, prefix):
        return (prefix or "") + partition


def build(count, reverse=False, held=False):
    words = [chr(ord("a") + i % 26) for i in range(count)]
    inputs = {("in", i): word for i, word in enumerate(words)}
    outputs = [("out", i) for i in range(count)]
    graph = tasks("t", [TaskRef(k) for k in inputs], outputs, Words(reverse), held=held)
    return words, inputs, outputs, graph


COUNTS = [1, 2, WINDOW, WINDOW + 1, 5 * WINDOW, WINDOW * CHAIN + 1, WINDOW * (CHAIN + 3) + 5]


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("held", [False, True])
def test_every_partition_gets_what_came_before_in_order(count, reverse, held):
    words, inputs, outputs, graph = build(count, reverse, held)
    answers = dask.get({**inputs, **graph}, outputs)
    for i in {0, 1, count // 2, count - 2, count - 1} & set(range(count)):
        before = "".join(words[i + 1 :][::-1]) if reverse else "".join(words[:i])
        assert answers[i] == before + words[i]


@given(count=st.integers(1, 3 * WINDOW * CHAIN), held=st.booleans())
def test_two_tasks_a_partition_and_one_a_window(count, held):
    _, _, outputs, graph = build(count, held=held)
    assert set(outputs) <= set(graph)
    windows = -(-count // WINDOW)
    nested = 0 if windows <= CHAIN else -(-windows // WINDOW)
    if nested and held:  # a task for the total of each window, and one for its prefixes
        nested += windows
    assert len(graph) <= 2 * count + windows + nested
    assert len(graph) >= 2 * count - 1
    longest = max(len(task.dependencies) for task in graph.values())
    assert longest <= 2 * WINDOW + 3


@given(count=st.integers(2, 3 * WINDOW * CHAIN))
def test_outputs_of_held_partitions_depend_on_one_task_beside(count):
    _, _, outputs, graph = build(count, held=True)
    assert max(len(graph[key].dependencies) for key in outputs) == 2


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("held", [False, True])
def test_a_window_that_the_carry_chooses(reverse, held):
    carry = Words(reverse)
    carry.window = 3
    inputs = {("in", i): chr(ord("a") + i) for i in range(20)}
    outputs = [("out", i) for i in range(20)]
    graph = tasks("t", [TaskRef(key) for key in inputs], outputs, carry, held=held)
    assert max(len(task.dependencies) for task in graph.values()) == 4
    whole = "".join(inputs.values())
    expected = [whole[: i + 1] for i in range(20)]
    if reverse:
        expected = [whole[i + 1 :][::-1] + whole[i] for i in range(20)]
    assert list(dask.get({**inputs, **graph}, outputs)) == expected


def test_outputs_depend_on_earlier_partitions_only():
    count = WINDOW * CHAIN + 40
    _, inputs, outputs, graph = build(count)
    position = {key: key[1] for key in inputs}
    reach: dict = dict(position)

    def latest(key):
        if key not in reach:
            reach[key] = max(latest(k) for k in graph[key].dependencies)
        return reach[key]

    assert [latest(key) for key in outputs] == list(range(count))


def test_ten_thousand_partitions():
    ddf = dd.from_map(
        lambda i: pd.DataFrame({"x": [i]}), range(10_000), meta=pd.DataFrame({"x": [0]})
    )
    scanned = ddf.gpuscan.cumsum()
    graph = scanned.optimize().__dask_graph__()
    assert len(graph) - 10_000 <= 2.2 * 10_000


reads: list[int] = []


def read(i):
    reads.append(i)
    return pd.DataFrame({"x": [i, i], "y": [1.0, np.nan], "z": ["a", "b"]})


def collection(count=10):
    return dd.from_map(read, range(count), meta=read(0).iloc[:0], label="read")


def test_a_partition_is_read_once():
    ddf = collection()
    scanned = ddf.gpuscan.cumsum(numeric_only=True)
    filled = ddf.gpuscan.ffill()
    reads.clear()
    dask.compute(scanned, filled, scanned.x.gpuscan.cummax())
    assert sorted(reads) == list(range(10))


@pytest.mark.parametrize(
    "ask",
    [
        lambda it: it.cumsum(),
        lambda it: it.rolling(3, center=True).sum(),
        lambda it: it.filter("x > 3"),
        lambda it: it.groupby("k").sum(),
        lambda it: it.rank(),
    ],
)
def test_persisted_partitions_are_taken_as_they_are(ask):
    df = pd.DataFrame({"k": np.arange(40) % 3, "x": np.arange(40.0)[::-1]})
    persisted = dd.from_pandas(df, npartitions=4).persist()
    lazy = ask(persisted.gpuscan).optimize()
    needed, _ = cull(dict(lazy.dask), lazy.__dask_keys__())
    assert not any(type(task).__name__ == "Alias" for task in needed.values())
    same(lazy.compute(), ask(df.gpuscan))


@pytest.mark.parametrize("column", [["x"], "x"])
@pytest.mark.parametrize(
    "ask",
    [
        lambda it: it.cumsum(),
        lambda it: it.rolling(30, center=True).sum(),
        lambda it: it.shift(-3),
        lambda it: it.rle(),
    ],
)
def test_prefixes_of_persisted_partitions_come_from_one_task_a_window(ask, column):
    df = pd.DataFrame({"k": 1, "x": np.random.default_rng(7).normal(size=3 * WINDOW)})
    lazy = dd.from_pandas(df, npartitions=3 * WINDOW)[column]
    held = dd.from_pandas(df, npartitions=3 * WINDOW).persist()[column]
    few = dict(ask(held.gpuscan).dask)
    outputs = ask(held.gpuscan).__dask_keys__()
    assert max(len(few[key].dependencies) for key in outputs) <= 3
    one, other = ask(lazy.gpuscan).compute(), ask(held.gpuscan).compute()
    same(one, other)
    assert one.to_numpy().tobytes() == other.to_numpy().tobytes()


@pytest.mark.parametrize("axis", [0, 1])
def test_prefixes_of_persisted_blocks_come_from_one_task_a_window(axis):
    x = np.random.default_rng(8).normal(size=(3 * WINDOW, 3 * WINDOW))
    chunks = tuple(1 if at == axis else 24 for at in (0, 1))
    lazy = da.from_array(x, chunks=chunks)
    held = lazy.persist()
    few = dask_gpuscan.cumsum(held, axis=axis)
    graph = dict(few.dask)
    outputs = [graph[key] for key in flatten(few.__dask_keys__())]
    assert max(len(task.dependencies) for task in outputs) <= 2
    one = dask_gpuscan.cumsum(lazy, axis=axis).compute()
    assert one.tobytes() == few.compute().tobytes()
    np.testing.assert_allclose(one, x.cumsum(axis=axis))


def test_large_halos_are_sent_to_the_next_partitions_only():
    df = pd.DataFrame({"k": np.arange(64) % 2, "x": 1.0})
    held = dd.from_pandas(df, npartitions=32).persist()
    for asked in (
        held.gpuscan.rolling(2000).sum(),
        held.gpuscan.groupby("k").rolling(3).sum(),
    ):
        most = max(len(asked.dask[key].dependencies) for key in asked.__dask_keys__())
        assert 3 < most <= 6


@culled
def test_one_partition_needs_no_later_one():
    scanned = collection().gpuscan.cumsum(numeric_only=True)
    reads.clear()
    assert scanned.partitions[2].compute().x.tolist() == [4, 6]
    assert sorted(set(reads)) == [0, 1, 2]
    reads.clear()
    assert scanned.head(1).x.tolist() == [0]
    assert reads == [0]


def test_projections_go_through(tmp_path):
    frame = pd.DataFrame({"a": range(10), "b": range(10), "s": list("abcdefghij")})
    dd.from_pandas(frame, npartitions=3).to_parquet(tmp_path)
    lazy = dd.read_parquet(tmp_path).gpuscan.cumsum(numeric_only=True)["a"]
    assert "columns=['a']" in str(lazy.optimize(fuse=False).expr.tree_repr())
    same(lazy.compute(), frame.a.cumsum())
    both = dd.read_parquet(tmp_path)[["a", "b"]].gpuscan.cumsum()[["b"]]
    same(both.compute(), frame[["b"]].cumsum())
    dropped = dd.read_parquet(tmp_path).gpuscan.reset_index(drop=True)[["b"]]
    assert "columns=['b']" in str(dropped.optimize(fuse=False).expr.tree_repr())
    same(dropped.compute(), frame[["b"]])
    numbers = dd.read_parquet(tmp_path).gpuscan.row_number()
    assert "columns=[]" in str(numbers.optimize(fuse=False).expr.tree_repr())
    assert numbers.compute().tolist() == list(range(10))


def test_names_follow_content():
    frame = pd.DataFrame({"x": [1, 2, 3]})
    one, other = (dd.from_pandas(frame, npartitions=2) for _ in range(2))
    assert one.gpuscan.cumsum()._name == other.gpuscan.cumsum()._name
    assert one.gpuscan.cumsum()._name != one.gpuscan.cummax()._name
    assert one.gpuscan.cumsum()._name != one.gpuscan.cumsum(exclusive=True)._name
    assert one.gpuscan.cumsum()._name.startswith("cumsum-")


def test_a_collection_like_any_other():
    frame = pd.DataFrame({"x": np.arange(10), "y": 1.0}, index=pd.RangeIndex(0, 100, 10, name="i"))
    ddf = dd.from_pandas(frame, npartitions=4)
    scanned = ddf.gpuscan.cumsum()
    assert scanned.divisions == ddf.divisions
    assert scanned.index.name == "i"
    same(scanned.optimize().compute(), frame.cumsum())
    same(scanned.persist().compute(), frame.cumsum())
    same(scanned.loc[30:50].compute(), frame.cumsum().loc[30:50])
    same((scanned + ddf).sum().compute(), (frame.cumsum() + frame).sum())
    same(scanned[scanned.x > 10].compute(), frame.cumsum().query("x > 10"))
    ddf["total"] = ddf.gpuscan.cumsum()["x"]
    same(ddf.compute(), frame.assign(total=frame.x.cumsum()))
    assert "cumsum" in repr(scanned)


def test_answers_are_aligned_with_what_they_were_made_of(tmp_path):
    """Without known divisions, Dask would shuffle rows by the index to bring two frames together."""
    frame = pd.DataFrame({"x": np.arange(12), "y": 1.0}, index=[5, 3, 1, 7] * 3)
    dd.from_pandas(frame, npartitions=3, sort=False).to_parquet(tmp_path)
    ddf = dd.read_parquet(tmp_path)
    assert not ddf.known_divisions
    ddf["total"] = ddf.gpuscan.cumsum()["x"]
    ddf = ddf.assign(row=ddf.gpuscan.row_number(), filled=ddf.y.gpuscan.ffill())
    ddf["twice"] = ddf.total + ddf.x.gpuscan.cumsum()
    total = frame.x.cumsum()
    expected = frame.assign(total=total, row=np.arange(12), filled=1.0, twice=2 * total)
    same(ddf.compute(), expected)
    counted = ddf.gpuscan.reset_index(drop=True)
    counted["again"] = counted.x.gpuscan.cumsum()
    same(counted.compute(), expected.reset_index(drop=True).assign(again=total.to_numpy()))


def test_filters_stay_behind_the_scan(tmp_path):
    frame = pd.DataFrame({"x": np.arange(12), "y": np.arange(12) % 2})
    dd.from_pandas(frame, npartitions=3).to_parquet(tmp_path)
    ddf = dd.read_parquet(tmp_path)
    scanned = ddf.gpuscan.cumsum()
    expected = frame.cumsum()
    same(scanned[scanned.x > 10].compute(), expected[expected.x > 10])
    wide = ddf.assign(total=ddf.gpuscan.cumsum()["x"])
    same(wide[wide.y > 0].compute(), frame.assign(total=frame.x.cumsum()).query("y > 0"))


def test_pictures_of_a_graph_tell_its_tasks():
    from dask.dot import to_graphviz

    scanned = dd.from_pandas(pd.DataFrame({"x": [1, 2, 3]}), npartitions=3).gpuscan.cumsum()
    drawn = to_graphviz(dict(scanned.optimize().__dask_graph__())).source
    assert "aggregate" in drawn


@pytest.mark.skipif(shutil.which("dot") is None, reason="needs the program `dot`")
def test_visualize(tmp_path):
    scanned = dd.from_pandas(pd.DataFrame({"x": [1, 2, 3]}), npartitions=3).gpuscan.cumsum()
    scanned.visualize(filename=str(tmp_path / "graph.svg"))
    assert (tmp_path / "graph.svg").stat().st_size > 0


@given(at=cuts())
def test_schedulers_agree(at):
    frame = pd.DataFrame({"x": np.random.default_rng(0).normal(size=50)})
    lazy = partitioned(frame, at).gpuscan.cumsum()
    one = lazy.compute(scheduler="synchronous")
    other = lazy.compute(scheduler="threads")
    assert one.x.to_numpy().tobytes() == other.x.to_numpy().tobytes()
