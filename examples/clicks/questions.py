"""The questions, each as a user of Dask would ask it with ``.gpuscan``: nothing is computed here.

All take the clicks in the order of time. ``checks.py`` answers them for a sample in plain pandas.
"""

from __future__ import annotations

import dask.dataframe as dd

import dask_gpuscan  # noqa: F401  the import registers the .gpuscan accessors

FAILED = 500  # the status of a page that could not be served
IDLE = "30min"  # after so long without a click, a user's next one begins another session
RECENT = "5min"
TOP = 3


def failures(clicks: dd.DataFrame) -> dd.DataFrame:
    """The clicks that were not served."""
    return clicks.gpuscan.filter(f"status >= {FAILED}")


def sessions(clicks: dd.DataFrame) -> dd.DataFrame:
    """The sessions of each user: when each began and ended, how many clicks and bytes it had."""
    return clicks.gpuscan.sessions("time", by="user", gap=IDLE, bytes=("bytes", "sum"))


def totals(clicks: dd.DataFrame) -> dd.DataFrame:
    """Each click with its number, the bytes served so far, and those of its user."""
    return clicks[["time", "user"]].assign(
        number=clicks.gpuscan.row_number(),
        served=clicks.bytes.gpuscan.cumsum(),
        served_to_user=clicks.gpuscan.groupby("user")["bytes"].cumsum(),
    )


def rates(clicks: dd.DataFrame) -> dd.DataFrame:
    """The highest number of clicks and of bytes within five minutes, by hour."""
    recent = clicks[["time", "bytes"]].gpuscan.rolling(RECENT, on="time")
    rows = clicks[["time"]].assign(clicks=recent.count()["bytes"], bytes=recent.sum()["bytes"])
    return rows.gpuscan.resample("1h", on="time").max()


def pages(clicks: dd.DataFrame) -> dd.DataFrame:
    """The pages that were clicked most often in each hour, and how often; of equal ones those of the lowest number."""
    rows = clicks[["page"]].assign(hour=clicks.time.dt.floor("h"))
    counts = rows.gpuscan.groupby(["hour", "page"]).size().to_frame("clicks").reset_index()
    ordered = counts.gpuscan.sort_values(["hour", "clicks", "page"], ascending=[True, False, True])
    return ordered.gpuscan.groupby("hour", clustered=True).head(TOP)
