"""A partition cut into pieces, which are sent and joined to new partitions as Dask's concat joins them."""

import pickle

import numpy as np
import pandas as pd
import pytest

from dask_gpuscan.engines.dask.shuffle import JoinRows
from dask_gpuscan.ops.sort.pieces import PartitionSlices
from helpers.backends import same


def odd(backend, rows):
    rng = np.random.default_rng(rows)
    x = pd.Series(rng.random(rows)).mask(rng.random(rows) < (rows % 2) / 4)
    words = pd.Series(rng.choice(["a", "bb", "ccc"], rows))
    times = pd.Series(pd.to_datetime(rng.integers(0, 10**9, rows), unit="s"))
    columns = {"x": x, "w": words, "t": times, "n": rng.integers(-9, 9, rows).astype("i1")}
    return backend.frame(pd.DataFrame(columns, index=rng.integers(0, 99, rows)))


@pytest.mark.parametrize("unlike", ["none", "labels", "category"])
def test_pieces_are_joined_as_concat_does(backend, unlike):
    """Where some have nulls and others none; labels of other dtypes and categories are joined by Dask itself."""
    frames = [odd(backend, rows) for rows in (40, 41, 0, 7, 64)]
    if unlike == "labels":
        frames[1].index = frames[1].index.astype("f8")
    if unlike == "category":
        for frame in frames:
            frame["w"] = frame["w"].astype(pd.CategoricalDtype(["a", "bb", "ccc"]))
    bounds = [[0, 3], [3, 3], [3, 7]]
    sent = [
        PartitionSlices(*PartitionSlices.of(f, np.minimum(bounds, len(f))).some(0, 3))
        for f in frames
    ]
    for number, (start, stop) in enumerate(bounds):
        expected = pd.concat([backend.to_pandas(f.iloc[start:stop]) for f in frames])
        same(
            backend.to_pandas(JoinRows()(sent, number, range(5))),
            expected if len(expected) else backend.to_pandas(frames[0][:0]),
        )
        again = pickle.loads(pickle.dumps(sent))
        same(
            backend.to_pandas(JoinRows()(again, number, range(5))),
            backend.to_pandas(JoinRows()(sent, number, range(5))),
        )


def test_no_rows_are_sent_for_empty_pieces():
    pieces = PartitionSlices.of(
        pd.DataFrame({"x": range(500)}), [[5, 5], [7, 9], [9, 12], [500, 500]]
    )
    rows, bounds = pieces.some(0, 3)
    assert len(rows) == 5
    assert bounds.tolist() == [[0, 0], [0, 2], [2, 5]]
    assert len(pieces.some(3, 4)[0]) == 0
