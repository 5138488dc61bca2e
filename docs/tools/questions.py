"""Questions as people ask them, each with its call, its answer and an independent reference, for docs/questions.md.

``python docs/tools/questions.py`` writes the page again. ``tests/test_questions.py`` compares every answer with the
reference, which is SQL in DuckDB or a loop, on the tables of the page and on random ones, for each library.
"""

from __future__ import annotations

import doctest
import math
import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import dask_gpuscan

PAGE = Path(__file__).parents[1] / "questions.md"
TABLES = ("trips", "readings", "trades", "quotes", "stays", "figures")
Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Question:
    """A question, the call that answers it, and a reference."""

    text: str
    call: str
    """An expression of the tables, whose value is a column or a table."""
    reference: str | Callable[[dict[str, Rows]], list[Any]]
    """A query of the tables, or a function of their rows, with the same rows in the same order."""
    without: tuple[str, ...] = ()
    """Libraries on which the call is another."""


BEGIN = """# Questions and answers

{count} questions as people ask them. Each call was run on the tables below, and its answers were compared with those of
the query below it, or of a loop in Python, on random tables too: on pandas, and the same call on Dask over partitions
and on polars. On Dask, add `.compute()`. The [cookbook](cookbook.md) has calls that take several steps."""

SETUP = """\
>>> import numpy as np
>>> import pandas as pd
>>> import dask_gpuscan
>>> def at(minutes):
...     return pd.Timestamp("2026-01-05 08:00") + pd.to_timedelta(minutes, "min")
...
>>> trips = pd.DataFrame(
...     {
...         "n": range(6),
...         "car": ["a", "b", "a", "a", "b", "a"],
...         "time": at([0, 10, 20, 90, 100, 180]),
...         "km": [5.0, 2.0, 8.0, 1.0, 4.0, 3.0],
...         "fuel": [40.0, np.nan, 38.0, np.nan, 20.0, np.nan],
...         "washed": [False, False, True, False, False, True],
...     }
... )
>>> readings = pd.DataFrame(
...     {
...         "n": range(6),
...         "sensor": ["x", "x", "y", "y", "x", "x"],
...         "time": at([0, 10, 20, 90, 100, 180]),
...         "state": ["on", "on", None, "off", "on", None],
...         "dry": [True, True, False, True, True, True],
...         "stock": [3, -5, 4, -1, -6, 2],
...     }
... )
>>> trades = pd.DataFrame({"n": range(4), "time": at([1, 20, 30, 110]), "share": ["s", "s", "t", "s"]})
>>> quotes = pd.DataFrame(
...     {
...         "time": at([0, 1, 25, 100, 101, 102]),
...         "share": ["t", "s", "s", "s", "t", "t"],
...         "price": [10.0, 20.0, 11.0, 12.0, 21.0, 22.0],
...     }
... )
>>> stays = pd.DataFrame({"room": list("abaa"), "since": [9, 1, 2, 14], "until": [12, 6, 10, 15]})
>>> figures = pd.DataFrame({"time": at([0, 0, 25]), "since": at([5, 28, 200]), "sold": [7, 8, 9]})
"""
"""Makes the tables of the page."""


def tables() -> dict[str, pd.DataFrame]:
    """Return the tables of the page."""
    made: dict[str, Any] = {}
    for example in doctest.DocTestParser().get_examples(SETUP):
        exec(example.source, made)
    return {name: made[name] for name in TABLES}


def random_tables(rows: int, seed: int) -> dict[str, pd.DataFrame]:
    """Return random tables with the same columns, in order of their times."""
    rng = np.random.default_rng(seed)

    def some(values: Any) -> Any:
        return pd.Series(values).mask(rng.random(rows) < 0.3)

    def times() -> Any:
        return pd.Timestamp("2026-01-05") + pd.to_timedelta(
            rng.integers(1, 3000, rows).cumsum(), "s"
        )

    random = {
        "car": lambda: rng.choice(list("abc"), rows).astype(object),
        "time": times,
        "km": lambda: rng.integers(1, 9, rows) / 2,
        "fuel": lambda: some(rng.integers(1, 50, rows) * 1.0),
        "washed": lambda: rng.random(rows) < 0.2,
        "sensor": lambda: rng.choice(list("xy"), rows).astype(object),
        "state": lambda: some(rng.choice(["on", "off"], rows)),
        "dry": lambda: rng.random(rows) < 0.7,
        "stock": lambda: rng.integers(-9, 9, rows),
        "share": lambda: rng.choice(list("st"), rows).astype(object),
        "price": lambda: rng.integers(1, 99, rows) * 1.0,
        "n": lambda: np.arange(rows),
        "room": lambda: rng.choice(list("ab"), rows).astype(object),
        "sold": lambda: np.arange(rows),
    }
    since = rng.integers(0, 4 * rows, rows)
    made = {
        name: pd.DataFrame({column: random[column]() for column in table if column in random})
        for name, table in tables().items()
    }
    made["stays"] = made["stays"].assign(since=since, until=since + rng.integers(1, 9, rows))
    later = pd.to_timedelta(rng.integers(0, 9000, rows), "s")
    made["figures"].insert(1, "since", made["figures"]["time"] + later)
    return made


def _line_in_time(table: Rows, of: str, at: Callable[[dict[str, Any]], float]) -> list[Any]:
    """Return the values of a column, and between two of them those on the line, by a loop."""
    known = [(at(row), row[of]) for row in table if row[of] is not None]
    found: list[Any] = []
    for row in table:
        left = [pair for pair in known if pair[0] <= at(row)][-1:]
        right = [pair for pair in known if pair[0] >= at(row)][:1]
        if not left:
            found.append(None)
        elif not right or left == right:
            found.append(left[0][1])
        else:
            (a, low), (b, high) = left[0], right[0]
            found.append(low + (high - low) * (at(row) - a) / (b - a))
    return found


def _ewm(tables: dict[str, Rows]) -> list[Any]:
    total = weight = 0.0
    found = []
    for row in tables["trips"]:
        total, weight = total * 0.5**0.5 + row["km"], weight * 0.5**0.5 + 1
        found.append(total / weight)
    return found


def _bars(tables: dict[str, Rows]) -> list[Any]:
    total, found = 0.0, []
    for row in tables["trips"]:
        total += row["km"]
        found.append(total)
        total = 0.0 if total >= 10 else total
    return found


def _apart(tables: dict[str, Rows]) -> list[Any]:
    last, found = None, []
    for row in tables["trips"]:
        if last is None or row["time"] - last >= timedelta(minutes=30):
            last = row["time"]
            found.append(row["n"])
    return found


def _merged(tables: dict[str, Rows]) -> list[Any]:
    found: list[Any] = []
    for row in sorted(tables["stays"], key=lambda row: (row["room"], row["since"])):
        if found and found[-1][0] == row["room"] and row["since"] <= found[-1][2]:
            _, since, until, count = found.pop()
            found.append((row["room"], since, max(until, row["until"]), count + 1))
        else:
            found.append((row["room"], row["since"], row["until"], 1))
    return found


def _closed(tables: dict[str, Rows]) -> list[Any]:
    table = tables["trips"]
    known = [row["n"] for row in table if row["fuel"] is not None]
    found = []
    for row, value in zip(
        table, _line_in_time(table, "fuel", lambda row: float(row["n"])), strict=True
    ):
        before = max((n for n in known if n <= row["n"]), default=None)
        behind = min((n for n in known if n >= row["n"]), default=None)
        is_near = before is not None and behind is not None and behind - before <= 2
        found.append(value if is_near else None)
    return found


def _clamped(tables: dict[str, Rows]) -> list[Any]:
    stock, found = 0, []
    for row in tables["readings"]:
        stock = max(stock + row["stock"], 0)
        found.append(stock)
    return found


QUESTIONS: dict[str, list[Question]] = {
    "Running totals": [
        Question(
            "How do I add a running total as a column?",
            'trips["km"].gpuscan.cumsum()',
            "select sum(km) over (order by n) from trips order by n",
        ),
        Question(
            "How do I get a cumulative sum for each group, with rows in any order?",
            'trips.gpuscan.groupby("car")["km"].cumsum()',
            "select sum(km) over (partition by car order by n) from trips order by n",
        ),
        Question(
            "What was the balance before each payment?",
            'trips["km"].gpuscan.cumsum(exclusive=True, initial=100)',
            """select 100 + coalesce(sum(km) over (order by n rows between unbounded preceding and 1 preceding), 0)
            from trips order by n""",
        ),
        Question(
            "How do I sum from the last row to the first, for what is still to come?",
            'trips["km"].gpuscan.cumsum(reverse=True)',
            "select sum(km) over (order by n rows between current row and unbounded following) from trips order by n",
        ),
        Question(
            "How do I start a running total again after certain rows?",
            'trips[["km", "washed"]].gpuscan.cumsum(reset="washed")["km"]',
            """select sum(km) over (partition by part order by n) from (
                select *, count(*) filter (washed) over
                    (order by n rows between unbounded preceding and 1 preceding) as part from trips
            ) order by n""",
        ),
        Question(
            "How do I make volume bars, whose sum starts again once it has reached a limit?",
            'trips["km"].gpuscan.cumsum(restart_at=10)',
            _bars,
        ),
        Question(
            "How do I keep a running sum from going below zero, as a stock does?",
            'readings["stock"].gpuscan.cumsum(lower=0)',
            _clamped,
        ),
        Question(
            "How do I sum a column with missing values, without losing the total?",
            'trips["fuel"].gpuscan.cumsum()',
            "select case when fuel is not null then sum(fuel) over (order by n) end from trips order by n",
        ),
        Question(
            "How do I get the largest value so far?",
            'trips["km"].gpuscan.cummax()',
            "select max(km) over (order by n) from trips order by n",
        ),
        Question(
            "How do I get the smallest value so far of each group?",
            'trips.gpuscan.groupby("car")["km"].cummin()',
            "select min(km) over (partition by car order by n) from trips order by n",
        ),
        Question(
            "How do I compound a column of factors?",
            'trips["km"].gpuscan.cumprod()',
            "select product(km) over (order by n) from trips order by n",
        ),
        Question(
            "How do I get the average of all rows so far?",
            'trips["km"].gpuscan.expanding().mean()',
            "select avg(km) over (order by n) from trips order by n",
        ),
        Question(
            "How many values have there been so far that are not missing?",
            'trips["fuel"].gpuscan.expanding().count()',
            "select count(fuel) over (order by n) from trips order by n",
        ),
        Question(
            "Has a flag been true in any row so far?",
            'trips["washed"].gpuscan.cumany()',
            "select bool_or(washed) over (order by n) from trips order by n",
        ),
        Question(
            "Have all rows so far been true?",
            'readings["dry"].gpuscan.cumall()',
            "select bool_and(dry) over (order by n) from readings order by n",
        ),
        Question(
            "How much of the whole is reached at each row?",
            'trips["km"].gpuscan.cumsum() / trips["km"].sum()',
            "select sum(km) over (order by n) / sum(km) over () from trips order by n",
        ),
    ],
    "Gaps": [
        Question(
            "How do I fill missing values with the last known one?",
            'trips["fuel"].gpuscan.ffill()',
            "select last_value(fuel ignore nulls) over (order by n) from trips order by n",
        ),
        Question(
            "How do I forward fill within each group?",
            'trips.gpuscan.groupby("car")["fuel"].ffill()',
            "select last_value(fuel ignore nulls) over (partition by car order by n) from trips order by n",
        ),
        Question(
            "How do I fill from the next known value?",
            'trips["fuel"].gpuscan.bfill()',
            """select first_value(fuel ignore nulls) over (order by n rows between current row and unbounded following)
            from trips order by n""",
        ),
        Question(
            "How do I fill at most one row of a gap?",
            'trips["fuel"].gpuscan.ffill(limit=1)',
            """select last_value(fuel ignore nulls) over (order by n rows between 1 preceding and current row)
            from trips order by n""",
        ),
        Question(
            "How do I fill missing texts?",
            'readings["state"].gpuscan.ffill()',
            "select last_value(state ignore nulls) over (order by n) from readings order by n",
        ),
        Question(
            "How do I interpolate missing values between two known ones?",
            'trips["fuel"].gpuscan.interpolate()',
            lambda tables: _line_in_time(tables["trips"], "fuel", lambda row: float(row["n"])),
        ),
        Question(
            "How do I interpolate short gaps only, and leave long ones?",
            'trips["fuel"].gpuscan.interpolate(max_gap=1)',
            _closed,
        ),
        Question(
            "How do I forward fill only for 30 minutes?",
            'trips[["time", "fuel"]].gpuscan.ffill(limit="30min", on="time")["fuel"]',
            """select case when time - last_value(case when fuel is not null then time end ignore nulls)
                over (order by n) <= interval 30 minute then last_value(fuel ignore nulls) over (order by n) end
            from trips order by n""",
        ),
        Question(
            "How many rows ago was a value last known?",
            'trips["fuel"].gpuscan.fill_age()',
            """select n - last_value(case when fuel is not null then n end ignore nulls) over (order by n)
            from trips order by n""",
        ),
        Question(
            "How do I interpolate by time, where rows are not evenly spaced?",
            'trips.set_index("time")["fuel"].gpuscan.interpolate("time")',
            lambda tables: _line_in_time(
                tables["trips"], "fuel", lambda row: row["time"].timestamp()
            ),
            without=("polars",),
        ),
    ],
    "The row before, the row after": [
        Question(
            "How much did a counter grow that is reset now and then, as Prometheus' increase?",
            'trips["km"].gpuscan.increase()',
            """select case when km >= lag(km) over (order by n) then km - lag(km) over (order by n)
                when lag(km) over (order by n) is not null then km end
            from trips order by n""",
        ),
        Question(
            "What was the rate of a counter, per minute, for each key?",
            'trips.gpuscan.groupby("car")["km"].rate("1min", on="time")',
            """select (case when km >= lag(km) over w then km - lag(km) over w
                when lag(km) over w is not null then km end) / (epoch(time) - epoch(lag(time) over w)) * 60
            from trips window w as (partition by car order by n) order by n""",
        ),
        Question(
            "How do I get the value of the previous row?",
            'trips["km"].gpuscan.shift()',
            "select lag(km) over (order by n) from trips order by n",
        ),
        Question(
            "How do I get the next value of the same group?",
            'trips.gpuscan.groupby("car")["km"].shift(-1)',
            "select lead(km) over (partition by car order by n) from trips order by n",
        ),
        Question(
            "How do I get the difference to the previous row?",
            'trips["km"].gpuscan.diff()',
            "select km - lag(km) over (order by n) from trips order by n",
        ),
        Question(
            "How much time has passed since the last event of the same key?",
            'trips.gpuscan.groupby("car")["time"].diff()',
            "select time - lag(time) over (partition by car order by n) from trips order by n",
        ),
        Question(
            "How do I get the relative change to the previous row?",
            'trips["km"].gpuscan.pct_change()',
            "select km / lag(km) over (order by n) - 1 from trips order by n",
        ),
        Question(
            "How do I get the difference to the row two rows before, in each group?",
            'trips.gpuscan.groupby("car")["km"].diff(2)',
            "select km - lag(km, 2) over (partition by car order by n) from trips order by n",
        ),
    ],
    "Windows": [
        Question(
            "How do I get a moving average of three rows?",
            'trips["km"].gpuscan.rolling(3).mean()',
            """select case when count(*) over w >= 3 then avg(km) over w end
            from trips window w as (order by n rows 2 preceding) order by n""",
        ),
        Question(
            "How do I get a moving sum that starts with the first row?",
            'trips["km"].gpuscan.rolling(3, min_periods=1).sum()',
            "select sum(km) over (order by n rows 2 preceding) from trips order by n",
        ),
        Question(
            "How do I sum the last hour before each row?",
            'trips[["time", "km"]].gpuscan.rolling("1h", on="time").sum()["km"]',
            """select sum(km) over (order by time range between interval 3599 second preceding and current row)
            from trips order by n""",
        ),
        Question(
            "How many events were there in the last 30 minutes?",
            'trips[["time", "km"]].gpuscan.rolling("30min", on="time").count()["km"]',
            """select count(*) over (order by time range between interval 1799 second preceding and current row)
            from trips order by n""",
        ),
        Question(
            "How do I leave the row itself out of its window?",
            'trips["km"].gpuscan.rolling(3, min_periods=1, closed="left").max()',
            "select max(km) over (order by n rows between 3 preceding and 1 preceding) from trips order by n",
        ),
        Question(
            "How do I centre a window on its row?",
            'trips["km"].gpuscan.rolling(3, min_periods=1, center=True).sum()',
            "select sum(km) over (order by n rows between 1 preceding and 1 following) from trips order by n",
        ),
        Question(
            "How do I get a moving median?",
            'trips["km"].gpuscan.rolling(3, min_periods=1).median()',
            "select median(km) over (order by n rows 2 preceding) from trips order by n",
        ),
        Question(
            "How do I get a moving standard deviation?",
            'trips["km"].gpuscan.rolling(3, min_periods=2).std()',
            "select stddev_samp(km) over (order by n rows 2 preceding) from trips order by n",
        ),
        Question(
            "How do I get a moving quantile?",
            'trips["km"].gpuscan.rolling(4, min_periods=1).quantile(0.25)',
            "select quantile_cont(km, 0.25) over (order by n rows 3 preceding) from trips order by n",
        ),
        Question(
            "How do I get a moving sum in each group, with rows in any order?",
            'trips.gpuscan.groupby("car")["km"].rolling(2, min_periods=1).sum()',
            """select sum(km) over (partition by car order by n rows 1 preceding) from trips order by n""",
        ),
        Question(
            "How do I get an exponential moving average, where weights halve every two rows?",
            'trips["km"].gpuscan.ewm(halflife=2).mean()',
            _ewm,
        ),
    ],
    "Groups": [
        Question(
            "How do I sum by group?",
            'trips.gpuscan.groupby("car", as_index=False)["km"].sum()',
            "select car, sum(km) from trips group by car order by car",
        ),
        Question(
            "How do I get several statistics by group at once?",
            'trips.gpuscan.groupby("car", as_index=False).agg(trips=("km", "count"), longest=("km", "max"))',
            "select car, count(km), max(km) from trips group by car order by car",
        ),
        Question(
            "How do I get the exact median of each group, over partitions too?",
            'trips.gpuscan.groupby("car", as_index=False)["km"].median()',
            "select car, median(km) from trips group by car order by car",
        ),
        Question(
            "How do I get a percentile of each group?",
            'trips.gpuscan.groupby("car", as_index=False)["km"].quantile(0.9)',
            "select car, quantile_cont(km, 0.9) from trips group by car order by car",
        ),
        Question(
            "How do I count distinct values by group?",
            'readings.gpuscan.groupby("sensor", as_index=False)["state"].nunique()',
            "select sensor, count(distinct state) from readings group by sensor order by sensor",
        ),
        Question(
            "How do I get the first and the last value of each group that are not missing?",
            'trips.gpuscan.groupby("car", as_index=False).agg(first=("fuel", "first"), last=("fuel", "last"))',
            """select car, first(fuel order by n) filter (fuel is not null), last(fuel order by n)
            filter (fuel is not null) from trips group by car order by car""",
        ),
        Question(
            "How do I number the rows of each group, as SQL's row_number does?",
            'trips.gpuscan.groupby("car").cumcount() + 1',
            "select row_number() over (partition by car order by n) from trips order by n",
        ),
        Question(
            "What is each row's share of its group?",
            'trips["km"] / trips.gpuscan.groupby("car")["km"].transform("sum")',
            "select km / sum(km) over (partition by car) from trips order by n",
        ),
        Question(
            "How do I get the newest row of each key?",
            'trips.gpuscan.groupby("car").tail(1)[["n", "car"]]',
            "select n, car from trips qualify n = max(n) over (partition by car) order by n",
        ),
        Question(
            "How do I get the first two rows of each group?",
            'trips.gpuscan.groupby("car").head(2)[["n", "car"]]',
            "select n, car from trips qualify row_number() over (partition by car order by n) <= 2 order by n",
        ),
        Question(
            "How do I rank rows within their group?",
            'trips.gpuscan.groupby("car")["km"].rank(method="min", ascending=False)',
            "select rank() over (partition by car order by km desc) from trips order by n",
        ),
        Question(
            "How do I number groups in the order in which they appear?",
            'readings.gpuscan.groupby("sensor", sort=False).ngroup()',
            """select dense_rank() over (order by first) - 1 from (
                select n, min(n) over (partition by sensor) as first from readings) order by n""",
        ),
        Question(
            "How do I count the rows of each group?",
            'readings.gpuscan.groupby("sensor", as_index=False).size()',
            "select sensor, count(*) from readings group by sensor order by sensor",
        ),
    ],
    "Rows in any order": [
        Question(
            "How do I fill with the last known value in the order of a column, without sorting the rows?",
            'trips.gpuscan.order_by("km")["fuel"].ffill()',
            "select last_value(fuel ignore nulls) over (order by km, n) from trips order by n",
        ),
        Question(
            "How do I write sum() over (partition by k order by t)?",
            'trips.gpuscan.groupby("car", order_by=["km", "n"])["km"].cumsum()',
            "select sum(km) over (partition by car order by km, n) from trips order by n",
        ),
        Question(
            "How do I get the previous row by time, latest first, of each group?",
            'trips.gpuscan.order_by("time", ascending=False).groupby("car")["km"].shift()',
            "select lag(km) over (partition by car order by time desc) from trips order by n",
        ),
        Question(
            "How do I number rows by two columns?",
            'trips.gpuscan.order_by(["car", "km"]).row_number() + 1',
            "select row_number() over (order by car, km, n) from trips order by n",
        ),
    ],
    "Runs and sessions": [
        Question(
            "How do I number runs of equal values (islands)?",
            'readings["sensor"].gpuscan.run_number()',
            """select count(*) filter (new) over (order by n) from (
                select n, sensor <> lag(sensor) over (order by n) as new from readings) order by n""",
        ),
        Question(
            "For how many rows has the value been the same?",
            'readings["dry"].gpuscan.run_length()',
            """select row_number() over (partition by run order by n) from (
                select n, count(*) filter (new) over (order by n) as run from (
                    select n, dry <> lag(dry) over (order by n) as new from readings)) order by n""",
        ),
        Question(
            "How do I keep only rows that differ from the row before?",
            'readings[["n", "sensor"]].gpuscan.unique_consecutive("sensor")',
            """select n, sensor from readings
            qualify sensor is distinct from lag(sensor) over (order by n) order by n""",
        ),
        Question(
            "How do I get one row for each run, with its length?",
            'readings[["sensor"]].gpuscan.rle()',
            """select any_value(sensor), min(n), count(*) from (
                select n, sensor, n - row_number() over (partition by sensor order by n) as part from readings)
            group by sensor, part order by min(n)""",
        ),
        Question(
            "How do I split events into sessions, where 30 minutes without one end a session?",
            'trips.gpuscan.sessionize("time", gap="30min")',
            """select count(*) filter (new) over (order by n) from (
                select n, time - lag(time) over (order by n) > interval 30 minute as new from trips) order by n""",
        ),
        Question(
            "How do I get sessions of each user?",
            'trips.gpuscan.sessionize("time", "car", gap="30min")',
            """select count(*) filter (new) over (partition by car order by n) from (
                select n, car, time - lag(time) over (partition by car order by n) > interval 30 minute as new
                from trips) order by n""",
        ),
    ],
    "Intervals": [
        Question(
            "How do I merge overlapping intervals?",
            'stays.gpuscan.intervals("since", "until", by="room").merge()',
            _merged,
        ),
        Question(
            "How many intervals are open at any time?",
            'stays[["since", "until"]].gpuscan.intervals("since", "until").depth()',
            """with events as (select since as t, 1 as change from stays union all select until, -1 from stays),
            net as (select t, sum(change) as change from events group by t),
            open as (select t, lead(t) over (order by t) as until, sum(change) over (order by t) as depth
                from net where change <> 0)
            select * from open where depth > 0 order by t""",
        ),
    ],
    "Filters, duplicates and order": [
        Question(
            "How do I keep only the first of events that are less than 30 minutes apart?",
            'trips.gpuscan.keep_apart("30min", "time")["n"]',
            _apart,
        ),
        Question(
            "How do I filter rows by an expression?",
            'trips.gpuscan.filter("km > 2 and car == \'a\'")[["n", "km"]]',
            "select n, km from trips where km > 2 and car = 'a' order by n",
        ),
        Question(
            "How do I drop duplicates and keep the last of them?",
            'readings.gpuscan.drop_duplicates("sensor", keep="last")["n"]',
            "select max(n) from readings group by sensor order by 1",
        ),
        Question(
            "How do I get the newest version of each row?",
            'trips.gpuscan.latest("car", by="km")["n"]',
            "select n from trips qualify row_number() over (partition by car order by km desc, n desc) = 1 order by n",
        ),
        Question(
            "Which rows have been there before?",
            'readings[["sensor", "dry"]].gpuscan.duplicated()',
            "select row_number() over (partition by sensor, dry order by n) > 1 from readings order by n",
        ),
        Question(
            "How do I get the two longest trips?",
            'trips.gpuscan.nlargest(2, "km")["n"]',
            "select n from trips order by km desc, n limit 2",
        ),
        Question(
            "How do I sort by two columns, and keep the order of equal rows?",
            'trips.gpuscan.sort_values(["car", "km"])["n"]',
            "select n from trips order by car, km, n",
        ),
        Question(
            "How do I number rows over all partitions?",
            "trips.gpuscan.row_number()",
            "select row_number() over (order by n) - 1 from trips order by n",
        ),
        Question(
            "How do I get a dense rank?",
            'trips["km"].gpuscan.rank(method="dense")',
            "select dense_rank() over (order by km) from trips order by n",
        ),
    ],
    "Buckets of time, and joins": [
        Question(
            "How do I sum by hour, with hours without a row?",
            'trips.gpuscan.resample("1h", on="time")["km"].sum()',
            """select coalesce(sum(km), 0) from (select unnest(generate_series(
                date_trunc('hour', min(time)), max(time), interval 1 hour)) as hour from trips)
            left join trips on date_trunc('hour', time) = hour group by hour order by hour""",
            without=("polars",),
        ),
        Question(
            "How do I get the last value of each hour?",
            'trips.gpuscan.resample("1h", on="time")["km"].last()',
            """select last(km order by n) filter (km is not null) from (select unnest(generate_series(
                date_trunc('hour', min(time)), max(time), interval 1 hour)) as hour from trips)
            left join trips on date_trunc('hour', time) = hour group by hour order by hour""",
            without=("polars",),
        ),
        Question(
            "How do I join each trade with the last quote before it?",
            'dask_gpuscan.merge_asof(trades, quotes[["time", "share", "price"]], on="time", by="share")["price"]',
            """select price from trades asof left join quotes
            on trades.share = quotes.share and trades.time >= quotes.time order by trades.n""",
        ),
        Question(
            "How do I join with the next quote after it?",
            'dask_gpuscan.merge_asof(trades, quotes[["time", "price"]], on="time", direction="forward")["price"]',
            "select price from trades asof left join quotes on trades.time <= quotes.time order by trades.n",
        ),
        Question(
            "How do I join with what was known at the time (point in time, bitemporal)?",
            'dask_gpuscan.merge_asof(trades, figures, on="time", known="since")["sold"]',
            """select (select sold from figures where figures.time <= trades.time and since <= trades.time
            order by figures.time desc, greatest(figures.time, since) desc, figures.sold desc limit 1)
            from trades order by trades.n""",
        ),
        Question(
            "How do I leave out quotes that are too old?",
            'dask_gpuscan.merge_asof(trades, quotes[["time", "price"]], on="time", '
            'tolerance=pd.Timedelta("10min"))["price"]',
            """select case when trades.time - quotes.time <= interval 10 minute then price end
            from trades asof left join quotes on trades.time >= quotes.time order by trades.n""",
        ),
    ],
}


def plain(value: Any) -> Any:
    """Return a value as one of Python's, missing ones as None."""
    if (
        value is None
        or value is pd.NA
        or value is pd.NaT
        or (isinstance(value, float) and math.isnan(value))
    ):
        return None
    if isinstance(value, (pd.Timestamp, pd.Timedelta)):
        return value.to_pydatetime() if isinstance(value, pd.Timestamp) else value.to_pytimedelta()
    return value.item() if isinstance(value, np.generic) else value


def rows_of(answer: Any) -> list[Any]:
    """Return the values of a column, or the rows of a table as tuples."""
    answer = answer.compute() if hasattr(answer, "compute") else answer
    if hasattr(answer, "to_list"):
        return [plain(value) for value in answer.to_list()]
    columns = [[plain(value) for value in answer[name].to_list()] for name in answer.columns]
    return list(zip(*columns, strict=True))


def answer(question: Question, frames: dict[str, Any]) -> Any:
    """Return what a call gives."""
    return eval(question.call, {**frames, "dask_gpuscan": dask_gpuscan, "pd": pd})  # of this file


def page() -> str:
    """Return the page."""
    count = sum(map(len, QUESTIONS.values()))
    parts, frames = [BEGIN.format(count=count), f"```pycon\n{SETUP}```"], tables()
    for theme, questions in QUESTIONS.items():
        parts.append(f"## {theme}")
        for question in questions:
            found = answer(question, frames)
            call, shown = question.call, str(found)
            if isinstance(found, pd.Series):
                call = f"({call})" if re.search(r" [+/] ", call) else call
                call, shown = f"{call}.tolist()", str(found.tolist())
            parts += [f"### {question.text}", f"```pycon\n>>> {call}\n{shown}\n```"]
            if isinstance(question.reference, str):
                sql = textwrap.dedent(" " * 12 + question.reference).strip()
                parts.append(f"```sql\n{sql}\n```")
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
