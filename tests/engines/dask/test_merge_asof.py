"""As-of merges over partitions: rows are moved between workers, and no graph grows with the product of partitions."""

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from dask_gpuscan import merge_asof
from helpers.backends import same


def part(i, rows, value):
    """A partition of rows in order, from where the one before ends."""
    rng = np.random.default_rng(i)
    times = np.sort(rng.integers(100 * i, 100 * i + 101, rows))
    return pd.DataFrame({"t": times, "k": rng.integers(0, 4, rows), value: rng.random(rows)})


def collection(count, rows, value):
    return dd.from_map(part, range(count), rows=rows, value=value, meta=part(0, 0, value))


@pytest.mark.sampled(2)
@pytest.mark.cluster
@pytest.mark.slow
@pytest.mark.parametrize("way", ["tasks", "shared", "p2p"])
def test_rows_are_moved_between_workers(client, way):
    for sizes in ((12, 5), (3, 11)):
        left, right = collection(sizes[0], 40, "x"), collection(sizes[1], 30, "y")
        whole = [side.compute(scheduler="sync").reset_index(drop=True) for side in (left, right)]
        for direction in ("backward", "nearest"):
            options = {"on": "t", "by": "k", "direction": direction}
            with dask.config.set({"dataframe.shuffle.method": way}):
                merged = merge_asof(left, right, **options)
                if way != "p2p":  # here first: workers would compile the same kernels at once
                    same(merged.compute(scheduler="sync"), pd.merge_asof(*whole, **options))
                found = client.compute(merged).result()
            same(found, pd.merge_asof(*whole, **options))


@pytest.mark.parametrize(("lefts", "rights"), [(1, 1), (40, 1), (1, 40), (40, 40), (300, 20)])
def test_tasks_are_few(lefts, rights):
    left, right = collection(lefts, 4, "x"), collection(rights, 4, "y")
    with dask.config.set({"dataframe.shuffle.method": "shared"}):
        graph = merge_asof(left, right, on="t").optimize().__dask_graph__()
    # both are read, keys too, and have ends; then there are pieces, rows for a partition, aggregates, windows, answers
    assert len(graph) <= 6.1 * lefts + 4 * rights + 3


def test_partitions_are_read_when_their_turn_comes():
    """Keys are read first, by themselves; no partition is cut before it is known where."""
    left, right = collection(6, 4, "x"), collection(3, 4, "y")
    merged = merge_asof(left, right, on="t")
    graph = merged.optimize(fuse=False).__dask_graph__()
    bounds = [key for key in graph if str(key[0]).startswith("bounds")]
    cuts = [task for key, task in graph.items() if str(key[0]).startswith("rightpieces")]
    assert len(bounds) == 1
    assert all(bounds[0] in task.dependencies for task in cuts)


LABELS = {
    "levels": pd.MultiIndex.from_tuples([("a", 1), ("b", 2)]),
    "null": pd.Index(["a", None]),
    "null time": pd.DatetimeIndex(["2026", None]),
}


@pytest.mark.parametrize("labels", LABELS)
def test_labels_that_are_not_needed_of_a_side_in_memory(labels):
    one = pd.DataFrame({"t": [1, 2, 5], "x": [1, 2, 3]})
    other = pd.DataFrame({"t": [1, 3], "v": [1.0, 2.0]}, index=LABELS[labels])
    for left, right in ((one, other), (other, one)):
        expected = pd.merge_asof(left, right, on="t")
        lazy = dd.from_pandas(one, npartitions=2)
        sides = (lazy, right) if left is one else (left, lazy)
        found = merge_asof(*sides, on="t").compute()
        pd.testing.assert_frame_equal(found, expected, check_dtype=False)
