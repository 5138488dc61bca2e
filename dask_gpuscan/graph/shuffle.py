"""Rows with equal keys in one partition each, by Dask's own shuffle of a hash of the keys."""

from __future__ import annotations

from typing import Any

from ..frames.keys import By
from ..frames.registry import each, library_of

KEY = "key"
"""The column of hashes; the others are numbered, as Dask shuffles by no names of several levels."""


def together(collection: Any, by: By) -> Any:
    """Return the rows of a Dask collection as one in which rows with equal keys share a partition.

    Rows keep their index, but not their order.
    """
    like = collection._meta
    hashed = collection.map_partitions(_hashed, by, meta=_hashed(like, by))
    moved = hashed.shuffle(on=KEY)
    return moved.map_partitions(_restored, like, meta=like)


def _hashed(frame: Any, by: By) -> Any:
    """The columns of a partition and the hashes of its keys."""
    library = library_of(frame)
    with library.reading(frame):
        arrays = [library.array(c) for c in each(frame)]
        names = [f"column{i}" for i in range(len(arrays))]
        out: Any = library.frame(arrays, names, library.index(frame))
        return out.assign(**{KEY: library.hash_rows(by.series(frame))})


def _restored(moved: Any, like: Any) -> Any:
    """The columns of a partition, named as they were."""
    library = library_of(moved)
    arrays = [library.array(moved[name]) for name in moved.columns if name != KEY]
    return library.rebuild(like, arrays, library.index(moved))
