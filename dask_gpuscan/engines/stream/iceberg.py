"""Tables of Iceberg: their data files, in the order in which commits have added rows, and transactions with states.

A transaction of rows goes with a property of the table, which names the state behind them. It is refused if any other
one came between; then it is made anew, unless that other one was of the same writer.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pyarrow as pa

from .commits import (
    NAME,
    check_names,
    checked_name,
    in_microseconds,
    lost_to_another,
    place_of,
    state_is_lost,
    version_behind,
    write,
)
from .table_files import DataFile, TableFiles

ATTEMPTS = 20
"""How often a transaction is made behind those of others."""

_RETRIES = {"commit.retry.num-retries": "0"}
"""Of a copy of the table's properties: pyiceberg would repeat a transaction behind one of the same writer."""


def is_iceberg(source: Any) -> bool:
    """Tell whether a source is a table of `pyiceberg`."""
    kind = type(source)
    return hasattr(kind, "current_snapshot") and kind.__module__.startswith("pyiceberg")


def _checked(table: Any) -> Any:
    if is_iceberg(table):
        return table
    raise TypeError(
        f"table must be one of pyiceberg, as a catalog's load_table or create_table returns it, found "
        f'{type(table).__name__} (pip install "dask-gpuscan[iceberg]")'
    )


# --- reading -----------------------------------------------------------------------------------------


def iceberg_files(table: Any, *, snapshot_id: int | None = None) -> TableFiles:
    """Return the data files of a table of Iceberg, in the order in which commits have added them.

    Parameters
    ----------
    table : Table
        Of `pyiceberg`, read as it was loaded.
    snapshot_id : int, optional
        Default that of the current snapshot.

    Raises
    ------
    ValueError
        For tables without sequence numbers (version 1 of the format), with deleted rows, or whose columns had other
        names, which a reader of Parquet would read wrongly.
    """
    from pyiceberg.io.pyarrow import PyArrowFileIO

    _check_readable(_checked(table))
    given = snapshot_id is not None
    snapshot = table.snapshot_by_id(snapshot_id) if given else table.current_snapshot()
    if given and snapshot is None:
        raise ValueError(f"table {table.name()} has no snapshot {snapshot_id}")
    scheme, host, _ = PyArrowFileIO.parse_location(table.location())
    filesystem = PyArrowFileIO(table.io.properties).fs_by_scheme(scheme, host)
    files = sorted(_entries(table, snapshot), key=lambda file: file.place)
    schema, version = table.schema().as_arrow(), snapshot.sequence_number if snapshot else 0
    return TableFiles(files, schema, filesystem, str(table.metadata.table_uuid), version)


def _check_readable(table: Any) -> None:
    name = ".".join(table.name())
    if table.metadata.format_version < 2:
        raise ValueError(
            f"table {name} is of version 1 of the format, whose files have no order: upgrade it"
        )
    ids = {field.field_id: field.name for field in table.schema().fields}
    names = {field.name: field.field_id for field in table.schema().fields}
    for field in [field for schema in table.schemas().values() for field in schema.fields]:
        is_renamed = ids.get(field.field_id, field.name) != field.name
        if is_renamed or names.get(field.name, field.field_id) != field.field_id:
            raise ValueError(
                f"table {name} has files in which column {field.name!r} is another one, as columns were renamed or "
                f"made anew"
            )


def _entries(table: Any, snapshot: Any) -> Iterator[DataFile]:
    """Yield the data files of a snapshot."""
    from pyiceberg.io.pyarrow import PyArrowFileIO
    from pyiceberg.manifest import DataFileContent

    root = PyArrowFileIO.parse_location(table.location())[:2]
    for number, manifest in enumerate(snapshot.manifests(table.io) if snapshot else ()):
        for index, entry in enumerate(manifest.fetch_manifest_entry(table.io)):
            file = entry.data_file
            *place, path = PyArrowFileIO.parse_location(file.file_path)
            name = ".".join(table.name())
            if file.content != DataFileContent.DATA:
                raise ValueError(
                    f"table {name} has deleted rows in files of their own: rewrite its data files"
                )
            if tuple(place) != root:
                raise ValueError(f"table {name} has a file elsewhere, {file.file_path}")
            order, values = entry.sequence_number, _values(table, file)
            yield DataFile(
                *(path, file.file_size_in_bytes, 0, file.record_count, values, order),
                place=(order, number, index),
            )


def _values(table: Any, file: Any) -> dict[str, str | None]:
    """Return the values of the columns by which a file is partitioned, as texts."""
    from pyiceberg.transforms import IdentityTransform

    found: dict[str, str | None] = {}
    schema = table.schema()
    for index, field in enumerate(table.specs()[file.spec_id].fields):
        name = schema.find_column_name(field.source_id)
        if isinstance(field.transform, IdentityTransform) and name is not None:
            kind, value = schema.as_arrow().field(name).type, file.partition[index]
            whole = pa.int32() if pa.types.is_date32(kind) else pa.int64()
            stored = whole if pa.types.is_temporal(kind) else kind
            found[name] = pa.array([value], stored).cast(kind).cast(pa.string())[0].as_py()
    return found


# --- writing -----------------------------------------------------------------------------------------


def to_iceberg(
    stream: Any, table: Any, name: str | None, rows: int | None, begin_anew: bool
) -> None:
    """Write a stream to a table; see `Stream.to_iceberg`."""
    target = IcebergTarget(_checked(table), checked_name(name), begin_anew)
    write(stream, target, rows, begin_anew)
    table.refresh()


class IcebergTarget:
    """A table of Iceberg.

    Parameters
    ----------
    table : Table
    name : str
        Of the writer.
    replace : bool
        Whether the first transaction replaces all rows.
    """

    def __init__(self, table: Any, name: str, replace: bool) -> None:
        self.table = table.catalog.load_table(table.name())
        self.name, self.replace, self.property = name, replace, f"{NAME}.{name}"
        self.known = self.table.properties.get(self.property)

    @property
    def versions(self) -> list[int]:
        """Those of the last two states, the newest first."""
        return [int(each) for each in (self.known or "").split()]

    def begun(self) -> tuple[bytes, str] | None:
        """Return the content of the newest state, and where it is; None if there is none."""
        if not self.versions:
            return None
        place = self._place(self.versions[0])
        try:
            with self.table.io.new_input(place).open() as file:
                return file.read(), place
        except OSError as error:
            where = self.table.location()
            raise state_is_lost(self.name, where, self.versions[0], error) from error

    def commit(self, rows: pa.Table, state: bytes | None) -> None:
        """Write rows, and the state behind them if there is one, in one transaction."""
        check_names(self.table.schema().as_arrow(), rows.schema, self.table.location())
        rows = _decoded(rows.cast(in_microseconds(rows.schema)))
        if state is None:
            self._add(self.table.transaction(), rows).commit_transaction()
            return
        before = self.versions
        version = version_behind(before[0] if before else None)
        self._put(version, state)
        self._write(rows, " ".join(map(str, [version, *before[:1]])))
        self.replace = False
        for old in before[1:]:
            with suppress(OSError):  # a store may not let it
                self.table.io.delete(self._place(old))

    def _write(self, rows: pa.Table, value: str) -> None:
        from pyiceberg.exceptions import CommitFailedException

        for attempt in range(ATTEMPTS):
            self._check_own()
            properties = {**self.table.properties, **_RETRIES}
            self.table.metadata = self.table.metadata.model_copy(update={"properties": properties})
            transaction = self._add(self.table.transaction(), rows)
            transaction.set_properties({self.property: value})
            try:
                self._commit(transaction)
            except Exception as error:
                self.table.refresh()
                if self.table.properties.get(self.property) == value:
                    break  # it is there, though the catalog did not say so
                self._check_own()
                if not isinstance(error, CommitFailedException) or attempt == ATTEMPTS - 1:
                    raise
            else:
                break
        self.known = value
        self.table.refresh()

    def _commit(self, transaction: Any) -> None:
        transaction.commit_transaction()

    def _check_own(self) -> None:
        if self.table.properties.get(self.property) != self.known:
            where, before = self.table.location(), self.versions
            raise lost_to_another(self.name, where, before[0] if before else None)

    def _add(self, transaction: Any, rows: pa.Table) -> Any:
        (transaction.overwrite if self.replace else transaction.append)(rows)
        return transaction

    def _place(self, version: int) -> str:
        return f"{self.table.location()}/{place_of(self.name, version)}"

    def _put(self, version: int, content: bytes) -> None:
        with self.table.io.new_output(self._place(version)).create() as file:
            file.write(content)


def _decoded(rows: pa.Table) -> pa.Table:
    """Return rows with categories as their values."""
    fields = [
        field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
        for field in rows.schema
    ]
    return rows.cast(pa.schema(fields))
