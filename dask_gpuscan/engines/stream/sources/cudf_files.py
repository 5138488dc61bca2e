"""Files that are read to a GPU if Dask's configuration says so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ....forks import import_late, importing
from .files import Files, Pieces, is_parquet
from .fragments import Fragment
from .listing import Listing, opened

ROWS_ON_GPU = 1 << 22
"""The smallest number of rows of a batch, if the file has as many: a call costs time on the host however few it has."""


class CudfFiles(Files):
    """Files that are read as frames of cuDF, in order."""

    @property
    def no_rows(self) -> Any:
        if self._are_read_by_cudf:
            first = self._first[0]
            with opened(first, None) as file:
                if is_parquet(file, first.path):
                    return import_late("cudf").read_parquet(first.place, nrows=0)
        return _frame_of_cudf(super().no_rows)

    @property
    def _are_read_by_cudf(self) -> bool:
        """Whether cuDF itself reads Parquet files."""
        return not (self.schema or self._partitions.names or self.listing.filesystem)

    def _none(self, columns: Sequence[str] | None) -> Any:
        empty = self.no_rows
        return empty if columns is None else empty[list(columns)]

    def _pieces(self, file: Any, fragment: Fragment, columns: Sequence[str] | None) -> Pieces:
        if not (self._are_read_by_cudf and is_parquet(file, fragment.path)):
            for rows, read, is_last in super()._pieces(file, fragment, columns):
                yield rows, partial(_read_to_gpu, read), is_last
            return
        chosen = None if columns is None else list(columns)
        read_parquet = partial(import_late("cudf").read_parquet, fragment.place, columns=chosen)
        groups, rows = list[int](), 0
        with pq.ParquetFile(file) as parquet:
            count = parquet.num_row_groups
            for group in range(count):
                groups.append(group)
                rows += parquet.metadata.row_group(group).num_rows
                if rows >= ROWS_ON_GPU or group + 1 == count:
                    yield rows, partial(read_parquet, row_groups=groups), group + 1 == count
                    groups, rows = [], 0

    def _behind(self, batch: Any, rows: int) -> Any:
        return batch.iloc[rows:] if rows else batch


def files(listing: Listing, **options: Any) -> Files:
    """Return files that are read by the library in Dask's option ``dataframe.backend``."""
    with importing:
        from dask import config

    on_gpu = config.get("dataframe.backend", "pandas") == "cudf"
    return (CudfFiles if on_gpu else Files)(listing, **options)


def _read_to_gpu(read: Callable[[], pa.RecordBatch]) -> Any:
    return _frame_of_cudf(read())


def _frame_of_cudf(batch: pa.RecordBatch) -> Any:
    return import_late("cudf").DataFrame.from_arrow(pa.Table.from_batches([batch]))
