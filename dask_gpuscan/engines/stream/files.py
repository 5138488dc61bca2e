"""Files of Parquet and of Arrow IPC, read batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from os.path import getsize
from typing import Any

import dask
import pyarrow as pa
import pyarrow.parquet as pq

from .progress import Size

ROWS_ON_GPU = 1 << 22
"""Rows that are read to a GPU at once, at least, so that many rows share what a call takes on the host."""

Pieces = Iterator[tuple[int, Callable[[], Any]]]
"""The number of rows of each batch, and what reads it."""


@dataclass(frozen=True)
class Files:
    """Files whose batches are record batches of Arrow, in the order of the files."""

    paths: tuple[str, ...]

    @property
    def no_rows(self) -> Any:
        """A batch without rows."""
        path = self.paths[0]
        if _is_parquet(path):
            return no_rows(pq.read_schema(path))
        with pa.memory_map(path) as file, pa.ipc.open_file(file) as reader:
            return no_rows(reader.schema)

    def size(self) -> Size:
        """Return the number of all rows, and of the bytes of the files."""
        rows = sum(count for path in self.paths for count, _ in self._pieces(path, None))
        return Size(rows, sum(map(getsize, self.paths)))

    def __iter__(self) -> Iterator[Any]:
        return self.batches(0)

    def batches(self, behind: int, columns: Sequence[str] | None = None) -> Iterator[Any]:
        """Yield the batches behind so many rows, of some columns: of rows before, only the lengths are read."""
        for path in self.paths:
            for rows, read in self._pieces(path, columns):
                if behind and behind >= rows:
                    behind -= rows
                    continue
                yield self._behind(read(), behind)
                behind = 0
        check_all_skipped(behind)

    def _pieces(self, path: str, columns: Sequence[str] | None) -> Pieces:
        if _is_parquet(path):
            with pq.ParquetFile(path) as file:
                for group in range(file.num_row_groups):
                    rows = file.metadata.row_group(group).num_rows
                    yield rows, partial(_row_group, file, group, columns)
            return
        with pa.memory_map(path) as file, pa.ipc.open_file(file) as reader:
            chosen = list(range(len(reader.schema))) if columns is None else list(columns)
            for number in range(reader.num_record_batches):
                batch = reader.get_batch(number)
                yield batch.num_rows, partial(batch.select, chosen)

    def _behind(self, batch: Any, rows: int) -> Any:
        return batch.slice(rows)


class CudfFiles(Files):
    """Files whose batches are frames of cuDF, in the order of the files."""

    @property
    def no_rows(self) -> Any:
        path = self.paths[0]
        if _is_parquet(path):
            return import_module("cudf").read_parquet(path, nrows=0)
        return _frame_of_cudf(super().no_rows)

    def _pieces(self, path: str, columns: Sequence[str] | None) -> Pieces:
        if not _is_parquet(path):
            for rows, read in super()._pieces(path, columns):
                yield rows, partial(_read_to_gpu, read)
            return
        chosen = None if columns is None else list(columns)
        read_parquet = partial(import_module("cudf").read_parquet, path, columns=chosen)
        groups, rows = list[int](), 0
        with pq.ParquetFile(path) as file:
            for group in range(file.num_row_groups):
                groups.append(group)
                rows += file.metadata.row_group(group).num_rows
                if rows >= ROWS_ON_GPU or group + 1 == file.num_row_groups:
                    yield rows, partial(read_parquet, row_groups=groups)
                    groups, rows = [], 0

    def _behind(self, batch: Any, rows: int) -> Any:
        return batch.iloc[rows:] if rows else batch


def files(paths: Sequence[str]) -> Files:
    """Return files to be read by the library that Dask's configuration names as ``dataframe.backend``."""
    on_gpu = dask.config.get("dataframe.backend", "pandas") == "cudf"
    return (CudfFiles if on_gpu else Files)(tuple(paths))


def _read_to_gpu(read: Callable[[], pa.RecordBatch]) -> Any:
    return _frame_of_cudf(read())


def _frame_of_cudf(batch: pa.RecordBatch) -> Any:
    return import_module("cudf").DataFrame.from_arrow(pa.Table.from_batches([batch]))


def check_all_skipped(rows: int) -> None:
    """Raise a ValueError if not all rows that a state has seen are there."""
    if rows:
        raise ValueError(f"state is of more rows than the source has: {rows} more")


def _is_parquet(path: str) -> bool:
    """Tell whether a file is one of Parquet; raises a ValueError for one that is not of Arrow IPC either."""
    with pa.OSFile(path) as file:
        head = file.read(6)
    if head[:4] != b"PAR1" and head != b"ARROW1":
        raise ValueError(f"{path} is neither a file of Parquet nor one of Arrow IPC")
    return bool(head[:4] == b"PAR1")


def _row_group(file: pq.ParquetFile, number: int, columns: Sequence[str] | None) -> pa.RecordBatch:
    table = file.read_row_group(number, columns=columns)
    batches = table.combine_chunks().to_batches()
    return batches[0] if batches else no_rows(table.schema)


def no_rows(schema: pa.Schema) -> pa.RecordBatch:
    """Return a batch of a schema without rows."""
    return pa.RecordBatch.from_pylist([], schema=schema)
