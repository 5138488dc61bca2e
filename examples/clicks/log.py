"""A click log of any size: partitions in the order of time, each made from the seed and its number."""

from __future__ import annotations

import dask.dataframe as dd
import numpy as np
import pandas as pd

START = pd.Timestamp("2026-01-01")
CLICKS_A_SECOND = 250
CLICKS_A_VISIT = 6  # on average
CLICKS_A_USER = 60  # on average, whatever the size of the log
BETWEEN_CLICKS = 20.0  # seconds, on average
PAGES = 1_000
STATUS = np.array([200, 304, 404, 500], np.int16)
SHARES = [0.9, 0.06, 0.03, 0.01]


def partition(number: int, rows: int, users: int, seed: int) -> pd.DataFrame:
    """Make one partition: the clicks of an equal share of the time, in order.

    Users make visits of several clicks, some seconds apart. Few pages have most of the clicks.
    """
    rng = np.random.default_rng([seed, number])
    lengths = rng.geometric(1 / CLICKS_A_VISIT, rows)
    lengths = lengths[: np.searchsorted(lengths.cumsum(), rows) + 1]
    first = np.repeat(lengths.cumsum() - lengths, lengths)[:rows]
    visit = np.repeat(np.arange(len(lengths)), lengths)[:rows]

    span = rows / CLICKS_A_SECOND
    waited = rng.exponential(BETWEEN_CLICKS, rows).cumsum()
    seconds = rng.uniform(0, span, len(lengths))[visit] + waited - waited[first]
    seconds %= span  # a visit that continues past the end wraps around to the beginning
    order = np.argsort(seconds, kind="stable")
    micros = ((number * span + seconds[order]) * 1e6).astype("timedelta64[us]")
    return pd.DataFrame(
        {
            "time": START.to_datetime64() + micros,
            "user": (users * rng.random(len(lengths)) ** 2)[visit][order].astype(np.int32),
            "page": (PAGES * rng.random(rows) ** 3).astype(np.int16),
            "status": rng.choice(STATUS, rows, p=SHARES),
            "bytes": rng.lognormal(9, 1.2, rows).astype(np.int32),
        }
    )


def clicks(rows: int, partitions: int, seed: int) -> dd.DataFrame:
    """Return a lazy log of this many rows."""
    cuts = np.linspace(0, rows, partitions + 1).astype(int)
    users = max(1, rows // CLICKS_A_USER)
    return dd.from_map(
        partition,
        range(partitions),
        np.diff(cuts),
        users=users,
        seed=seed,
        meta=partition(0, 1, 1, 0),
    )
