"""Calls of frames and their partitions, and comparisons with what is expected."""

from collections.abc import Callable
from typing import Any

import dask
import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st

from helpers.backends import Backend, same
from helpers.strategies import columns, partitioned

KEYS = ("int64", "float64", "str", "Int64", "category")


def computed(answer: Any) -> Any:
    """Return the answer of a frame, of Dask or of a stream as a frame in memory."""
    return answer.compute() if hasattr(answer, "compute") else answer


def check(
    backend: Backend, frame: Any, at: list[float], ask: Callable[[Any], Any], expected: Any
) -> None:
    """Assert that a frame and its partitions give the expected answer on a backend."""
    whole = backend.frame(frame)
    for each in (whole, partitioned(whole, at)):
        (found,) = dask.compute(ask(each.gpuscan))
        same(backend.to_pandas(found), expected)


def adjacent(frame: pd.DataFrame, by: Any = "k") -> pd.DataFrame:
    """Return the rows in an order in which equal keys, also null ones, are adjacent."""
    groups = frame.groupby(by, sort=False, dropna=False, observed=True).ngroup()
    return frame.iloc[np.argsort(groups.to_numpy(), kind="stable")]


@st.composite
def keyed(
    draw: Any, clustered: bool, dtypes: tuple[str, ...], keys: tuple[str, ...] = KEYS
) -> pd.DataFrame:
    """Return a frame with a key ``k``, a column ``x`` and duplicate labels, and perhaps with equal keys adjacent."""
    k, x = draw(columns(keys)), draw(columns(dtypes))
    count = min(len(k), len(x))
    frame = pd.DataFrame({"k": k.iloc[:count], "x": x.iloc[:count]})
    frame.index = pd.Index(np.arange(count) // 2, name="row")
    return adjacent(frame) if clustered else frame


def refusals(table: dict[Any, dict[str, list[Any]]]) -> list[Any]:
    """Return the parameters (error, message, given) of a table: one for each input that raises an error."""
    return [
        pytest.param(error, message, one, id=f"{message}, {i}")
        for error, cases in table.items()
        for message, given in cases.items()
        for i, one in enumerate(given)
    ]


NULL_KEYS = {
    "text": ("str", ["b", None, "a", "b"]),
    "objects": (object, ["b", None, "a", "b"]),
    "numbers as objects": (object, [2, None, 1.5, 2]),
    "categories": (pd.CategoricalDtype(list("zcba")), ["b", None, "a", "b"]),
    "floats": ("float64", [0.5, np.nan, -0.0, 0.0]),
    "nullable": ("Int8", [2, None, 1, 2]),
    "arrow": ("string[pyarrow]", ["b", None, "a", "b"]),
    "times": ("M8[ns]", ["2026-01-01", None, "2025-01-01", "2026-01-01"]),
}


def null_keys(kind: str, count: int) -> pd.Series:
    """Return `count` keys of a kind; each fourth is null."""
    dtype, four = NULL_KEYS[kind]
    return pd.Series(four * (count // 4), dtype=dtype)
