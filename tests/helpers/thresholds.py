"""Changed thresholds of the package, with which few rows take the path of many, or a backend that of another."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from dask_gpuscan.frames.pandas import layouts
from dask_gpuscan.frames.registry import library_of
from dask_gpuscan.ops.arrays.groups import RowGroups
from dask_gpuscan.ops.groupby import top_rows
from dask_gpuscan.ops.groupby.hashed import NumberedRows
from dask_gpuscan.ops.predicates import text
from dask_gpuscan.ops.sort import rank_partitions

MANY_ROWS: int = layouts.MANY + 1
"""So many rows that all cores shift and subtract pandas columns."""


@contextmanager
def _moved(owner: Any, name: str, value: Any) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, value)
        yield


def copy_threshold(frame: Any, count: int) -> Any:
    """Compute up to `count` rows near a border of partitions with the others, and more of them separately."""
    return _moved(type(library_of(frame)), "copy_threshold", count)


@contextmanager
def many_top_rows(count: int) -> Iterator[None]:
    """Leave out rows that cannot be among the largest from `count` rows on."""
    with _moved(top_rows, "MANY", count), _moved(top_rows, "MANY_ON_GPU", count):
        yield


def groups_without_a_table() -> Any:
    """Treat groups as too many for a table, as happens on GPUs."""
    return _moved(NumberedRows, "are_few", False)


def sorted_groups_of_arrays() -> Any:
    """Sort the elements of arrays by their groups, as on a GPU."""
    return _moved(RowGroups, "_are_few", False)


def wide_ranks() -> Any:
    """Send ranks back as float64, as is done for buckets of many rows."""
    return _moved(rank_partitions, "HALVES_OF_FLOAT32", 0)


def predicates_not_compiled() -> Any:
    """Compute predicates column by column, as compiling each takes a second."""
    return _moved(text, "_FUSED", 0)
