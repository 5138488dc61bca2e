"""How a frame is cut into partitions of few rows, with empty ones between them."""

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from helpers.strategies import of_partitions

CUTS: dict[str, int | None] = {"whole": None, "one row": 1, "three rows": 3}
"""What a run is called, and of how many rows its partitions are; None for frames as they are."""

MOST = 8
"""More parts are not cut: of a longer frame, those in the middle stay one."""

EMPTY = 3
"""Of how many parts one has an empty one before it."""


def collection(value: Any, rows: int) -> Any:
    """Return a frame, a series or times as a Dask collection; other values as they are."""
    if isinstance(value, pd.DatetimeIndex | np.ndarray) and value.dtype.kind == "M":
        value = pd.Series(value)
    if not isinstance(value, pd.Series | pd.DataFrame):
        return value
    starts = list(range(0, len(value), rows)) or [0]
    if len(starts) > MOST:
        starts = starts[: MOST // 2] + starts[-MOST // 2 :]
    parts = [value.iloc[a:b] for a, b in pairwise([*starts, len(value)])]
    for k in range(len(parts) - 1, 0, -EMPTY):
        parts.insert(k, value.iloc[:0])
    return of_partitions(parts, value.iloc[:0])
