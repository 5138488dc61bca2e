"""The calls that compile ahead: each method is called on few and on many rows of a frame and of a Dask collection.

Calling a method compiles all that it needs, so that nobody must keep a list of kernels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from difflib import get_close_matches
from itertools import pairwise
from typing import Any, NamedTuple

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd

from ..api.accessor import Gpuscan
from ..forks import import_late
from ..kernels import Operator

FEW = 1000

SCATTERED = (FEW, 1_000_000)
"""The numbers of rows with unordered keys and widely spread values; others have adjacent keys and few values."""

BACKENDS: dict[str, tuple[int, ...]] = {
    "cpu": (8, 40_000, 300_000, *SCATTERED),
    "cuda": (8, 1 << 22),
}
"""For each backend, the numbers of rows on which a method is called: many rows need other kernels than few."""

PARTITIONS = 3
"""The number of partitions of Dask collections: the middle one has others before it and after it."""

COMMON = (
    "cumsum", "cummax", "cummin", "ffill", "bfill", "filter", "shift", "diff", "rle", "sort_values",
    "drop_duplicates", "ewm.mean", "rolling.mean", "rolling.sum", "rolling.max", "rolling.min",
    "groupby.cumsum", "groupby.ffill", "groupby.sum", "groupby.mean", "groupby.min", "groupby.max",
    "groupby.count", "groupby.size", "groupby.first", "groupby.last",
)  # fmt: skip
"""The methods that "common" stands for."""

ARGUMENTS: dict[str, tuple[Mapping[str, Any], ...]] = {
    "ewm": ({"com": 1},),
    "filter": ({"predicate": "x == x"},),
    "groupby": ({"by": "key"}, {"by": "key", "clustered": True}),
    "nth": ({"n": 0},),
    "partition": ({"predicate": "x == x"},),
    "quantile": ({"q": 0.5},),
    "resample": ({"rule": "1h"},),
    "rolling": ({"window": 3},),
    "sessionize": ({"time": "time", "gap": "1h"}, {"time": "time", "gap": "1h", "by": "key"}),
    "sessions": ({"time": "time", "gap": "1h"}, {"time": "time", "gap": "1h", "by": "key"}),
}
"""The arguments of methods, for one call each; methods that are not here are called without arguments."""

OF_FRAMES = ("groupby", "sessionize", "sessions")
"""Methods that are called on a frame; others are called on its column ``x``."""

OF_LISTS = ("explode", "list")
"""Methods that are called on a column of lists: the values of ``x`` of each key."""

NAMELESS = ("agg", "aggregate", "apply", "pipe", "reduce", "scan", "transform")
"""Methods that compute what their argument says."""

WAITING = ("ewm", "expanding", "groupby", "list", "resample", "rolling")
"""Methods that compute nothing by themselves."""


class Request(NamedTuple):
    """A method, or an operator whose scans are meant, to compile for a dtype and a backend."""

    method: str | Operator
    dtype: str
    backend: str

    @property
    def title(self) -> str:
        """Its name in the log."""
        method = self.method if isinstance(self.method, str) else f"scan by {self.method.name}"
        return f"{method} of {self.dtype} for the {'GPU' if self.backend == 'cuda' else 'CPU'}"


def check_method(method: Any) -> None:
    """Check that a method can be compiled ahead.

    Raises
    ------
    TypeError, ValueError
        If it is neither an operator of one input nor the name of a method; the message names it.
    """
    if isinstance(method, Operator):
        if method.inputs != 1:
            raise ValueError(f"methods: {method.name} takes {method.inputs} inputs, not one")
        return
    if not isinstance(method, str):
        raise TypeError(
            f"methods must be names of methods of .gpuscan such as 'groupby.sum', or operators, found {method!r}"
        )
    frame = pd.DataFrame({"key": [0], "x": [0.0]}, index=pd.to_datetime(["2000"]))
    *above, last = method.split(".")
    found: Any = Gpuscan(lists_of(frame) if {*above, last} & {*OF_LISTS} else frame)
    for name in above:
        _check_name(found, name, method)
        found = getattr(found, name)
        if callable(found):
            found = found(**ARGUMENTS.get(name, ({},))[0])
    if last in NAMELESS:
        raise ValueError(
            f"methods: {method!r} depends on its argument: give names of reductions, or the operator itself"
        )
    if last in WAITING:
        raise ValueError(
            f"methods: {method!r} computes nothing: add a method of it, as in '{method}.mean'"
        )
    _check_name(found, last, method)


def lists_of(frame: Any) -> Any:
    """Return a column of lists with the values of ``x`` of each key."""
    return frame.gpuscan.groupby("key", clustered=True).agg(x=("x", "list"))["x"]


def _check_name(found: Any, name: str, method: str) -> None:
    ours = type(found).__module__.startswith("dask_gpuscan.")
    names = [known for known in dir(type(found)) if ours and not known.startswith("_")]
    if name not in names:
        close = get_close_matches(name, names, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(names) or 'none'}"
        raise ValueError(f"methods: {method!r} is no method: no {name!r} here; {hint}")


def call(request: Request) -> None:
    """Call a method on few and on many rows, with and without nulls, of a frame and of a Dask collection.

    Errors are raised for few rows only: in many rows, numbers may be too large for the dtype or the method.
    """
    first, *more = BACKENDS[request.backend]
    _call(request, first)
    for rows in more:
        with suppress(ArithmeticError, TypeError, ValueError), np.errstate(over="ignore"):
            _call(request, rows)


def _call(request: Request, rows: int) -> None:
    for nulls in (False, True):
        frame = _frame(request, rows, nulls)
        if frame is not None:
            for obj in (frame, _collection(frame)):
                for answer in _answers(obj, request.method):
                    dask.compute(answer, scheduler="synchronous")


def _frame(request: Request, rows: int, nulls: bool) -> Any:
    """Return a frame with a column of the dtype, or None if the dtype cannot hold the nulls that are asked for.

    Return None for many texts or objects on the CPU, too: the lengths of their sums grow with the square of the rows.
    """
    plain = pd.api.types.pandas_dtype(request.dtype).kind != "O"
    if rows > FEW and request.backend == "cpu" and not plain:
        return None
    number = np.arange(rows)
    mixed = number * 7919 % rows  # a prime: each number once
    time = pd.Timestamp(2000, 1, 1) + number * pd.Timedelta("20min")
    key, values = number // 3, mixed % (3 if rows < FEW else 100) + 1
    if rows in SCATTERED:
        key, values = mixed % 100, (mixed + 1) * 1_000_003
    x = pd.Series(values).astype(request.dtype)
    frame: Any = pd.DataFrame({"key": key, "x": x, "time": time}).set_index(time)
    if request.backend == "cuda":
        frame = import_late("cudf").from_pandas(frame)
    if nulls:
        kept = frame["x"].where(frame["key"] % 2 == 0)
        if kept.dtype != frame["x"].dtype:
            return None
        frame["x"] = kept
    return frame


def _collection(frame: Any) -> Any:
    """Return a frame in partitions; Dask's own functions take seconds to find the divisions."""
    rows = len(frame)
    cuts = [rows * part // PARTITIONS for part in range(PARTITIONS + 1)]
    parts = [frame.iloc[begin:end] for begin, end in pairwise(cuts)]
    divisions = [frame.index[min(cut, rows - 1)] for cut in cuts]
    return dd.from_map(_as_it_is, parts, meta=frame.iloc[:0], divisions=divisions)


def _as_it_is(part: Any) -> Any:
    return part


def _answers(obj: Any, method: str | Operator) -> Iterator[Any]:
    """Yield the answers of all ways to call a method, or to scan by an operator."""
    if isinstance(method, Operator):
        yield obj["x"].gpuscan.scan(method)
        for given in ARGUMENTS["groupby"]:
            yield obj.gpuscan.groupby(**given)["x"].scan(method)
        return
    path = method.split(".")
    if path[0] in OF_LISTS:
        obj = lists_of(obj)
    elif path[0] not in OF_FRAMES:
        obj = obj["x"]
    yield from _walk(obj.gpuscan, path)


def _walk(found: Any, path: list[str]) -> Iterator[Any]:
    if not path:
        yield found
        return
    name, *rest = path
    member = getattr(found, name)
    if not callable(member):
        yield from _walk(member, rest)
        return
    for given in ARGUMENTS.get(name, ({},)):
        answer = member(**given)
        yield from _walk(answer["x"] if name == "groupby" else answer, rest)
