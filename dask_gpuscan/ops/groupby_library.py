"""Reductions of groups by the library's own group-by, of frames that are no Dask collections.

Its answer has the dtypes that it chooses by the values. None is answered where it refuses, or is known to be wrong:
our own means may do it, or say what is wrong. This module must never know how groups are reduced otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from ..frames.keys import By
from ..frames.registry import library_of
from .reduction_table import REDUCTIONS


def reduce_by_library(
    obj: Any, by: By, dropna: bool, chosen: Any, method: str, options: dict[str, Any]
) -> Any:
    """Return what a method of the group-by answers for one column by its name, or for several in a list."""
    names = chosen if isinstance(chosen, list) else [chosen]
    if not _is_right(obj, [method]):
        return None

    def ask(groups: Any) -> Any:
        return getattr(groups if obj.ndim == 1 else groups[chosen], method)(**options)

    return _asked(obj, by, dropna, names, ask)


def agg_by_library(
    obj: Any, by: By, dropna: bool, wanted: Sequence[tuple[Hashable, Hashable, str]], named: bool
) -> Any:
    """Return a frame of reductions, each given as its label, column and name.

    `named` tells that the labels are the caller's, and not those of the frame's columns.
    """
    if any(isinstance(column, tuple) for _, column, _ in wanted) or not wanted:
        return None  # pandas takes a tuple for a list of names
    labels, columns, names = zip(*wanted, strict=True)
    if not _is_right(obj, names):
        return None

    def ask(groups: Any) -> Any:
        pairs = zip(columns, names, strict=True)
        methods = [getattr(groups if obj.ndim == 1 else groups[c], name) for c, name in pairs]
        return [method() for method in methods]  # once all are there

    found = _asked(obj, by, dropna, list(dict.fromkeys(columns)), ask)
    if found is None:
        return None
    library = library_of(obj)
    arrays = [library.array(series) for series in found]
    like = None if named or obj.ndim == 1 else obj
    return library.frame(arrays, list(labels), library.index(found[0]), like)


def _is_right(obj: Any, names: Sequence[str]) -> bool:
    """Whether the library has reductions of these names that are right for any values."""
    wrong = library_of(obj).wrong_groups
    return all(n not in wrong and (n not in REDUCTIONS or REDUCTIONS[n].library_has) for n in names)


def _asked(
    obj: Any, by: By, dropna: bool, names: Sequence[Hashable], ask: Callable[[Any], Any]
) -> Any:
    """Ask the library's groups of the keys and these columns; None where it refuses."""
    key = by.columns[0] if len(by.columns) == 1 else list(by.columns)
    try:
        if any(library_of(column).parts_keys(column) for column in by.series(obj)):
            return None
        if obj.ndim == 1:
            return ask(obj.groupby(level=key, dropna=dropna))
        kept = [n for n in dict.fromkeys([*by.columns, *names]) if n not in by.levels]
        return ask(obj[kept].groupby(key, sort=True, dropna=dropna, observed=True))
    except (TypeError, NotImplementedError, AttributeError, RuntimeError, KeyError):
        return None
