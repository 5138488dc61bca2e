"""Calls with one senseless argument: it is taken, or refused by this package in one short line that names it.

Methods and their parameters are those of the classes, so that a new one is tried without a word here. `NEEDED` has a
value for each parameter without a default.
"""

from __future__ import annotations

import inspect
import traceback
from dataclasses import dataclass
from typing import Any

import dask
import numpy as np
import pandas as pd
from hypothesis import strategies as st

import dask_gpuscan
from helpers.strategies import partitioned_at

FRAME = pd.DataFrame(
    {
        "k": [1, 1, 2, 2, 3],
        "x": [3.0, np.nan, 1.0, 4.0, 1.5],
        "n": [1, 2, 2, 3, 5],
        "m": [2] * 4 + [9],
    },
    index=pd.date_range("2026-01-01", periods=5, freq="h"),
)
LAZY = partitioned_at(FRAME, [2])


RECEIVERS = {
    "pandas": "FRAME",
    "dask": "LAZY",
    "stream": "dask_gpuscan.stream([FRAME.iloc[:2], FRAME.iloc[2:]])",
}
"""What has ``.gpuscan``."""

OWNERS = (
    *("f.gpuscan", "f['x'].gpuscan", "f.gpuscan.groupby('k')", "f.gpuscan.groupby('k')['x']"),
    *("f.gpuscan.rolling(2)", "f['x'].gpuscan.expanding()", "f.gpuscan.ewm(span=3)"),
    *("f.gpuscan.groupby('k').rolling(2)", "f.gpuscan.resample('D')"),
    *("f.gpuscan.groupby('k').resample('D')", "f"),
)
"""What has methods; the rows themselves for streams alone."""


class Something:
    """What no method takes."""

    def __repr__(self) -> str:
        return "<something>"


WRONG = (
    *("None", "Something()", "int", "float", "np.int64", "pd.DataFrame", "pd.NA", "pd.NaT"),
    *(
        "np.nan",
        "np.inf",
        "0",
        "-3",
        "10**30",
        "0.5",
        "1j",
        "True",
        "np.True_",
        "'senseless'",
        "''",
    ),
    *("b'x'", "[[1]]", "[]", "('no', 1)", "{1}", "{'no': {'no': 1}}", "lambda x: x", "..."),
    *("pd.Timedelta('1h')", "np.zeros((2, 2))", "np.array(3)", "FRAME", "FRAME['x']", "LAZY['x']"),
    "LAZY",
)
"""Values that are no argument of most parameters, or of none."""


def _count(total: Any, x: Any) -> Any:
    return total + 1, x


def made(expression: str, receiver: str = "") -> Any:
    """Return what an expression is; `f` in it is of a receiver."""
    return eval(expression, globals() | {"f": eval(RECEIVERS.get(receiver, "None"))})


NEEDED: dict[str, Any] = {
    "by": "k",
    "columns": "x",
    "condition": lambda: made("f['x'] > 1", "stream"),
    "distance": 1,
    "dtype": "float64",
    "end": "m",
    "func": "sum",
    "functions": "sum",
    "function": lambda: abs,
    "gap": 1,
    "initial": 0,
    "keys": "k",
    "n": 1,
    "names": "x",
    "op": dask_gpuscan.maximum,
    "other": 0,
    "predicate": "x > 1",
    "q": 0.5,
    "rule": "D",
    "start": "n",
    "step": lambda: _count,
    "time": "n",
    "window": 2,
}
"""A value for each parameter that has no default, or that others need; functions make it."""

GIVEN = {
    "ewm": ("span", 3),
    "groupby": ("level", 0),
    "agg": ("func", "sum"),
    "f.gpuscan.sort_values": ("by", "x"),
    "fold": ("of", "n"),
    "keep_apart": ("time", "n"),
    "sessionize": ("time", "n"),  # the unit of their gap
    "sessions": ("time", "n"),
}
"""What methods need besides, by their names, and those of one owner."""

OF_FRAMES = ("session", "fold", "intervals", "keep_apart", "latest", "order_by")
"""How the names of methods of frames alone begin."""

UNTRIED = {
    *("resume", "pipe", "list", "state", "gpuscan", "name", "columns", "explode", "to_frame"),
    *("to_parquet", "to_delta", "to_iceberg"),  # which write
    *("to_dask", "to_polars"),  # which have tests of their own
    *("begin", "then", "beside", "check_rows", "origin", "written_by", "assign", "rename"),
}
"""Attributes that are no methods for users with arguments to check."""

CALLED = {"by", "key", "predicate", "function", "reset", "where"}
"""Parameters that take functions, whose own errors are theirs."""

ALSO_NAMED = {
    "agg": ("reduction",),
    "functions": ("agg",),
    "func": ("agg", "transform"),
    "columns": ("keep", "column"),
    "normalize": ("subset",),
    "on": ("time",),
    "condition": ("where",),
    "other": ("where", "cov", "corr"),
    "order_by": ("by",),
    "time": ("gap", "distance"),  # None is the index, whose gaps are durations
}
"""By which words else a message may name an argument."""


@dataclass
class Call:
    """A method that is called with one argument that means nothing."""

    receiver: str
    owner: str
    method: str
    parameter: str
    wrong: str

    def check(self) -> str:
        """Call it; raise an AssertionError for an error that is not this package's, or names no argument."""
        method = getattr(made(self.owner, self.receiver), self.method)
        wrong = made(self.wrong)
        try:
            found = method(**_arguments(self.owner, method, self.method, self.parameter, wrong))
            if self.receiver == "dask":
                dask.compute(found, scheduler="sync")
        except Exception as error:
            return self._refused(error, callable(wrong))
        return "taken"

    def _refused(self, error: Exception, is_function: bool) -> str:
        text, file = str(error), traceback.extract_tb(error.__traceback__)[-1].filename
        raised_by_us = any(part in file for part in ("dask_gpuscan", "kernels"))
        if is_function and self.parameter in CALLED:
            return "an error of its own"
        if isinstance(error, NotImplementedError) and raised_by_us:  # needs all rows of a stream
            return "not computed"
        words = (self.parameter, *ALSO_NAMED.get(self.parameter, ()))
        assert raised_by_us, f"raised by {file}: {text}"
        assert isinstance(error, (TypeError, ValueError)), f"{type(error).__name__}: {text}"
        assert any(word in text for word in words), f"names no argument: {text}"
        assert len(text) < 500, f"is long: {text}"
        assert "\n" not in text, f"has several lines: {text}"
        return "refused"


def _arguments(owner: str, method: Any, name: str, parameter: str, wrong: Any) -> dict[str, Any]:
    """Return arguments that a method takes, but for one."""
    known = inspect.signature(method).parameters.values()
    given = {
        one.name: NEEDED[one.name]
        for one in known
        if one.default is one.empty
        and one.kind is not one.VAR_KEYWORD
        and one.kind is not one.VAR_POSITIONAL
    }
    besides = GIVEN.get(f"{owner}.{name}", GIVEN.get(name))
    if besides is not None and besides[0] in {one.name for one in known}:
        given.update([besides])
    taken = {one: value() if inspect.isfunction(value) else value for one, value in given.items()}
    return taken | {parameter: wrong}


def _tried(receiver: str) -> list[tuple[str, str, str]]:
    """Return the owners of a receiver, their methods and the parameters of these."""
    found = []
    for owner in OWNERS:
        if owner == "f" and receiver != "stream":
            continue
        for name, member in inspect.getmembers(type(made(owner, receiver))):
            if name.startswith("_") or name in UNTRIED or not inspect.isfunction(member):
                continue
            if owner == "f['x'].gpuscan" and name.startswith(OF_FRAMES):
                continue
            for one in list(inspect.signature(member).parameters.values())[1:]:
                if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY):
                    found.append((owner, name, one.name))
    return found


TRIED = [(receiver, *call) for receiver in RECEIVERS for call in _tried(receiver)]


@st.composite
def _cases(draw: Any) -> Call:
    return Call(*draw(st.sampled_from(TRIED)), draw(st.sampled_from(WRONG)))


ARGUMENTS = _cases()
"""A method and a senseless argument."""
