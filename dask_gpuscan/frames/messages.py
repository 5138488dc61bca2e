"""Words of messages to users: names of columns, ways out, and refusals that several modules raise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import numpy as np

from ..kernels.messages import shown
from ..kernels.scalars import FLAG as FLAG
from .types import Column, DType, Labels


class ColumnError(KeyError, ValueError):
    """Raised for an unknown column: a KeyError, as in pandas, and a ValueError, as for other wrong arguments."""

    def __str__(self) -> str:
        return str(self.args[0])


def column_title(column: Column) -> str:
    """Name a column in a message."""
    return title_of(column.name)


def title_of(name: Any) -> str:
    """Return how a message names a column of this name."""
    name = name.item() if isinstance(name, np.number) else name
    return "the series" if name is None else f"column {shown(name)}"


def name_columns(error: Exception, label: str, columns: Sequence[Column]) -> None:
    """Begin the message of an error with a label and the names of columns."""
    error.args = (f"{label} of {', '.join(map(column_title, columns))}: {error}",)


@contextmanager
def naming(label: str, columns: Sequence[Column]) -> Iterator[None]:
    """Begin the message of an OverflowError in the block with a label and the names of columns."""
    try:
        yield
    except OverflowError as error:
        name_columns(error, label, columns)
        raise


@contextmanager
def refusing(label: str, titles: Sequence[str]) -> Iterator[None]:
    """Begin a TypeError in the block with a label and the titles of columns, and end it with the way out."""
    try:
        yield
    except TypeError as error:
        refuse_values(label, titles, error)


def refuse_values(label: str, titles: Sequence[str], error: TypeError) -> NoReturn:
    """Raise an error of values with a label, the titles of columns and the way out; unchanged if it has the way out."""
    if str(error).endswith(HINT):
        raise error
    reason = first_line(error.__cause__ or error)  # the error of pandas itself only names a method
    raise TypeError(f"{label} of {', '.join(titles)}: {reason}; {HINT}") from error


def first_line(error: BaseException) -> str:
    """Return the first line of another library's error, at most 200 characters of it."""
    return str(error).partition("\n")[0][:200]


def refuse_categories(dtype: DType, why: object) -> NoReturn:
    """Raise a ValueError for categories that cannot be joined."""
    raise ValueError(
        f"partitions do not match: a column of dtype {dtype} has other categories in some, which cannot be joined: "
        f"{why}; give all of them the same with cat.set_categories first"
    )


HINT = "cast it with astype, or leave it out"
"""The end of messages that refuse a column for its dtype."""


def refuse_flag(name: str, value: Any) -> NoReturn:
    """Raise a ValueError for an argument that should be True or False."""
    raise ValueError(f"{name} must be True or False, found {shown(value)}")


def check_flags(**flags: Any) -> None:
    """Check that arguments are True or False."""
    for name, flag in flags.items():
        if not isinstance(flag, FLAG):
            refuse_flag(name, flag)


def check_one_level(index: Labels, names: Labels) -> None:
    """Raise a ValueError if labels of rows, or names of columns, have several levels."""
    for what, labels in (("the index", index), ("names of columns", names)):
        if labels.nlevels > 1:
            raise ValueError(
                f"{what} must have one level for statistics of all pairs of columns, found {labels.nlevels}"
            )
