"""How messages to users name columns, and say that a flag is none or that categories differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import numpy as np

from ..kernels.messages import shown
from .protocol import Column, DType


def column_title(column: Column) -> str:
    """Name a column in a message."""
    return "the series" if column.name is None else f"column {shown(column.name)}"


@contextmanager
def of_columns(label: str, columns: Sequence[Column]) -> Iterator[None]:
    """While columns are checked: let errors say what of, and of which columns."""
    try:
        yield
    except (TypeError, ValueError) as error:
        names = ", ".join(map(column_title, columns))
        raise type(error)(f"{label} of {names}: {error}") from error.__cause__


def first_line(error: Exception) -> str:
    """Return what another library says of an error, in short."""
    return str(error).partition("\n")[0][:200]


def refuse_categories(dtype: DType, why: object) -> NoReturn:
    """Raise what a user sees for categories that cannot be joined."""
    raise ValueError(
        f"partitions do not match: a column of dtype {dtype} has other categories in some, which cannot be joined: "
        f"{why}; give all of them the same with cat.set_categories first"
    )


WAY_OUT = "cast it with astype, or leave it out"
"""How messages end that refuse a column for its dtype."""


@contextmanager
def ways_out(is_series: bool, numeric_only: bool | None) -> Iterator[None]:
    """While a method runs: let errors that refuse a column say what can be done about it.

    Parameters
    ----------
    is_series : bool
        Whether the column is all there is.
    numeric_only : bool, optional
        The argument of that name; None for methods without.
    """
    try:
        yield
    except TypeError as error:
        text = str(error)
        if not text.endswith(WAY_OUT):
            raise
        if is_series:
            text = text.removesuffix(", or leave it out")
        elif numeric_only is not None and not numeric_only:
            text += " with numeric_only=True"
        raise TypeError(text) from error.__cause__


FLAG = (bool, np.bool_)
"""The types of flags."""


def refuse_flag(name: str, value: Any) -> NoReturn:
    """Raise what a user sees for an argument that should be True or False."""
    raise ValueError(f"{name} must be True or False, found {shown(value)}")
