"""The answers by plain pandas, which has the whole year in one piece: no partitions to get wrong."""

from __future__ import annotations

import pandas as pd

from .data import load_weather
from .questions import HALFLIFE, IDLE, LATE, OUTDATED, RECENT


def answers(flights: pd.DataFrame) -> pd.DataFrame:
    return flights.assign(
        flight_number=flights.index,
        running_seat_miles=flights.seat_miles.cumsum(),
        carrier_seat_miles=flights.groupby("carrier").seat_miles.cumsum(),
        smooth_dep_delay=flights.dep_delay.ewm(halflife=HALFLIFE).mean(),
        known_arr_delay=flights.arr_delay.ffill(),
    )


def days(flights: pd.DataFrame) -> pd.DataFrame:
    rows = answers(flights)
    rows["lost"] = rows.arr_delay.isna()
    rows["delay_when_lost"] = rows.known_arr_delay.where(rows.lost)
    return rows.groupby("date").agg(
        flight_number=("flight_number", "last"),
        running_seat_miles=("running_seat_miles", "last"),
        dep_delay=("dep_delay", "mean"),
        smooth_dep_delay=("smooth_dep_delay", "mean"),
        lost=("lost", "sum"),
        delay_when_lost=("delay_when_lost", "mean"),
    )


def carriers(flights: pd.DataFrame) -> pd.Series:
    return answers(flights).groupby(["carrier", "date"]).carrier_seat_miles.last()


def months(flights: pd.DataFrame) -> pd.DataFrame:
    groups = flights.assign(late=flights.arr_delay >= LATE).groupby(
        flights.date.dt.strftime("%Y-%m").rename("month")
    )
    return groups.agg(
        flights=("flight", "size"),
        left=("dep_delay", "count"),
        arrived=("arr_delay", "count"),
        late=("late", "sum"),
        arr_delay=("arr_delay", "mean"),
        seat_miles=("seat_miles", "sum"),
    )


def planes(flights: pd.DataFrame) -> pd.DataFrame:
    flown = flights[flights.left.notna()].sort_values(["tailnum", "left"], ignore_index=True)
    groups = flown.groupby("tailnum")
    recent = groups.dep_delay.rolling(RECENT, min_periods=1, closed="left").mean()
    return flown.assign(
        late=~(flown.arr_delay < LATE),
        recent_delay=recent.droplevel(0),
        hours=groups.left.diff().dt.total_seconds() / 3600,
    )


def observed(flights: pd.DataFrame) -> pd.DataFrame:
    return pd.merge_asof(
        flights[["departure", "origin", "carrier", "dep_delay"]],
        load_weather().astype({"origin": flights.origin.dtype}),
        left_on="departure",
        right_on="reported",
        by="origin",
        tolerance=pd.Timedelta(OUTDATED),
    )


def weather(flights: pd.DataFrame) -> pd.DataFrame:
    rows = observed(flights)
    return rows.groupby(rows.visib.round().rename("miles")).agg(
        flights=("carrier", "size"),
        left=("dep_delay", "count"),
        dep_delay=("dep_delay", "mean"),
        wind_speed=("wind_speed", "mean"),
    )


def streaks(flights: pd.DataFrame) -> pd.DataFrame:
    rows = planes(flights)
    run = (rows.late != rows.groupby("tailnum").late.shift()).cumsum()
    groups = rows.assign(row=rows.index).groupby(run)
    runs = groups.agg(
        tailnum=("tailnum", "first"),
        late=("late", "first"),
        run_start=("row", "first"),
        run_length=("row", "size"),
        carrier=("carrier", "first"),
        left=("left", "first"),
    )
    return runs.reset_index(drop=True)


def lateness(flights: pd.DataFrame) -> pd.DataFrame:
    rows = planes(flights)
    recent = rows.recent_delay.clip(0, 120)
    rows = rows.assign(recent=recent // 15 * 15)
    return rows.groupby("recent").agg(
        flights=("carrier", "size"),
        dep_delay=("dep_delay", "mean"),
        late=("late", "sum"),
        hours=("hours", "mean"),
    )


def stints(flights: pd.DataFrame) -> pd.DataFrame:
    rows = planes(flights)
    gap = rows.left - rows.groupby("tailnum").left.shift()
    idle = gap > pd.Timedelta(IDLE)
    rows = rows.assign(session=idle.groupby(rows.tailnum).cumsum(), idle=gap.where(idle))
    return rows.groupby(["tailnum", "session"], as_index=False).agg(
        start=("left", "first"),
        end=("left", "last"),
        count=("left", "size"),
        carrier=("carrier", "first"),
        miles=("distance", "sum"),
        idle=("idle", "first"),
    )
