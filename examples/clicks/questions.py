"""The questions, as a user of Dask would write them with ``.gpuscan``: nothing is computed here.

All functions take the clicks in the order of time. ``checks.py`` answers the questions for a sample in plain pandas.
"""

from __future__ import annotations

import dask.dataframe as dd

import dask_gpuscan  # noqa: F401  the import registers the .gpuscan accessors

FAILED = 500  # the status of a page that could not be served
IDLE = "30min"  # after so long without a click, a user's next click begins a new session
RECENT = "5min"
TOP = 3


def failures(clicks: dd.DataFrame) -> dd.DataFrame:
    """Return the clicks that were not served."""
    return clicks.gpuscan.filter(f"status >= {FAILED}")


def sessions(clicks: dd.DataFrame) -> dd.DataFrame:
    """Return the sessions of each user: their start and end, and how many clicks and bytes they had."""
    return clicks.gpuscan.sessions("time", by="user", gap=IDLE, bytes=("bytes", "sum"))


def totals(clicks: dd.DataFrame) -> dd.DataFrame:
    """Return each click with its number, the bytes served so far, and the bytes served to its user so far."""
    return clicks[["time", "user"]].assign(
        number=clicks.gpuscan.row_number(),
        served=clicks.bytes.gpuscan.cumsum(),
        served_to_user=clicks.gpuscan.groupby("user")["bytes"].cumsum(),
    )


def rates(clicks: dd.DataFrame) -> dd.DataFrame:
    """Return the most clicks and bytes within five minutes, by hour."""
    recent = clicks[["time", "bytes"]].gpuscan.rolling(RECENT, on="time")
    rows = clicks[["time"]].assign(clicks=recent.count()["bytes"], bytes=recent.sum()["bytes"])
    return rows.gpuscan.resample("1h", on="time").max()


def pages(clicks: dd.DataFrame) -> dd.DataFrame:
    """Return the most clicked pages of each hour, and their clicks; the lower number wins a tie."""
    rows = clicks[["page"]].assign(hour=clicks.time.dt.floor("h"))
    counts = rows.gpuscan.groupby(["hour", "page"]).size().to_frame("clicks").reset_index()
    ordered = counts.gpuscan.sort_values(["hour", "clicks", "page"], ascending=[True, False, True])
    return ordered.gpuscan.groupby("hour", clustered=True).head(TOP)
