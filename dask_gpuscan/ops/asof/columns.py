"""The columns of an as-of merge: those that each side is matched on, and where columns of the answer come from."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

from ...frames.registry import library_of
from ...frames.types import Column, Frame
from ...kernels.late_dataclass import dataclass

LEFT, RIGHT, KEY = "left", "right", "key"
"""Where a column of the answer comes from: a side, or the keys of the left one."""


@dataclass(frozen=True)
class AsOfSide:
    """The columns that a side is matched on."""

    name: str
    """"left" or "right", for messages."""
    on: Hashable
    """The column whose values are ordered, if that is not the index."""
    is_index: bool
    by: tuple[Hashable, ...]
    """Columns whose values are equal where rows match."""

    def on_column(self, frame: Frame) -> Column:
        """Return the column, or the index, whose values are ordered."""
        library = library_of(frame)
        if self.is_index:
            return library.index_level(frame, 0)
        return library.column(frame, self.on)

    def by_columns(self, frame: Frame) -> list[Column]:
        """Return the columns whose values are equal where rows match."""
        return [library_of(frame).column(frame, name) for name in self.by]

    def columns(self, frame: Frame) -> list[Column]:
        """Return all columns that the side is matched on, in the order of `names`."""
        return [*self.by_columns(frame), self.on_column(frame)]

    @property
    def names(self) -> list[Hashable]:
        """The names of these columns; None is the index."""
        return [*self.by, None if self.is_index else self.on]

    @property
    def needs(self) -> list[Hashable]:
        """The names of those that are columns."""
        return [*self.by, *([] if self.is_index else [self.on])]


@dataclass(frozen=True)
class SideSource:
    """Where a column of the answer comes from."""

    side: str
    """`LEFT`, `RIGHT` or `KEY`."""
    number: int
    """The number of the column of the side, or of the key."""
    key: int | None = None
    """The key of the left side that replaces it if any row has no match, as in pandas."""


@dataclass(frozen=True)
class AsOfPlan:
    """The columns of the answer, and whether it has the index of the left side."""

    names: tuple[Hashable, ...]
    sources: tuple[SideSource, ...]
    keeps_index: bool

    def needed(self, columns: Sequence[Hashable], side: str, of: AsOfSide) -> list[int]:
        """Return which columns of a side are for the answer, or for its keys."""
        used = {s.number for s in self.sources if s.side == side}
        return [i for i, name in enumerate(columns) if i in used or name in of.needs]

    def chosen(self, names: Sequence[Hashable]) -> AsOfPlan:
        """Return the plan of some columns of the answer."""
        kept = [i for i, name in enumerate(self.names) if name in names]
        sources = tuple(self.sources[i] for i in kept)
        return replace(self, names=tuple(self.names[i] for i in kept), sources=sources)

    def renumbered(self, side: str, kept: Sequence[int]) -> AsOfPlan:
        """Return the plan for a side that has only some of its columns left."""
        sources = tuple(
            replace(s, number=kept.index(s.number)) if s.side == side else s for s in self.sources
        )
        return replace(self, sources=sources)


def plan_of(
    left: Frame, right: Frame, sides: tuple[AsOfSide, AsOfSide], names: Sequence[Hashable]
) -> AsOfPlan:
    """Return the columns of the answer for two frames.

    Parameters
    ----------
    left, right : DataFrame
        Frames with the columns of the sides; their rows do not matter.
    sides : pair of AsOfSide
    names : sequence
        Of the columns of both sides with suffixes, without those of the right one that are `dropped`.

    Notes
    -----
    Keys that have no name, or one name on both sides, are further columns if neither side has a column of their name.
    A column of the right side that has their name holds the key if any row has no match.
    """
    of_left, of_right = sides
    known = [library_of(f).names(f) for f in (left, right)]
    pairs = list(zip(of_left.names, of_right.names, strict=True))
    named, gone = list(names), dropped(sides)
    sources = [SideSource(LEFT, i) for i in range(len(known[0]))]
    sources += [SideSource(RIGHT, i) for i, name in enumerate(known[1]) if name not in gone]
    (index_name,) = library_of(left).index_names(left)[:1]
    both = of_left.is_index and of_right.is_index
    for i, (a, b) in enumerate(pairs[:-1] if both else pairs):
        if isinstance(a, str) and isinstance(b, str) and a != b:
            continue
        name = a
        if a is None:
            name = index_name if of_left.by else b
        if name in named:
            if name not in known[0]:
                at = named.index(name)
                sources[at] = replace(sources[at], key=i)
        elif name is None or name != index_name:
            sources.insert(i, SideSource(KEY, i))
            named.insert(i, name or f"key_{i}")
    keeps_index = of_left.is_index or of_right.is_index
    return AsOfPlan(tuple(named), tuple(sources), keeps_index)


def dropped(sides: tuple[AsOfSide, AsOfSide]) -> list[Hashable]:
    """Return the names of the keys that are one column of the answer: those that have one name on both sides."""
    pairs = zip(*(side.names for side in sides), strict=True)
    return [a for a, b in pairs if a is not None and a == b]
