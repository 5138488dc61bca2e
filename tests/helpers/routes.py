"""Which files of the project a warm call on a Dask frame of three partitions enters: `make routes` prints them.

A call is made once before it is watched, so that what is compiled and cached is; it is built and computed in this
thread. Its number of files is the price of reading it: `tests/test_routes.py` holds each call to its own.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd

import dask_gpuscan
from dask_gpuscan import kernels

ROOTS = [Path(package.__file__ or "").parent for package in (dask_gpuscan, kernels)]

CALLS: dict[str, Callable[[Any], Any]] = {
    "cumsum": lambda ddf: ddf.gpuscan.cumsum(),
    "groupby.sum": lambda ddf: ddf.gpuscan.groupby("k").sum(),
    "groupby.cumsum": lambda ddf: ddf.gpuscan.groupby("k").cumsum(),
    "filter": lambda ddf: ddf.gpuscan.filter("x > 0.5"),
    "rle": lambda ddf: ddf["k"].gpuscan.rle(),
    "rolling.sum": lambda ddf: ddf.gpuscan.rolling(100).sum(),
    "sort_values": lambda ddf: ddf.gpuscan.sort_values("x"),
}


def frame() -> Any:
    """Return a frame of three partitions, and of two columns, of few keys and of numbers."""
    rng = np.random.default_rng(7)
    df = pd.DataFrame({"k": rng.integers(0, 9, 3_000), "x": rng.random(3_000)})
    return dd.from_pandas(df, npartitions=3)


def route(call: Callable[[Any], Any], ddf: Any) -> list[str]:
    """Return the files that a warm call of a frame enters, in the order in which it first enters them."""
    files = dict[str, None]()

    def enter(stack: Any, event: str, _: object) -> None:
        if event == "call":
            files[stack.f_code.co_filename] = None

    with dask.config.set(scheduler="synchronous"):
        for warm in (False, True):
            sys.setprofile(enter if warm else None)
            try:
                dask.compute(call(ddf))
            finally:
                sys.setprofile(None)
    return [name for name in map(_named, files) if name]


def _named(file: str) -> str | None:
    path = Path(file)
    for root in ROOTS:
        if path.is_relative_to(root):
            return f"{root.name}/{path.relative_to(root).as_posix()}".removeprefix("dask_gpuscan/")
    return None


def main() -> None:
    """Print each call with its files."""
    ddf = frame()
    for name, call in CALLS.items():
        files = route(call, ddf)
        print(f"{name}: {len(files)} files", *files, sep="\n    ")


if __name__ == "__main__":
    main()
