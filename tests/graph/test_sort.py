"""Sorting on a local cluster: Dask's P2P shuffle moves the rows, and the answer is that of threads."""

import pickle

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask.utils import key_split

from backends import same
from dask_gpuscan.graph.sort_expressions import joined
from dask_gpuscan.ops.pieces import Pieces


def part(i):
    rng = np.random.default_rng(i)
    words = rng.integers(0, 30, 500).astype(str)
    odd = {"o": rng.integers(0, 9, 500).astype(object), "p": pd.period_range("2026", periods=500)}
    return pd.DataFrame({"k": rng.integers(0, 7, 500), "w": words, "x": rng.random(500), **odd})


@pytest.mark.cluster
@pytest.mark.slow
@pytest.mark.parametrize("way", [None, "tasks"])
def test_rows_are_moved_between_workers(client, way):
    ddf = dd.from_map(part, range(12), meta=part(0).iloc[:0])
    whole = pd.concat([part(i) for i in range(12)])
    with dask.config.set({"dataframe.shuffle.method": way}):
        lazy = ddf.gpuscan.sort_values(["w", "k"], ascending=[True, False])
        names = {key_split(key) for key in lazy.optimize().__dask_graph__()}
        assert any(name.startswith("shuffle-transfer") for name in names) == (way is None)
        expected = whole.sort_values(["w", "k"], ascending=[True, False], kind="stable")
        parts = client.gather(client.compute(lazy.to_delayed()))
        same(pd.concat(parts), expected)
        assert all(abs(len(p) - 500) <= 50 for p in parts)
        series = ddf.x.gpuscan.sort_values()
        same(client.compute(series).result(), whole.x.sort_values(kind="stable"))


@pytest.mark.parametrize("count", [2, 7, 26, 64])
def test_moves_by_tasks_take_one_step(count):
    ddf = dd.from_map(part, range(count), meta=part(0).iloc[:0])
    with dask.config.set({"dataframe.shuffle.method": "tasks"}):
        lazy = ddf.gpuscan.sort_values("x")
        tasks = [key_split(key) for key in lazy.optimize().__dask_graph__()]
        same(lazy.compute(), pd.concat([part(i) for i in range(count)]).sort_values("x"))
    bundles = sum(name.startswith("bundle") for name in tasks)
    parts = sum(name.startswith("part-") for name in tasks)
    assert parts == count * bundles
    assert 1.4 * count**0.5 <= bundles <= 2.9 * count**0.5
    assert len(tasks) <= parts + bundles + 6 * count


def odd(backend, rows):
    rng = np.random.default_rng(rows)
    x = pd.Series(rng.random(rows)).mask(rng.random(rows) < (rows % 2) / 4)
    words = pd.Series(rng.choice(["a", "bb", "ccc"], rows))
    times = pd.Series(pd.to_datetime(rng.integers(0, 10**9, rows), unit="s"))
    columns = {"x": x, "w": words, "t": times, "n": rng.integers(-9, 9, rows).astype("i1")}
    return backend.frame(pd.DataFrame(columns, index=rng.integers(0, 99, rows)))


@pytest.mark.parametrize("unlike", [False, True])
def test_pieces_are_joined_as_concat_does(backend, unlike):
    """Where some have nulls and others none; those of other dtypes or categories are joined by Dask itself."""
    frames = [odd(backend, rows) for rows in (40, 41, 0, 7, 64)]
    if unlike:
        frames[1]["n"] = frames[1]["n"].astype("i4")
    bounds = [[0, 3], [3, 3], [3, 7]]
    sent = [Pieces(*Pieces.of(f, np.minimum(bounds, len(f))).some(0, 3)) for f in frames]
    for number, (start, stop) in enumerate(bounds):
        expected = pd.concat([backend.to_pandas(f.iloc[start:stop]) for f in frames])
        same(
            backend.to_pandas(joined(sent, number, None)),
            expected.astype({"n": "i1"} if not len(expected) else {}),
        )
        again = pickle.loads(pickle.dumps(sent))
        same(
            backend.to_pandas(joined(again, number, None)),
            backend.to_pandas(joined(sent, number, None)),
        )


def test_no_rows_are_sent_for_empty_pieces():
    pieces = Pieces.of(part(0), [[5, 5], [7, 9], [9, 12], [500, 500]])
    rows, bounds = pieces.some(0, 3)
    assert len(rows) == 5
    assert bounds.tolist() == [[0, 0], [0, 2], [2, 5]]
    assert len(pieces.some(3, 4)[0]) == 0
