"""Methods of streams that write rows: to Arrow, polars, Parquet, and tables of Delta Lake and Iceberg."""

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
"""A Progress with ``dry_run``, else None; as Any, so that type checkers do not ask for a check."""


class WriteMethods:
    """The methods of `Stream` that write rows."""

    _source: Source

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Return the batches as an Arrow stream, which pyarrow, polars and DuckDB read."""
        return reader(self).__arrow_c_stream__(requested_schema)

    def to_polars(self) -> Any:
        """Return the rows as a polars ``LazyFrame``, which reads the stream when it is collected.

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
        """Write the rows to a Parquet file, or to a directory to which later runs add rows.

        Parameters
        ----------
        path : path
            The path of a file, which appears when it is complete; with `state`, the path of a directory or a
            ``memory://`` URL.
        state : True or path, optional
            True writes a directory with its state: the next run goes on after the rows that this run has read, even if
            this run is killed. A path or URL does the same, and also writes the state to that place.
        files : "source", optional
            Write one file for each file of the source; its name is a number and the name of the source's file. By
            default, files end after `rows_per_file` rows.
        rows_per_file : int
            The number of rows after which a file of the directory ends, at the end of a batch. With `state` it may end
            earlier, after a file of the source.
        checkpoints : int or str
            How many bytes the states after files of the source may take. ``changed="redo"`` goes back to one of them; 0
            keeps none.
        dry_run : bool, default False
            Write nothing, and return what a run would find; only with `state`.
        **options
            Options of `pyarrow.parquet.ParquetWriter`.

        Returns
        -------
        Progress or None
            With `dry_run`: the files of the source that were read, and those that are new, changed, removed or late.

        Raises
        ------
        ChangedSourceError
            If files of the source have changed since they were read; see `stream`.
        RuntimeError
            If another run writes to the directory.
        ValueError
            If the directory is of other columns, operations or options; if its files were changed, or other programs
            have written them; if `state` is the path of another directory's state; and if the store of a URL cannot
            replace files in one step. In each case nothing is changed.

        See Also
        --------
        to_delta : The same for a table, on any store.

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
        """Write the rows to a Delta Lake table; each transaction holds a state, from which the next run goes on.

        A run goes on after the rows that the state in the table has seen, even if the last run was killed: no row is
        written twice or lost. The source must still begin with these rows. If two writers of one name write at the same
        time, one of them wins each transaction, and the other raises an error. Writers with other names, and other
        applications, may write to the table at the same time.

        Parameters
        ----------
        table : path, URL or DeltaTable
            The table is created if it does not exist. Rows keep their order in its files, and this package reads files
            in the order of transactions; most other readers do not promise it. Rows of each partition of a table keep
            their order from deltalake 1.6.6 on.
        state : bool, default True
            Whether to go on from the table's state. If False, all rows are appended in one transaction.
        name : str, optional
            The name of this writer, which identifies its transactions and states; default ``"dask_gpuscan"``. Streams
            of different rows that write to one table need different names.
        rows_per_commit : int
            The number of rows after which a transaction is committed, at the end of a batch. Memory holds them until
            then.
        begin_anew : bool, default False
            Whether to read the source from its beginning. The first transaction then replaces all rows of the table, as
            it does if the source has ``changed="redo"`` and its files have changed.
        dry_run : bool, default False
            Write nothing, and return what a run would find.
        **options
            Options of `deltalake.write_deltalake`, such as ``partition_by`` and ``storage_options``.

        Returns
        -------
        Progress or None
            With `dry_run`: the files of the source that were read, and those that are new, changed, removed or late.

        Raises
        ------
        ChangedSourceError
            If files of the source have changed since they were read; see `stream`.
        ImportError
            If deltalake is not installed.
        RuntimeError
            If another writer of the same name has written meanwhile: the rows of this transaction were not written.
        ValueError
            If the table has other columns; if its state is lost, damaged, or of other columns or operations.

        See Also
        --------
        to_parquet : The same for Parquet files in a directory.

        Notes
        -----
        The identifier of a Delta Lake transaction is the name with a version that grows. The folder ``_gpuscan`` of the
        table holds the last two states of each name. A table that was restored to an older version has fewer rows than
        its state has seen: write to it with ``begin_anew=True``.

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
        """Write the rows to an Iceberg table; each transaction holds a state, from which the next run goes on.

        Parameters
        ----------
        table : Table
            A table of `pyiceberg` with the columns of the stream.
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
            If another writer of the same name has written meanwhile: the rows of this transaction were not written.
        TypeError
            If `table` is not a table of `pyiceberg`.
        ValueError
            As for `to_delta`.

        See Also
        --------
        to_delta : More about states in tables.

        Notes
        -----
        A property of the table, ``dask_gpuscan.`` and the name of the writer, names the last two states, which are
        files in the folder ``_gpuscan`` of the table. It changes with the rows in one transaction, and stays when
        snapshots expire. A table that was rolled back has fewer rows than its state has seen: write to it with
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
    """Return the number of bytes that checkpoints may take."""
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
