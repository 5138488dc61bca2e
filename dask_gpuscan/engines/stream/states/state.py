"""States of streams: what their operations have seen, as values that can be written to files of Arrow and read again.

A file holds one record batch with one row: each column is an array of a state, as a list. The metadata of its schema
say what the arrays are parts of. Nothing in a file is ever run: values are of the few kinds that `values` lists.
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
    mark : tuple of int and str
        By how many rows, the last ones, those of a source without files are known again, and their digest.

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
        [4.0, 2.0, 5.0]
        >>> totals.state.keys()
        {'groupby-cumsum': Index(['a', 'b'], dtype='str', name='shop')}
        """
        found = [(title, one.keys()) for title, one in self._titled()]
        return {title: keys for title, keys in found if keys is not None}

    def _titled(self) -> list[tuple[str, Operation]]:
        """Return the operations that have seen something, each with its title."""
        found, met = [], Counter[str]()
        for one in self.operations:
            if one.seen is not None:
                met[one.name] += 1
                found.append(
                    (f"{one.name} {met[one.name]}" if met[one.name] > 1 else one.name, one)
                )
        return found

    def to_pandas(self) -> dict[str, Any]:
        """Return what operations would answer for no more rows: a frame for each, by the titles of `keys`.

        - Scans of groups, such as `cumsum` and `ffill`: a row for each key, with what was answered last for it; of
          sessions also the time of the last row. Nulls change no total, and `exclusive` leaves no row out.
        - Scans without groups: one row.
        - Windows, `shift` and `diff`: the rows that are kept, with their keys and times.

        Columns have the names and dtypes of the answers, "value" if they have none; fused scans of several columns have
        the answer for the last row, null if it was left out. Runs and buckets that are open, as-of merges and rows that
        wait for later ones are not listed.

        See Also
        --------
        to_arrow : The same as tables of Arrow.
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
        # the state goes on with the memory of the tables
        return {title: table.copy() for title, table in found if table is not None}

    def to_arrow(self) -> dict[str, pa.Table]:
        """Return what `to_pandas` returns, as tables of Arrow."""
        tables = self.to_pandas().items()
        return {title: pa.Table.from_pandas(one, preserve_index=False) for title, one in tables}

    def combine(self, later: State) -> State:
        """Return the state of all rows, given that of those that follow, whose stream began without a state.

        So several processes can each read a part of the rows. Integers, times and texts are those of one stream over
        all rows, bit for bit; sums of floats are added in another order.

        Parameters
        ----------
        later : State
            Of the same operations on the same columns.

        Raises
        ------
        TypeError
            For what is no state.
        ValueError
            If operations, options or columns differ; for a state of rows that ended, or of files that were written;
            and for operations whose states cannot be joined, naming the first: those that wait for later rows, as-of
            merges, and those on what depends on rows before, such as a filter by a running total.

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
        """Write the state to a file of Arrow IPC, whole or not at all; a local one is its user's alone.

        Parameters
        ----------
        path : path or URL
            Such as ``s3://bucket/totals.arrow``: of any file system that pyarrow or fsspec opens.

        Raises
        ------
        TypeError
            For what is no path, and for values that a file cannot hold, such as Python objects, naming the operation.
        ValueError
            For a URL that cannot be opened.
        """
        write_whole(as_path("path", path), self.content(), private=True)

    def content(self) -> bytes:
        """Return the content of its file."""
        return packed(*self._of_pandas()._written())

    def _written(self) -> tuple[Any, list[pa.Array]]:
        """Return the state as a value of JSON, and the arrays that it names by number."""
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
        """Return the state as that of frames of pandas."""
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
        check_columns(moved_schema(self.schema, library) if of_others else self.schema, schema)
        check_operations(self.operations, operations, "the stream")
        seen = [one.seen for one in self.operations]
        if not of_others:
            return seen
        pairs = zip(seen, columns, strict=True)
        return [moved(one, self.library, library, known) for one, known in pairs]


def state_in(content: bytes, path: str | os.PathLike[str]) -> State:
    """Return the state that a file holds, which messages call by its path; raises a ValueError if there is none."""
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
    except Exception as error:  # whatever libraries say of values that no state has
        raise ValueError(f"{name} holds a state that is not understood: {error}") from error


def _read(shape: Any, leaves: list[Any]) -> State:
    """Return a state of the values of a file; raises an error of any kind if these are not those of one."""
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
