"""The calls that the pack has kernels for: every method, for every usual dtype, for few and many rows."""

import sys
from functools import lru_cache, partial
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd

from dask_gpuscan import operator

sys.path.append(str(Path(__file__).parents[1] / "docs" / "tools"))

from support_calls import CALLS as METHODS
from support_calls import Call

DTYPES = ("float64", "int64", "float32", "int32", "bool", "datetime64[ns]", "timedelta64[ns]")
NULLABLE = {"int64": "Int64", "int32": "Int32", "bool": "boolean"}
"""The nullable dtypes for dtypes without nulls."""

ROWS = (7, 5000, 40_000, 300_000, 1_000_000)
"""Numbers of rows: few rows need other kernels than many, and more rows are counted, sorted and split among threads in
other ways. In the largest frame, nearly all values differ."""

MANY, MANY_ON_GPU = ROWS[-1], 1 << 22

KEYS = ("adjacent", "scattered", "texts")
"""The kinds of group keys."""

PARTITIONS = 3


DECAY = 0.5


def _least(dtype: np.dtype) -> Any:
    if dtype.kind == "b":
        return False
    return -np.inf if dtype.kind == "f" else np.iinfo(dtype).min


OWN = (
    operator(lambda a, b: a if a > b else b, identity=_least, name="larger"),
    operator(
        lambda a, b: (a[0] + b[0], a[1] + b[1]), lift=lambda x: (x, 1.0),
        lower=lambda s: s[0] / s[1], identity=(0.0, 0.0), name="mean",
    ),
    operator(
        lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1]), lift=lambda x: (DECAY, x),
        lower=lambda s: s[1], identity=(1.0, 0.0), name="decayed",
    ),
)  # fmt: skip
"""Operators of users, such as one in the table of methods: their engines come with the package."""


FURTHER: dict[str, Call] = {
    **{
        f"{how}({op.name})": partial(call_own, op)
        for op in OWN
        for how, call_own in {
            "Gpuscan.scan": lambda op, f: f["x"].gpuscan.scan(op),
            "GroupBy.scan": lambda op, f: f.gpuscan.groupby("k")["x"].scan(op),
            "GroupBy.reduce": lambda op, f: f.gpuscan.groupby("k")["x"].reduce(op),
        }.items()
    },
    "Gpuscan.filter(function)": lambda f: f.gpuscan.filter(lambda x: x > 1),
    **{
        f"Gpuscan.filter({text})": partial(lambda text, f: f.gpuscan.filter(text), text)
        for text in ("x > 1", "x >= 1", "x < 1", "x == 1", "x > y", "x > 1 and y < 3")
    },
    "Gpuscan.filter(flags)": lambda f: f.gpuscan.filter(f["late"]),
    "Gpuscan.sort_values(x)": lambda f: f.gpuscan.sort_values("x"),
    "Gpuscan.sort_values(column)": lambda f: f["x"].gpuscan.sort_values(),
    "Gpuscan.sort_values(k,x)": lambda f: f.gpuscan.sort_values(["k", "x"]),
    "Gpuscan.drop_duplicates(x)": lambda f: f["x"].gpuscan.drop_duplicates(),
    "Gpuscan.value_counts(x)": lambda f: f["x"].gpuscan.value_counts(),
    "Gpuscan.sessions(2s)": lambda f: f[["t", "x"]].gpuscan.sessions("t", gap="2s"),
    "Gpuscan.rank(x)": lambda f: f["x"].gpuscan.rank(),
    "Gpuscan.rle(x)": lambda f: f["x"].gpuscan.rle(),
    "GroupBy.sum(k,n)": lambda f: f.gpuscan.groupby(["k", "n"])["x"].sum(),
    "GroupBy.cumsum(k,n)": lambda f: f.gpuscan.groupby(["k", "n"])["x"].cumsum(),
    **{
        f"Rolling.{name}(time)": partial(
            lambda name, f: getattr(f.set_index("t")["x"].gpuscan.rolling("1min"), name)(), name
        )
        for name in ("sum", "mean", "min", "max", "std", "count")
    },
}
"""Usual calls that are not in the table of methods."""


@lru_cache(maxsize=4)
def frame(dtype: str, rows: int, keys: str) -> Any:
    """Return rows in the order of time, like `support_calls.frame`, with any dtype."""
    draw = np.random.default_rng(0)
    key = np.arange(rows) // 5 if keys == "adjacent" else draw.integers(0, 100, rows)
    if rows < MANY:
        numbers = [pd.Series(draw.integers(0, 1000, rows) % high) for high in (10, 1000)]
    else:
        numbers = [pd.Series(draw.standard_normal(rows) * 1e9) for _ in range(2)]
        key = key.astype("int32")
    whole = dtype[:5] != "float"
    x, y = (
        (each.astype("int64") if whole else each).astype(dtype.removesuffix("?"))
        for each in numbers
    )
    if dtype.endswith("?"):
        dtype = dtype[:-1]
        x, y = (each.astype(NULLABLE.get(dtype, dtype)) for each in (x, y))
        x[::7], y[3::7] = None, None
    return pd.DataFrame(
        {
            "k": pd.Series(key).map("key {}".format).astype("str") if keys == "texts" else key,
            "x": x,
            "y": y,
            "n": draw.integers(0, 10, rows),
            "late": draw.random(rows) < 0.5,
            "t": pd.Timestamp(2000, 1, 1) + pd.to_timedelta(np.arange(rows) * 20, "s"),
        }
    )


@lru_cache(maxsize=2)
def _frame_on_gpu(*of: Any) -> Any:
    return import_module("cudf").from_pandas(frame(*of))


def call(method: Call, dtype: str, rows: int, keys: str, on_gpu: bool = False) -> None:
    """Call a method of a frame, and for few rows also of a Dask collection."""
    given = (_frame_on_gpu if on_gpu else frame)(dtype, rows, keys)
    method(given)
    if rows == ROWS[0]:
        answer = method(dd.from_pandas(given, npartitions=PARTITIONS))
        for each in answer if isinstance(answer, tuple) else (answer,):
            each.compute(scheduler="synchronous")


Calls = dict[str, tuple[Call, str, int, str]]
"""The arguments of `call` for each call, by name."""


WITH_NULLS = (*DTYPES, *(f"{dtype}?" for dtype in DTYPES))


def _calls(
    sizes: tuple[int, ...],
    kinds: tuple[str, ...] = KEYS,
    dtypes: tuple[str, ...] = WITH_NULLS,
) -> Calls:
    found = {}
    for dtype, rows, keys in product(dtypes, sizes, kinds):
        for name, method in (METHODS | FURTHER).items():
            if "GroupBy." in name or keys == KEYS[0]:
                found[f"{name} {dtype} {rows} {keys}"] = method, dtype, rows, keys
    return found


CALLS = _calls(ROWS)
CALLS_ON_GPU = {
    **_calls((5000,)),
    **_calls((7, 300_000, MANY_ON_GPU), KEYS[:2], DTYPES[:4]),
}
"""The calls on GPUs, where fewer kernels depend on the number of rows, and texts use the kernels of numbers."""
