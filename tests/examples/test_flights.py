"""The flights example, run as its docstring says; ``--check`` makes it compare with pandas."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import dask.dataframe as dd
import pandas as pd
import pytest

SCRIPT = Path(__file__).parents[2] / "examples" / "flights_etl.py"

FLIGHTS_OF_THE_YEAR = 336_776


@pytest.mark.parametrize(
    ("scheduler", "partitions"),
    [
        ("synchronous", 7),
        ("threads", 60),
        pytest.param("distributed", 5, marks=pytest.mark.cluster),
    ],
)
def test_flights(scheduler: str, partitions: int, tmp_path: Path) -> None:
    options = ["--scheduler", scheduler, "--partitions", str(partitions), "--check"]
    run = subprocess.run(
        [sys.executable, str(SCRIPT), *options, "--output", str(tmp_path / "out")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    assert "all answers are equal" in run.stdout
    assert "December" in run.stdout

    output = tmp_path / "out"
    assert len(list((output / "flights").glob("*.parquet"))) == partitions
    answers = dd.read_parquet(output / "answers")  # pandas would read part.10 before part.2
    assert answers.flight_number.compute().tolist() == list(range(FLIGHTS_OF_THE_YEAR))
    days = pd.read_parquet(output / "days.parquet")
    assert len(days) == 365
    assert days.running_seat_miles.is_monotonic_increasing
    assert (output / "days.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]
