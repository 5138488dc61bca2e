"""One file of flights for each month, and a directory of running totals, which is updated even after a correction.

Months are added one by one. After December, July is written again, with some flights that were left out. The directory
is computed again from July on, and DuckDB reads it and sums the last totals of the carriers.
"""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import duckdb
import pandas as pd

import dask_gpuscan

CORRECTED = 7  # the month
LEFT_OUT = 100  # the first flights of that month


def totals(months: Path, changed: str = "error") -> dask_gpuscan.Stream:
    """Return the flights of all months, with the seat-miles of their carriers so far."""
    flights = dask_gpuscan.stream(months, ends=False, changed=changed)
    flown = flights.gpuscan.groupby("carrier")["seat_miles"].cumsum()
    return flights.assign(carrier_seat_miles=flown, flight_number=flights.gpuscan.row_number())


def run(flights: pd.DataFrame, output: Path) -> None:
    """Add months to a folder, and update the directory of their totals."""
    months, directory = output / "by_month", output / "totals"
    for folder in (months, directory):
        shutil.rmtree(folder, ignore_errors=True)
    months.mkdir(parents=True)
    by_month = dict(list(flights.groupby(flights.date.dt.month, sort=True)))
    for month, rows in by_month.items():
        known = rows[LEFT_OUT:] if month == CORRECTED else rows
        known.to_parquet(months / f"{month}.parquet", index=False)  # 10 is read after 9
        totals(months).to_parquet(directory, state=True)
    print(f"{len(by_month)} months, one after another -> {directory}")

    by_month[CORRECTED].to_parquet(months / f"{CORRECTED}.parquet", index=False)
    try:
        totals(months).to_parquet(directory, state=True)
    except dask_gpuscan.ChangedSourceError as error:
        print(f"{error.path} was read before, and is corrected now")
    begin = time.perf_counter()
    totals(months, changed="redo").to_parquet(directory, state=True)
    print(
        f"what came from month {CORRECTED} on is computed again: {time.perf_counter() - begin:.2f} s"
    )

    last = duckdb.sql(
        f"SELECT carrier, max(carrier_seat_miles) AS flown, max(flight_number) AS number "
        f"FROM '{directory}/*.parquet' GROUP BY carrier ORDER BY flown DESC"
    ).df()
    expected = flights.groupby("carrier").seat_miles.sum()
    pd.testing.assert_series_equal(
        last.set_index("carrier").flown.sort_index(), expected, check_names=False
    )
    assert last.number.max() == len(flights) - 1
    print(f"DuckDB reads the seat-miles of the year\n\n{last[:5].to_string(index=False)}")
