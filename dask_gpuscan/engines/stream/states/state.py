"""States of streams, which can be written to files of Arrow and read again.

A file holds one record batch with one row: each column is an array of the state, as a list. The metadata of the schema
say where the arrays belong. Nothing in a file is ever run: it holds only the few kinds of values that `values` lists.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from ....frames.pandas.library import PANDAS
from ....frames.protocol import Library
from ....frames.registry import Schema
from ....kernels.late_dataclass import dataclass
from ....kernels.messages import shown
from ..filesystems import as_path, shown_url
from ..sources.fragments import Fragment, columns_of_fragments, fragments_of_columns
from ..whole_files import write_whole
from .matching import check_columns, check_operations, names_in
from .operations import Operation, read_operation, write_operation, write_part
from .records import is_count, moved, moved_schema, require
from .state_files import NotRead, packed, unpacked
from .values import read_value

VERSION = 4
"""The version of the files."""


@dataclass(frozen=True, repr=False)
class State:
    """What the operations of a stream keep of the rows so far; `stream` goes on from it.

    A state does not change. Its size depends on the number of keys of groups and of rows in windows, not on the number
    of rows that were read.

    Parameters
    ----------
    schema : Schema
        The schema of the source.
    operations : sequence of Operation
        In the order in which they are applied.
    rows : int
        The number of rows that were read.
    ended : bool, default False
        Whether open runs and groups were answered, as no rows were to follow.
    library : Library, optional
        The library of the frames that were read; pandas for files. Streams of other libraries can go on from it, too.
    fragments : tuple of Fragment
        The files that were read, in order.
    part : int, default -1
        The number of rows that were read of the last file; -1 for all.
    root : str
        The folder of the files.
    mark : tuple of int and str
        For a source without files: the number of last rows that identify it, and their digest.

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
    ended: bool = False
    library: Library = PANDAS
    fragments: tuple[Fragment, ...] = ()
    part: int = -1
    root: str = ""
    mark: tuple[int, str] = (0, "")

    def __repr__(self) -> str:
        return f"<State of {names_in(self.names)} after {self.rows} rows>"

    @property
    def names(self) -> list[str]:
        """The names of the operations that keep something."""
        return [one.name for one in self.operations if one.seen is not None]

    @property
    def nbytes(self) -> int:
        """The number of bytes of the arrays in the state."""
        return sum(leaf.nbytes for leaf in self._of_pandas()._written()[1])

    def keys(self) -> dict[str, Any]:
        """Return the keys in the state: a dict from the name of each operation on groups to an index.

        A second operation of the same name, and each later one, has a number, such as ``groupby-cumsum 2``.

        See Also
        --------
        expire : Drop old keys.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> totals = dask_gpuscan.stream([pd.DataFrame({"shop": ["a", "b", "a"], "sold": [4, 2, 1]})])
        >>> totals = totals.gpuscan.groupby("shop")["sold"].cumsum()
        >>> totals.compute().tolist()
        [4.0, 2.0, 5.0]
        >>> totals.state.keys()
        {'groupby-cumsum': Index(['a', 'b'], dtype='str', name='shop')}
        """
        found = [(title, one.keys()) for title, one in self._titled()]
        return {title: keys for title, keys in found if keys is not None}

    def _titled(self) -> list[tuple[str, Operation]]:
        """Return the operations that keep something, each with its title."""
        found, met = [], Counter[str]()
        for one in self.operations:
            if one.seen is not None:
                met[one.name] += 1
                found.append(
                    (f"{one.name} {met[one.name]}" if met[one.name] > 1 else one.name, one)
                )
        return found

    def to_pandas(self) -> dict[str, Any]:
        """Return the last answers: a dict from the name of each operation, as in `keys`, to a frame.

        - Scans of groups, such as `cumsum` and `ffill`: a row for each key with its last answer; for sessions also the
          time of the last row. Nulls do not change totals, and `exclusive` has no effect.
        - Scans without groups: one row.
        - Windows, `shift` and `diff`: the rows that are kept, with their keys and times.

        Columns have the names and dtypes of the answers; a column without a name is called "value". Fused scans of
        several columns have the answer for the last row, null if that row was left out. Open runs and buckets, as-of
        merges and rows that wait for later rows are not listed.

        See Also
        --------
        to_arrow : The same as Arrow tables.
        keys : Only the keys.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> totals = dask_gpuscan.stream([pd.DataFrame({"shop": ["a", "b", "a"], "sold": [4, 2, 1]})])
        >>> totals = totals.gpuscan.groupby("shop")["sold"].cumsum()
        >>> totals.compute().tolist()
        [4.0, 2.0, 5.0]
        >>> totals.state.to_pandas()["groupby-cumsum"]
          shop  sold
        0    a     5
        1    b     2
        """
        found = [(title, one.listed()) for title, one in self._of_pandas()._titled()]
        # copied, as the tables share memory with the state
        return {title: table.copy() for title, table in found if table is not None}

    def to_arrow(self) -> dict[str, pa.Table]:
        """Return the frames of `to_pandas` as Arrow tables."""
        tables = self.to_pandas().items()
        return {title: pa.Table.from_pandas(one, preserve_index=False) for title, one in tables}

    def combine(self, later: State) -> State:
        """Return the state of these rows and of the rows that follow, which another stream has read without a state.

        With it, several processes can each read a part of the rows. Integers, times and texts have the same bits as in
        one stream over all rows; sums of floats are added in another order.

        Parameters
        ----------
        later : State
            The state of the same operations on the same columns.

        Raises
        ------
        TypeError
            If `later` is not a State.
        ValueError
            If operations, options or columns differ; if the rows of a state have ended; if both have read a file, or
            the first has read a part of one; or if the states of an operation, which is named, cannot be joined: it
            waits for later rows, is an as-of merge, or has input that depends on earlier rows, such as a filter by a
            running total.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> def totals(sold):
        ...     found = dask_gpuscan.stream([pd.DataFrame({"sold": sold})]).gpuscan.cumsum()
        ...     found.compute()
        ...     return found.state
        >>> totals([4, 2]).combine(totals([1, 3])).to_pandas()["cumsum"]["sold"].tolist()
        [10]
        """
        if not isinstance(later, State):
            raise TypeError(f"later must be a State, found {shown(later)}")
        one, other = self, later
        if one.library is not other.library:
            one, other = one._of_pandas(), other._of_pandas()
        check_columns(one.schema, other.schema, "the later one")
        check_operations(
            one.operations, [(o.name, o.options) for o in other.operations], "the later one"
        )
        for state in (one, other):
            if state.ended:
                raise ValueError("state is of rows that ended; read them with ends=False")
        pairs = zip(one.operations, other.operations, strict=True)
        operations = tuple([first.joined(second) for first, second in pairs])
        twice = {file.path for file in one.fragments} & {file.path for file in other.fragments}
        if one.root == other.root and (twice or one.part >= 0):
            file = min(twice, default=one.fragments[-1].path)
            raise ValueError(f"both states have seen file {file!r}, or it was read in part")
        return replace(
            one,
            operations=operations,
            rows=one.rows + other.rows,
            fragments=one.fragments + other.fragments,
            part=other.part,
            mark=other.mark,
        )

    def expire(self, before: Any) -> State:
        """Return the state without entries older than a time, so that keys that do not come back take no memory.

        Sessions forget keys whose last event is older: if such a key comes back, its sessions are numbered from 0.
        Windows of time by keys forget older rows: answers stay the same if later windows do not reach before `before`.
        All other operations keep their states.

        Parameters
        ----------
        before : time or number
            A value that the column of times can hold.

        Raises
        ------
        TypeError
            If `before` is a time and the column has numbers, or the other way round.
        ValueError
            If no operation has sessions or windows of time by keys.

        See Also
        --------
        keys : The keys in a state.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> clicks = pd.DataFrame({"user": ["a", "b", "b"], "t": [0, 10, 90]})
        >>> numbers = dask_gpuscan.stream([clicks]).gpuscan.sessionize("t", by="user", gap=30)
        >>> numbers.compute().tolist()
        [0.0, 0.0, 1.0]
        >>> numbers.state.expire(50).keys()
        {'groupby-session': Index(['b'], dtype='str', name='user')}
        """
        if all(one.times is None for one in self.operations):
            raise ValueError(
                f"state of {names_in(self.names)} keeps nothing that gets old: no sessions or windows of time by keys"
            )
        return replace(self, operations=tuple([one.newer(before) for one in self.operations]))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to an Arrow IPC file, whole or not at all; only its user may read a local file.

        Parameters
        ----------
        path : path or URL
            Any path or URL that pyarrow or fsspec opens, such as ``s3://bucket/totals.arrow``.

        Raises
        ------
        TypeError
            If `path` is not a path, or if an operation, which is named, keeps values that a file cannot hold, such as
            Python objects.
        ValueError
            If a URL cannot be opened.
        """
        write_whole(as_path("path", path), self.content(), private=True)

    def content(self) -> bytes:
        """Return the content of the state's file."""
        return packed(*self._of_pandas()._written())

    def _written(self) -> tuple[Any, list[pa.Array]]:
        """Return the state as a JSON value, and the arrays that it refers to by number."""
        leaves: list[pa.Array] = []
        operations = [write_operation(one, leaves) for one in self.operations]
        schema = write_part(self.schema, leaves, "of a source with such names")
        counts = {"rows": self.rows, "files": 0, "ended": self.ended}
        shape = {"version": VERSION, "schema": schema, "operations": operations, "counts": counts}
        shape["mark"] = [*self.mark]
        if self.fragments:
            columns = columns_of_fragments(self.fragments)
            shape["fragments"] = {"columns": columns, "part": self.part, "root": self.root}
        return shape, leaves

    def _of_pandas(self) -> State:
        """Return the state with arrays of pandas."""
        if self.library is PANDAS:
            return self

        def move(value: Any) -> Any:
            return moved(value, self.library, PANDAS)

        operations = tuple(
            replace(one, seen=move(one.seen), meta=move(one.meta), table=move(one.table))
            for one in self.operations
        )
        schema = moved_schema(self.schema, PANDAS)
        return replace(self, schema=schema, operations=operations, library=PANDAS)

    def start(
        self,
        schema: Schema,
        operations: Sequence[tuple[str, str]],
        library: Library,
        columns: Sequence[Sequence[Sequence[int]] | None],
    ) -> list[Any]:
        """Return the states of the operations, for a source and a library.

        Parameters
        ----------
        schema : Schema
            The schema of the source.
        operations : sequence of pairs of str
            Names and options.
        library : Library
            The library of the source's frames.
        columns : sequence
            For each operation, the argument `columns` of `moved`.

        Raises
        ------
        ValueError
            If the state has other columns or operations; it names the first difference.
        """
        of_others = self.library is not library
        check_columns(moved_schema(self.schema, library) if of_others else self.schema, schema)
        check_operations(self.operations, operations, "the stream")
        seen = [one.seen for one in self.operations]
        if not of_others:
            return seen
        pairs = zip(seen, columns, strict=True)
        return [moved(one, self.library, library, known) for one, known in pairs]


def state_in(content: bytes, path: str | os.PathLike[str]) -> State:
    """Return the state in a file; raises a ValueError with the file's path if it holds none."""
    name = shown_url(path)
    try:
        shape, leaves = unpacked(content)
        version = shape["version"]
        if version != VERSION:
            raise NotRead(
                f"is of version {shown(version)} of states, and {VERSION} is read: begin anew, in a new directory or "
                f"table"
            )
        return _read(shape, leaves)
    except NotRead as error:
        raise ValueError(f"{name} {error}") from error
    except Exception as error:  # libraries raise errors of many types for values that no state has
        raise ValueError(f"{name} holds a state that is not understood: {error}") from error


def _read(shape: Any, leaves: list[Any]) -> State:
    """Return the state of a file's values; raises an error of any type if they are not those of a state."""
    schema, counts = read_value(shape["schema"], leaves), shape["counts"]
    operations = [read_operation(one, leaves) for one in shape["operations"]]
    require(isinstance(schema, Schema), "a schema")
    rows, ended = counts["rows"], counts["ended"]
    require(is_count(rows) and type(ended) is bool, "a number of rows, and whether they ended")
    files = shape.get("fragments", {"columns": [], "part": -1, "root": ""})
    fragments, part, root = fragments_of_columns(files["columns"]), files["part"], files["root"]
    require(part == -1 or (is_count(part) and bool(fragments)), "how far files were read")
    require(isinstance(root, str), "a folder")
    mark = tuple(shape.get("mark", (0, "")))
    require([type(one) for one in mark] == [int, str], "a mark")
    return State(
        schema, tuple(operations), rows, ended, fragments=fragments, part=part, root=root, mark=mark
    )
