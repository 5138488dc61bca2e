"""Answers of streams in tables of Delta Lake, by transactions that name the application and its version.

Writers of `deltalake` refuse a transaction if another one of the same application came between. Those of `deltalake`
keep the order of rows within one record batch only, so that each transaction writes one.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from typing import Any

import pyarrow as pa
from pyarrow import fs

from ....forks import importing
from ..sources.delta import deltalake, opened, store
from ..sources.fragments import Progress
from .commits import (
    FOLDER,
    check_names,
    checked_name,
    in_microseconds,
    lost_to_another,
    number_of,
    place_of,
    state_is_lost,
    version_behind,
    write,
)

_OWN = ("mode", "predicate", "commit_properties")
"""Options of `deltalake.write_deltalake` that are not a user's here."""


def to_delta(
    stream: Any,
    table: Any,
    name: str | None,
    rows: int | None,
    begin_anew: bool,
    dry_run: bool,
    options: dict[str, Any],
) -> Progress | None:
    """Write a stream to a table; see `Stream.to_delta`."""
    found = [option for option in _OWN if option in options]
    if found:
        raise TypeError(f"to_delta has no option {found[0]}")
    target = DeltaTarget(table, checked_name(name), begin_anew, options)
    return write(stream, target, rows, begin_anew, dry_run)


class DeltaTarget:
    """A table of Delta Lake, which is made if it is not there.

    Parameters
    ----------
    table : DeltaTable or path
    name : str
        Of the application.
    replace : bool
        Whether the first transaction replaces all rows.
    options : dict
        Of `deltalake.write_deltalake`.
    """

    def __init__(self, table: Any, name: str, replace: bool, options: dict[str, Any]) -> None:
        self.package, self.name, self.replace = deltalake(), name, replace
        self.options = dict(options)
        storage_options = self.options.pop("storage_options", None)
        self.uri, self.storage_options = opened(table, storage_options)
        self.table = self._open()
        self.version: int | None = self.table and self.table.transaction_version(name)

    def _open(self) -> Any:
        """Return the newest version of the table; None if there is none."""
        with importing:
            from deltalake.exceptions import TableNotFoundError

        try:
            return self.package.DeltaTable(self.uri, storage_options=self.storage_options)
        except TableNotFoundError:
            return None

    @cached_property
    def store(self) -> fs.FileSystem:
        """The file system whose root is the folder of the table."""
        return store(self.uri, self.storage_options)

    def begun(self) -> tuple[bytes, str] | None:
        """Return the content of the state of the newest transaction, and where it is; None if there is none."""
        if self.version is None:
            return None
        path = place_of(self.name, self.version)
        try:
            with self.store.open_input_file(path) as file:
                return file.read(), f"{self.uri}/{path}"
        except OSError as error:
            raise state_is_lost(self.name, self.uri, self.version, error) from error

    def commit(self, rows: pa.Table, state: bytes | None) -> None:
        """Write rows, and the state behind them if there is one, in one transaction."""
        rows = self._fitted(rows)
        if state is None:
            self._write(rows, self.package.CommitProperties(max_commit_retries=self._retries))
            return
        if self.table is not None and self.table.transaction_version(self.name) != self.version:
            raise lost_to_another(self.name, self.uri, self.version)
        version = version_behind(self.version)
        self._put(version, state)
        properties = self.package.CommitProperties(
            app_transactions=[self.package.Transaction(self.name, version)],
            max_commit_retries=self._retries,
        )
        try:
            self._write(rows, properties)
        except Exception as error:
            newest = self._open()
            found = newest and newest.transaction_version(self.name)
            if found != version:  # else it is there, though the store did not say so
                if found != self.version:
                    raise lost_to_another(self.name, self.uri, self.version) from error
                raise
            self.table = newest
        self.version, self.replace = version, False
        self._clean()

    @property
    def _retries(self) -> int | None:
        """How often a commit is tried behind those of others; a table that others have made meanwhile is theirs."""
        return 0 if self.table is None else None

    def _write(self, rows: pa.Table, properties: Any) -> None:
        table, options = self.table, self.options
        if table is None:
            mode, table = "error", self.uri
            options = {**options, "storage_options": self.storage_options}
        else:
            mode = "overwrite" if self.replace else "append"
        self.package.write_deltalake(
            table, rows, mode=mode, commit_properties=properties, **options
        )
        self.table = self.table or self._open()

    def _fitted(self, rows: pa.Table) -> pa.Table:
        """Return rows as one record batch, with the columns of the table in their order."""
        schema = in_microseconds(rows.schema)
        stored = _stored(self.package.Schema.from_arrow(schema))
        if self.table is not None and "schema_mode" not in self.options:
            known = _stored(self.table.schema())
            _check_columns(known, stored, self.uri)
            stored = known
        rows = rows.select(stored.names).cast(stored.remove_metadata()).combine_chunks()
        if len(rows.to_batches()) > 1:
            raise ValueError(
                "a batch has more than 2 GiB of texts in one column; make the stream's batches smaller"
            )
        return rows

    def _put(self, version: int, content: bytes) -> None:
        path = place_of(self.name, version)
        self.store.create_dir(path.rpartition("/")[0])
        with self.store.open_output_stream(path) as file:
            file.write(content)

    def _clean(self) -> None:
        """Remove the states of this writer but those of its last two transactions."""
        found = self.store.get_file_info(fs.FileSelector(f"{FOLDER}/{self.name}"))
        for path in [one.path for one in found if one.path.endswith(".arrow")]:
            version = path.rpartition("/")[2].removesuffix(".arrow")
            if version.isdigit() and number_of(int(version)) <= number_of(self.version) - 2:
                with suppress(OSError):  # a store may not let it
                    self.store.delete_file(path)


def _stored(schema: Any) -> pa.Schema:
    return pa.schema(schema.to_arrow())


def _check_columns(known: pa.Schema, found: pa.Schema, uri: str) -> None:
    check_names(known, found, uri)
    for field in found:
        if known.field(field.name).type != field.type:
            raise ValueError(
                f"column {field.name!r} of table {uri} is of {known.field(field.name).type}, and that of the stream of "
                f"{field.type}; cast it with astype"
            )
