"""The answers of plain pandas for a sample: the first clicks, the hours that they cover, and some users."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd

from .questions import FAILED, IDLE, RECENT, TOP

USERS = 50
"""The number of users with sessions to compare."""


def compare(output: Path, answers: dict[str, pd.DataFrame], partitions: int) -> None:
    """Compare answers in memory and in files with pandas; raise an AssertionError if they differ.

    Parameters
    ----------
    output : Path
        The folder with the log and the answers in files.
    answers : dict
        The other answers.
    partitions : int
        How many partitions of the log, and of answers with its rows, are compared.
    """
    log = files(output / "clicks")
    clicks = pd.concat([pd.read_parquet(file) for file in log[:partitions]])
    begins("failures", output / "failures", clicks[clicks.status >= FAILED])
    begins("totals", output / "totals", totals(clicks))

    whole = partitions >= len(log)
    end = clicks.time.iloc[-1] + pd.Timedelta("1h") * int(whole)
    hours = answers["rates"][answers["rates"].index + pd.Timedelta("1h") <= end]
    same("rates", hours, rates(clicks).loc[hours.index])
    found = answers["pages"].sort_values(["hour", "clicks", "page"], ascending=[True, False, True])
    found = found[found.hour + pd.Timedelta("1h") <= end]
    same("pages", found, pages(clicks[clicks.time.dt.floor("h").isin(found.hour)]))

    users = np.unique(clicks.user.iloc[:: max(1, len(clicks) // USERS)])
    chosen = [("user", "in", users.tolist())]
    clicks = dd.read_parquet(output / "clicks", filters=chosen).compute()
    found = dd.read_parquet(output / "sessions", filters=chosen).compute()
    same("sessions", found.sort_values(["user", "session"]), sessions(clicks))


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.parquet"))


def begins(name: str, folder: Path, expected: pd.DataFrame) -> None:
    """Compare the first rows of files; there may be fewer than of the log, as Dask reads small files together."""
    found, count = [], 0
    for file in files(folder):
        if count >= len(expected):
            break
        found.append(pd.read_parquet(file))
        count += len(found[-1])
    same(name, pd.concat(found).iloc[: len(expected)], expected)


def same(name: str, found: pd.DataFrame, expected: pd.DataFrame) -> None:
    """Compare the rows of two frames; integers may have other dtypes."""
    found, expected = found.reset_index(drop=True), expected.reset_index(drop=True)
    assert len(expected), f"{name}: the sample has no answer"
    pd.testing.assert_frame_equal(
        found[list(expected)], expected, check_dtype=False, rtol=1e-9, obj=name
    )


def totals(clicks: pd.DataFrame) -> pd.DataFrame:
    return clicks[["time", "user"]].assign(
        number=np.arange(len(clicks)),
        served=clicks.bytes.cumsum(),
        served_to_user=clicks.groupby("user").bytes.cumsum(),
    )


def rates(clicks: pd.DataFrame) -> pd.DataFrame:
    recent = clicks.set_index("time").bytes.rolling(RECENT)
    rows = pd.DataFrame({"clicks": recent.count(), "bytes": recent.sum()})
    return rows.resample("1h").max()


def pages(clicks: pd.DataFrame) -> pd.DataFrame:
    counts = clicks.groupby([clicks.time.dt.floor("h").rename("hour"), "page"]).size()
    ordered = counts.rename("clicks").reset_index()
    ordered = ordered.sort_values(["hour", "clicks", "page"], ascending=[True, False, True])
    return ordered.groupby("hour").head(TOP)


def sessions(clicks: pd.DataFrame) -> pd.DataFrame:
    gap = clicks.groupby("user").time.diff()
    session = (gap > pd.Timedelta(IDLE)).groupby(clicks.user).cumsum().rename("session")
    groups = clicks.groupby(["user", session])
    return groups.agg(
        start=("time", "first"),
        end=("time", "last"),
        count=("time", "size"),
        bytes=("bytes", "sum"),
    ).reset_index()


def summary(answers: dict[str, Any]) -> str:
    """Return a few lines about the answers."""
    rates_, top = answers["rates"], answers["pages"]
    peak = rates_.clicks.idxmax()
    return (
        f"the most clicks within {RECENT} were {rates_.clicks.max():,.0f}, between {peak} and an hour later\n"
        f"the page that was in the first {TOP} of the most hours was {top.page.mode().iloc[0]}"
    )
