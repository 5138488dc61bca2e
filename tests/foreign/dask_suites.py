"""Dask's own tests: which of its modules, which tests of each, and which methods in each are ours."""

from typing import Any

import dask.array as da
import dask.dataframe as dd

import dask_gpuscan

from .pandas_suites import LEFT
from .suite import Methods, Suite

SCANS = ("cumsum", "cumprod", "cummax", "cummin")
WITHOUT_EFFECT = {
    "axis": (None, 0, "index", "rows"),
    "observed": (True,),
    "sort": (None, True),
} | dict.fromkeys(("npartitions", "shuffle_method", "split_every", "split_out", "upsample"))
"""`split_every` and others say how Dask computes an answer."""


def _of_both(*names: str) -> Methods:
    return {
        owner: tuple(n for n in names if hasattr(owner, n)) for owner in (dd.Series, dd.DataFrame)
    }


def _suite(modules: tuple[str, ...], tests: str, *names: str) -> Suite:
    return Suite(modules, _of_both(*names), tests=tests, left=LEFT, without_effect=WITHOUT_EFFECT)


def _cumsum(x: Any, axis: Any = None, dtype: Any = None) -> Any:
    return dask_gpuscan.cumsum(x, axis, dtype=dtype)


def _cumprod(x: Any, axis: Any = None, dtype: Any = None) -> Any:
    return dask_gpuscan.cumprod(x, axis, dtype=dtype)


def _nancumsum(x: Any, axis: Any = None, dtype: Any = None) -> Any:
    return dask_gpuscan.cumsum(x, axis, dtype=dtype, skipna=True)


def _nancumprod(x: Any, axis: Any = None, dtype: Any = None) -> Any:
    return dask_gpuscan.cumprod(x, axis, dtype=dtype, skipna=True)


SUITES = {
    "frames": _suite(
        (
            "dataframe.tests.test_dataframe",
            "dataframe.dask_expr.tests.test_collection",
            "dataframe.dask_expr.tests.test_cumulative",
        ),
        "cumulative|fill|nlargest|nsmallest|shift|diff|reset_index|drop_duplicates|value_counts|explode",
        *SCANS,
        *("ffill", "bfill", "shift", "diff", "nlargest", "nsmallest"),
        *("reset_index", "drop_duplicates", "value_counts", "explode"),
    ),
    "sort": _suite(
        ("dataframe.tests.test_shuffle", "dataframe.dask_expr.tests.test_shuffle"),
        "sort_values|sort_head|sort_tail",
        *("sort_values", "nlargest", "nsmallest"),
    ),
    "rolling": _suite(
        ("dataframe.tests.test_rolling", "dataframe.dask_expr.tests.test_rolling"),
        "rolling",
        "rolling",
    ),
    "groupby": _suite(
        ("dataframe.tests.test_groupby", "dataframe.dask_expr.tests.test_groupby"),
        "cum|fill|shift|rolling|head|tail|nunique|median",
        "groupby",
    ),
    "resample": _suite(
        ("dataframe.tseries.tests.test_resample", "dataframe.tseries.tests.test_resample_expr"),
        "resample",
        "resample",
    ),
    "asof": Suite(
        ("dataframe.tests.test_multi", "dataframe.dask_expr.tests.test_merge_asof"),
        functions={dd: {"merge_asof": dask_gpuscan.merge_asof}},
        tests="asof",
    ),
    "arrays": Suite(
        ("array.tests.test_array_core", "array.tests.test_reductions"),
        functions={
            da: {
                "cumsum": _cumsum,
                "cumprod": _cumprod,
                "nancumsum": _nancumsum,
                "nancumprod": _nancumprod,
            },
            da.Array: {"cumsum": _cumsum, "cumprod": _cumprod},
        },
        tests="cumulative|cumreduction",
        without_effect={"method": None},
    ),
}
"""The themes by name."""
