"""The answers of plain pandas, which has the whole year in one frame.

Each function takes the same arguments as the function of that name in ``questions.py``.
"""

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


def days(answers: pd.DataFrame) -> pd.DataFrame:
    lost = answers.arr_delay.isna()
    rows = answers.assign(lost=lost, delay_when_lost=answers.known_arr_delay.where(lost))
    return rows.groupby("date").agg(
        flight_number=("flight_number", "last"),
        running_seat_miles=("running_seat_miles", "last"),
        dep_delay=("dep_delay", "mean"),
        smooth_dep_delay=("smooth_dep_delay", "mean"),
        lost=("lost", "sum"),
        delay_when_lost=("delay_when_lost", "mean"),
    )


def carriers(answers: pd.DataFrame) -> pd.Series:
    return answers.groupby(["carrier", "date"]).carrier_seat_miles.last()


def months(answers: pd.DataFrame) -> pd.DataFrame:
    groups = answers.assign(late=answers.arr_delay >= LATE).groupby(
        answers.date.dt.strftime("%Y-%m").rename("month")
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


def weather(observed: pd.DataFrame) -> pd.DataFrame:
    return observed.groupby(observed.visib.round().rename("miles")).agg(
        flights=("carrier", "size"),
        left=("dep_delay", "count"),
        dep_delay=("dep_delay", "mean"),
        wind_speed=("wind_speed", "mean"),
    )


def streaks(planes: pd.DataFrame) -> pd.DataFrame:
    run = (planes.late != planes.groupby("tailnum").late.shift()).cumsum()
    groups = planes.assign(row=planes.index).groupby(run)
    runs = groups.agg(
        tailnum=("tailnum", "first"),
        late=("late", "first"),
        run_start=("row", "first"),
        run_length=("row", "size"),
        carrier=("carrier", "first"),
        left=("left", "first"),
    )
    return runs.reset_index(drop=True)


def lateness(planes: pd.DataFrame) -> pd.DataFrame:
    recent = planes.recent_delay.clip(0, 120)
    rows = planes.assign(recent=recent // 15 * 15)
    return rows.groupby("recent").agg(
        flights=("carrier", "size"),
        dep_delay=("dep_delay", "mean"),
        late=("late", "sum"),
        hours=("hours", "mean"),
    )


def stints(planes: pd.DataFrame) -> pd.DataFrame:
    gap = planes.left - planes.groupby("tailnum").left.shift()
    idle = gap > pd.Timedelta(IDLE)
    rows = planes.assign(session=idle.groupby(planes.tailnum).cumsum(), idle=gap.where(idle))
    return rows.groupby(["tailnum", "session"], as_index=False).agg(
        start=("left", "first"),
        end=("left", "last"),
        count=("left", "size"),
        carrier=("carrier", "first"),
        miles=("distance", "sum"),
        idle=("idle", "first"),
    )
