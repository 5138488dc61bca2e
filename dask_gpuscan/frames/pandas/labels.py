"""Labels of columns: pandas is slow to read those that are texts, to choose some, and to make an index of them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple
from weakref import ref

import pandas as pd

from ...kernels.bounded_cache import BoundedCache
from ..types import DType


class Labels(NamedTuple):
    """What is known of labels of columns."""

    owner: ref[Any]
    names: list[Hashable]
    places: dict[Hashable, int]
    """Of texts that are there once."""
    chosen: BoundedCache[tuple[int, ...], pd.Index]
    """Labels at some places."""


LABELS: dict[int, Labels] = {}
"""What is known of labels, by the address of who owns them, which is alive."""


def owner_of(index: pd.Index) -> Any:
    """Return what owns labels: of texts of Arrow an array, which views of an index share; else the index."""
    return index.array if type(index.dtype) is pd.StringDtype else index


def labels_in(index: pd.Index) -> Labels:
    """Return what is known of labels of columns."""
    owner = owner_of(index)
    address = id(owner)
    found = LABELS.get(address)
    if found is None or found[0]() is not owner:
        own, names = ref(owner, lambda _: LABELS.pop(address, None)), index.tolist()
        places: dict[Hashable, int] = {n: i for i, n in enumerate(names) if type(n) is str}
        if len(places) < sum(type(n) is str for n in names):  # some are there twice
            places = {}
        found = LABELS[address] = Labels(own, names, places, BoundedCache())
    return found


def names_in(index: pd.Index) -> list[Hashable]:
    """Return the labels of columns as a new list."""
    return labels_in(index).names.copy()


def labels_at(index: pd.Index, places: list[int]) -> pd.Index:
    """Return the labels of columns at some places, as an index of its own."""
    if type(index.dtype) is not pd.StringDtype:
        return index[places]
    chosen, key = labels_in(index).chosen, tuple(places)
    known = chosen.get(key)
    found = (chosen.store(key, index[places]) if known is None else known).view()
    found.name = index.name
    return found


@lru_cache(maxsize=256)
def _labels_of(names: tuple[str, ...], dtype: DType) -> pd.Index:
    return pd.Index(names)


def labels_of(names: Sequence[Hashable]) -> pd.Index:
    """Return the labels of columns with these names, as an index of its own."""
    if {str}.issuperset(map(type, names)) and names:
        # which options decide
        return _labels_of(tuple(names), pd.api.types.pandas_dtype(str)).view()
    if isinstance(names, range):
        return pd.RangeIndex(len(names))
    # pandas would make NaN of None among texts
    dtype = object if any(name is None for name in names) else None
    return pd.Index(list(names), dtype=dtype, tupleize_cols=False)


def place_in(index: pd.Index, name: Hashable) -> Any:
    """Return where a label is, as `get_loc` of the index does."""
    place = labels_in(index).places.get(name) if type(name) is str else None
    return index.get_loc(name) if place is None else place
