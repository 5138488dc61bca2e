"""The own tests of cuDF and CuPy: which of their modules, which tests of each, and what in each is ours."""

from typing import Any

import cudf
import cupy

import dask_gpuscan

from .pandas_suites import LEFT
from .suite import Functions, Methods, Suite


def _of_both(*names: str) -> Methods:
    return {cudf.Series: names, cudf.DataFrame: names}


_LEFT = {**LEFT, "nth": lambda given: given.get("dropna") is not None}


def _suite(modules: tuple[str, ...], *names: str) -> Suite:
    return Suite(modules, _of_both(*names), left=_LEFT)


def _methods(*names: str) -> tuple[str, ...]:
    return tuple(
        f"{kind}.methods.test_{name}" for kind in ("series", "dataframe") for name in names
    )


CUDF_SUITES = {
    "cumulative": _suite(
        ("series.methods.test_cumulative_methods",), "cumsum", "cumprod", "cummax", "cummin"
    ),
    "shift": _suite(
        (*_methods("diff", "pct_change"), "series.methods.test_shift"),
        *("shift", "diff", "pct_change"),
    ),
    "fill": _suite(
        (*_methods("interpolate"), "dataframe.methods.test_ffill_bfill"),
        *("ffill", "bfill", "interpolate"),
    ),
    "sort": _suite(_methods("sort_values"), "sort_values"),
    "top": _suite(_methods("nlargest_nsmallest"), "nlargest", "nsmallest"),
    "rank": _suite(_methods("rank"), "rank"),
    "counts": _suite(
        _methods("drop_duplicates", "value_counts", "explode"),
        *("drop_duplicates", "value_counts", "explode"),
    ),
    "rolling": _suite(("window.test_rolling",), "rolling"),
    "ewm": _suite(("window.test_ewm",), "ewm"),
    "groupby": _suite(
        tuple(
            f"groupby.test_{name}"
            for name in (
                *("cummulative", "diff", "ffill", "head_tail"),
                *("nth", "pct_change", "rank", "shift"),
            )
        ),
        "groupby",
    ),
}
"""cuDF's themes by name."""


def _sums(skipna: bool) -> Functions:
    """Return running sums and products of CuPy by the names of those of NaN, or of the others."""
    prefix = "nan" if skipna else ""

    def cumsum(a: Any, axis: Any = None, dtype: Any = None) -> Any:
        return dask_gpuscan.cumsum(a, axis, dtype=dtype, skipna=skipna)

    def cumprod(a: Any, axis: Any = None, dtype: Any = None) -> Any:
        return dask_gpuscan.cumprod(a, axis, dtype=dtype, skipna=skipna)

    return {cupy: {f"{prefix}cumsum": cumsum, f"{prefix}cumprod": cumprod}}


CUPY_SUITES = {
    "cumulative": Suite(
        ("cupy_tests.math_tests.test_sumprod",),
        functions={cupy: _sums(skipna=False)[cupy] | dict(_sums(skipna=True)[cupy])},
        tests="cumsum|cumprod|TestCumsum|TestCumprod|TestNanCum",
        without_effect={},
    ),
}
"""CuPy's themes by name; its tests of filters ask for an output, an origin or sizes by axis, which ours lack."""
