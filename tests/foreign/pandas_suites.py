"""pandas' own tests: which of its modules, and which methods in each are ours."""

from functools import partial
from typing import Any

import pandas as pd
from pandas.api.indexers import BaseIndexer

from .suite import Methods
from .suite import Suite as AnySuite


def _of_both(*names: str) -> Methods:
    return {pd.Series: names, pd.DataFrame: names}


LINES = ("linear", "time", "index", "values", "pad")


def _is_names(by: Any) -> bool:
    names = by if isinstance(by, list) else [by]
    return bool(names) and all(isinstance(name, str) for name in names)


LEFT = {
    "interpolate": lambda given: given.get("method", "linear") not in LINES,
    "rolling": lambda given: isinstance(given.get("window"), BaseIndexer) or given["window"] == 0,
    "groupby": lambda given: not _is_names(given.get("by")),
    "sort_values": lambda given: not _is_names(given.get("by", "")),
}
"""By method: whether a call asks for what ours does not have, given its arguments."""

Suite = partial(AnySuite, left=LEFT)

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
