"""One picture for each question, drawn from the answer to a file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd

matplotlib.use("Agg")  # draw to files: no display needed

from matplotlib import dates, ticker
from matplotlib import pyplot as plt

from .data import load_airlines
from .questions import HALFLIFE, IDLE, LATE, RECENT

BLUE, RED, GREEN, YELLOW = "#2b6c99", "#c8553d", "#3f9a6f", "#d9a441"
GREY, LIGHT = "#9aa0a8", "#d5d9de"
COLOURS = [BLUE, RED, GREEN, YELLOW, "#7b5ea7", "#4cb0c4", "#8c5a3c"]
STYLE = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "grid.alpha": 0.25,
    "legend.frameon": False,
}


@contextmanager
def drawing(path: Path, title: str, rows: int = 1, **options: Any) -> Iterator[Any]:
    """Yield the axes of a figure with a title, and save it."""
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(rows, layout="constrained", **options)
        figure.suptitle(title, x=0.01, ha="left", size=15, weight="bold")
        yield axes
        figure.savefig(path, dpi=130)
        plt.close(figure)


def months_below(axes: Any, first: Any, last: Any) -> None:
    """Label the x axis with the months of the year."""
    axes.xaxis.set_major_locator(dates.MonthLocator())
    axes.xaxis.set_major_formatter(dates.DateFormatter("%b"))
    axes.set_xlim(first, last)


def apart(heights: pd.Series, distance: float) -> pd.Series:
    """Move labels up and down until they are at least a distance apart."""
    ordered = heights.sort_values()
    steps = distance * np.arange(len(ordered))
    loose = ordered - steps
    raised, lowered = loose.cummax(), loose[::-1].cummin()[::-1]
    return (raised + lowered) / 2 + steps


def days(days: pd.DataFrame, path: Path) -> None:
    """Draw the running seat-miles, the delay and the flights that never arrived."""
    with drawing(
        path,
        "Flights out of New York, 2013",
        rows=3,
        figsize=(10, 8),
        sharex=True,
        height_ratios=[3, 4, 2],
    ) as (top, middle, bottom):
        billions = days.running_seat_miles / 1e9
        top.plot(days.index, billions, color=BLUE, linewidth=2)
        top.fill_between(days.index, billions, color=BLUE, alpha=0.15, linewidth=0)
        top.set(title="Seat-miles flown since 1 January", ylabel="billion", ylim=(0, None))

        average = f"moving average, half-life {HALFLIFE:,} flights"
        middle.plot(days.index, days.dep_delay, color=GREY, linewidth=0.9, label="mean of the day")
        middle.plot(days.index, days.smooth_dep_delay, color=RED, linewidth=1.8, label=average)
        middle.set(title="Departure delay", ylabel="minutes")
        middle.legend(loc="upper right")

        bottom.fill_between(days.index, days.lost, step="mid", color=BLUE, linewidth=0)
        bottom.set(title="Flights that never arrived", ylabel="a day")
        months_below(bottom, days.index[0], days.index[-1])
        for axes, column in [(middle, days.dep_delay), (bottom, days.lost)]:
            peak = column.idxmax()
            label = f"{peak.day} {peak:%B}"
            axes.annotate(label, (peak, column[peak]), (8, 0), textcoords="offset points", va="top")


def carriers(carriers: pd.Series, path: Path) -> None:
    """Draw a line for each carrier, with colours and names for the largest."""
    billions = carriers.unstack("carrier").ffill().fillna(0) / 1e9
    total = billions.iloc[-1].sort_values(ascending=False)
    named = total[: len(COLOURS)]
    with drawing(path, "Seat-miles out of New York, by carrier, 2013", figsize=(10, 6)) as axes:
        axes.plot(billions[total.index[len(COLOURS) :]], color=LIGHT, linewidth=1.2)
        names = load_airlines()
        heights = apart(named, distance=total.max() / 26)
        for carrier, colour in zip(named.index, COLOURS, strict=True):
            axes.plot(billions[carrier], color=colour, linewidth=2.2)
            axes.annotate(
                f"{names[carrier]}  {named[carrier]:.1f}",
                (1, heights[carrier]),
                (6, 0),
                xycoords=("axes fraction", "data"),
                textcoords="offset points",
                va="center",
                color=colour,
            )
        axes.set(
            title=f"since 1 January; grey: {len(total) - len(named)} smaller ones", ylabel="billion"
        )
        axes.set_ylim(0, None)
        months_below(axes, billions.index[0], billions.index[-1])


def months(months: pd.DataFrame, path: Path) -> None:
    """Draw how each month's flights ended, and how late the ones that arrived were."""
    lost = months.flights - months.arrived
    fates = {
        "on time": (months.arrived - months.late, BLUE),
        f"{LATE} minutes late or more": (months.late, YELLOW),
        "never arrived": (lost, RED),
    }
    names = pd.to_datetime(months.index.astype(str)).strftime("%b")
    with drawing(
        path,
        "Monthly reports",
        rows=2,
        figsize=(10, 7),
        sharex=True,
        height_ratios=[3, 2],
    ) as (top, bottom):
        below = 0
        for label, (flights, colour) in fates.items():
            bars = top.bar(names, flights, bottom=below, color=colour, label=label, width=0.75)
            shares = (flights / months.flights).map("{:.0%}".format)
            inside = {"label_type": "center", "color": "white"}
            above = {"label_type": "edge", "color": colour, "padding": 1}
            top.bar_label(bars, shares, size=9, **(above if flights is lost else inside))
            below = below + flights
        top.set(title="Flights")
        top.margins(y=0.2)
        top.yaxis.set_major_formatter(ticker.StrMethodFormatter("{x:,.0f}"))
        top.legend(loc="upper left", ncols=len(fates))

        bars = bottom.bar(names, months.arr_delay, color=GREY, width=0.75)
        labels = [f"{delay:.1f}".replace("-", "\N{MINUS SIGN}") for delay in months.arr_delay]
        bottom.bar_label(bars, labels, padding=2, size=9)
        bottom.axhline(0, color="black", linewidth=0.8)
        bottom.set(title="Mean arrival delay", ylabel="minutes")
        bottom.margins(y=0.15)
        for axes in (top, bottom):
            axes.grid(visible=False, axis="x")


def weather(weather: pd.DataFrame, path: Path) -> None:
    """Draw how late flights left, and how many did not leave, by visibility."""
    lost = 100 * (weather.flights - weather.left) / weather.flights
    with drawing(
        path,
        "Weather at the airport",
        rows=2,
        figsize=(10, 6),
        sharex=True,
    ) as (top, bottom):
        panels = (
            (top, weather.dep_delay, GREY, "Mean departure delay", "minutes"),
            (bottom, lost, RED, "Cancelled flights", "per cent"),
        )
        for axes, heights, colour, title, unit in panels:
            bars = axes.bar(weather.index, heights, color=colour, width=0.75)
            axes.bar_label(bars, fmt="{:.1f}", padding=2, size=9)
            axes.set(title=title, ylabel=unit)
            axes.margins(y=0.15)
            axes.grid(visible=False, axis="x")
        bottom.set(xlabel="miles that one could see", xticks=weather.index)


def lateness(lateness: pd.DataFrame, path: Path) -> None:
    """Draw how late an aircraft leaves, by its delay at earlier departures."""
    with drawing(
        path,
        f"Departures of an aircraft, by the mean delay of its last {RECENT}",
        rows=2,
        figsize=(10, 6),
        sharex=True,
    ) as (top, bottom):
        panels = (
            (top, lateness.dep_delay, GREY, "Mean departure delay", "minutes"),
            (bottom, 100 * lateness.late / lateness.flights, RED, "Late flights", "per cent"),
        )
        for axes, heights, colour, title, unit in panels:
            bars = axes.bar(lateness.index, heights, color=colour, width=12)
            axes.bar_label(bars, fmt="{:.1f}", padding=2, size=9)
            axes.set(title=title, ylabel=unit)
            axes.margins(y=0.15)
            axes.grid(visible=False, axis="x")
        bottom.set(xlabel="minutes that it was late before, and more", xticks=lateness.index)


def streaks(streaks: pd.DataFrame, path: Path) -> None:
    """Draw the number of streaks of each length, and the number expected if flights were late by chance."""
    found = streaks[streaks.late].run_length.value_counts().sort_index()
    flights = streaks.run_length.sum()
    share = (found * found.index).sum() / flights
    chance = flights * (1 - share) ** 2 * share**found.index
    with drawing(path, "Delays come in streaks", figsize=(10, 5)) as axes:
        axes.bar(found.index, found, color=BLUE, width=0.75, label="in 2013")
        expected = f"expected, if each flight had a chance of {share:.0%} to be late"
        ends = found.index - 0.42, found.index + 0.42
        axes.hlines(chance, *ends, color=RED, linewidth=2.5, label=expected)
        for length, height in np.maximum(found, chance).items():
            label = f"{found[length]:,}"
            above = {"textcoords": "offset points", "ha": "center", "size": 9}
            axes.annotate(label, (length, height), (0, 4), **above)
        axes.set(
            title=f"Flights of one aircraft in a row that were {LATE} minutes late or more",
            xlabel="flights in a row",
            ylabel="streaks",
            yscale="log",
            ylim=(0.7, found.max() * 2.5),
            xticks=range(1, found.index.max() + 1),
        )
        axes.yaxis.set_major_formatter(ticker.StrMethodFormatter("{x:,.0f}"))
        axes.grid(visible=False, axis="x")
        axes.legend(loc="upper right")


def stints(stints: pd.DataFrame, path: Path, aircraft: int = 24, long: int = 60) -> None:
    """Draw the stints of the aircraft with the most departures from New York, as bars along the year."""
    busiest = stints.groupby("tailnum")["count"].sum().nlargest(aircraft).index
    shown = stints[stints.tailnum.isin(busiest)]
    with drawing(path, f"The {aircraft} busiest aircraft at work", figsize=(10, 7.5)) as axes:
        names = load_airlines()
        for colour, (carrier, rows) in zip(COLOURS, shown.groupby("carrier"), strict=False):
            heights = busiest.get_indexer(rows.tailnum)
            style = {"linewidth": 12, "color": colour, "label": names[carrier]}
            axes.hlines(heights, rows.start, rows.end, **style)
            lengths = rows.end - rows.start
            for height, start, length in zip(heights, rows.start, lengths, strict=True):
                if length.days >= long:
                    label = {"ha": "center", "va": "center", "color": "white", "size": 8}
                    axes.text(start + length / 2, height, f"{length.days} days", **label)
        axes.set_yticks(range(aircraft), busiest, size=9)
        axes.set_ylim(aircraft - 0.4, -0.6)
        axes.set(title=f"Bars: flights out of New York with never more than {IDLE} in between")
        months_below(axes, *pd.to_datetime(["2013-01-01", "2014-01-01"]))
        axes.grid(visible=False, axis="y")
        axes.figure.legend(loc="outside lower center", ncols=len(COLOURS))
