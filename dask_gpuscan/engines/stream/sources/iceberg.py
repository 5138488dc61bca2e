"""Iceberg tables as sources: their data files, in the order in which commits have added rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from ....forks import importing
from .table_files import DataFile, TableFiles


def is_iceberg(source: Any) -> bool:
    """Return whether a source is a table of `pyiceberg`."""
    kind = type(source)
    return hasattr(kind, "current_snapshot") and kind.__module__.startswith("pyiceberg")


def checked_table(table: Any) -> Any:
    """Return a table of `pyiceberg`; raises a TypeError for anything else."""
    if is_iceberg(table):
        return table
    raise TypeError(
        f"table must be one of pyiceberg, as a catalog's load_table or create_table returns it, found "
        f'{type(table).__name__} (pip install "dask-gpuscan[iceberg]")'
    )


def iceberg_files(table: Any) -> TableFiles:
    """Return the data files of an Iceberg table, in the order in which commits have added them.

    Parameters
    ----------
    table : Table
        A table of `pyiceberg`; it is read at the snapshot that it was loaded with.

    Raises
    ------
    ValueError
        If the table has no sequence numbers (version 1 of the format); if it has deleted rows or renamed columns: a
        reader of Parquet would return wrong rows.
    """
    with importing:
        from pyiceberg.io.pyarrow import PyArrowFileIO

    _check_readable(checked_table(table))
    snapshot = table.current_snapshot()
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
    with importing:
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
    """Return the values of a file's partition columns as texts."""
    with importing:
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
