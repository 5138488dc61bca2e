"""What ``groupby`` is given as keys, made into names: keys that have none become columns of the rows."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from ...engines.run import engine_of, meta_of
from ...frames.keys import By, check_by
from ...frames.messages import ColumnError
from ...frames.registry import library_of, names_of, unused_name
from ...kernels.messages import name_list, shown
from ..arguments import is_integer


@dataclass(frozen=True)
class Grouping:
    """Rows, and their keys by name."""

    rows: Any
    """The rows as the caller gave them."""
    obj: Any
    """The rows with a column for each key that has no name."""
    by: By
    titles: tuple[Hashable, ...]
    """The names of keys in answers."""

    @property
    def of_series(self) -> bool:
        """Whether the rows are a series that became a frame."""
        return bool(meta_of(self.rows).ndim < meta_of(self.obj).ndim)

    @property
    def without_name(self) -> bool:
        """Whether the rows are a series without a name, which has one in a frame."""
        return self.of_series and meta_of(self.rows).name is None

    @property
    def as_given(self) -> bool:
        """Whether keys have the names that they have in answers."""
        return self.titles == self.by.columns


def grouping_of(obj: Any, by: Any, level: Any) -> Grouping:
    """Return rows with their keys by name.

    Parameters
    ----------
    obj : frame or series
    by, level : object
        As for `Gpuscan.groupby`: one of them.

    Raises
    ------
    TypeError, ValueError
        If neither or both are given, and for what is no key.
    """
    if (by is None) == (level is None):
        raise TypeError("groupby takes either by, the keys, or level, levels of the index")
    if level is None:
        found = check_by(meta_of(obj), by)
        return Grouping(obj, obj, found, found.columns)
    names = library_of(meta_of(obj)).index_names(meta_of(obj))
    levels = level if isinstance(level, (list, tuple)) else [level]
    return _by_levels(obj, [_place(names, each) for each in levels])


def _place(names: Sequence[Hashable], level: Any) -> int:
    """Return the number of a level of the index, given as its number or name."""
    if level in names and level is not None:
        if names.count(level) > 1:
            raise ValueError(f"level names {shown(level)}, which is there twice; give its number")
        return names.index(level)
    if is_integer(level):
        if -len(names) <= level < len(names):
            return int(level) % len(names)
        raise ValueError(
            f"level must be below {len(names)}, the levels of the index, found {level}"
        )
    known = [name for name in names if name is not None]
    of = f"one of {name_list(known)} or a number" if known else "a number"
    raise ColumnError(f"level must be {of}, found {shown(level)}")


def _by_levels(obj: Any, places: Sequence[int]) -> Grouping:
    """Return rows grouped by levels of their index: those that names do not mean become columns."""
    meta = meta_of(obj)
    names = library_of(meta).index_names(meta)
    columns = [] if meta.ndim == 1 else names_of(meta)
    if not places or len(set(places)) < len(places):
        raise ValueError(f"level must name levels of the index, each once, found {list(places)}")
    keys = [
        names[i] if names.count(names[i]) == 1 and names[i] not in (None, *columns) else _Level(i)
        for i in places
    ]
    return _with_columns(obj, keys, tuple(names[i] for i in places))


@dataclass(frozen=True)
class _Level:
    """A key: a level of the index by its number."""

    place: int

    def column(self, obj: Any) -> Any:
        """Return the key of each row as a series of the rows' engine."""
        return engine_of(obj).map_partitions(obj, _level, self.place)


def _level(frame: Any, place: int) -> Any:
    library = library_of(frame)
    return library.series(library.array(library.index_level(frame, place)), library.index(frame))


def _with_columns(obj: Any, keys: Sequence[Any], titles: tuple[Hashable, ...]) -> Grouping:
    """Return rows with their keys, each a name or what makes a column."""
    if not any(isinstance(key, _Level) for key in keys):
        return Grouping(obj, obj, check_by(meta_of(obj), list(keys)), titles)
    frame = _frame_of(obj)
    found = []
    for key in keys:
        if isinstance(key, _Level):
            title = unused_name("key", names_of(meta_of(frame)))
            frame = engine_of(frame).with_column(frame, key.column(obj), title)
            key = names_of(meta_of(frame))[-1]  # a tuple among columns of several levels
        found.append(key)
    return Grouping(obj, frame, check_by(meta_of(frame), found), titles)


def _frame_of(obj: Any) -> Any:
    if meta_of(obj).ndim == 2:
        return obj
    return obj.to_frame()


def without_name(series: Any) -> Any:
    """Return a series without its name."""
    out = series.copy(deep=False)
    out.name = None
    return out


def with_key_names(frame: Any, titles: Sequence[Hashable]) -> Any:
    """Return an answer of groups whose first levels of the index have these names."""
    library = library_of(frame)
    names = library.index_names(frame)
    levels = [library.array(library.index_level(frame, i)) for i in range(len(names))]
    out = frame.copy(deep=False)
    out.index = library.key_index(levels, [*titles, *names[len(titles) :]])
    return out
