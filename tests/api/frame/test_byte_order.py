"""Columns, labels and keys in the order of bytes of other machines: answers are those of the same numbers in ours."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import dask_gpuscan
from helpers.asked import computed
from helpers.backends import same

OURS = pd.DataFrame(
    {
        "k": np.array([2, 1, 2, 1]),
        "x": np.array([1.5, 3.0, 2.0, 0.5]),
        "f": np.array([4, 3, 2, 1], "f4"),
    },
    index=pd.Index([30, 10, 20, 40], name="row"),
)


def swapped(values):
    """Return an array or an index in the order of bytes of other machines."""
    return values.astype(values.dtype.newbyteorder("S"))


def swap(frame):
    """Return a frame with columns and labels in that order."""
    columns = {name: swapped(column.to_numpy()) for name, column in frame.items()}
    return pd.DataFrame(columns, index=pd.Index(swapped(frame.index.to_numpy()), name="row"))


THEIRS = swap(OURS)
METHODS = {
    "cumsum": lambda f: f.gpuscan.cumsum(),
    "cummax": lambda f: f["x"].gpuscan.cummax(),
    "ffill": lambda f: f.gpuscan.ffill(),
    "diff": lambda f: f["x"].gpuscan.diff(),
    "shift": lambda f: f.gpuscan.shift(),
    "rolling": lambda f: f.gpuscan.rolling(2).sum(),
    "filter": lambda f: f.gpuscan.filter("x > 1"),
    "groupby": lambda f: f.gpuscan.groupby("k").sum(),
    "running": lambda f: f.gpuscan.groupby("k").cumsum(),
    "level": lambda f: f.gpuscan.groupby(level="row")["x"].max(),
    "rle": lambda f: f.gpuscan.rle("k"),
}
WHOLE = {
    "rank": lambda f: f["x"].gpuscan.rank(),
    "value_counts": lambda f: f["k"].gpuscan.value_counts(),
    "sort_values": lambda f: f.gpuscan.sort_values("x"),
    "sort_index": lambda f: f.gpuscan.sort_index(),
    "median": lambda f: f.gpuscan.groupby("k").median(),
    "nlargest": lambda f: f.gpuscan.groupby("k")["x"].nlargest(1),
}


def pieces(frame):
    """The rows whole, in partitions and in batches."""
    parts = [frame.iloc[:1], frame.iloc[1:]]
    lazy = dd.from_map(lambda part: part, parts, meta=frame.iloc[:0], enforce_metadata=False)
    return {"pandas": frame, "dask": lazy, "stream": dask_gpuscan.stream(parts)}


@pytest.mark.parametrize(
    ("of", "method"),
    [
        *((of, method) for of in ("pandas", "dask", "stream") for method in METHODS),
        *((of, method) for of in ("pandas", "dask") for method in WHOLE),
    ],
)
def test_order_of_bytes(of, method):
    ask = (METHODS | WHOLE)[method]
    found, expected = ask(pieces(THEIRS)[of]), ask(OURS)
    same(computed(found), expected)


def test_keys_given_as_values():
    expected = OURS[["x"]].groupby(OURS["k"]).sum()
    keys = THEIRS["k"], pd.Index(THEIRS["k"].to_numpy(), name="k")
    for key in keys:
        same(THEIRS[["x"]].gpuscan.groupby(key).sum(), expected)
    found = THEIRS[["x"]].gpuscan.groupby(THEIRS["k"].to_numpy()).sum()
    same(found, expected.rename_axis(None))


def test_sides_of_a_merge():
    ours = OURS.sort_values("x")[["x", "k"]]
    theirs = swap(ours)
    same(dask_gpuscan.merge_asof(theirs, theirs, on="x"), pd.merge_asof(ours, ours, on="x"))
