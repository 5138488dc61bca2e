"""Rows of every kind for streams and their states, and a user's operator with a state of two fields."""

import numpy as np
import pandas as pd

import dask_gpuscan

MEAN = dask_gpuscan.operator(
    lambda a, b: (a[0] + b[0], a[1] + b[1]),
    identity=(0.0, 0.0),
    lift=lambda x: (x, 1.0),
    lower=lambda s: s[0] / s[1],
)


def rows_of(count: int, seed: int) -> pd.DataFrame:
    """Return rows with keys, adjacent keys, floats with NaN, integers, texts and integers with nulls, and times."""
    rng = np.random.default_rng(seed)
    floats = rng.normal(0, 1e3, count)
    floats[rng.random(count) < 0.25] = np.nan
    return pd.DataFrame(
        {
            "k": rng.choice(list("abcd"), count),
            "c": np.sort(rng.integers(0, count // 5, count)),
            "x": floats,
            "n": rng.integers(-9, 9, count),
            "s": pd.Series(rng.choice(["p", "q", None], count), dtype="string"),
            "t": pd.Timestamp("2026-01-01") + pd.to_timedelta(np.cumsum(rng.integers(0, 90, count)), "min"),
            "i": pd.array(rng.choice([1, 5, None], count), "Int64"),
        }
    )  # fmt: skip
