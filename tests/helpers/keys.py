"""Keys of groups as Python values, which are equal if the package treats the keys as equal."""

from typing import Any

from dask_gpuscan.frames.key_values import key_value
from dask_gpuscan.frames.keys import boundary_key
from dask_gpuscan.frames.registry import library_of


def key_of_row(column: Any, row: int) -> Any:
    """Return the key in a row of a column."""
    return boundary_key(library_of(column), [column], row).values


def key_of_value(value: Any) -> Any:
    """Return the key of a Python object."""
    return key_value(value)
