"""Sources: batches in order as frames of one schema, behind those that a state has seen."""

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
    """How the batches of a source are read as frames, and what answers become."""

    accepts: Callable[[Any], bool]
    """Return whether a batch is of the source's kind."""
    read: Callable[[Any], Any]
    """Return a batch as a frame."""
    answer: Callable[[str, Any], Any]
    """Return what a method, by its name, has answered as the source's library has it."""
    methods: Callable[[Any], Any]
    """Return methods whose answers are as the source's library has them."""
    has_labels: bool = False
    """Whether rows have labels; others are numbered."""

    def write(self, batch: Any) -> Any:
        """Return a batch of an answer as the source's library has it."""
        return self.answer("value", batch)


def _as_it_is(batch: Any) -> Any:
    return batch


def _answered(method: str, found: Any) -> Any:
    return found


FRAMES = Format(is_rows, _as_it_is, _answered, _as_it_is, has_labels=True)
"""Of batches that are frames."""


@dataclass(frozen=True)
class Start:
    """Where a pass over a source begins.

    Parameters
    ----------
    label : int
        Number of the first row that is read.
    behind : int
        How many rows are left out: of the first file, or of all.
    skipped : int
        How many rows of the source lie ahead of the first one.
    seen, rest : tuple of Fragment
        Files that were read before, and those that are read now.
    comparison : Comparison
        How files differ from those that were read before.
    first : int, optional
        Position, among those that were read before, of the first one that differs.
    mark : tuple of int and str
        What `mark_of` says of the rows that are left out, where there are no files.
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
        Of frames, or of tables. An iterator can be read once.
    format_of : callable
        Returns the format of the first batch.
    state : State, optional
        What operations had seen before the first batch.
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
        """How batches are read, and answers written."""
        self._check_kind(0, first)
        frame = self.format.read(first)
        self.meta: Any = library_of(frame).no_rows(frame)
        """A frame without rows."""
        self.schema = schema_of(self.meta)
        """Names and dtypes of the columns."""

    def __getstate__(self) -> dict[str, Any]:
        can_be_iterator = not isinstance(self._batches, Files | Partitions)
        if can_be_iterator and iter(self._batches) is self._batches:
            raise TypeError(
                "a stream of an iterator cannot be pickled, as it can be read once; give a list or files"
            )
        return {**self.__dict__, "_begun": None}  # it is opened again

    def again(self) -> Source:
        """Return the same batches, behind no state, to be read beside these."""
        found = copy(self)
        found.state = found._begun = None
        return found

    def size(self) -> Size | None:
        """Return how many rows there are, and how many bytes these take; None if that is not known before."""
        batches = self._batches
        if isinstance(batches, Files):
            return batches.size()
        if not isinstance(batches, (list, tuple)):
            return None
        return reduce(Size.plus, map(size_of, batches), Size())

    @property
    def collection(self) -> Any:
        """The Dask collection whose partitions are the batches; raises a TypeError if there is none."""
        if not isinstance(self._batches, Partitions):
            raise TypeError("the source of the stream must be a Dask collection")
        return self._batches.collection

    @property
    def files(self) -> Files | None:
        """The files that batches come from; None if they come from elsewhere."""
        return self._batches if isinstance(self._batches, Files) else None

    @property
    def root(self) -> str:
        """The folder of its files."""
        return self.files.listing.root if self.files else ""

    def start(self, state: State | None = None, again: Collection[str] = ()) -> Start:
        """Return where a pass begins: behind what a state of this source has seen, or behind the source's own state.

        A source of files none of which the source's own state has seen follows what that has seen. The files of
        `again` were read behind what the state has seen, and are read again.
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
        """Return whether a state has seen some of the files of the source."""
        if self.files is None or not state.fragments:
            return False
        return not self._follows(state, self.files.compare(state.fragments))

    def _follows(self, base: State, comparison: Comparison) -> bool:
        """Return whether files are others than those that the source's own state has seen."""
        facts, known = comparison.facts, {one.path: one for one in base.fragments}
        if base.root == self.root:
            return known.keys().isdisjoint([*facts.seen, *facts.changed])
        seen = {one.path: one for one in comparison.known if one.path in facts.seen}
        both = [(known[path], one) for path, one in seen.items() if path in known]
        # the folder was moved if one is the same; a file of another one may have the same name and bytes
        return all(before.modified != one.modified for before, one in both)

    def frames(
        self, start: Start, columns: Sequence[Any] | None = None, join: bool = True
    ) -> Iterator[tuple[Any, Place | None]]:
        """Yield the batches as frames with the place behind each; of files, only some columns if these are given.

        Short files are joined, unless `join` is False.

        Raises
        ------
        ValueError
            For a batch with other columns, naming it, and for fewer rows.
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
        """Yield batches as frames, which have the columns of `meta`; rows without labels are numbered from `start`."""
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
        """Return the batches: those of which the first was read when the source was opened, or once more."""
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
    """Yield the one item of a list, which is not held after that, and others."""
    yield first.pop()
    yield from others
