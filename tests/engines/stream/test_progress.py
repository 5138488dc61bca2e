"""Progress of streams on Dask's bars, and on ours."""

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from dask.callbacks import Callback
from dask.diagnostics import ProgressBar

import dask_gpuscan
from dask_gpuscan import stream

pl = pytest.importorskip("polars")

FRAME = pd.DataFrame({"x": np.arange(100.0), "t": np.arange(100)})


def drawn(bar: type[ProgressBar], run: Callable[[], Any]) -> str:
    """Return the last line of a bar."""
    out = io.StringIO()
    with bar(out=out):
        run()
    assert out.getvalue().count("\n") == 1
    return out.getvalue().split("\r")[-1]


@pytest.mark.parametrize("kind", ["files", "frames", "polars", "arrow"])
def test_rows_and_bytes_are_shown(kind: str, tmp_path: Path) -> None:
    FRAME.to_parquet(tmp_path / "x.parquet", row_group_size=40)
    sources: dict[str, Any] = {
        "files": tmp_path / "x.parquet",
        "frames": [FRAME[:30], FRAME[30:]],
        "polars": [pl.from_pandas(FRAME)],
        "arrow": [pa.RecordBatch.from_pandas(FRAME)],
    }
    rows = stream(sources[kind]).gpuscan.cumsum()
    line = drawn(dask_gpuscan.ProgressBar, rows.compute)
    size = r"[0-9.]+ kiB"
    assert re.search(f"100% Completed .* 100 of 100 rows, {size} of {size}", line)
    assert "100% Completed" in drawn(ProgressBar, rows.compute)


def test_sources_of_unknown_length() -> None:
    rows = stream(iter([FRAME, FRAME])).gpuscan.cumsum()
    assert "| 200 rows, 3.12 kiB" in drawn(dask_gpuscan.ProgressBar, rows.compute)
    collection = stream(dd.from_pandas(FRAME, npartitions=3)).gpuscan.cumsum()
    assert "| 100 rows, 1.56 kiB" in drawn(dask_gpuscan.ProgressBar, collection.compute)


def test_one_bar_shows_the_stream_that_is_merged_with_another() -> None:
    left, right = stream([FRAME[["t"]]]), stream([FRAME[:50], FRAME[50:]])
    line = drawn(dask_gpuscan.ProgressBar, dask_gpuscan.merge_asof(left, right, on="t").compute)
    assert "100 of 100 rows, 800 B of 800 B" in line


def test_a_pass_that_is_left_ends_its_bar() -> None:
    out = io.StringIO()
    with dask_gpuscan.ProgressBar(out=out) as bar:
        rows = iter(stream([FRAME[:30], FRAME[30:]]).gpuscan.cumsum())
        next(rows)
        rows.close()  # type: ignore[attr-defined]
    assert not bar._running
    assert "100% Completed" not in out.getvalue()
    assert not Callback.active
