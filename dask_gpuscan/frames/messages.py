"""How messages to users name columns, and say that a flag is none or that categories differ."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from ..kernels.messages import shown
from .protocol import Column, DType


def column_title(column: Column) -> str:
    """Name a column in a message."""
    return "the series" if column.name is None else f"column {shown(column.name)}"


def first_line(error: Exception) -> str:
    """Return what another library says of an error, in short."""
    return str(error).partition("\n")[0][:200]


def refuse_categories(dtype: DType, why: object) -> NoReturn:
    """Raise what a user sees for categories that cannot be joined."""
    raise ValueError(
        f"partitions do not match: a column of dtype {dtype} has other categories in some, which cannot be joined: "
        f"{why}; give all of them the same with cat.set_categories first"
    )


FLAG = (bool, np.bool_)
"""The types of flags."""


def refuse_flag(name: str, value: Any) -> NoReturn:
    """Raise what a user sees for an argument that should be True or False."""
    raise ValueError(f"{name} must be True or False, found {shown(value)}")
