"""pandas' own tests that are run with its methods replaced by ours: which of its modules, and which methods in each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
from pandas.api.indexers import BaseIndexer

Methods = Mapping[type, tuple[str, ...]]


@dataclass(frozen=True)
class Suite:
    """A theme: modules in `pandas.tests`, and the methods that are replaced while they run."""

    modules: tuple[str, ...]
    methods: Methods
    same_words: bool = False
    """Whether messages of errors are compared, and not their types alone."""


def _of_both(*names: str) -> Methods:
    return {pd.Series: names, pd.DataFrame: names}


SUITES = {
    "cumulative": Suite(
        ("series.test_cumulative", "frame.test_cumulative"),
        _of_both("cumsum", "cumprod", "cummax", "cummin"),
        same_words=True,
    ),
    "shift": Suite(
        (
            "frame.methods.test_shift",
            "frame.methods.test_diff",
            "frame.methods.test_pct_change",
            "series.methods.test_diff",
            "series.methods.test_pct_change",
        ),
        _of_both("shift", "diff", "pct_change"),
    ),
    "fill": Suite(
        (
            "frame.methods.test_fillna",
            "frame.methods.test_interpolate",
            "series.methods.test_fillna",
            "series.methods.test_interpolate",
        ),
        _of_both("ffill", "bfill", "interpolate"),
    ),
    "sort": Suite(
        ("frame.methods.test_sort_values", "series.methods.test_sort_values"),
        _of_both("sort_values"),
    ),
    "top": Suite(
        ("frame.methods.test_nlargest", "series.methods.test_nlargest"),
        _of_both("nlargest", "nsmallest"),
    ),
    "rank": Suite(("frame.methods.test_rank", "series.methods.test_rank"), _of_both("rank")),
    "rolling": Suite(
        (
            "window.test_rolling",
            "window.test_rolling_functions",
            "window.test_rolling_quantile",
            "window.test_timeseries_window",
            "window.moments.test_moments_consistency_rolling",
        ),
        _of_both("rolling"),
    ),
    "expanding": Suite(
        ("window.test_expanding", "window.moments.test_moments_consistency_expanding"),
        _of_both("expanding"),
    ),
    "ewm": Suite(
        ("window.test_ewm", "window.moments.test_moments_consistency_ewm"), _of_both("ewm")
    ),
    "pairs": Suite(("window.test_pairwise",), _of_both("rolling", "expanding", "ewm")),
    "groupby": Suite(
        ("groupby.test_cumulative", "groupby.methods.test_rank", "groupby.test_missing"),
        _of_both("groupby"),
    ),
}
"""The themes by name."""

LINES = ("linear", "time", "index", "values", "pad")

LEFT_TO_PANDAS: dict[str, Callable[[dict[str, Any]], bool]] = {
    "interpolate": lambda given: given.get("method", "linear") not in LINES,
    "rolling": lambda given: isinstance(given.get("window"), BaseIndexer) or given["window"] == 0,
    "groupby": lambda given: not _is_names(given.get("by")),
    "sort_values": lambda given: not _is_names(given.get("by", "")),
}
"""By method: whether a call asks for what ours does not have, given its arguments."""


def _is_names(by: Any) -> bool:
    names = by if isinstance(by, list) else [by]
    return bool(names) and all(isinstance(name, str) for name in names)


OBJECTS = ("rolling", "expanding", "ewm", "groupby")
"""Methods whose answer is an object with methods, of which each is replaced too."""


def suite_of(module: str) -> Suite | None:
    """Return the suite that a module of pandas' tests is in."""
    name = module.partition("pandas.tests.")[2]
    return next((suite for suite in SUITES.values() if name in suite.modules), None)
