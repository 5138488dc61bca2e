"""Rows with equal keys in one partition each, by Dask's own shuffle of a hash of the keys."""

from __future__ import annotations

from typing import Any

from ..frames.keys import By
from ..frames.registry import library_of, names_of
from .lookback import meta_of


def together(collection: Any, by: By) -> Any:
    """Return the rows of a Dask collection as a frame or series in which rows with equal keys share a partition.

    Rows keep their index, but not their order.
    """
    frame = collection.to_frame() if collection.ndim == 1 else collection
    name = "_key"
    while name in names_of(meta_of(frame)):
        name += "_"
    hashed = frame.map_partitions(_with_hash, by, name, meta=_with_hash(frame._meta, by, name))
    moved = hashed.shuffle(on=name)
    columns = names_of(meta_of(frame))
    return moved[columns[0]] if collection.ndim == 1 else moved[columns]


def _with_hash(frame: Any, by: By, name: str) -> Any:
    library = library_of(frame)
    hashes = library.hash_rows(by.series(frame))
    return frame.assign(**{name: hashes})
