"""Reads states from files, directories and tables."""

from __future__ import annotations

import os
from typing import Any

from ..filesystems import as_path
from ..sources.delta import is_delta
from ..sources.iceberg import is_iceberg
from ..states.state import State, state_in
from ..whole_files import read_whole
from .commits import Target
from .delta_sink import DeltaTarget
from .directory import Directory
from .iceberg_sink import IcebergTarget
from .manifest import FOLDER


def load_state(place: Any, *, name: str | None = None) -> State:
    """Read a state that `State.save`, `Stream.to_parquet`, `Stream.to_delta` or `Stream.to_iceberg` has written.

    Files of unknown origin are safe to read, as nothing in them is run.

    Parameters
    ----------
    place : path, URL or table
        A file, a directory that `to_parquet` has written with ``state=``, or a table.
    name : str, optional
        The name of the writer of a table, as in `Stream.to_delta`.

    Returns
    -------
    State

    Raises
    ------
    ValueError
        If the file, which is named, holds no state, was changed or cut off, or is of another version.

    See Also
    --------
    stream : Goes on from a state.
    State.to_pandas : The last answers in a state.

    Examples
    --------
    >>> import os, tempfile, pandas as pd, dask_gpuscan
    >>> totals = dask_gpuscan.stream([pd.DataFrame({"sold": [4, 2]})]).gpuscan.cumsum()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     totals.to_parquet(os.path.join(folder, "totals"), state=os.path.join(folder, "totals.arrow"))
    ...     state = dask_gpuscan.load_state(os.path.join(folder, "totals.arrow"))
    ...     same = dask_gpuscan.load_state(os.path.join(folder, "totals"))
    >>> state.names, state.rows, same.rows
    (['cumsum'], 2, 2)
    """
    if is_delta(place):
        return _of_table(DeltaTarget(place, name), place)
    if is_iceberg(place):
        return _of_table(IcebergTarget(place, name), place)
    path = as_path("place", place)
    if os.path.isdir(os.path.join(path, FOLDER)) or path.startswith("memory://"):
        directory = Directory(path, {})
        manifest = directory.read()
        if manifest is not None:
            return directory.state(manifest, manifest.state)
    if os.path.isdir(path):
        raise ValueError(
            f"folder {path} holds no state of a stream: give a file, or a folder that to_parquet has written with "
            f"state="
        )
    return state_in(read_whole(path), path)


def _of_table(target: Target, place: Any) -> State:
    found = target.begun()
    if found is None:
        raise ValueError(f"table {place} has no state of a stream of that name")
    return state_in(*found)
