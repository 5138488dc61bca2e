"""The calls whose kernels come with the package: every method, for every usual dtype, of few rows and of many."""

import sys
from collections.abc import Callable
from functools import lru_cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd

sys.path.append(str(Path(__file__).parents[1] / "docs"))

from support_calls import CALLS as METHODS

DTYPES = ("float64", "int64", "float32", "int32", "bool", "datetime64[ns]", "timedelta64[ns]")
NULLABLE = {"int64": "Int64", "int32": "Int32", "bool": "boolean"}
"""What holds nulls of a dtype that has none."""

ROWS = (7, 5000, 300_000)
"""Few rows take other ways than many, and many are counted, sorted and shared out in others still."""

PARTITIONS = 3


@lru_cache(maxsize=4)
def frame(dtype: str, rows: int, text: bool) -> Any:
    """Return rows in the order of time, whose keys are adjacent: as `support_calls.frame`, of any dtype."""
    draw = np.random.default_rng(0)
    keys = np.arange(rows) // 5
    numbers = [pd.Series(draw.integers(0, 1000, rows) % high) for high in (10, 1000)]
    x, y = (each.astype("int64").astype(dtype.removesuffix("?")) for each in numbers)
    if dtype.endswith("?"):
        dtype = dtype[:-1]
        x, y = (each.astype(NULLABLE.get(dtype, dtype)) for each in (x, y))
        x[::7], y[3::7] = None, None
    return pd.DataFrame(
        {
            "k": pd.Series(keys).map("key {}".format).astype("str") if text else keys,
            "x": x,
            "y": y,
            "n": draw.integers(0, 10, rows),
            "late": draw.random(rows) < 0.5,
            "t": pd.Timestamp(2000, 1, 1) + pd.to_timedelta(np.arange(rows) * 20, "s"),
        }
    )


def call(method: Callable[[Any], Any], dtype: str, rows: int, text: bool) -> None:
    """Call a method of a frame, and of few rows in partitions too."""
    given = frame(dtype, rows, text)
    method(given)
    if rows == ROWS[0]:
        answer = method(dd.from_pandas(given, npartitions=PARTITIONS))
        for each in answer if isinstance(answer, tuple) else (answer,):
            each.compute(scheduler="synchronous")


def _calls() -> dict[str, Callable[[], None]]:
    found = {}
    dtypes = [*DTYPES, *(f"{dtype}?" for dtype in DTYPES)]
    for dtype, rows, text in product(dtypes, ROWS, (False, True)):
        for name, method in METHODS.items():
            if name.startswith("GroupBy.") or not text:
                title = f"{name} {dtype} {rows}{' by text' * text}"
                found[title] = partial(call, method, dtype, rows, text)
    return found


CALLS = _calls()
"""The calls by name."""
