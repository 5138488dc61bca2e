"""Streams written to Iceberg tables, in transactions of rows and of a property that names the state after them.

A transaction is refused if any other one was committed meanwhile. Then it is repeated, unless the same writer committed
the other one.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pyarrow as pa

from ....forks import importing
from ..sources.iceberg import checked_table
from .commits import NAME, Target, in_microseconds

ATTEMPTS = 20
"""How often a transaction is tried if others commit meanwhile."""

_RETRIES = {"commit.retry.num-retries": "0"}
"""A property for a copy of the table: pyiceberg itself would retry even after a transaction of the same writer."""


class IcebergTarget(Target):
    """An Iceberg table.

    Parameters
    ----------
    table : Table
    name, replace
        As for `Target`.
    """

    def __init__(self, table: Any, name: str | None, replace: bool = False) -> None:
        super().__init__(name, replace)
        self.table = checked_table(table).catalog.load_table(table.name())
        self.where, self.property = self.table.location(), f"{NAME}.{self.name}"
        self.known = self.table.properties.get(self.property)
        self._old = list[int]()

    @property
    def versions(self) -> list[int]:  # type: ignore[override]
        return [int(each) for each in (self.known or "").split()]

    def _read(self, place: str) -> bytes:
        with self.table.io.new_input(f"{self.where}/{place}").open() as file:
            content: bytes = file.read()
        return content

    def _fitted(self, rows: pa.Table) -> pa.Table:
        self.check_names(self.table.schema().as_arrow(), rows.schema)
        return _decoded(rows.cast(in_microseconds(rows.schema)))

    def _append(self, rows: pa.Table) -> None:
        self._add(self.table.transaction(), rows).commit_transaction()

    def _transact(self, rows: pa.Table, version: int) -> None:
        before = self.versions
        value = " ".join(map(str, [version, *before[:1]]))
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
                    break  # it was committed despite the error
                self._check_own()
                if not isinstance(error, CommitFailedException) or attempt == ATTEMPTS - 1:
                    raise
            else:
                break
        self.known, self._old = value, before[1:]
        self.table.refresh()

    def _clean(self) -> None:
        for version in self._old:
            with suppress(OSError):  # a store may not allow it
                self.table.io.delete(f"{self.where}/{self.place(version)}")

    def _commit(self, transaction: Any) -> None:
        transaction.commit_transaction()

    def _check_own(self) -> None:
        if self.table.properties.get(self.property) != self.known:
            raise self.lost_to_another()

    def _add(self, transaction: Any, rows: pa.Table) -> Any:
        (transaction.overwrite if self.replace else transaction.append)(rows)
        return transaction

    def _put(self, version: int, content: bytes) -> None:
        with self.table.io.new_output(f"{self.where}/{self.place(version)}").create() as file:
            file.write(content)


def _decoded(rows: pa.Table) -> pa.Table:
    """Return rows with the values of categories instead of codes."""
    fields = [
        field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
        for field in rows.schema
    ]
    return rows.cast(pa.schema(fields))
