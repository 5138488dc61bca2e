"""pandas' own tests that are run with its methods replaced by ours: which of its modules, and which methods in each."""

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd


@dataclass(frozen=True)
class Suite:
    """A theme: modules of pandas' tests, and the methods that are replaced while they run."""

    modules: tuple[str, ...]
    methods: Mapping[type, tuple[str, ...]]


SCANS = ("cumsum", "cumprod", "cummax", "cummin")

SUITES = {
    "cumulative": Suite(
        ("series.test_cumulative", "frame.test_cumulative"),
        {pd.Series: SCANS, pd.DataFrame: SCANS},
    ),
}
"""The themes by name; modules are in the package `pandas.tests`."""


def suite_of(module: str) -> Suite | None:
    """Return the suite that a module of pandas' tests is in."""
    name = module.partition("pandas.tests.")[2]
    return next((suite for suite in SUITES.values() if name in suite.modules), None)
