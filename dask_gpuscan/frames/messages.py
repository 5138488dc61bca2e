"""How messages to users name columns."""

from __future__ import annotations

from collections.abc import Collection, Hashable

from .protocol import Column


def column_title(column: Column) -> str:
    """Name a column in a message."""
    return "the series" if column.name is None else f"column {column.name!r}"


def name_list(names: Collection[Hashable], most: int = 12) -> str:
    """List names for a message, of many the first."""
    listed = ", ".join(repr(name) for name in list(names)[:most])
    return f"{listed}, ..." if len(names) > most else listed or "none"
