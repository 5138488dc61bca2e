"""One small table for each question, printed at the end of the run."""

from __future__ import annotations

import pandas as pd

from .data import load_airlines

HOME = "America/New_York"


def on_day(times: pd.Series) -> pd.Series:
    return times.dt.strftime("%d %b")


def on_day_at_home(times: pd.Series) -> pd.Series:
    return on_day(times.dt.tz_localize("UTC").dt.tz_convert(HOME))


def whole(numbers: pd.Series) -> pd.Series:
    return numbers.map("{:,}".format)


def billions(numbers: pd.Series) -> pd.Series:
    return (numbers / 1e9).map("{:.2f} bn".format)


def minutes(numbers: pd.Series) -> pd.Series:
    return numbers.map("{:z.0f} min".format)


def days(days: pd.DataFrame) -> pd.DataFrame:
    worst = days.nlargest(5, "lost").reset_index()
    return pd.DataFrame(
        {
            "day": on_day(worst.date),
            "never arrived": worst.lost,
            "last known delay then": minutes(worst.delay_when_lost),
            "departure delay": minutes(worst.dep_delay),
            "smoothed": minutes(worst.smooth_dep_delay),
            "flights so far": whole(worst.flight_number + 1),
            "seat-miles so far": billions(worst.running_seat_miles),
        }
    )


def carriers(carriers: pd.Series) -> pd.DataFrame:
    running = carriers.unstack("carrier").ffill().fillna(0)
    total = running.iloc[-1].nlargest(7)
    half = (running[total.index] >= total / 2).idxmax()
    return pd.DataFrame(
        {
            "carrier": total.index.map(load_airlines()),
            "seat-miles": billions(total).array,
            "share": (total / running.iloc[-1].sum()).map("{:.0%}".format).array,
            "half of it flown by": on_day(half).array,
        }
    )


def months(months: pd.DataFrame) -> pd.DataFrame:
    names = pd.to_datetime(months.index.astype(str)).strftime("%B")
    table = {
        "month": names,
        "flights": whole(months.flights),
        "cancelled": whole(months.flights - months.left),
        "diverted": whole(months.left - months.arrived),
        "late": (months.late / months.flights).map("{:.0%}".format),
        "arrival delay": minutes(months.arr_delay),
        "seat-miles": billions(months.seat_miles),
    }
    return pd.DataFrame(table)


def weather(weather: pd.DataFrame) -> pd.DataFrame:
    miles = weather.index.astype(int)
    lost = (weather.flights - weather.left) / weather.flights
    return pd.DataFrame(
        {
            "visibility": miles.map("{} miles".format),
            "flights": whole(weather.flights).array,
            "cancelled": lost.map("{:.1%}".format).array,
            "departure delay": minutes(weather.dep_delay).array,
            "wind": weather.wind_speed.map("{:.0f} mph".format).array,
        }
    )


def streaks(streaks: pd.DataFrame) -> pd.DataFrame:
    late = streaks[streaks.late].sort_values("run_start")
    longest = late.nlargest(5, "run_length")  # the first of equal ones
    return pd.DataFrame(
        {
            "aircraft": longest.tailnum,
            "carrier": longest.carrier.map(load_airlines()),
            "late in a row": longest.run_length,
            "from": on_day_at_home(longest.left),
        }
    )


def lateness(lateness: pd.DataFrame) -> pd.DataFrame:
    recent = [f"{minute} to {minute + 15} min" for minute in lateness.index.astype(int)]
    recent[0], recent[-1] = "less than 15 min", "120 min and more"
    return pd.DataFrame(
        {
            "delay before": recent,
            "flights": whole(lateness.flights).array,
            "departure delay": minutes(lateness.dep_delay).array,
            "late": (lateness.late / lateness.flights).map("{:.0%}".format).array,
            "since the last one": lateness.hours.map("{:.0f} h".format).array,
        }
    )


def stints(stints: pd.DataFrame) -> pd.DataFrame:
    lengths = (stints.end - stints.start).nlargest(5)
    longest = stints.loc[lengths.index]
    return pd.DataFrame(
        {
            "aircraft": longest.tailnum,
            "carrier": longest.carrier.map(load_airlines()),
            "days": lengths.dt.days,
            "flights": longest["count"],
            "miles": whole(longest.miles),
            "from": on_day_at_home(longest.start),
            "to": on_day_at_home(longest.end),
            "idle before": (longest.idle / pd.Timedelta(days=1)).map("{:.1f} days".format),
        }
    )
