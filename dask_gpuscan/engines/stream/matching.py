"""Whether a state is of the columns and the operations that are to go on from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...frames.registry import Schema, same_names

if TYPE_CHECKING:
    from .operations import Operation


def names_in(names: Sequence[str]) -> str:
    """Return names as a text for messages."""
    return ", ".join(names) or "(none)"


def check_operations(
    known: Sequence[Operation], found: Sequence[tuple[str, str]], whose: str
) -> None:
    """Raise a ValueError that names the first difference of operations; these are pairs of names and options."""
    if len(found) != len(known):
        first = names_in([one.name for one in known])
        second = names_in([name for name, _ in found])
        raise ValueError(f"state is of the operations {first}, and {whose} has {second}")
    for one, (name, options) in zip(known, found, strict=True):
        if one.name != name:
            raise ValueError(f"state is of {one.name} where {whose} has {name}")
        if one.options != options:
            raise ValueError(
                f"state of {name} has other options: {one.options}, and {whose} has {options}"
            )


def check_columns(known: Schema, found: Schema, whose: str = "the source") -> None:
    """Raise a ValueError that names the first difference of columns."""
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
