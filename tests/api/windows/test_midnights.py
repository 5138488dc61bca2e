"""Days whose midnight clocks skip or show twice, against zoneinfo: they begin with their first moment, for any cut."""

import warnings
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dask_gpuscan
from dask_gpuscan import stream

pl = pytest.importorskip("polars")

DAYS = {
    "America/Santiago": date(2024, 9, 8),  # begins at 1:00
    "America/Havana": date(2024, 11, 3),  # has midnight twice
}
DAY = timedelta(days=1)


def begins(day: date, zone: str) -> datetime:
    """Return the first moment of a day."""
    moment = datetime(day.year, day.month, day.day, tzinfo=UTC) - DAY
    while moment.astimezone(ZoneInfo(zone)).date() < day:
        moment += timedelta(minutes=30)
    return moment


def events(zone: str, first: int, last: int) -> list[datetime]:
    """Return some moments of the days from one to another, counted from that of DAYS."""
    begin, end = (begins(DAYS[zone] + n * DAY, zone) for n in (first, last + 1))
    count = int((end - begin) / timedelta(hours=1))
    return [begin + timedelta(minutes=60 * hour + 1) for hour in range(0, count, 7)]


def daily(times: list[datetime], zone: str) -> dict[datetime, int]:
    """Return the sums of the numbers of events from the first day to the last."""
    days = [moment.astimezone(ZoneInfo(zone)).date() for moment in times]
    sums = {days[0] + n * DAY: 0 for n in range((days[-1] - days[0]).days + 1)}
    for number, day in enumerate(days):
        sums[day] += number
    return {begins(day, zone): total for day, total in sums.items()}


def receivers(frame: pd.DataFrame) -> Iterator[Any]:
    """Yield the methods of a frame, of other libraries, and of cuts into one row and three."""
    yield frame.gpuscan
    yield pl.from_pandas(frame).gpuscan
    yield dask_gpuscan.on(pa.Table.from_pandas(frame))
    for rows in (1, 3):
        parts = [frame[i : i + rows] for i in range(0, len(frame), rows)]
        yield stream(parts).gpuscan
        yield dd.from_pandas(frame, npartitions=len(parts)).gpuscan


def sums_of(found: Any, levels: int) -> dict[Any, int]:
    """Return sums by the labels of buckets, or keys and labels."""
    if hasattr(found, "compute"):
        found = found.compute()
    if isinstance(found, pd.Series):
        found = found.reset_index()
    table = found.to_arrow() if hasattr(found, "to_arrow") else found
    rows = table if isinstance(table, pd.DataFrame) else table.to_pandas()
    *keys, sums = (rows[name].tolist() for name in rows.columns)
    keys[-1] = [time.to_pydatetime().astimezone(UTC) for time in keys[-1]]
    return dict(zip(zip(*keys, strict=True) if levels > 1 else keys[0], sums, strict=True))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("zone", DAYS)
@pytest.mark.parametrize(("first", "last"), [(-1, 1), (0, 1), (-2, -1), (0, 0)])
def test_days(zone: str, first: int, last: int) -> None:
    times = events(zone, first, last)
    column = pd.DatetimeIndex(times).tz_convert(zone)
    frame = pd.DataFrame({"k": "a", "t": column, "x": range(len(times))})
    expected = daily(times, zone)
    for methods in receivers(frame):
        assert sums_of(methods.resample("D", on="t")["x"].sum(), 1) == expected
        grouped = methods.groupby("k").resample("D", on="t")["x"].sum()
        assert sums_of(grouped, 2) == {("a", day): total for day, total in expected.items()}


@pytest.mark.parametrize("rule", ["12h", "2D", "W-SUN", "MS", "ME"])
@pytest.mark.parametrize("zone", DAYS)
def test_other_rules_that_begin_there_lose_no_row(zone: str, rule: str) -> None:
    times = events(zone, 0, 2)
    column = pd.DatetimeIndex(times).tz_convert(zone)
    frame = pd.DataFrame({"k": 1, "t": column, "x": np.arange(len(times)) + 1})
    expected = frame.gpuscan.resample(rule, on="t")["x"].sum()
    assert expected.sum() == frame["x"].sum()
    if rule == "12h":
        assert expected.index[0].timestamp() == begins(DAYS[zone], zone).timestamp()
    closed = "right" if zone == "America/Havana" else "left"
    found = [
        sums_of(methods.resample(rule, on="t", closed=closed)["x"].sum(), 1)
        for methods in receivers(frame)
    ]
    assert all(one == found[0] for one in found)
    assert sum(found[0].values()) == frame["x"].sum()


GIVEN = [{"offset": "1h"}, {"origin": "start"}, {"origin": "epoch", "offset": "5min"}]


@pytest.mark.parametrize("given", GIVEN, ids=str)
@pytest.mark.parametrize("rule", ["D", "2D", "MS", "ME"])
def test_what_has_no_effect_is_said(rule: str, given: dict[str, str]) -> None:
    times = pd.DatetimeIndex(events("America/Santiago", -1, 1)).tz_convert("America/Santiago")
    frame = pd.DataFrame({"k": 1, "t": times, "x": 1})
    lazy = dd.from_pandas(frame, npartitions=2).gpuscan
    for methods in (frame.gpuscan, lazy, stream([frame]).gpuscan, frame.gpuscan.groupby("k")):
        with pytest.warns(RuntimeWarning) as met:
            methods.resample(rule, on="t", **given)
        assert [str(one.message).split(" has no effect")[0] for one in met] == [
            f"resample: {name}" for name in ("origin", "offset") if name in given
        ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        frame.gpuscan.resample("12h", on="t", **given)
        frame.gpuscan.resample(rule, on="t")
