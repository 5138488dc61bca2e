"""How a frame is cut into partitions of few rows, with an empty one after each."""

from typing import Any

import dask.dataframe as dd
import pandas as pd

CUTS: dict[str, int | None] = {"whole": None, "one row": 1, "three rows": 3}
"""What a run is called, and of how many rows its partitions are; None for frames as they are."""

MOST = 24
"""More parts are not cut: of a longer frame, those in the middle stay one."""


def collection(value: Any, rows: int) -> Any:
    """Return a frame or a series of pandas as a Dask collection; other values as they are."""
    if not isinstance(value, pd.Series | pd.DataFrame):
        return value
    starts = list(range(0, len(value), rows))
    if len(starts) > MOST:
        starts = starts[: MOST // 2] + starts[-MOST // 2 :]
    ends = [*starts[1:], len(value)]
    parts = [value.iloc[a:b] for start, end in zip(starts, ends, strict=True) for a, b in ((start, end), (end, end))]
    return dd.from_map(_itself, parts or [value], meta=value.iloc[:0])


def _itself(part: Any) -> Any:
    return part
