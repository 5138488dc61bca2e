"""The route of a warm call, on one frame and on three partitions: `make routes` prints its files and numbers of calls.

A call is made twice before it is traced, so that everything is compiled and cached; it is built and computed in this
thread. The number of files says how hard it is to read, and the number of calls how long it takes on few rows:
`tests/test_routes.py` has a limit for each.
"""

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

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


ENGINES = {"eager": 1, "dask": 3}
"""The engines, and the number of partitions; one means a pandas frame."""


class Route(NamedTuple):
    """The route of a call.

    Attributes
    ----------
    files : list of str
        The files that it enters, in order.
    calls : int
        The calls of functions of the project.
    between : int
        The calls from one file to another.
    """

    files: list[str]
    calls: int
    between: int


def frame(engine: str) -> Any:
    """Return a frame with a column of few keys and a column of numbers."""
    rng = np.random.default_rng(7)
    df = pd.DataFrame({"k": rng.integers(0, 9, 3_000), "x": rng.random(3_000)})
    return df if engine == "eager" else dd.from_pandas(df, npartitions=ENGINES[engine])


def route(call: Callable[[Any], Any], data: Any) -> Route:
    """Return the route of a warm call of a frame."""
    files = dict[str, None]()
    calls = between = 0

    def enter(stack: Any, event: str, _: object) -> None:
        nonlocal calls, between
        file = _named(stack.f_code.co_filename) if event == "call" else None
        if file is not None:
            files[file] = None
            calls += 1
            between += stack.f_back is None or _named(stack.f_back.f_code.co_filename) != file

    with dask.config.set(scheduler="synchronous"):
        for warm in (False, False, True):
            sys.setprofile(enter if warm else None)
            try:
                dask.compute(call(data))
            finally:
                sys.setprofile(None)
    return Route(list(files), calls, between)


@cache
def _named(file: str) -> str | None:
    path = Path(file)
    for root in ROOTS:
        if path.is_relative_to(root):
            return f"{root.name}/{path.relative_to(root).as_posix()}".removeprefix("dask_gpuscan/")
    return None


def main() -> None:
    """Print each call with its files."""
    for name in CALLS:
        for engine in ENGINES:
            files, calls, between = route(CALLS[name], frame(engine))
            print(
                f"{name}, {engine}: {len(files)} files, {calls} calls, {between} from another file"
            )
        print("", *files, sep="\n    ")


if __name__ == "__main__":
    main()
