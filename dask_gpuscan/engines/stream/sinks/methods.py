"""Methods of streams that hand their rows on: to Arrow, polars, Parquet, and tables of Delta Lake and Iceberg."""

from __future__ import annotations

from os import PathLike
from typing import Any, TypeAlias

from ....forks import importing
from ....frames.messages import FLAG, check_flags
from ....kernels.messages import shown
from ....kernels.scalars import is_integer
from ..filesystems import as_path
from ..sources.fragments import Progress
from ..sources.source import Source
from .arrow import ROWS_PER_FILE, reader, to_file, to_polars
from .commits import ROWS_PER_COMMIT, checked_rows, write
from .delta_sink import DeltaTarget
from .directory_sink import CHECKPOINTS, progress, to_directory
from .directory_start import Options
from .iceberg_sink import IcebergTarget

Found: TypeAlias = Progress | Any
"""With ``dry_run``, a Progress, else None, which checkers do not ask about."""


class WriteMethods:
    """The part of `Stream` that writes."""

    _source: Source

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Return the batches as a stream of Arrow: what pyarrow, polars and DuckDB read."""
        return reader(self).__arrow_c_stream__(requested_schema)

    def to_polars(self) -> Any:
        """Return the rows as a ``LazyFrame`` of polars, which reads the stream when it is collected.

        Examples
        --------
        >>> import polars as pl, dask_gpuscan
        >>> rows = dask_gpuscan.stream([pl.DataFrame({"x": [1, 2]}), pl.DataFrame({"x": [3]})])
        >>> rows.gpuscan.cumsum().to_polars().filter(pl.col("x") > 1).collect()["x"].to_list()
        [3, 6]
        """
        return to_polars(self)

    def to_parquet(
        self,
        path: str | PathLike[str],
        *,
        state: bool | str | PathLike[str] | None = None,
        files: str | None = None,
        rows_per_file: int = ROWS_PER_FILE,
        checkpoints: int | str = CHECKPOINTS,
        dry_run: bool = False,
        **options: Any,
    ) -> Found:
        """Write the rows to a file of Parquet; or to a directory, from which another run goes on.

        Parameters
        ----------
        path : path
            Of the file, which is there once it is whole; with `state`, of the directory, which may be a URL of
            ``memory://``.
        state : True or path, optional
            True writes a directory that holds its state: a run goes on behind the rows that the one before has seen,
            whether that ended or was killed. A path, or a URL, is where the state is written besides.
        files : "source", optional
            Write one file for each file of the source, with its name behind a number. By default, files end after
            so many rows.
        rows_per_file : int
            Rows after which a file of the directory is closed; it ends with a batch. With `state` it may end
            earlier, behind a file of the source.
        checkpoints : int or str
            How many bytes the states behind files of the source may take, which are kept so that ``changed="redo"``
            goes back to one of them; 0 keeps none.
        dry_run : bool, default False
            Write nothing, and return what a run would find; with `state`.
        **options
            Of `pyarrow.parquet.ParquetWriter`.

        Returns
        -------
        Progress or None
            With `dry_run`: the files of the source that were read, and those that are new, changed, removed or late.

        Raises
        ------
        ChangedSourceError
            If files of the source are not as they were when they were read; see `stream`.
        RuntimeError
            If another run writes to the directory.
        ValueError
            For a directory of other columns, operations or options; for one whose files are not those that a run has
            written; for a state that is not that of the directory; and for a URL of a store that cannot replace files
            in one step. In each case nothing is changed.

        See Also
        --------
        to_delta : A table whose commits hold rows and state, on any store.

        Examples
        --------
        >>> import os, tempfile, pandas as pd, dask_gpuscan
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     os.mkdir(f"{folder}/days")
        ...     for day, sold in ((9, [4, 2]), (10, [5])):  # a day later, there is one more file
        ...         pd.DataFrame({"sold": sold}).to_parquet(f"{folder}/days/{day}.parquet")
        ...         totals = dask_gpuscan.stream(f"{folder}/days", ends=False).gpuscan.cumsum()
        ...         totals.to_parquet(f"{folder}/totals", state=True)
        ...     print(sorted(os.listdir(f"{folder}/totals")))
        ...     print(pd.read_parquet(f"{folder}/totals")["sold"].tolist())
        ['_gpuscan', 'part-00000000.parquet', 'part-00000001.parquet']
        [4, 6, 11]
        """
        path, rows = as_path("path", path), checked_rows(rows_per_file, "rows_per_file")
        kept = _bytes(checkpoints)
        check_flags(dry_run=dry_run)
        if not (files is None or (isinstance(files, str) and files == "source")):
            raise ValueError(f"files must be 'source' or None, found {shown(files)}")
        if state is None or (isinstance(state, FLAG) and not state):
            if (files, rows, checkpoints, bool(dry_run)) != (
                None,
                ROWS_PER_FILE,
                CHECKPOINTS,
                False,
            ):
                raise ValueError(
                    "files, rows_per_file, checkpoints and dry_run are for directories, with state=True"
                )
            to_file(self, path, options)
            return None
        if files is not None and self._source.files is None:
            raise ValueError("files='source' needs a source of files")
        exported = None if isinstance(state, FLAG) else as_path("state", state)
        of_directory = Options(rows, files is not None, kept, exported, options)
        if dry_run:
            return progress(self, path, of_directory)
        to_directory(self, path, of_directory)
        return None

    def to_delta(
        self,
        table: str | PathLike[str] | Any,
        *,
        state: bool = True,
        name: str | None = None,
        rows_per_commit: int = ROWS_PER_COMMIT,
        begin_anew: bool = False,
        dry_run: bool = False,
        **options: Any,
    ) -> Found:
        """Write the rows to a table of Delta Lake, with a state in each transaction from which another run goes on.

        A run that finds a state goes on behind the rows that it has seen, whether the run before ended or was killed
        at any moment: no row is written twice or lost. The source must begin with the rows that it had then. Of two
        writers of one name at once, one wins each transaction, and the other raises an error. Writers of other names,
        and other applications, may write to the table at the same time.

        Parameters
        ----------
        table : path, URL or DeltaTable
            It is made if it is not there. Rows keep their order in its files, and this package reads files in the
            order of transactions; most readers do not promise it. In a table with partitions, rows of each keep theirs
            from deltalake 1.6.6 on.
        state : bool, default True
            Whether to go on from the table's state. If False, all rows are appended in one transaction.
        name : str, optional
            Of this writer, by which its transactions and states are found; default ``"dask_gpuscan"``. Streams of
            different rows that write to one table need different ones.
        rows_per_commit : int
            Rows after which a transaction is committed, which ends with a batch. Memory holds them until then.
        begin_anew : bool, default False
            Whether to read the source from its beginning. The first transaction replaces all rows of the table. So
            does a run of a source with ``changed="redo"`` whose files are not as they were.
        dry_run : bool, default False
            Write nothing, and return what a run would find.
        **options
            Of `deltalake.write_deltalake`, such as ``partition_by`` and ``storage_options``.

        Returns
        -------
        Progress or None
            With `dry_run`: the files of the source that were read, and those that are new, changed, removed or late.

        Raises
        ------
        ChangedSourceError
            If files of the source are not as they were when they were read; see `stream`.
        ImportError
            If deltalake is not installed.
        RuntimeError
            If another writer of the same name has written meanwhile: rows of this transaction were not written.
        ValueError
            For a table of other columns, a state that is lost or damaged, and one of other columns or operations.

        See Also
        --------
        to_parquet : The same for files of Parquet in a directory.

        Notes
        -----
        The transaction identifier of Delta Lake is the name, with a version that grows. States are files in the folder
        ``_gpuscan`` of the table, the last two of each name. A table that was restored to an older version has fewer
        rows than its state has seen: write to it with ``begin_anew=True``.

        Examples
        --------
        >>> import tempfile, deltalake, pandas as pd, dask_gpuscan
        >>> days = [pd.DataFrame({"sold": [4, 2]}), pd.DataFrame({"sold": [5]})]
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for known in (days[:1], days):  # a day later, there is one more
        ...         totals = dask_gpuscan.stream(known, ends=False).gpuscan.cumsum()
        ...         totals.to_delta(f"{folder}/totals")
        ...     table = deltalake.DeltaTable(f"{folder}/totals")
        ...     table.version(), sorted(table.to_pyarrow_table()["sold"].to_pylist())
        (1, [4, 6, 11])
        """
        check_flags(state=state, begin_anew=begin_anew, dry_run=dry_run)
        rows = checked_rows(rows_per_commit, "rows_per_commit")
        target = DeltaTarget(table, name, begin_anew, **options)
        return write(self, target, rows if state else None, begin_anew, dry_run)

    def to_iceberg(
        self,
        table: Any,
        *,
        state: bool = True,
        name: str | None = None,
        rows_per_commit: int = ROWS_PER_COMMIT,
        begin_anew: bool = False,
        dry_run: bool = False,
    ) -> Found:
        """Write the rows to a table of Iceberg, with a state in each transaction from which another run goes on.

        Parameters
        ----------
        table : Table
            Of `pyiceberg`: it must be there, with the columns of the stream.
        state, name, rows_per_commit, begin_anew, dry_run
            As for `to_delta`.

        Returns
        -------
        Progress or None
            As for `to_delta`.

        Raises
        ------
        ChangedSourceError
            As for `to_delta`.
        RuntimeError
            If another writer of the same name has written meanwhile: rows of this transaction were not written.
        TypeError
            For what is no table of `pyiceberg`.
        ValueError
            As for `to_delta`.

        See Also
        --------
        to_delta : More about states in tables.

        Notes
        -----
        The property ``dask_gpuscan.`` with the name of the writer behind it names the last two states, which are files
        in the folder ``_gpuscan`` of the table. It changes with the rows, in one transaction of the catalog, and stays
        when snapshots expire. A table that was rolled back has fewer rows than its state has seen: write to it with
        ``begin_anew=True``.

        Examples
        --------
        >>> import tempfile, pandas as pd, pyarrow as pa, dask_gpuscan
        >>> from pyiceberg.catalog.memory import InMemoryCatalog
        >>> days = [pd.DataFrame({"sold": [4, 2]}), pd.DataFrame({"sold": [5]})]
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     catalog = InMemoryCatalog("sales", warehouse=f"file://{folder}")
        ...     catalog.create_namespace("shop")
        ...     table = catalog.create_table("shop.totals", pa.schema([("sold", pa.int64())]))
        ...     for known in (days[:1], days):  # a day later, there is one more
        ...         totals = dask_gpuscan.stream(known, ends=False).gpuscan.cumsum()
        ...         totals.to_iceberg(table)
        ...     len(table.snapshots()), sorted(table.scan().to_arrow()["sold"].to_pylist())
        (2, [4, 6, 11])
        """
        check_flags(state=state, begin_anew=begin_anew, dry_run=dry_run)
        rows = checked_rows(rows_per_commit, "rows_per_commit")
        target = IcebergTarget(table, name, begin_anew)
        found = write(self, target, rows if state else None, begin_anew, dry_run)
        table.refresh()
        return found


def _bytes(checkpoints: Any) -> int:
    """Return how many bytes checkpoints may take."""
    with importing:
        from dask.utils import parse_bytes

    try:
        found = parse_bytes(checkpoints) if isinstance(checkpoints, str) else checkpoints
        if is_integer(found) and found >= 0:
            return int(found)
    except ValueError:
        pass
    raise ValueError(
        f"checkpoints must be a number of bytes, such as 0 or '256 MiB', found {shown(checkpoints)}"
    )
