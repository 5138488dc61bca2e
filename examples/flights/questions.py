"""The questions, as a user of Dask would write them with ``.gpuscan``: nothing is computed here.

`answers`, `planes` and `observed` take the flights in the order of time. `days`, `carriers` and `months` take the
result of `answers`; `streaks`, `lateness` and `stints` that of `planes`; `weather` that of `observed`. ``checks.py``
has the same functions in plain pandas.
"""

from __future__ import annotations

import dask.dataframe as dd
import pandas as pd

import dask_gpuscan  # the import registers the .gpuscan accessors

from .data import load_weather

HALFLIFE = 2_000  # flights: about two days of departures from the three airports
LATE = 15  # minutes, as the US Department of Transportation counts
OUTDATED = "3 hours"  # some reports are missing
RECENT = 3  # departures of an aircraft from New York
IDLE = "36 hours"  # longer than any gap of an aircraft that leaves New York once a day


def answers(flights: dd.DataFrame) -> dd.DataFrame:
    """Return each flight, with what is known of all flights up to it."""
    flights = flights.gpuscan.reset_index(drop=True)  # the files have no index: number all rows
    return flights.assign(
        flight_number=flights.gpuscan.row_number(),
        running_seat_miles=flights.seat_miles.gpuscan.cumsum(),
        carrier_seat_miles=flights.gpuscan.groupby("carrier")["seat_miles"].cumsum(),
        smooth_dep_delay=flights.dep_delay.gpuscan.ewm(halflife=HALFLIFE).mean(),
        known_arr_delay=flights.arr_delay.gpuscan.ffill(),
    )


def days(answers: dd.DataFrame) -> dd.DataFrame:
    """Return running values of the year at the end of each day, and the delays and losses of each day."""
    lost = answers.arr_delay.isnull()
    rows = answers.assign(lost=lost, delay_when_lost=answers.known_arr_delay.where(lost))
    return rows.gpuscan.groupby("date", clustered=True).agg(
        flight_number=("flight_number", "last"),
        running_seat_miles=("running_seat_miles", "last"),
        dep_delay=("dep_delay", "mean"),
        smooth_dep_delay=("smooth_dep_delay", "mean"),
        lost=("lost", "sum"),
        delay_when_lost=("delay_when_lost", "mean"),
    )


def carriers(answers: dd.DataFrame) -> dd.Series:
    """Return the seat-miles that each carrier has flown since January, at the end of each day."""
    return answers.gpuscan.groupby(["carrier", "date"])["carrier_seat_miles"].last()


def months(answers: dd.DataFrame) -> dd.DataFrame:
    """Return reports of the months, in order."""
    month = answers.date.dt.strftime("%Y-%m")
    rows = answers.assign(month=month, late=answers.arr_delay >= LATE)
    return rows.gpuscan.groupby("month", clustered=True).agg(
        flights=("flight", "size"),
        left=("dep_delay", "count"),
        arrived=("arr_delay", "count"),
        late=("late", "sum"),
        arr_delay=("arr_delay", "mean"),
        seat_miles=("seat_miles", "sum"),
    )


def planes(flights: dd.DataFrame) -> dd.DataFrame:
    """Return the flights that left, by aircraft, in the order in which each flew them."""
    flown = flights.gpuscan.filter(flights.left.notnull()).gpuscan.sort_values(["tailnum", "left"])
    groups = flown.gpuscan.groupby("tailnum", clustered=True)
    flown = flown.assign(
        # A flight that landed elsewhere has no arrival delay, and counts as late.
        late=flown.arr_delay.fillna(LATE) >= LATE,
        recent_delay=groups["dep_delay"].rolling(RECENT, min_periods=1, closed="left").mean(),
        hours=groups["left"].diff() / pd.Timedelta("1h"),  # since its previous departure
    )
    return flown.gpuscan.reset_index(drop=True)


def observed(flights: dd.DataFrame) -> dd.DataFrame:
    """Return each flight with the last weather report of its airport before the departure."""
    # partitioned differently from the flights, and on a GPU if they are
    reports = dd.from_pandas(load_weather(), npartitions=4).to_backend()
    return dask_gpuscan.merge_asof(
        flights[["departure", "origin", "carrier", "dep_delay"]],
        reports,
        left_on="departure",
        right_on="reported",
        by="origin",
        tolerance=pd.Timedelta(OUTDATED),
    )


def weather(observed: dd.DataFrame) -> dd.DataFrame:
    """Return how many flights left, and how late, by visibility in miles."""
    rows = observed.assign(miles=observed.visib.round())
    return rows.gpuscan.groupby("miles").agg(
        flights=("carrier", "size"),
        left=("dep_delay", "count"),
        dep_delay=("dep_delay", "mean"),
        wind_speed=("wind_speed", "mean"),
    )


def streaks(planes: dd.DataFrame) -> dd.DataFrame:
    """Return runs of late and of punctual flights of each aircraft, with the first flight of each run."""
    runs = planes.gpuscan.rle(["tailnum", "late"])
    flights = planes[["carrier", "left"]].assign(run_start=planes.gpuscan.row_number())
    return runs.merge(flights, on="run_start")  # in any order, as in all joins


def lateness(planes: dd.DataFrame) -> dd.DataFrame:
    """Return how late an aircraft leaves, by its mean delay at the last few departures."""
    recent = planes.recent_delay.clip(0, 120)
    rows = planes.assign(recent=recent // 15 * 15)
    return rows.gpuscan.groupby("recent").agg(
        flights=("carrier", "size"),
        dep_delay=("dep_delay", "mean"),
        late=("late", "sum"),
        hours=("hours", "mean"),
    )


def stints(planes: dd.DataFrame) -> dd.DataFrame:
    """Return the stints of each aircraft out of New York, and how long it was idle before each."""
    found = planes.gpuscan.sessions(
        "left",
        by="tailnum",
        gap=IDLE,
        clustered=True,
        carrier=("carrier", "first"),
        miles=("distance", "sum"),
    )
    ends = found.gpuscan.groupby("tailnum", clustered=True)["end"]
    before = ends.scan(dask_gpuscan.last, exclusive=True)  # null for the first stint
    return found.assign(idle=found.start - before)
