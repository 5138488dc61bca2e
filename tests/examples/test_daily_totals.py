"""The example of daily totals, which compares its answers with those of all days at once by itself."""

from pathlib import Path

import pytest

from helpers.scripts import run


@pytest.mark.slow
def test_daily_totals(tmp_path: Path) -> None:
    said = run("daily_totals.py", tmp_path, "--days", 4, "--rows", 2_000, "--accounts", 50).stdout
    assert "the balances are those of all days at once" in said
    assert "day 4" in said
    assert "day 2 is corrected" in said
    days, balances = (
        sorted((tmp_path / "daily_totals" / name).glob("*.parquet"))
        for name in ("days", "balances")
    )
    assert [path.name for path in balances] == [
        f"part-{i:08}-{path.name}" for i, path in enumerate(days)
    ]
