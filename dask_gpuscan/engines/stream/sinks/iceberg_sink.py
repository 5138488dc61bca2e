"""Answers of streams in tables of Iceberg, by transactions of rows and of a property that names the state behind them.

A transaction is refused if any other one came between. Then it is made anew, unless that other one was of the same
writer.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pyarrow as pa

from ....forks import importing
from ..sources.fragments import Progress
from ..sources.iceberg import checked_table
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

ATTEMPTS = 20
"""How often a transaction is made behind those of others."""

_RETRIES = {"commit.retry.num-retries": "0"}
"""Of a copy of the table's properties: pyiceberg would repeat a transaction behind one of the same writer."""


def to_iceberg(
    stream: Any, table: Any, name: str | None, rows: int | None, begin_anew: bool, dry_run: bool
) -> Progress | None:
    """Write a stream to a table; see `Stream.to_iceberg`."""
    target = IcebergTarget(checked_table(table), checked_name(name), begin_anew)
    found = write(stream, target, rows, begin_anew, dry_run)
    table.refresh()
    return found


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
        with importing:
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
