"""Streams written to Delta Lake tables, in transactions that name an application and its version.

`deltalake` refuses a transaction if another one of the same application was committed meanwhile. It keeps the order of
rows only within a record batch, so that each transaction writes one batch.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from typing import Any

import pyarrow as pa
from pyarrow import fs

from ....forks import importing
from ..sources.delta import deltalake, opened, store
from .commits import FOLDER, Target, in_microseconds

_OWN = ("mode", "predicate", "commit_properties")
"""Options of `deltalake.write_deltalake` that users may not give."""


class DeltaTarget(Target):
    """A Delta Lake table, which is created if it does not exist.

    Parameters
    ----------
    table : DeltaTable or path
    name, replace
        As for `Target`.
    **options
        Options of `deltalake.write_deltalake`.
    """

    def __init__(self, table: Any, name: str | None, replace: bool = False, **options: Any) -> None:
        super().__init__(name, replace)
        for option in _OWN:
            if option in options:
                raise TypeError(f"to_delta has no option {option}")
        self.package, self.options = deltalake(), options
        self.where, self.storage_options = opened(table, options.pop("storage_options", None))
        self.table = self._open()
        version = self.table and self.table.transaction_version(self.name)
        self.versions = [] if version is None else [version]

    def _open(self) -> Any:
        """Return the newest version of the table; None if there is none."""
        with importing:
            from deltalake.exceptions import TableNotFoundError

        try:
            return self.package.DeltaTable(self.where, storage_options=self.storage_options)
        except TableNotFoundError:
            return None

    @cached_property
    def store(self) -> fs.FileSystem:
        """The file system with the folder of the table as its root."""
        return store(self.where, self.storage_options)

    def _read(self, place: str) -> bytes:
        with self.store.open_input_file(place) as file:
            content: bytes = file.read()
        return content

    def _check_own(self) -> None:
        found = self.table and self.table.transaction_version(self.name)
        if self.table is not None and found != self.newest:
            raise self.lost_to_another()

    def _append(self, rows: pa.Table) -> None:
        self._write(rows, self.package.CommitProperties(max_commit_retries=self._retries))

    def _transact(self, rows: pa.Table, version: int) -> None:
        properties = self.package.CommitProperties(
            app_transactions=[self.package.Transaction(self.name, version)],
            max_commit_retries=self._retries,
        )
        try:
            self._write(rows, properties)
        except Exception as error:
            newest = self._open()
            found = newest and newest.transaction_version(self.name)
            if found != version:  # else it was committed despite the error
                if found != self.newest:
                    raise self.lost_to_another() from error
                raise
            self.table = newest
        self.versions = [version]

    @property
    def _retries(self) -> int | None:
        """How often to retry after commits of others: never for a new table, as others may have created it."""
        return 0 if self.table is None else None

    def _write(self, rows: pa.Table, properties: Any) -> None:
        table, options = self.table, self.options
        if table is None:
            mode, table = "error", self.where
            options = {**options, "storage_options": self.storage_options}
        else:
            mode = "overwrite" if self.replace else "append"
        self.package.write_deltalake(
            table, rows, mode=mode, commit_properties=properties, **options
        )
        self.table = self.table or self._open()

    def _fitted(self, rows: pa.Table) -> pa.Table:
        """Return rows as one record batch, with columns in the order of the table."""
        schema = in_microseconds(rows.schema)
        stored = _stored(self.package.Schema.from_arrow(schema))
        if self.table is not None and "schema_mode" not in self.options:
            known = _stored(self.table.schema())
            self.check_names(known, stored)
            for field in stored:
                kind = known.field(field.name).type
                if kind != field.type:
                    raise ValueError(
                        f"column {field.name!r} of table {self.where} is of {kind}, and that of the stream of "
                        f"{field.type}; cast it with astype"
                    )
            stored = known
        rows = rows.select(stored.names).cast(stored.remove_metadata()).combine_chunks()
        if len(rows.to_batches()) > 1:
            raise ValueError(
                "a batch has more than 2 GiB of texts in one column; make the stream's batches smaller"
            )
        return rows

    def _put(self, version: int, content: bytes) -> None:
        path = self.place(version)
        self.store.create_dir(path.rpartition("/")[0])
        with self.store.open_output_stream(path) as file:
            file.write(content)

    def _clean(self) -> None:
        found = self.store.get_file_info(fs.FileSelector(f"{FOLDER}/{self.name}"))
        for path in [one.path for one in found if one.path.endswith(".arrow")]:
            version = path.rpartition("/")[2].removesuffix(".arrow")
            if version.isdigit() and int(version) >> 32 <= (self.versions[0] >> 32) - 2:
                with suppress(OSError):  # a store may not allow it
                    self.store.delete_file(path)


def _stored(schema: Any) -> pa.Schema:
    return pa.schema(schema.to_arrow())
