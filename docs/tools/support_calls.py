"""The calls of support_matrix.py: one for each public method, on a small frame or an array."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

import dask_gpuscan
from dask_gpuscan.api.frame.list_accessor import ListAccessor
from dask_gpuscan.api.groupby.groupby import GroupBy
from dask_gpuscan.api.windows.expanding import Ewm, Expanding
from dask_gpuscan.api.windows.resample import Resampler
from dask_gpuscan.api.windows.rolling import Rolling
from dask_gpuscan.api.xarray.accessor import XarrayGpuscan, XarrayGroups

Call = Callable[[Any], Any]

ALIASES = {"aggregate"}
NOTHING: dict[str, str] = {}

LARGEST = dask_gpuscan.operator(
    lambda a, b: a if a > b else b, identity=0.0, lift=lambda x: abs(x), name="largest"
)


def frame() -> pd.DataFrame:
    """Return rows in the order of time, with adjacent keys."""
    return pd.DataFrame(
        {
            "k": [1, 1, 2, 2, 2, 3, 3],
            "x": [3.0, np.nan, 1.0, 4.0, 1.5, 5.0, 9.0],
            "y": [2.0, 7.0, 1.0, np.nan, 8.0, 2.0, 8.5],
            "n": [1, 1, 0, 2, 2, 2, 5],
            "late": [True, True, False, False, True, True, True],
            "t": pd.to_datetime([0, 30, 60, 200, 230, 500, 510], unit="s"),
        }
    )


def numbers() -> np.ndarray:
    """Return a few floats."""
    return np.array([3.0, 1.0, 4.0, 1.0, 5.0])


def on_column(name: str, *given: Any, **options: Any) -> Call:
    """Call a method of `.gpuscan` of a column."""
    return lambda f: getattr(f["x"].gpuscan, name)(*given, **options)


def on_frame(name: str, *given: Any, **options: Any) -> Call:
    """Call a method of `.gpuscan` of a frame."""
    return lambda f: getattr(f.gpuscan, name)(*given, **options)


def on_groups(name: str, *given: Any, **options: Any) -> Call:
    """Call a method of groups with and without `clustered=True`; return the answers of the latter."""

    def call(f: Any) -> Any:
        return tuple(
            getattr(f.gpuscan.groupby("k", clustered=clustered)["x"], name)(*given, **options)
            for clustered in (None, True)
        )

    return call


def on_windows(kind: str, argument: dict[str, Any]) -> Callable[..., Call]:
    """Return a function that makes calls of a method of windows, on a column and on groups."""

    def method(name: str, *given: Any, **options: Any) -> Call:
        def call(f: Any) -> Any:
            of_column = getattr(f["x"].gpuscan, kind)(**argument)
            of_groups = getattr(f.gpuscan.groupby("k")["x"], kind)(**argument)
            return tuple(
                getattr(each, name)(*(g(f) if callable(g) else g for g in given), **options)
                for each in (of_column, of_groups)
            )

        return call

    return method


def lists(f: Any) -> Any:
    """Return a column of lists, one for each group."""
    return f.gpuscan.groupby("k", clustered=True).agg(n=("n", "list"))["n"]


def on_lists(name: str, *given: Any, **options: Any) -> Call:
    """Call a method of lists, and explode answers that are lists."""

    def call(f: Any) -> Any:
        answer = getattr(lists(f).gpuscan.list, name)(*given, **options)
        return answer.gpuscan.explode() if name in ("scan", "sort") or name[:3] == "cum" else answer

    return call


def on_buckets(name: str, *given: Any, **options: Any) -> Call:
    """Call a method of buckets of time."""
    return lambda f: getattr(f[["t", "x"]].gpuscan.resample("5min", on="t")["x"], name)(
        *given, **options
    )


def other(f: Any) -> Any:
    """Return the column for methods of two columns."""
    return f["y"]


SPECIAL: dict[str, Call] = {
    "Gpuscan.scan": on_column("scan", LARGEST),
    "Gpuscan.cumcount": on_column("cumcount"),
    "Gpuscan.cumany": lambda f: f["late"].gpuscan.cumany(),
    "Gpuscan.cumall": lambda f: f["late"].gpuscan.cumall(),
    "Gpuscan.rolling": lambda f: f["x"].gpuscan.rolling(3).sum(),
    "Gpuscan.expanding": lambda f: f["x"].gpuscan.expanding().mean(),
    "Gpuscan.ewm": lambda f: f["x"].gpuscan.ewm(span=3).mean(),
    "Gpuscan.resample": lambda f: f[["t", "x"]].gpuscan.resample("5min", on="t").sum(),
    "Gpuscan.filter": on_frame("filter", "x > 1 and k == 2"),
    "Gpuscan.partition": on_frame("partition", "x > 1"),
    "Gpuscan.groupby": lambda f: f.gpuscan.groupby("k")["x"].sum(),
    "Gpuscan.rle": on_frame("rle", ["k", "late"]),
    "Gpuscan.unique_consecutive": on_frame("unique_consecutive", "k"),
    "Gpuscan.run_number": on_frame("run_number", "k"),
    "Gpuscan.run_length": on_frame("run_length", "k"),
    "Gpuscan.sessionize": on_frame("sessionize", "t", gap="1min", by="k"),
    "Gpuscan.sessions": on_frame("sessions", "t", gap="1min", by="k"),
    "Gpuscan.latest": on_frame("latest", "k", "t"),
    "Gpuscan.fill_age": lambda f: f["x"].gpuscan.fill_age(),
    "Gpuscan.increase": lambda f: f["n"].gpuscan.increase(),
    "Gpuscan.rate": lambda f: f[["t", "n"]].gpuscan.rate(on="t"),
    "Gpuscan.fold": lambda f: f["n"].gpuscan.fold(lambda total, n: (total + n, total), initial=0),
    "Gpuscan.keep_apart": on_frame("keep_apart", "1min", "t", "k"),
    "Gpuscan.intervals": lambda f: (
        f[["n", "x"]].assign(end=f["n"] + 1).gpuscan.intervals("n", "end").merge()
    ),
    "Gpuscan.sort_values": on_frame("sort_values", ["n", "x"]),
    "Gpuscan.order_by": lambda f: f.gpuscan.order_by("n")["x"].cumsum(),
    "Gpuscan.sort_index": on_frame("sort_index", ascending=False),
    "Gpuscan.reset_index": on_frame("reset_index", drop=True),
    "Gpuscan.resume": lambda f: f["x"].gpuscan.resume(None).gpuscan.cumsum().compute(),
    "Gpuscan.nlargest": on_frame("nlargest", 3, "n"),
    "Gpuscan.nsmallest": on_frame("nsmallest", 3, "n"),
    "Gpuscan.drop_duplicates": on_frame("drop_duplicates", "n"),
    "Gpuscan.duplicated": on_frame("duplicated", "n"),
    "Gpuscan.value_counts": lambda f: f["n"].gpuscan.value_counts(),
    "Gpuscan.is_monotonic_increasing": lambda f: f["t"].gpuscan.is_monotonic_increasing,
    "Gpuscan.is_monotonic_decreasing": lambda f: f["t"].gpuscan.is_monotonic_decreasing,
    "Gpuscan.explode": lambda f: lists(f).gpuscan.explode(),
    "Gpuscan.list": lambda f: lists(f).gpuscan.list.sum(),
    "ListAccessor.scan": on_lists("scan", LARGEST),
    "GroupBy.fill_age": lambda f: f.gpuscan.groupby("k")["x"].fill_age(),
    "GroupBy.increase": lambda f: f.gpuscan.groupby("k")["n"].increase(),
    "GroupBy.rate": lambda f: f.gpuscan.groupby("k")["n"].rate(on="t"),
    "GroupBy.fold": lambda f: f.gpuscan.groupby("k").fold(
        lambda total, n: (total + n, total), "n", initial=0
    ),
    "GroupBy.scan": on_groups("scan", LARGEST),
    "GroupBy.reduce": on_groups("reduce", dask_gpuscan.add),
    "GroupBy.agg": on_groups("agg", ["sum", "max"]),
    "GroupBy.nth": on_groups("nth", 1),
    "GroupBy.transform": on_groups("transform", "mean"),
    "GroupBy.resample": lambda f: (
        f[["k", "t", "x"]].gpuscan.groupby("k").resample("1min", on="t")["x"].mean()
    ),
    "GroupBy.pipe": on_groups("pipe", lambda groups: groups.max() - groups.min()),
    "GroupBy.ngroups": lambda f: f.gpuscan.groupby("k").ngroups,
    "GroupBy.rolling": lambda f: f.gpuscan.groupby("k")["x"].rolling(2).sum(),
    "GroupBy.expanding": lambda f: f.gpuscan.groupby("k")["x"].expanding().mean(),
    "GroupBy.ewm": lambda f: f.gpuscan.groupby("k")["x"].ewm(span=3).mean(),
    "Rolling.scan": on_windows("rolling", {"window": 3})("scan", dask_gpuscan.maximum),
    "Rolling.apply": on_windows("rolling", {"window": 3})("apply", dask_gpuscan.maximum),
    "Resampler.agg": on_buckets("agg", ["sum", "max"]),
    "Resampler.reduce": on_buckets("reduce", dask_gpuscan.add),
}
"""Calls of methods that need arguments, or another column."""

ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "cov": (other,),
    "corr": (other,),
    "agg": (["sum", "mean"],),
    "quantile": (0.25,),
}

OWNERS: dict[type, Callable[..., Call]] = {
    dask_gpuscan.Gpuscan: on_column,
    ListAccessor: on_lists,
    GroupBy: on_groups,
    Rolling: on_windows("rolling", {"window": 3, "min_periods": 1}),
    Expanding: on_windows("expanding", {}),
    Ewm: on_windows("ewm", {"span": 3}),
    Resampler: on_buckets,
}


def _calls() -> dict[str, Call]:
    found: dict[str, Call] = {}
    for owner, on in OWNERS.items():
        names = [n for n, _ in inspect.getmembers(owner) if not n.startswith("_")]
        for name in names:
            if name not in ALIASES:
                full = f"{owner.__name__}.{name}"
                windows = owner in (Rolling, Expanding, Ewm)
                given = ARGUMENTS.get(name, ()) if windows or name == "quantile" else ()
                found[full] = SPECIAL.get(full) or on(name, *given)
    return found


CALLS: dict[str, Call] = {
    **_calls(),
    "dask_gpuscan.merge_asof": lambda f: dask_gpuscan.merge_asof(
        f[["t", "x"]], f[["t", "n"]], on="t", allow_exact_matches=False
    ),
    "dask_gpuscan.rle_decode": lambda f: dask_gpuscan.rle_decode(f.gpuscan.rle(["k", "late"])),
}
"""A call for each public method and function of frames."""

ARRAY_CALLS: dict[str, Call] = {
    "cumsum": dask_gpuscan.cumsum,
    "cumprod": dask_gpuscan.cumprod,
    "cummax": dask_gpuscan.cummax,
    "cummin": dask_gpuscan.cummin,
    "scan": lambda x: dask_gpuscan.scan(x, LARGEST),
    "ffill": dask_gpuscan.ffill,
    "bfill": lambda x: dask_gpuscan.bfill(x, limit=1),
    "summed_area_table": dask_gpuscan.summed_area_table,
    "window_sum": lambda x: dask_gpuscan.window_sum(x, [[0, 3], [1, 5]]),
    "box_filter": lambda x: dask_gpuscan.box_filter(x, 1),
    "run_end_encode": dask_gpuscan.run_end_encode,
    "run_end_decode": lambda x: dask_gpuscan.run_end_decode(dask_gpuscan.run_end_encode(x)),
}
"""A call for each function of arrays."""


def cube() -> Any:
    """Return a DataArray of two dimensions, with NaN and labels in any order."""
    import xarray

    values = np.array([[3.0, 1.0], [np.nan, 4.0], [1.0, np.nan], [5.0, 9.0], [2.0, 6.0]])
    labels = {"k": ("time", ["b", "a", "b", "b", "a"])}
    return xarray.DataArray(values, labels, ("time", "y"), "x")


def _cube_calls() -> dict[str, Call]:
    def call(groups: bool, name: str) -> Call:
        given = (LARGEST, "time") if name == "scan" else ("time",)

        def called(x: Any) -> Any:
            owner = x.gpuscan.groupby("k") if groups or name == "groupby" else x.gpuscan
            return owner.cumsum() if name == "groupby" else getattr(owner, name)(*given)

        return called

    return {
        f"{owner.__name__}.{name}": call(owner is XarrayGroups, name)
        for owner in (XarrayGpuscan, XarrayGroups)
        for name, _ in inspect.getmembers(owner)
        if not name.startswith("_")
    }


CUBE_CALLS = _cube_calls()
"""A call for each method of xarray's objects, and of their groups."""
