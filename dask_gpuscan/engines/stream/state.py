"""States of streams: what their operations have seen, as values that can be written to files of Arrow and read again.

A file holds one record batch with one row: each column is an array of a state, as a list. The metadata of its schema
say what the arrays are parts of. Nothing in a file is ever run: values are of the few kinds that `values` lists.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pyarrow as pa

from ...frames.pandas.library import PANDAS
from ...frames.protocol import Library
from ...frames.registry import Schema, same_names
from ...kernels.messages import shown
from ...ops.groupby.hashed import Table
from ...ops.time.sessions import last_times
from ...ops.windows.halo import RowArrays
from .consistent import is_count, is_dtype, require
from .filesystems import shown_url
from .fragments import Fragment, columns_of_fragments, fragments_of_columns
from .moving import moved, moved_schema
from .state_files import NotRead, packed, unpacked
from .values import read_value, write_value
from .whole_files import read_whole, write_whole

VERSION = 3
"""The version of the files."""

READ_VERSIONS = (2, VERSION)
"""Those of version 2 do not say which files were read."""


@dataclass(frozen=True)
class Operation:
    """An operation of a stream.

    Parameters
    ----------
    name : str
    options : str
    seen : object
        What it has seen; None if it keeps nothing.
    by : sequence of names, optional
        Of the keys of its groups.
    times : dtype, optional
        Of the times by which what it has seen gets old.
    """

    name: str
    options: str
    seen: Any
    by: tuple[Hashable, ...] = ()
    times: Any = None


@dataclass(frozen=True, repr=False)
class State:
    """What the operations of a stream have seen so far: what `stream` goes on from.

    A state does not change. It grows with the keys of groups and the rows that windows reach, not with the rows that
    were seen.

    Parameters
    ----------
    schema : Schema
        Of the source.
    operations : sequence of Operation
        In the order in which rows go through them.
    rows : int
        How many rows were read.
    files : int, default 0
        How many files of a directory were written: of states of version 2 alone.
    ended : bool, default False
        Whether runs and groups that were open have been answered, as no rows were to follow.
    library : Library, optional
        Of the frames that were seen; files are of pandas. Streams of other frames go on as well.
    fragments : tuple of Fragment
        The files that were read, in their order.
    part : int, default -1
        How many rows of the last one were read; -1 if all were.
    root : str
        The folder of these files.

    Examples
    --------
    >>> import pandas as pd, dask_gpuscan
    >>> monday = dask_gpuscan.stream([pd.DataFrame({"sold": [4, 2]})]).gpuscan.cumsum()
    >>> monday.compute()["sold"].tolist()
    [4, 6]
    >>> tuesday = dask_gpuscan.stream([pd.DataFrame({"sold": [5]})], state=monday.state).gpuscan.cumsum()
    >>> tuesday.compute()["sold"].tolist()
    [11]
    >>> tuesday.state.rows, tuesday.state.names
    (3, ['cumsum'])
    """

    schema: Schema
    operations: tuple[Operation, ...]
    rows: int
    files: int = 0
    ended: bool = False
    library: Library = PANDAS
    fragments: tuple[Fragment, ...] = ()
    part: int = -1
    root: str = ""

    def __repr__(self) -> str:
        return f"<State of {_listed(self.names)} after {self.rows} rows>"

    @property
    def names(self) -> list[str]:
        """The names of the operations that have seen something."""
        return [one.name for one in self.operations if one.seen is not None]

    @property
    def nbytes(self) -> int:
        """How many bytes its arrays have."""
        return sum(leaf.nbytes for leaf in self._of_pandas()._written()[1])

    def keys(self) -> dict[str, Any]:
        """Return the keys that it grows with: an index for each operation on groups, by the operation's name.

        An operation whose name is that of an earlier one has its number behind it, such as ``groupby-cumsum 2``.

        See Also
        --------
        expire : Leave old keys out.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> totals = dask_gpuscan.stream([pd.DataFrame({"shop": ["a", "b", "a"], "sold": [4, 2, 1]})])
        >>> totals = totals.gpuscan.groupby("shop")["sold"].cumsum()
        >>> totals.compute().tolist()
        [4, 2, 5]
        >>> totals.state.keys()
        {'groupby-cumsum': Index(['a', 'b'], dtype='str', name='shop')}
        """
        found: dict[str, Any] = {}
        met = Counter[str]()
        for one in self.operations:
            if not isinstance(one.seen, (RowArrays, Table)) or not one.seen.keys:
                continue
            met[one.name] += 1
            title = f"{one.name} {met[one.name]}" if met[one.name] > 1 else one.name
            names = one.by or [None] * len(one.seen.keys)  # a series is its own key
            index = one.seen.library.key_index(one.seen.keys, names)
            found[title] = index.drop_duplicates()
        return found

    def expire(self, before: Any) -> State:
        """Return the state without what is older than a time, so that it does not grow with keys that come no more.

        Sessions forget keys whose last event was earlier: if such a key comes back, its sessions are numbered from 0.
        Windows of time by keys forget earlier rows: answers stay the same if no window reaches back behind `before`.
        All else is kept.

        Parameters
        ----------
        before : time or number
            As the column of times has them.

        Raises
        ------
        TypeError
            For a time where times are numbers, or the other way round.
        ValueError
            If it is the state of no sessions or windows of time by keys.

        See Also
        --------
        keys : The keys that a state has.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> clicks = pd.DataFrame({"user": ["a", "b", "b"], "t": [0, 10, 90]})
        >>> numbers = dask_gpuscan.stream([clicks]).gpuscan.sessionize("t", by="user", gap=30)
        >>> numbers.compute().tolist()
        [0, 0, 1]
        >>> numbers.state.expire(50).keys()
        {'groupby-session': Index(['b'], dtype='str', name='user')}
        """
        if all(one.times is None for one in self.operations):
            raise ValueError(
                f"state of {_listed(self.names)} keeps nothing that gets old: no sessions or windows of time by keys"
            )
        return replace(self, operations=tuple([_newer(one, before) for one in self.operations]))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a file of Arrow IPC, whole or not at all; a local one is its user's alone.

        Parameters
        ----------
        path : path or URL
            Such as ``s3://bucket/totals.arrow``: of any file system that pyarrow or fsspec opens.

        Raises
        ------
        TypeError
            For values that a file cannot hold, such as Python objects; it names the operation.
        ValueError
            For a URL that cannot be opened.
        """
        write_whole(path, self.content(), private=True)

    def content(self) -> bytes:
        """Return the content of its file."""
        return packed(*self._of_pandas()._written())

    def _written(self) -> tuple[Any, list[pa.Array]]:
        """Return the state as a value of JSON, and the arrays that it names by number."""
        leaves: list[pa.Array] = []
        operations = []
        for one in self.operations:
            held = [
                _written(each, leaves, f"of {one.name}") for each in (one.seen, one.by, one.times)
            ]
            parts = (one.name, one.options, *held)
            operations.append(dict(zip(OPERATION, parts, strict=True)))
        schema = _written(self.schema, leaves, "of a source with such names")
        counts = {"rows": self.rows, "files": self.files, "ended": self.ended}
        shape = {"version": VERSION, "schema": schema, "operations": operations, "counts": counts}
        if self.fragments:
            columns = columns_of_fragments(self.fragments)
            shape["fragments"] = {"columns": columns, "part": self.part, "root": self.root}
        return shape, leaves

    def _of_pandas(self) -> State:
        """Return the state as that of frames of pandas."""
        if self.library is PANDAS:
            return self
        seen = [moved(one.seen, self.library, PANDAS) for one in self.operations]
        pairs = zip(self.operations, seen, strict=True)
        operations = tuple([replace(one, seen=each) for one, each in pairs])
        schema = moved_schema(self.schema, PANDAS)
        return replace(self, schema=schema, operations=operations, library=PANDAS)

    def start(
        self,
        schema: Schema,
        operations: Sequence[tuple[str, str]],
        library: Library,
        columns: Sequence[Sequence[Sequence[int]] | None],
    ) -> list[Any]:
        """Return what operations go on from.

        Parameters
        ----------
        schema : Schema
            Of the source.
        operations : sequence of pairs of str
            Names and options.
        library : Library
            Of the source's frames.
        columns : sequence
            For each operation what `moved` asks for.

        Raises
        ------
        ValueError
            If the state is of other columns or operations, naming the first difference.
        """
        of_others = self.library is not library
        _check_columns(moved_schema(self.schema, library) if of_others else self.schema, schema)
        if len(operations) != len(self.operations):
            known = _listed([one.name for one in self.operations])
            found = _listed([name for name, _ in operations])
            raise ValueError(f"state is of the operations {known}, and the stream has {found}")
        for one, (name, options) in zip(self.operations, operations, strict=True):
            if one.name != name:
                raise ValueError(f"state is of {one.name} where the stream has {name}")
            if one.options != options:
                raise ValueError(
                    f"state of {name} has other options: {one.options}, and the stream has {options}"
                )
        seen = [one.seen for one in self.operations]
        if not of_others:
            return seen
        pairs = zip(seen, columns, strict=True)
        return [moved(one, self.library, library, known) for one, known in pairs]


OPERATION = [field.name for field in fields(Operation)]


def _written(value: Any, leaves: list[pa.Array], whose: str) -> Any:
    try:
        return write_value(value, leaves)
    except (TypeError, pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise TypeError(f"state {whose} cannot be written: {error}") from error


def _newer(one: Operation, before: Any) -> Operation:
    """Return an operation without what it has seen that is older than a time."""
    seen, dtype = one.seen, one.times
    if dtype is None or not isinstance(seen, (RowArrays, Table)):
        return one
    least = _stored(seen.library, before, dtype)
    times = seen.times if isinstance(seen, RowArrays) else last_times(seen.states[0])
    return replace(one, seen=seen.take(seen.library.xp.flatnonzero(times >= least)))


def _stored(library: Library, time: Any, dtype: Any) -> Any:
    """Return the number that a column of times stores for a time."""
    is_number = isinstance(time, (int, float, np.number)) and not isinstance(time, bool)
    if is_number and library.is_number(dtype) and time == time:
        return time
    if not (is_number or library.is_number(dtype)):
        with suppress(TypeError):
            return library.stored_number(time, dtype)
    raise TypeError(f"before must be a time as {dtype} has them, found {shown(time)}")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "(none)"


def _check_columns(known: Schema, found: Schema) -> None:
    if not same_names(known.names, found.names):
        raise ValueError(
            f"state is of the columns {_listed([*map(str, known.names)])}, and the source has "
            f"{_listed([*map(str, found.names)])}"
        )
    for name, dtype, other in zip(known.names, known.dtypes, found.dtypes, strict=True):
        if dtype != other:
            raise ValueError(
                f"state is of column {name!r} with dtype {dtype}, and the source has {other}"
            )


def load_state(path: str | os.PathLike[str]) -> State:
    """Read a state that `State.save` has written; files of others may be read, as nothing in them is run.

    Parameters
    ----------
    path : path or URL

    Returns
    -------
    State

    Raises
    ------
    ValueError
        For a file that holds no state, was changed or cut off, or is of another version. It names the file.

    See Also
    --------
    stream : Goes on from a state.

    Examples
    --------
    >>> import os, tempfile, pandas as pd, dask_gpuscan
    >>> totals = dask_gpuscan.stream([pd.DataFrame({"sold": [4, 2]})]).gpuscan.cumsum()
    >>> totals.compute()["sold"].tolist()
    [4, 6]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     totals.state.save(os.path.join(folder, "totals.arrow"))
    ...     state = dask_gpuscan.load_state(os.path.join(folder, "totals.arrow"))
    >>> state.names, state.rows
    (['cumsum'], 2)
    """
    return state_in(read_whole(path), path)


def state_in(content: bytes, path: str | os.PathLike[str]) -> State:
    """Return the state that the content of a file, which messages call by its path, holds; raises as `load_state`."""
    name = shown_url(path)
    try:
        shape, leaves = unpacked(content)
        version = shape["version"]
        if version not in READ_VERSIONS:
            known = " and ".join(map(str, READ_VERSIONS))
            raise NotRead(f"is of version {shown(version)} of states, and {known} are read")
        return _read(shape, leaves)
    except NotRead as error:
        raise ValueError(f"{name} {error}") from error
    except Exception as error:  # whatever libraries say of values that no state has
        raise ValueError(f"{name} holds a state that is not understood: {error}") from error


def _read(shape: Any, leaves: list[Any]) -> State:
    """Return a state of the values of a file; raises an error of any kind if these are not those of one."""
    schema, counts = read_value(shape["schema"], leaves), shape["counts"]
    operations = [
        Operation(**{name: read_value(one[name], leaves) for name in OPERATION})
        for one in shape["operations"]
    ]
    require(isinstance(schema, Schema), "a schema")
    require(counts.keys() == {"rows", "files", "ended"}, "numbers of rows and files")
    require(is_count(counts["rows"]) and is_count(counts["files"]), "numbers of rows and files")
    require(type(counts["ended"]) is bool, "whether rows ended")
    for one in operations:
        require(isinstance(one.name, str) and isinstance(one.options, str), "an operation")
        require(isinstance(one.by, tuple), "names of keys")
        require(all(isinstance(name, Hashable) for name in one.by), "names of keys")
        if one.by and isinstance(one.seen, (RowArrays, Table)):
            require(len(one.by) == len(one.seen.keys or []), "a name for each key")
        require(one.times is None or is_dtype(one.times), "a dtype of times")
    files = shape.get("fragments", {"columns": [], "part": -1, "root": ""})
    fragments, part, root = fragments_of_columns(files["columns"]), files["part"], files["root"]
    require(part == -1 or (is_count(part) and bool(fragments)), "how far files were read")
    require(isinstance(root, str), "a folder")
    return State(schema, tuple(operations), **counts, fragments=fragments, part=part, root=root)
