"""Methods of streams that write to tables with transactions: Delta Lake and Iceberg."""

from __future__ import annotations

from os import PathLike
from typing import Any

from ....frames.messages import check_flags
from ..sources.fragments import Progress
from .commits import ROWS_PER_COMMIT, checked_rows
from .delta_sink import to_delta
from .iceberg_sink import to_iceberg


class TableMethods:
    """The part of `Stream` that writes to tables."""

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
    ) -> Progress | None:
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
        return to_delta(self, table, name, rows if state else None, begin_anew, dry_run, options)

    def to_iceberg(
        self,
        table: Any,
        *,
        state: bool = True,
        name: str | None = None,
        rows_per_commit: int = ROWS_PER_COMMIT,
        begin_anew: bool = False,
        dry_run: bool = False,
    ) -> Progress | None:
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
        return to_iceberg(self, table, name, rows if state else None, begin_anew, dry_run)
