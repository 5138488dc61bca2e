"""Where answers are meant to differ from those of pandas: what holds when, what is answered instead, and why.

Each is described in docs/guide/semantics.md.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from widened import can_be_null, nullable, widened


@dataclass(frozen=True)
class Difference:
    """An answer that is meant to be another one than that of pandas."""

    reason: str
    holds: Callable[[Any, bool], bool]
    """Tell whether it is so for a case, and for its partitions or else for the whole."""
    instead: Callable[[Any, Any, Any], Any]
    """Return what is expected, given the answer of pandas, the case, and the answer of ours."""


SCANS = ("cumsum", "cumprod", "cummax", "cummin", "ffill", "bfill", "cumcount", "row_number")
REDUCED = ("sum", "prod", "mean", "var", "std")


def _is_scan(case: Any) -> bool:
    return case.kind == "groups" and case.method.name in SCANS


def _may_be_null(case: Any) -> bool:
    return case.on.dropna and any(can_be_null(case.on.frame[k].dtype) for k in case.on.by)


DIFFERENCES: tuple[Difference, ...] = (
    Difference(
        "dtypes of groups hold all values, where those of pandas are chosen by the values",
        lambda case, lazy: case.kind == "groups"
        and (_is_scan(case) or bool(case.on.clustered) or lazy or not len(case.on.frame)),
        lambda expected, case, found: widened(expected, case.method.name),
    ),
    Difference(
        "partitions cannot know whether a key is null, only whether it can be",
        lambda case, lazy: lazy and _is_scan(case) and _may_be_null(case),
        lambda expected, case, found: nullable(expected),
    ),
)
"""What is answered otherwise, in the order in which it is applied."""

REFUSALS: dict[str, str] = {}
"""Words of messages of ours, and why there is no answer."""


def refusal_for(case: Any, error: Exception) -> str | None:
    """Return why ours refuse what pandas answers; None if they should not."""
    message = f"{case.label}: {error}"
    return next((why for words, why in REFUSALS.items() if re.search(words, message)), None)
