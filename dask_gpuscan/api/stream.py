"""`stream`: rows that come in batches, with the methods of ``.gpuscan``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import pyarrow as pa

from ..engines.stream.passes import begun, computed
from ..engines.stream.sources.batches import batches_of
from ..engines.stream.sources.fragments import Rules
from ..engines.stream.sources.source import FRAMES, Format, Source
from ..engines.stream.states.state import State
from ..engines.stream.stream import Stream
from ..kernels.messages import shown
from .arguments import check_flags
from .tables.tables import TableSource, is_table


def stream(
    source: Any,
    *,
    state: State | None = None,
    ends: bool = True,
    order: str | Callable[[str], Any] | None = None,
    schema: Any = None,
    changed: str = "error",
    removed: str | None = None,
    late: str | None = None,
) -> Stream:
    """Return the rows of a source as a stream: batches in order, each seen once, in memory of a few batches.

    Parameters
    ----------
    source : iterable, path, list of paths, or anything that speaks Arrow
        Frames of pandas, cuDF or polars, or record batches of Arrow, all with the same columns; files of Parquet,
        whose row groups are batches, or of Arrow IPC, by their paths, a folder, a pattern such as
        ``"days/*.parquet"``, or URLs of these (``s3://``, ``gs://``, and what fsspec opens); a table of Delta Lake, by
        its path or as a ``DeltaTable``, or one of pyiceberg; a
        ``RecordBatchReader``, a ``pyarrow.dataset.Dataset``, a ``LazyFrame`` of polars, a relation of DuckDB, or
        another object with ``__arrow_c_stream__``; or a Dask collection, whose partitions are computed one by one.
        Batches may be of any length. An iterator, or a reader, can be read once. Of files, only columns that
        are chosen by name first are read; batches are frames of cuDF if Dask's configuration has "cudf" as its
        ``dataframe.backend``.
    state : State, optional
        What the same operations have seen of earlier rows, from `Stream.state` or `load_state`: they go on from there.
    ends : bool, default True
        Whether the rows end with the source. If False, runs and groups that are still open are kept for the state
        rather than answered, so that a stream that goes on from the state answers them once.
    order : "name", "modified" or callable, optional
        The order in which files are read: by their names, in which numbers count as numbers (``9.parquet`` before
        ``10.parquet``), by the times at which they were written, or by what a function returns for a path. By
        default, files of a list have its order, and others that of their names.
    schema : pyarrow.Schema or dict, optional
        Names and types of the columns that are read of files. What a file has in another type or order is cast, and
        what it lacks is null. By default, all files must have the columns of the first one.
    changed : "error", "redo" or "keep", default "error"
        What a stream that goes on does if a file that was read has changed since. "redo" goes back to the rows
        before it, and computes what follows again: for the directories of `Stream.to_parquet`. "keep" goes on with
        what was read of it.
    removed : "keep", optional
        Go on with what was read of files that are gone, as where old files are archived: of those ahead of all files
        that are still there, in folders without new files. By default as `changed` says.
    late : "append", optional
        Read new files that sort before some that were read behind those. By default as `changed` says.

    Returns
    -------
    Stream
        Its ``.gpuscan`` has the methods of frames. Those whose answer at a row needs no later row return a stream, and
        any number of these are one pass over the source. Reductions read the source to its end.

    Raises
    ------
    TypeError
        For any other source.
    ChangedSourceError
        When it is computed, if files that a state has seen are not there as they were.
    ValueError
        For a source without batches, and while it is read for a batch that has other columns; when it is computed for
        a state of other columns or operations, naming them.

    See Also
    --------
    Stream : What it returns.
    load_state : Read a state from a file, a directory or a table.

    Examples
    --------
    >>> import pandas as pd, dask_gpuscan
    >>> days = [pd.DataFrame({"shop": list("ab"), "sold": [4, 2]}), pd.DataFrame({"shop": list("b"), "sold": [5]})]
    >>> rows = dask_gpuscan.stream(days)
    >>> rows.gpuscan.groupby("shop").cumsum().compute()["sold"].tolist()
    [4.0, 2.0, 7.0]
    >>> rows.gpuscan.groupby("shop")["sold"].sum().to_dict()
    {'a': 4, 'b': 7}
    """
    check_flags(ends=ends)
    if not isinstance(state, State | None):
        raise TypeError(f"state must be a State or None, found {shown(state)}")
    rules = Rules(changed=changed, removed=removed, late=late)
    batches = batches_of(source, order, _schema_of(schema), rules)
    opened = Source(batches, _format_of, state, bool(ends))
    return Stream(opened, opened.meta)


def _schema_of(schema: Any) -> pa.Schema | None:
    """Return a schema that a user gives as one of Arrow."""
    if schema is None or isinstance(schema, pa.Schema):
        return schema
    if isinstance(schema, dict):
        with suppress(TypeError, ValueError):
            return pa.schema(list(schema.items()))
    raise TypeError(
        f"schema must be a pyarrow.Schema, or a dict of names and types of Arrow, found {shown(schema)}"
    )


def batches(*streams: Stream) -> Iterator[tuple[Any, ...]]:
    """Return an iterator over the batches of several streams of one source, which is read once for all of them.

    Parameters
    ----------
    *streams : Stream
        Made from what one call of `stream` has returned.

    Returns
    -------
    iterator of tuples
        A batch of each stream, as frames of the source's kind: of different lengths if rows are left out or wait
        for later ones. The `state` of each stream is that of all together, and goes on with all together.

    Raises
    ------
    TypeError
        For anything that is not a stream.
    ValueError
        For streams of different sources.

    See Also
    --------
    compute : All rows of several streams.

    Examples
    --------
    >>> import pandas as pd, dask_gpuscan
    >>> rows = dask_gpuscan.stream(pd.DataFrame({"x": [part, 2 * part]}) for part in (1, 5))
    >>> late = rows.gpuscan.filter("x > 4")
    >>> for totals, some in dask_gpuscan.batches(rows.gpuscan.cumsum(), late):
    ...     print(totals["x"].tolist(), some["x"].tolist())
    [1, 3] []
    [8, 18] [5, 10]
    """
    found = begun(_of_one_source(streams))
    write = found.source.format.write
    return (tuple(map(write, parts)) for parts in found)


def compute(*streams: Stream) -> tuple[Any, ...]:
    """Return all rows of several streams of one source, which is read once for all of them.

    Parameters
    ----------
    *streams : Stream
        As for `batches`.

    Returns
    -------
    tuple of frames
        Of the source's kind, one for each stream.

    See Also
    --------
    batches : The same, a batch at a time.

    Examples
    --------
    >>> import pandas as pd, dask_gpuscan
    >>> rows = dask_gpuscan.stream(pd.Series([part, 2 * part]) for part in (1, 5))
    >>> totals, shifted = dask_gpuscan.compute(rows.gpuscan.cumsum(), rows.gpuscan.shift(-1))
    >>> totals.tolist(), shifted.tolist()
    ([1, 3, 8, 18], [2.0, 5.0, 10.0, nan])
    """
    return tuple(computed(_of_one_source(streams)))


def _of_one_source(streams: Sequence[Any]) -> Sequence[Stream]:
    if not streams:
        raise TypeError("there must be at least one stream")
    for one in streams:
        if not isinstance(one, Stream):
            raise TypeError(f"there must be streams only, found {shown(one)}")
        if one._source is not streams[0]._source:
            raise ValueError(
                "streams must be of one source: compute all of what one call of stream() returns"
            )
    return streams


def _format_of(batch: Any) -> Format:
    """Return how batches like this one are read as frames, and how answers become objects of its library."""
    if not is_table(batch):
        return FRAMES
    empty = batch.slice(0, 0)  # so that the first batch is not held
    source = TableSource(empty, in_stream=True)
    return Format(is_table, _read, source.answer, source.methods)


def _read(batch: Any) -> Any:
    return TableSource(batch, in_stream=True).frame
