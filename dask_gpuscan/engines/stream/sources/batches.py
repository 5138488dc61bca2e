"""The batches of a user's source: an iterable, files, or an object with an Arrow interface."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pandas as pd
import pyarrow as pa

from ....forks import importing
from ....frames.registry import is_frame
from ....kernels.late_dataclass import dataclass
from ....kernels.messages import shown
from ..progress import without_bars
from .cudf_files import files
from .files import no_rows
from .fragments import Rules
from .listed_files import listed_files
from .listing import listing_of


def _read_again(source: Any) -> Iterator[pa.RecordBatch]:
    """Yield the batches of a dataset, or of an object with an Arrow interface that can be read repeatedly."""
    if hasattr(type(source), "scanner"):
        return _of_reader(source.scanner().to_reader())
    return _of_reader(pa.RecordBatchReader.from_stream(source))


def _of_reader(reader: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
    return _at_least_one(reader, lambda: no_rows(reader.schema))


def _of_lazy_frame(lazy: Any) -> Iterator[Any]:
    """Yield the batches of a polars LazyFrame in the order of its rows."""
    return _at_least_one(lazy.collect_batches(maintain_order=True), lambda: lazy.head(0).collect())


def _at_least_one(batches: Iterable[Any], no_rows: Callable[[], Any]) -> Iterator[Any]:
    """Yield batches, or one without rows if there are none."""
    batch = None
    for batch in batches:
        yield batch
    if batch is None:
        yield no_rows()


@dataclass(frozen=True)
class Again:
    """Batches that can be read repeatedly, by calling a function."""

    read: Callable[[Any], Iterator[Any]]
    source: Any

    def __iter__(self) -> Iterator[Any]:
        return self.read(self.source)


@dataclass(frozen=True)
class Partitions:
    """The partitions of a Dask collection, computed one at a time."""

    collection: Any

    @property
    def no_rows(self) -> Any:
        """A batch without rows."""
        return self.collection._meta

    def __iter__(self) -> Iterator[Any]:
        for partition in self.collection.to_delayed():
            with without_bars():
                found = partition.compute()
            yield found


def batches_of(source: Any, order: Any, schema: pa.Schema | None, rules: Rules) -> Iterable[Any]:
    """Return the batches of a source, in order; `order`, `schema` and `rules` are for files.

    Raises
    ------
    TypeError
        If a source has no batches.
    ValueError
        If options for files are given for another source.
    FileNotFoundError
        If a path or a pattern has no files.
    """
    found = listed_files(source, order, schema, rules)
    if found is None and (listing := listing_of(source, order, schema is not None)) is not None:
        found = files(listing, schema=schema, rules=rules)
    if found is not None:
        return found
    if schema is not None or order is not None or rules != Rules():
        raise ValueError(
            f"order, schema, changed, removed and late are for sources of files, found {shown(source)}"
        )
    is_one = is_frame(source) or isinstance(source, (pa.Array, pa.ChunkedArray))
    is_scalar = pd.api.types.is_scalar(source)  # such as NaT, a class of pandas
    reads_chunks = hasattr(type(source), "__next__")  # such as `read_csv(chunksize=)`
    if is_one and not is_scalar and not reads_chunks:
        return [source]
    if hasattr(type(source), "gpuscan") and hasattr(type(source), "to_delayed"):  # of Dask
        with importing:
            from ...dask.expressions import accepted

        return Partitions(accepted(source))
    if isinstance(source, pa.RecordBatchReader):
        return _of_reader(source)
    if hasattr(type(source), "collect_batches"):
        return Again(_of_lazy_frame, source)
    if type(source).__name__ == "LazyFrame":
        raise TypeError(
            "source is a LazyFrame of polars before 1.34, which gives no batches; update polars, or give "
            "source.collect()"
        )
    if hasattr(type(source), "get_columns") or hasattr(type(source), "to_arrow"):  # of polars
        return [source]
    if hasattr(type(source), "gpuscan"):  # a stream
        return Again(iter, source)
    if hasattr(type(source), "scanner") or hasattr(type(source), "__arrow_c_stream__"):
        return Again(_read_again, source)
    is_iterable = hasattr(type(source), "__iter__") and getattr(source, "ndim", 1) != 0
    if is_iterable and not isinstance(source, (bytes, dict)):
        batches: Iterable[Any] = source
        return batches
    raise TypeError(
        f"source must be an iterable of frames or record batches, paths of Parquet or Arrow files, a dataset, a "
        f"LazyFrame, a Dask collection, or speak Arrow by __arrow_c_stream__, found {shown(source)}"
    )
