"""Object stores: tables on a server that speaks S3, in a process of its own, as clients hold the lock of Python."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet as pq
import pytest

import dask_gpuscan
from dask_gpuscan.engines.stream.sources.delta import delta_files

pytest.importorskip("moto.server")
boto3 = pytest.importorskip("boto3")

SERVER = """
import sys
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
server.start()
print(*server.get_host_and_port(), flush=True)
sys.stdin.read()
"""
KEYS = {"aws_access_key_id": "user", "aws_secret_access_key": "secret"}
FRAME = pd.DataFrame({"i": range(500), "k": np.random.default_rng(3).integers(0, 9, 500)})


@dataclass(frozen=True)
class Server:
    """A server with an empty bucket called ``bucket``."""

    place: str

    @property
    def storage_options(self) -> dict[str, str]:
        """Those of `deltalake`, with conditional puts as the lock of commits."""
        options = {"aws_endpoint_url": f"http://{self.place}", "aws_allow_http": "true"}
        return {**options, **KEYS, "aws_region": "us-east-1", "aws_conditional_put": "etag"}

    @property
    def filesystem(self) -> Any:
        return pyarrow.fs.S3FileSystem(
            endpoint_override=self.place,
            scheme="http",
            access_key=KEYS["aws_access_key_id"],
            secret_key=KEYS["aws_secret_access_key"],
            region="us-east-1",
        )


@pytest.fixture(scope="module")
def s3() -> Iterator[Server]:
    command = [sys.executable, "-c", SERVER]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, **pipes) as process:
        server = Server(":".join(process.stdout.readline().split()))
        client = boto3.client(
            "s3", endpoint_url=f"http://{server.place}", region_name="us-east-1", **KEYS
        )
        client.create_bucket(Bucket="bucket")
        yield server
        process.stdin.close()


def totals(count: int = 500, ends: bool = True) -> Any:
    rows = dask_gpuscan.stream([FRAME[i : i + 50] for i in range(0, count, 50)], ends=ends)
    return rows.assign(total=rows.gpuscan.groupby("k")["i"].cumsum())


def rows_of(table: Any) -> pd.DataFrame:
    found = [pq.read_table(table.filesystem.open_input_file(one.path)) for one in table.files]
    return pa.concat_tables(found).to_pandas()


def test_a_table_of_delta_lake(s3: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("deltalake")
    from deltalake import DeltaTable

    from dask_gpuscan.engines.stream.sinks.delta_sink import DeltaTarget

    def killed(self: Any, *args: Any) -> None:
        if self.newest is not None:
            raise KeyboardInterrupt
        write(self, *args)

    def run(count: int, **options: Any) -> None:
        stream = totals(count, ends=False)
        stream.to_delta(uri, storage_options=s3.storage_options, rows_per_commit=100, **options)

    uri, write = "s3://bucket/folder/table", DeltaTarget._write
    with monkeypatch.context() as patch:
        patch.setattr(DeltaTarget, "_write", killed)
        with pytest.raises(KeyboardInterrupt):
            run(300)
    for count in (100, 300, 500, 500):
        run(count)
    table = delta_files(DeltaTable(uri, storage_options=s3.storage_options))
    assert [one.version for one in table.files] == [0, 1, 2, 3, 4]
    assert rows_of(table).equals(totals().compute())
    selector = pyarrow.fs.FileSelector("bucket/folder/table/_gpuscan/dask_gpuscan")
    states = s3.filesystem.get_file_info(selector)
    assert sorted(int(one.base_name[:-6]) >> 32 for one in states) == [4, 5]
    paths = [f"bucket/folder/table/{one.path}" for one in table.files]
    found = [pq.read_table(s3.filesystem.open_input_file(path)) for path in paths]
    assert pa.concat_tables(found).to_pandas().equals(totals().compute())
    rows = dask_gpuscan.stream(DeltaTable(uri, storage_options=s3.storage_options))
    assert rows.compute().to_pandas().equals(totals().compute())
    options = {key.upper(): value for key, value in s3.storage_options.items()}
    for key, value in options.items():
        monkeypatch.setenv(key, value)
    assert dask_gpuscan.stream(uri).compute().to_pandas().equals(totals().compute())
    run(200, begin_anew=True)
    table = delta_files(DeltaTable(uri, storage_options=s3.storage_options))
    assert rows_of(table).equals(totals(200).compute())


def test_writers_at_once(s3: Server) -> None:
    DeltaTable = pytest.importorskip("deltalake").DeltaTable
    uri = "s3://bucket/at once"

    def run(_: int) -> BaseException | None:
        gate.wait()
        try:
            totals().to_delta(uri, storage_options=s3.storage_options, rows_per_commit=100)
        except BaseException as error:
            return error
        return None

    gate = threading.Barrier(2)
    with ThreadPoolExecutor(2) as pool:
        errors = [error for error in pool.map(run, range(2)) if error]
    assert all(isinstance(one, RuntimeError) for one in errors), errors
    totals().to_delta(uri, storage_options=s3.storage_options)
    table = delta_files(DeltaTable(uri, storage_options=s3.storage_options))
    assert rows_of(table).equals(totals().compute())


def put(s3: Server, name: str, *values: int) -> None:
    with s3.filesystem.open_output_stream(f"bucket/{name}") as file:
        pq.write_table(pa.table({"x": list(values)}), file)


def test_files_and_states(s3: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """Files of a folder, and a state, are read of a store, and written to it, by their URLs."""
    for name, value in {
        "AWS_ENDPOINT_URL": f"http://{s3.place}",
        "AWS_ACCESS_KEY_ID": KEYS["aws_access_key_id"],
        "AWS_SECRET_ACCESS_KEY": KEYS["aws_secret_access_key"],
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    for number in (10, 9):
        put(s3, f"days/{number}.parquet", number, number)
    for given in ("s3://bucket/days", "s3://bucket/days/", "s3://bucket/days/*.parquet"):
        assert dask_gpuscan.stream(given).compute().to_pydict() == {"x": [9, 9, 10, 10]}
    first = dask_gpuscan.stream("s3://bucket/days/9.parquet").gpuscan.cumsum()
    first.compute()
    first.state.save("s3://bucket/states/one.arrow")
    state = dask_gpuscan.load_state("s3://bucket/states/one.arrow")
    rest = dask_gpuscan.stream("s3://bucket/days", state=state).gpuscan.cumsum()
    assert rest.compute().to_pydict() == {"x": [28, 38]}

    def run(**options: Any) -> list[int]:
        rows = dask_gpuscan.stream("s3://bucket/days", ends=False, **options).gpuscan.cumsum()
        rows.to_parquet(tmp_path / "totals", state="s3://bucket/states/two.arrow")
        found: list[int] = pd.read_parquet(tmp_path / "totals")["x"].tolist()
        return found

    assert run() == [9, 18, 28, 38]
    put(s3, "days/11.parquet", 1)
    assert run() == [9, 18, 28, 38, 39]
    assert dask_gpuscan.load_state("s3://bucket/states/two.arrow").rows == 5
    put(s3, "days/9.parquet", 1, 2, 3)
    with pytest.raises(
        dask_gpuscan.ChangedSourceError, match=r"'9\.parquet' of the source was changed"
    ):
        run()
    assert run(changed="redo") == [1, 3, 6, 16, 26, 27]
    with pytest.raises(FileNotFoundError):
        dask_gpuscan.stream("s3://bucket/nothing")
    with pytest.raises(ValueError, match="use to_delta"):
        first.to_parquet("s3://bucket/totals", state=True)
