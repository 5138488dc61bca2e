"""Columns of other collections beside those of one, row by row."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from ..frames.registry import each, library_of, names_of
from .lookback import Collection, by_partition, meta_of


def beside(
    obj: Any, others: Sequence[Any], what: str, by_label: bool
) -> tuple[Any, list[Hashable], list[Hashable]]:
    """Return a frame of the columns of a frame or series, and of others.

    Parameters
    ----------
    obj : frame or series
    others : sequence of series
        With as many rows; of a Dask collection, Dask collections with its partitions.
    what : str
        What messages call the others.
    by_label : bool
        Whether labels of rows must be the same; else rows are met by position.

    Returns
    -------
    frame
    own, theirs : list
        Names of the columns of `obj`, which has its own if it is a frame, and of the others, which are new.

    Raises
    ------
    TypeError, ValueError
        If rows do not match; of Dask collections when they are computed.
    """
    meta = meta_of(obj)
    own = names_of(meta) if meta.ndim == 2 else ["series"]
    prefix = what
    while any(isinstance(name, str) and name.startswith(prefix) for name in own):
        prefix = f"_{prefix}"
    theirs: list[Hashable] = [f"{prefix}{k}" for k in range(len(others))]
    options: dict[str, Any] = {"names": [*own, *theirs], "what": what, "by_label": by_label}
    if not isinstance(obj, Collection):
        return _joined(obj, *others, **options), own, theirs
    for other in others:
        if not isinstance(other, Collection):
            raise TypeError(
                f"{what} must be of a Dask collection, as its frame is, found {type(other).__name__}"
            )
        if other.npartitions != obj.npartitions:
            raise ValueError(
                f"{what} must have the {obj.npartitions} partitions of its frame, found {other.npartitions}; make it "
                f"a column of the frame first"
            )
    empty = _joined(meta, *map(meta_of, others), **options)
    frame = by_partition(obj, _joined, *others, **options, meta=empty, align_dataframes=False)
    return frame, own, theirs


def _joined(frame: Any, *others: Any, names: Sequence[Hashable], what: str, by_label: bool) -> Any:
    library = library_of(frame)
    index = library.index(frame)
    for other in others:
        if isinstance(other, Collection) or library_of(other) is not library:
            raise TypeError(
                f"{what} must be of the library of its frame, found {type(other).__name__}"
            )
        if len(other) != len(frame):
            raise ValueError(
                f"{what} must have as many rows as its frame, {len(frame)}, found {len(other)}"
            )
        if by_label and not library.same_index(index, library.index(other)):
            raise ValueError(f"{what} must have the index of its frame; align them first")
    arrays = [library.array(column) for column in (*each(frame), *others)]
    return library.frame(arrays, names, index)
