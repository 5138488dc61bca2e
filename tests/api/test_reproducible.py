"""``reproducible=True``: one result for every cut, schedule, number of workers and backend; near pandas; clear errors."""

import hashlib
import os

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from distributed import Client, LocalCluster

import dask_gpuscan
from backends import same
from strategies import partitioned

ROWS, CUTS = (1_000_000, 200) if int(os.environ.get("EXAMPLES", "16")) > 100 else (20_000, 12)


def numbers(n, seed=0):
    """Numbers of many sizes, some null, some infinite after a while."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(n) * np.exp(rng.standard_normal(n) * 5)
    x[rng.random(n) < 0.05] = np.nan
    return x


def frame(n=600):
    rng = np.random.default_rng(1)
    x = numbers(n)
    return pd.DataFrame({"k": rng.integers(0, 4, n), "x": x, "n": rng.integers(-9, 9, n)})


METHODS = {
    "cumsum": lambda df: df.gpuscan.cumsum(reproducible=True),
    "cumsum, float32": lambda df: df[["x"]].astype("float32").gpuscan.cumsum(reproducible=True),
    "cumsum, reverse": lambda df: df.gpuscan.cumsum(
        reproducible=True, reverse=True, exclusive=True, initial=0.1
    ),
    "cumsum, to the first null": lambda df: df.gpuscan.cumsum(reproducible=True, skipna=False),
    "scan": lambda df: df.gpuscan.scan(dask_gpuscan.add_reproducible),
    "scan of a dict": lambda df: df.gpuscan.scan(
        {"a": (dask_gpuscan.add_reproducible, "x * n"), "b": (dask_gpuscan.add_reproducible, "n")}
    ),
    "expanding sum": lambda df: df.gpuscan.expanding().sum(reproducible=True),
    "expanding mean": lambda df: df.gpuscan.expanding(5).mean(reproducible=True),
    "rolling sum": lambda df: df.gpuscan.rolling(40, min_periods=1).sum(reproducible=True),
    "rolling mean": lambda df: df.gpuscan.rolling(7, center=True).mean(reproducible=True),
    "group cumsum": lambda df: df.gpuscan.groupby("k").cumsum(reproducible=True),
    "group sum": lambda df: df.gpuscan.groupby("k").sum(reproducible=True),
    "group mean": lambda df: df.gpuscan.groupby("k").mean(reproducible=True),
    "group reduce": lambda df: df.gpuscan.groupby("k").reduce(dask_gpuscan.add_reproducible),
    "group expanding": lambda df: df.gpuscan.groupby("k").expanding().mean(reproducible=True),
    "group rolling": lambda df: df.gpuscan.groupby("k").rolling(9, 1).sum(reproducible=True),
}


def plain(call):
    """The same without `reproducible`, by plain sums."""
    import inspect

    text = inspect.getsource(call).split("lambda df:", 1)[1].strip().rstrip(",")
    text = text.replace("reproducible=True, ", "").replace("reproducible=True", "")
    return eval(text.replace("add_reproducible", "add"), {"dask_gpuscan": dask_gpuscan, "df": None})


def digest(frame):
    """A digest of the bits of all columns; those of every NaN are the same."""
    found = hashlib.sha256()
    for column in frame.items() if frame.ndim == 2 else [("", frame)]:
        values = column[1].to_numpy()
        if values.dtype.kind == "f":
            values = np.where(np.isnan(values), values.dtype.type(np.nan), values)
        found.update(values.tobytes())
    return found.hexdigest()
