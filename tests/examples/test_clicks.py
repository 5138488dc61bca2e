"""The clicks example, run as its docstring says: it compares a sample of its answers with pandas by itself."""

from __future__ import annotations

from pathlib import Path

import dask.dataframe as dd
import pandas as pd
import pytest

from helpers.scripts import A_GPU, EXAMPLES, PROCESSES, run

ROWS, PARTITIONS = 300_000, 7


@pytest.mark.sampled(2)
@pytest.mark.slow
@pytest.mark.parametrize("where", [PROCESSES, A_GPU])
def test_clicks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: list[str]) -> None:
    # here first: workers would compile the same kernels at once
    monkeypatch.syspath_prepend(str(EXAMPLES))
    from clicks import log, questions

    few = log.clicks(7_000, PARTITIONS, 0)
    for question in (
        questions.failures,
        questions.sessions,
        questions.totals,
        questions.rates,
        questions.pages,
    ):
        question(few).compute()
    options = ["--rows", ROWS, "--partitions", PARTITIONS]
    said = run("clicks_etl.py", tmp_path, *options, *where).stdout
    assert "its answers are equal" in said
    assert "rows a second" in said
    output = tmp_path / "clicks_out"
    assert {path.name for path in output.iterdir()} == {"clicks", "failures", "sessions", "totals"}
    clicks = dd.read_parquet(output / "clicks")
    assert clicks.npartitions == PARTITIONS
    totals = dd.read_parquet(output / "totals").compute()
    assert totals.number.tolist() == list(range(ROWS))
    assert totals.served.iloc[-1] == clicks.bytes.sum().compute()
    assert dd.read_parquet(output / "sessions")["count"].sum().compute() == ROWS


def test_partitions_are_made_by_themselves_in_the_order_of_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    from clicks.log import partition

    parts = [partition(number, 1000, 50, seed=3) for number in range(4)]
    pd.testing.assert_frame_equal(parts[2], partition(2, 1000, 50, seed=3))
    assert not parts[2].equals(partition(2, 1000, 50, seed=4))
    times = pd.concat(parts).time
    assert times.is_monotonic_increasing
    assert len(times) == 4000
    assert partition(0, 1, 1, 0).dtypes.equals(parts[0].dtypes)
