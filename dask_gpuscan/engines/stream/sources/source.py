"""Sources: batches in order as frames of one schema, after the rows of a state."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from copy import copy
from functools import reduce
from typing import Any

from ....frames.registry import (
    aligned,
    common_schema,
    is_rows,
    library_of,
    names_of,
    schema_of,
)
from ....kernels.late_dataclass import dataclass
from ....kernels.messages import shown
from ..progress import Size, size_of
from ..states.state import State
from ..threads import read_ahead
from .batches import Partitions
from .files import Files, Place
from .fragments import Comparison, Fragment
from .marks import NO_MARK, Mark, rows_behind


@dataclass(frozen=True)
class Format:
    """How batches of a source are converted to frames, and answers to the source's library."""

    accepts: Callable[[Any], bool]
    """Returns whether a batch has the type of the source's batches."""
    read: Callable[[Any], Any]
    """Converts a batch to a frame."""
    answer: Callable[[str, Any], Any]
    """Converts the answer of a method, which is named, to the source's library."""
    methods: Callable[[Any], Any]
    """Returns methods that answer in the source's library, given an accessor."""
    has_labels: bool = False
    """Whether rows have labels; otherwise they are numbered."""

    def write(self, batch: Any) -> Any:
        """Convert a batch of an answer to the source's library."""
        return self.answer("value", batch)


def _as_it_is(batch: Any) -> Any:
    return batch


def _answered(method: str, found: Any) -> Any:
    return found


FRAMES = Format(is_rows, _as_it_is, _answered, _as_it_is, has_labels=True)
"""The format of batches that are frames."""


@dataclass(frozen=True)
class Start:
    """Where a pass over a source begins.

    Parameters
    ----------
    label : int
        The number of the first row that is read.
    behind : int
        The number of rows to skip: of the first file, or of all rows of a source without files.
    skipped : int
        The number of rows of the source before the first one that is read.
    seen, rest : tuple of Fragment
        The files that were read before, and those to read now.
    comparison : Comparison
        How files differ from those that were read before.
    first : int, optional
        The position of the first file that was read before and differs.
    mark : tuple of int and str
        For a source without files, the mark of the rows to skip; see `mark_of`.
    """

    label: int = 0
    behind: int = 0
    skipped: int = 0
    seen: tuple[Fragment, ...] = ()
    rest: tuple[Fragment, ...] = ()
    comparison: Comparison = Comparison()
    first: int | None = None
    mark: Mark = NO_MARK


class Source:
    """Batches in order, all of one schema.

    Parameters
    ----------
    batches : iterable
        Frames or tables. An iterator can be read once.
    format_of : callable
        Returns the format, given the first batch.
    state : State, optional
        The state of the operations before the first batch.
    ends : bool, default True
        Whether no rows follow the last batch.
    """

    def __init__(
        self,
        batches: Iterable[Any],
        format_of: Callable[[Any], Format],
        state: State | None = None,
        ends: bool = True,
    ) -> None:
        self._batches = batches
        self.state, self.ends = state, ends
        self._begun: Iterator[Any] | None = None
        if isinstance(batches, Files | Partitions):
            first = batches.no_rows
        else:
            found = iter(batches)
            try:
                first = next(found)
            except StopIteration:
                why = "source has no batch, so that its columns are not known"
                raise ValueError(why) from None
            self._begun = _continued([first], found)
        self.format = format_of(first)
        """How batches and answers are converted."""
        self._check_kind(0, first)
        frame = self.format.read(first)
        self.meta: Any = library_of(frame).no_rows(frame)
        """A frame without rows."""
        self.schema = schema_of(self.meta)
        """The names and dtypes of the columns."""

    def __getstate__(self) -> dict[str, Any]:
        can_be_iterator = not isinstance(self._batches, Files | Partitions)
        if can_be_iterator and iter(self._batches) is self._batches:
            raise TypeError(
                "a stream of an iterator cannot be pickled, as it can be read once; give a list or files"
            )
        return {**self.__dict__, "_begun": None}  # batches are opened again

    def again(self) -> Source:
        """Return a source of the same batches without a state, for reading both at the same time."""
        found = copy(self)
        found.state = found._begun = None
        return found

    def size(self) -> Size | None:
        """Return the number of rows and bytes; None if it is not known before reading."""
        batches = self._batches
        if isinstance(batches, Files):
            return batches.size()
        if not isinstance(batches, (list, tuple)):
            return None
        return reduce(Size.plus, map(size_of, batches), Size())

    @property
    def collection(self) -> Any:
        """The Dask collection that the batches are partitions of; raises a TypeError for any other source."""
        if not isinstance(self._batches, Partitions):
            raise TypeError("the source of the stream must be a Dask collection")
        return self._batches.collection

    @property
    def files(self) -> Files | None:
        """The files of the batches; None for a source without files."""
        return self._batches if isinstance(self._batches, Files) else None

    @property
    def root(self) -> str:
        """The folder of the files."""
        return self.files.listing.root if self.files else ""

    def start(self, state: State | None = None, again: Collection[str] = ()) -> Start:
        """Return where a pass begins: after a state of this source, or after the source's own state.

        If the source's own state has read other files, all files of this source follow them. The files of `again` were
        read after the state, and are read again.
        """
        base = self.state
        known, state = 0 if base is None else base.rows, base if state is None else state
        rows = 0 if state is None else state.rows
        if self.files is None:
            if state is None:
                return Start()
            return Start(rows, rows - known, rows - known, state.fragments, mark=state.mark)
        seen, before = () if state is None else state.fragments, tuple[Fragment, ...]()
        part = -1 if state is None else state.part
        comparison = self.files.compare(seen, part >= 0, again)
        skipped = rows
        if base is not None and self._follows(base, comparison):
            skipped -= known
            before, seen = seen[: len(base.fragments)], seen[len(base.fragments) :]
            part = -1 if state is base else part
            comparison = self.files.compare(seen, part >= 0, again)
        kept, rest = before + comparison.known, comparison.rest
        if part >= 0:
            kept, rest = kept[:-1], kept[-1:] + rest
        first = None if comparison.first is None else len(before) + comparison.first
        return Start(rows, max(part, 0), skipped, kept, rest, comparison, first)

    def goes_on(self, state: State) -> bool:
        """Return whether a state has read files of this source."""
        if self.files is None or not state.fragments:
            return False
        return not self._follows(state, self.files.compare(state.fragments))

    def _follows(self, base: State, comparison: Comparison) -> bool:
        """Return whether the files of the source are all different from those that a state has read."""
        facts, known = comparison.facts, {one.path: one for one in base.fragments}
        if base.root == self.root:
            return known.keys().isdisjoint([*facts.seen, *facts.changed])
        seen = {one.path: one for one in comparison.known if one.path in facts.seen}
        both = [(known[path], one) for path, one in seen.items() if path in known]
        # the folder was moved if a file is the same, also in its time: other folders may have files of equal bytes
        return all(before.modified != one.modified for before, one in both)

    def frames(
        self, start: Start, columns: Sequence[Any] | None = None, join: bool = True
    ) -> Iterator[tuple[Any, Place | None]]:
        """Yield the batches as frames, each with its place; of files, only `columns` if they are given.

        Short files are joined, unless `join` is False.

        Raises
        ------
        ValueError
            If a batch, which is named, has other columns, or if there are fewer rows than were read before.
        """
        meta = self.meta
        if self.files is not None:
            meta = meta if columns is None else meta[list(columns)]
            found = self.files.batches(start.rest, start.behind, columns, join)
            yield from self._read(read_ahead(found), meta, start.label)
            return
        behind = start.behind
        pairs = ((batch, None) for batch in self._opened())
        frames = (frame for frame, _ in self._read(pairs, meta, start.label - behind))
        yield from ((frame, None) for frame in rows_behind(frames, behind, start.mark))

    def _read(
        self, batches: Iterable[tuple[Any, Place | None]], meta: Any, start: int
    ) -> Iterator[tuple[Any, Place | None]]:
        """Yield batches as frames with the columns of `meta`; rows without labels are numbered from `start`."""
        names, schema = names_of(meta) if meta.ndim == 2 else None, schema_of(meta)
        for number, (batch, place) in enumerate(batches):
            self._check_kind(number, batch)
            frame = self.format.read(batch)
            try:
                frame = aligned(frame, names)
                common_schema([schema, schema_of(frame)])
            except ValueError as error:
                if place is None:
                    raise ValueError(f"batch {number}: {error}") from error
                is_cast = self.files is not None and self.files.schema is not None
                way_out = "" if is_cast else "; schema= says what all files are cast to"
                raise ValueError(f"file {place.fragment.path!r}: {error}{way_out}") from error
            if not self.format.has_labels:
                stop = start + len(frame)
                frame.index = library_of(frame).range_index(start, stop)
                start = stop
            yield frame, place

    def _check_kind(self, number: int, batch: Any) -> None:
        if not self.format.accepts(batch):
            raise TypeError(
                f"batch {number} must be a frame or a table, and of the kind of the first one; found {shown(batch)}"
            )

    def _opened(self) -> Iterator[Any]:
        """Return an iterator over the batches: at first the one that was opened with the source, later a new one."""
        if self._begun is not None:
            begun, self._begun = self._begun, None
            return begun
        batches: Iterator[Any] = iter(self._batches)
        if batches is self._batches:
            raise ValueError(
                "source is an iterator, whose batches were read before; give a list or files to read it twice"
            )
        return batches


def _continued(first: list[Any], others: Iterator[Any]) -> Iterator[Any]:
    """Yield the only item of a list, without keeping it in memory, and then the others."""
    yield first.pop()
    yield from others
