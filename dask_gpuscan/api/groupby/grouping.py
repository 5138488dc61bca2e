"""The keys of ``groupby`` as names: keys that have no name become columns of the rows."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import pandas as pd
from pandas.tseries.offsets import Day, Tick

from ...engines.run import engine_of, meta_of
from ...frames.keys import check_by, is_name
from ...frames.messages import ColumnError
from ...frames.registry import library_of, names_of, unused_name
from ...kernels.late_dataclass import dataclass
from ...kernels.messages import name_list, shown
from ...kernels.scalars import is_integer
from ...ops.time.buckets import fixed_width
from ...ops.time.time_column import zone_of
from ..arguments import check_column
from .columns import Grouping


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
        If neither or both are given, and for anything that is not a key.
    """
    if (by is None) == (level is None):
        raise TypeError("groupby takes either by, the keys, or level, levels of the index")
    meta = meta_of(obj)
    index_names = library_of(meta).index_names(meta)
    if level is not None:
        levels = level if isinstance(level, (list, tuple)) else [level]
        places = [_place(index_names, each) for each in levels]
        if not places or len(set(places)) < len(places):
            raise ValueError(
                f"level must name levels of the index, each once, found {shown(level)}"
            )
        return _grouping(obj, [_key_of_level(meta, place) for place in places])
    columns = [] if meta.ndim == 1 else names_of(meta)
    keys = list(by) if isinstance(by, (list, tuple)) and not _is_column(by, columns) else [by]
    if all(_is_column(key, columns) or not _makes_column(key) for key in keys):
        return Grouping.by_names(obj, by)
    if len(keys) == 1 and getattr(keys[0], "freq", None) is not None and _is_grouper(keys[0]):
        raise ValueError(
            f"Grouper of {shown(keys[0].key)} alone makes buckets of time; use resample(rule, on=column), or where "
            f"each row has an answer, assign the start of its bucket as a column, and group by that"
        )
    return _grouping(obj, [_key_of(obj, key, columns) for key in keys])


def _is_column(key: Any, columns: Sequence[Hashable]) -> bool:
    return is_name(key) and key in columns


def _is_grouper(key: Any) -> bool:
    return isinstance(key, pd.Grouper)


def _makes_column(key: Any) -> bool:
    """Return whether a key is not a name, but values for the rows, or makes these."""
    return callable(key) or _is_grouper(key) or getattr(key, "ndim", 0) == 1


def _place(names: Sequence[Hashable], level: Any) -> int:
    """Return the number of a level of the index, given as its number or name."""
    if level is not None and is_name(level) and level in names:
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


@dataclass(frozen=True)
class _Key:
    """A key, and its name in answers."""

    title: Hashable
    name: Hashable = None
    """The name of a column or level."""
    column: Callable[[Any], Any] | None = None
    """Returns the key of each row of the rows; None for a key that has a name."""
    by_label: bool = False
    """Whether its keys have the labels of the rows."""
    of: Hashable = None
    """The name of the column that it is made of, which answers leave out, too."""


def _key_of_level(meta: Any, place: int) -> _Key:
    names = library_of(meta).index_names(meta)
    columns = [] if meta.ndim == 1 else names_of(meta)
    name = names[place]
    if name is not None and names.count(name) == 1 and name not in columns:
        return _Key(name, name)
    return _Key(name, column=lambda obj: engine_of(obj).map_partitions(obj, _level, place))


def _level(frame: Any, place: int) -> Any:
    library = library_of(frame)
    return library.series(library.array(library.index_level(frame, place)), library.index(frame))


def _key_of(obj: Any, key: Any, columns: Sequence[Hashable]) -> _Key:
    """Return a key, however it is given."""
    if _is_column(key, columns) or not _makes_column(key):
        return _Key(key, key)
    if _is_grouper(key):
        return _key_of_grouper(obj, key)
    if callable(key):
        made = engine_of(obj).map_partitions(obj, _of_labels, key, typed_by_rows=True)
        return _Key(meta_of(made).name, column=lambda _: made)
    if isinstance(key, pd.MultiIndex):
        key = key.to_flat_index()
    has_labels = hasattr(key, "index") and not isinstance(key, pd.Index)
    key = engine_of(key).accepted(key) if has_labels else key
    title = getattr(key, "name", None)
    is_its_name = _is_column(title, columns) and columns.count(title) == 1
    if is_its_name and type(obj[title]) is type(key) and engine_of(key).is_column(obj, title, key):
        return _Key(title, title)  # a column of the frame, which answers leave out
    if not has_labels:
        return _Key(title, column=lambda rows: engine_of(rows).as_series(meta_of(rows), key))
    return _Key(title, column=lambda _: key, by_label=True)


def _of_labels(frame: Any, function: Any) -> Any:
    """Return what a function returns for each label of the index."""
    index = frame.index
    index = index.to_pandas() if hasattr(index, "to_pandas") else index
    keys = index.map(function)  # pandas makes levels without a name from tuples
    series = engine_of(frame).as_series(frame, keys.to_flat_index().array)
    series.index = frame.index
    series.name = None if keys.nlevels > 1 else keys.name
    return series


def _key_of_grouper(obj: Any, grouper: pd.Grouper) -> _Key:
    meta = meta_of(obj)
    if grouper.freq is None and grouper.key is None and grouper.level is not None:
        return _key_of_level(meta, _place(library_of(meta).index_names(meta), grouper.level))
    if grouper.key is None:
        raise ValueError(f"{grouper!r} must have a key, the name of a column")
    if grouper.freq is None:
        return _Key(grouper.key, grouper.key)
    check_column("key", grouper.key, names_of(meta))
    if (
        (grouper.closed, grouper.label, grouper.origin, grouper.offset)
        != ("left", "left", "start_day", None)
        or not isinstance(grouper.freq, (Tick, Day))
        or pd.Timedelta("1D") % fixed_width(grouper.freq)
        or getattr(meta[grouper.key].dtype, "kind", None) != "M"
        or zone_of(meta[grouper.key].dtype) is not None
    ):
        raise ValueError(
            f"Grouper of {shown(grouper.key)}: buckets among other keys are durations that divide a day, counted from "
            f"midnight, of datetimes without a zone; assign the start of each bucket as a column, and group by that"
        )
    width = grouper.freq.freqstr  # cuDF takes it as text
    return _Key(
        grouper.key,
        column=lambda rows: engine_of(rows).map_partitions(rows[grouper.key], _floors, width),
        of=grouper.key,
    )


def _floors(times: Any, width: str) -> Any:
    return times.dt.floor(width)


def _grouping(obj: Any, keys: Sequence[_Key]) -> Grouping:
    """Return rows with their keys: those without a name become columns."""
    titles = tuple(key.title for key in keys)
    if all(key.column is None for key in keys):
        return Grouping(obj, obj, check_by(meta_of(obj), [key.name for key in keys]), titles)
    frame, found = _frame_of(obj), []
    for key in keys:
        name = key.name
        if key.column is not None:
            names = names_of(meta_of(frame))
            name = unused_name("key", names)
            frame = engine_of(frame).align_columns(
                frame, [key.column(obj)], [*names, name], "a key of groupby", key.by_label
            )
        found.append(name)
    hidden = tuple(key.of for key in keys if key.of is not None)
    return Grouping(obj, frame, check_by(meta_of(frame), found), titles, hidden)


def _frame_of(obj: Any) -> Any:
    if meta_of(obj).ndim == 2:
        return obj
    return obj.to_frame()
