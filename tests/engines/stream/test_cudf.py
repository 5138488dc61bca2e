"""Streams of cuDF: files that are read to a GPU, states that leave it, and merges of two streams there."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dask_gpuscan
from dask_gpuscan import stream
from dask_gpuscan.engines.stream.sources import cudf_files

cudf = pytest.importorskip("cudf")
pytestmark = pytest.mark.gpu

FRAME = pd.DataFrame(
    {
        "k": np.arange(1000) % 7,
        "x": np.arange(1000.0),
        "t": pd.date_range("2026-01-01", periods=1000, freq="min", unit="ns"),
    }
)


@pytest.fixture(autouse=True)
def backend(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(cudf_files, "ROWS_ON_GPU", 200)
    with dask.config.set({"dataframe.backend": "cudf"}):
        yield


def parts(frame: pd.DataFrame, size: int = 300) -> list[Any]:
    return [cudf.DataFrame(frame[i : i + size]) for i in range(0, len(frame), size)]


def test_parquet_is_read_to_the_gpu(tmp_path: Path) -> None:
    FRAME[:700].to_parquet(tmp_path / "1.parquet", row_group_size=90)
    FRAME[700:].to_parquet(tmp_path / "2.parquet", row_group_size=90)
    rows = stream(tmp_path / "*.parquet")
    batches = list(rows[["k", "x"]].gpuscan.groupby("k")["x"].cumsum())
    assert all(isinstance(batch, cudf.Series) for batch in batches)
    assert [len(batch) for batch in batches] == [270, 270, 160, 270, 30]
    found = cudf.concat(batches).to_pandas().to_numpy()
    np.testing.assert_array_equal(found, FRAME.groupby("k")["x"].cumsum())
    first = stream(tmp_path / "1.parquet", ends=False).gpuscan.cumcount()
    first.to_parquet(tmp_path / "days", state=tmp_path / "state")
    both = stream(tmp_path / "*.parquet", ends=False).gpuscan.cumcount()
    both.to_parquet(tmp_path / "days", state=tmp_path / "state")
    assert pd.read_parquet(tmp_path / "days").iloc[:, 0].tolist() == list(range(1000))


def test_arrow_is_read_to_the_gpu(tmp_path: Path) -> None:
    table = pa.Table.from_pandas(FRAME, preserve_index=False)
    with pa.ipc.new_file(tmp_path / "x.arrow", table.schema) as writer:
        writer.write_table(table, max_chunksize=400)
    found = stream(tmp_path / "x.arrow")["x"].gpuscan.cumsum().compute()
    assert isinstance(found, cudf.Series)
    np.testing.assert_array_equal(found.to_pandas(), FRAME["x"].cumsum())


def test_states_forget_old_keys_on_either_side(tmp_path: Path) -> None:
    def sessions(rows: Any) -> Any:
        return rows.gpuscan.sessionize("t", by="k", gap="30min")

    gone = FRAME.assign(k=np.where(FRAME.index < 500, 9, FRAME["k"]))
    out = sessions(stream(parts(gone)))
    out.compute()
    state = out.state.expire(FRAME["t"][600])
    (keys,) = state.keys().values()
    assert sorted(keys.to_pandas()) == list(range(7))
    state.save(tmp_path / "state")
    (keys,) = dask_gpuscan.load_state(tmp_path / "state").keys().values()
    assert sorted(keys) == list(range(7))


def test_windows_forget_old_rows() -> None:
    def sums(rows: Any) -> Any:
        return rows.gpuscan.groupby("k").rolling("30min", on="t")["x"].sum()

    out = sums(stream(parts(FRAME[:500])))
    out.compute()
    rest = parts(FRAME[500:])
    newer = out.state.expire(FRAME["t"][469])
    found, expected = (
        sums(stream(rest, state=state)).compute().to_pandas() for state in (newer, out.state)
    )
    pd.testing.assert_series_equal(found, expected)


@pytest.mark.parametrize("exact", [True, False])
def test_merges_of_two_streams(exact: bool) -> None:
    rng = np.random.default_rng(5)
    left, right = (
        pd.DataFrame(
            {"t": np.sort(rng.integers(0, 900, n)), "k": rng.integers(0, 5, n), name: np.arange(n) * 1.0}
        )
        for n, name in ((1000, "x"), (700, "y"))
    )  # fmt: skip
    options: dict[str, Any] = {"on": "t", "by": "k", "allow_exact_matches": exact}
    expected = pd.merge_asof(left, right, **options)
    found = dask_gpuscan.merge_asof(stream(parts(left)), stream(parts(right, 90)), **options)
    pd.testing.assert_frame_equal(found.compute().to_pandas(), expected, check_dtype=False)


def test_several_streams_and_their_progress() -> None:
    rows = stream(parts(FRAME))
    with dask_gpuscan.ProgressBar(out=None):
        total, some = dask_gpuscan.compute(rows["x"].gpuscan.cumsum(), rows.gpuscan.filter("x > 9"))
    assert len(some) == 990
    assert float(total.iloc[-1]) == FRAME["x"].sum()


def test_a_directory_follows_changed_files(tmp_path: Path) -> None:
    days, out = tmp_path / "days", tmp_path / "totals"
    days.mkdir()

    def run(**options: Any) -> None:
        rows = stream(days, ends=False, **options)
        totals = rows.gpuscan.groupby("k")["x"].cumsum()
        rows.assign(total=totals).to_parquet(out, state=True)

    def check(*numbers: int) -> None:
        whole = pd.concat([pd.read_parquet(days / f"{n}.parquet") for n in numbers])
        found = pd.read_parquet(out)
        expected = whole.groupby("k")["x"].cumsum()
        np.testing.assert_array_equal(found["total"], expected)

    for number in (9, 10):
        FRAME[100 * number - 800 :][:100].to_parquet(days / f"{number}.parquet", row_group_size=30)
        run()
    check(9, 10)
    FRAME[5:50].to_parquet(days / "9.parquet")
    with pytest.raises(dask_gpuscan.ChangedSourceError):
        run()
    run(changed="redo")
    check(9, 10)
    state = dask_gpuscan.load_state(out)
    last = pd.read_parquet(out).groupby("k")["total"].last()
    assert state.to_pandas()["groupby-cumsum"].set_index("k")["x"].to_dict() == last.to_dict()


def test_partitions_and_schemas(tmp_path: Path) -> None:
    for day in (1, 2):
        folder = tmp_path / f"day={day}"
        folder.mkdir()
        FRAME[:5].astype({"k": "int32" if day == 1 else "int64"}).to_parquet(folder / "f.parquet")
    schema = {"k": pa.int64(), "x": pa.float32(), "day": pa.int64(), "z": pa.float64()}
    found = stream(tmp_path, schema=schema).compute()
    assert isinstance(found, cudf.DataFrame)
    assert found["day"].to_pandas().tolist() == [1] * 5 + [2] * 5
    assert found["z"].isna().all()
    assert str(found["x"].dtype) == "float32"
    empty = FRAME[:0]
    empty.to_parquet(tmp_path / "empty.parquet")
    assert len(stream(tmp_path / "empty.parquet").compute()) == 0
