"""One file for each day, and running totals: each day reads only its own rows, even after a process was killed.

``python examples/daily_totals.py`` makes a Parquet file of payments for each of several days, and after each day adds
the running balance of every account and the number of each payment. Two runs are killed. Half way, a day is corrected,
and the days after it are computed again. At the end balances are compared with those of all days at once.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

import dask_gpuscan


def payments(day: int, rows: int, accounts: int, version: int = 0) -> pd.DataFrame:
    """Return the payments of one day, in cents and in the order of time; another `version` has corrections."""
    rng = np.random.default_rng([day, version])
    seconds = np.sort(rng.integers(0, 86_400, rows))
    return pd.DataFrame(
        {
            "time": pd.Timestamp("2026-01-01") + pd.to_timedelta(day * 86_400 + seconds, "s"),
            "account": rng.integers(0, accounts, rows),
            "cents": rng.integers(-9_999, 10_000, rows),
        }
    )


def balances(rows: dask_gpuscan.Stream) -> dask_gpuscan.Stream:
    """Return the payments with the balance of their account, and with their numbers."""
    balance = rows.gpuscan.groupby("account")["cents"].cumsum()
    return rows.assign(balance=balance, number=rows.gpuscan.row_number())


def add_new_days(folder: Path, changed: str = "error") -> None:
    """Write the balances of new days, one file for each day."""
    rows = dask_gpuscan.stream(folder / "days", ends=False, changed=changed)
    balances(rows).to_parquet(folder / "balances", state=folder / "state.arrow", files="source")


def killed(folder: Path) -> str:
    """Do the same in another process, and kill it soon."""
    process = subprocess.Popen([sys.executable, __file__, "--folder", str(folder), "--only-add"])
    time.sleep(random.uniform(0.5, 3.0))
    done = process.poll() is not None
    process.kill()
    process.wait()
    return "was too fast to be killed" if done else "was killed"


def main() -> None:
    """Make the days, one after another."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--folder", type=Path, default=Path("daily_totals"))
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--rows", type=int, default=100_000, help="payments a day")
    parser.add_argument("--accounts", type=int, default=10_000)
    parser.add_argument(
        "--only-add", action="store_true", help="add the days that are there, and end"
    )
    options = parser.parse_args()
    folder: Path = options.folder
    if options.only_add:
        return add_new_days(folder)
    (folder / "days").mkdir(parents=True)
    corrected = options.days // 3

    def put(day: int, version: int = 0) -> None:
        made = payments(day, options.rows, options.accounts, version)
        made.to_parquet(folder / "days" / f"{made.time[0]:%Y-%m-%d}.parquet", index=False)

    for day in range(options.days):
        put(day)
        if day in (1, options.days // 2):
            print(f"day {day + 1}: a run {killed(folder)}")
        began = time.perf_counter()
        add_new_days(folder)
        took = time.perf_counter() - began
        if day in (0, 1, options.days - 1):
            state = dask_gpuscan.load_state(folder / "state.arrow")
            print(
                f"day {day + 1}: {took:.2f} s, {state.rows:,} rows so far, a state of {state.nbytes:,} bytes"
            )
        if day == 2 * corrected:
            put(corrected, version=1)
            began = time.perf_counter()
            add_new_days(folder, changed="redo")
            took = time.perf_counter() - began
            print(f"day {corrected + 1} is corrected: {took:.2f} s for {day - corrected + 1} days")
    found = pq.read_table(folder / "balances").to_pandas()
    whole = pd.concat(
        payments(day, options.rows, options.accounts, int(day == corrected))
        for day in range(options.days)
    )
    assert found.balance.tolist() == whole.groupby("account").cents.cumsum().tolist()
    assert found.number.tolist() == list(range(len(whole)))
    print("the balances are those of all days at once")


if __name__ == "__main__":
    main()
