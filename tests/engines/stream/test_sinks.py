"""Answers of streams: Arrow, polars and Parquet, whole at every moment, also if the process is killed."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dask_gpuscan

pl = pytest.importorskip("polars")

ROWS = 3_000
FRAME = pd.DataFrame(
    {"k": np.random.default_rng(3).integers(0, 40, ROWS), "x": np.random.default_rng(4).random(ROWS)}
)  # fmt: skip


def totals(rows: Any) -> Any:
    return rows.assign(total=rows.gpuscan.groupby("k")["x"].cumsum())


def parts(size: int = 500) -> list[pd.DataFrame]:
    return [FRAME[i : i + size] for i in range(0, ROWS, size)]


EXPECTED = FRAME.assign(total=FRAME.gpuscan.groupby("k")["x"].cumsum())


def test_arrow_reads_a_stream() -> None:
    rows = totals(dask_gpuscan.stream([FRAME[:0], *parts()]))
    found = pa.RecordBatchReader.from_stream(rows)
    assert found.schema.names == ["k", "x", "total"]
    assert found.read_all().to_pandas()["k"].tolist() == EXPECTED["k"].tolist()
    assert pl.DataFrame(rows["k"]).shape == (ROWS, 1)
    assert pa.table(dask_gpuscan.stream([FRAME[:0]])).num_rows == 0


def test_polars_reads_a_stream() -> None:
    rows = dask_gpuscan.stream([pl.from_pandas(part) for part in parts()])
    lazy = totals(rows).to_polars()
    assert lazy.collect_schema().names() == ["k", "x", "total"]
    found = lazy.filter(pl.col("k") > 20).select("total").head(100).collect()
    expected = EXPECTED[EXPECTED.k > 20]["total"][:100].tolist()
    np.testing.assert_allclose(found["total"].to_list(), expected)


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize(
    "made",
    [pd.DataFrame, pl.DataFrame, pa.table, pa.record_batch],
    ids=lambda made: made.__module__,
)
def test_no_columns_keep_the_number_of_rows(made: Any, rows: int) -> None:
    """An index, a literal and a count ask for none of our columns."""
    frame = pd.DataFrame({"x": [1, 2, 3], "y": list("abc")})
    parts = [made(frame[i : i + rows].to_dict("list")) for i in range(0, 3, rows)]
    stream = dask_gpuscan.stream(parts)
    lazy = stream.assign(z=stream["x"].gpuscan.cumsum()).to_polars()
    assert lazy.with_row_index().select("index").collect()["index"].to_list() == [0, 1, 2]
    assert lazy.tail(2).with_row_index("n", 1).select("n").collect()["n"].to_list() == [1, 2]
    assert lazy.head(2).with_row_index().select("index").collect()["index"].to_list() == [0, 1]
    assert lazy.with_columns(one=pl.lit(1)).select("one").collect()["one"].to_list() == [1, 1, 1]
    assert lazy.with_columns(one=pl.lit(1)).select(pl.col("one").sum()).collect().item() == 3
    assert lazy.select(pl.len()).collect().item() == 3
    numbered = lazy.filter(pl.col("z") > 1).with_row_index()
    assert numbered.select("index").collect()["index"].to_list() == [0, 1]
    assert numbered.select("y").collect()["y"].to_list() == ["b", "c"]
    series = stream["x"].gpuscan.cumsum().to_polars()
    assert series.with_row_index().select("index").collect().height == 3
    assert len(stream[[]].gpuscan.row_number().compute()) == 3
    assert len(stream[[]].compute()) == 3
    assert pa.table(stream[[]]).num_rows == 3


def test_one_file_of_parquet(tmp_path: Path) -> None:
    totals(dask_gpuscan.stream(parts())).to_parquet(tmp_path / "x.parquet", compression="zstd")
    found = pq.ParquetFile(tmp_path / "x.parquet")
    assert found.num_row_groups == 6
    assert found.read().to_pandas()["k"].tolist() == EXPECTED["k"].tolist()
    dask_gpuscan.stream([FRAME[:0]]).to_parquet(tmp_path / "y.parquet")
    assert pd.read_parquet(tmp_path / "y.parquet").equals(FRAME[:0])
    assert len(list(tmp_path.iterdir())) == 2


def test_a_file_that_fails_is_not_there(tmp_path: Path) -> None:
    def batches() -> Any:
        yield FRAME
        raise OSError("no more")

    rows = dask_gpuscan.stream(batches())
    with pytest.raises(OSError, match="no more"):
        rows.to_parquet(tmp_path / "x.parquet")
    assert not list(tmp_path.iterdir())


def test_a_directory_goes_on(tmp_path: Path) -> None:
    folder, state = tmp_path / "out", tmp_path / "state"
    for count in (1, 1, 3, 3, 6):
        rows = dask_gpuscan.stream(parts()[:count], ends=False)
        totals(rows).to_parquet(folder, state=state, rows_per_file=1000)
        assert dask_gpuscan.load_state(state).rows == count * 500
    rows_of_files = [pq.read_metadata(path).num_rows for path in sorted(folder.glob("*.parquet"))]
    assert rows_of_files == [500, 1000, 1000, 500]
    state.unlink()
    totals(dask_gpuscan.stream(parts())).to_parquet(folder, state=state)  # the directory has it
    assert dask_gpuscan.load_state(state).rows == ROWS
    whole = totals(dask_gpuscan.stream(parts())).compute()
    assert pd.read_parquet(folder).equals(whole)


def test_what_was_open_is_answered_once(tmp_path: Path) -> None:
    def run(count: int, ends: bool) -> None:
        rows = dask_gpuscan.stream(parts()[:count], ends=ends)
        rows.gpuscan.rle("k").to_parquet(tmp_path / "out", state=tmp_path / "state")

    for count, ends in ((2, False), (6, True), (6, True)):
        run(count, ends)
    assert pd.read_parquet(tmp_path / "out")["run_length"].sum() == ROWS
    with pytest.raises(ValueError, match="state is of rows that ended"):
        dask_gpuscan.stream([*parts(), FRAME]).gpuscan.rle("k").to_parquet(
            tmp_path / "out", state=tmp_path / "state"
        )


INTERRUPTED = """
import signal, threading, time
from dask_gpuscan.engines.stream.threads import Behind

ready, written, main = threading.Event(), [], threading.get_ident()

def write(item):
    ready.wait()
    time.sleep(0.2)
    signal.pthread_kill(main, signal.SIGINT)
    time.sleep(0.5)
    written.append(item)

try:
    with Behind(write) as behind:
        behind.put(1)
        behind.put(2)
        ready.set()
except KeyboardInterrupt:
    print("interrupted behind", written[:1])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal to a thread")
def test_an_interrupt_waits_for_what_is_being_written() -> None:
    found = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True)
    assert found.stdout == "interrupted behind [1]\n"
