"""Checks that a state has the columns and operations of the stream that goes on from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....frames.registry import Schema, same_names

if TYPE_CHECKING:
    from .operations import Operation


def names_in(names: Sequence[str]) -> str:
    """Return names as a text for a message."""
    return ", ".join(names) or "(none)"


def check_operations(
    known: Sequence[Operation], found: Sequence[tuple[str, str]], whose: str
) -> None:
    """Raise a ValueError that names the first different operation; `found` are pairs of names and options."""
    names, others = [one.name for one in known], [name for name, _ in found]
    if names != others:
        number = next(
            (i for i, (a, b) in enumerate(zip(names, others, strict=False)) if a != b), None
        )
        if number is not None and len(names) == len(others):
            raise ValueError(
                f"state is of {names[number]} where {whose} has {others[number]}. {_ANEW}"
            )
        raise ValueError(
            f"state is of the operations {_around(names, number)}, and {whose} has {_around(others, number)}. {_ANEW}"
        )
    for one, (name, options) in zip(known, found, strict=True):
        if one.options != options:
            raise ValueError(
                f"state of {name} has other options: {_unlike(one.options, options)}. {_ANEW}"
            )


_ANEW = "A state goes on with the operations that made it: begin anew, in a new directory or table, with others"

_SHOWN = 60
"""The number of characters to show on each side of the first difference."""


def _around(names: Sequence[str], number: int | None) -> str:
    """Return names as a text; if there are many, only those around one of them."""
    if len(names) <= 8:
        return names_in(names)
    first = max(0, min(number or 0, len(names) - 5) - 2)
    return ("... " if first else "") + ", ".join(names[first : first + 5]) + ", ..."


def _unlike(known: str, found: str) -> str:
    """Return the parts of two texts around their first difference."""
    most = min(len(known), len(found))
    first = next((i for i in range(most) if known[i] != found[i]), most)
    start = max(0, first - _SHOWN)
    parts = [text[start : first + _SHOWN] for text in (known, found)]
    return ", and the stream has ".join(("... " if start else "") + part + " ..." for part in parts)


def check_columns(known: Schema, found: Schema, whose: str = "the source") -> None:
    """Raise a ValueError that names the first difference between columns."""
    if not same_names(known.names, found.names):
        raise ValueError(
            f"state is of the columns {names_in([*map(str, known.names)])}, and {whose} has "
            f"{names_in([*map(str, found.names)])}"
        )
    for name, dtype, other in zip(known.names, known.dtypes, found.dtypes, strict=True):
        if dtype != other:
            raise ValueError(
                f"state is of column {name!r} with dtype {dtype}, and {whose} has {other}"
            )
