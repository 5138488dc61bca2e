"""How old values are that fill nulls, in rows or in time: limits of fills, and lengths of gaps."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property
from typing import Any

import pandas as pd

from ...engines.run import engine_of, meta_of, methods_of
from ...frames.registry import column_of, library_of, names_of
from ...kernels.messages import shown
from ...kernels.scalars import is_integer
from ..arguments import check_column, check_duration


class Known:
    """Where the values of columns are known.

    Parameters
    ----------
    obj : frame or series
    groups : GroupBy, optional
        Groups of the rows, in which values are looked for.
    on : name, optional
        The column of times; by default the index, if `in_time`, or else the numbers of rows.
    in_time : bool
    """

    def __init__(self, obj: Any, groups: Any, on: Hashable, in_time: bool) -> None:
        meta = meta_of(obj)
        self.as_series = meta.ndim == 1 or (groups is not None and groups._as_series)
        self._unnamed = meta.ndim == 1 and meta.name is None
        self.obj = obj
        if meta.ndim == 1:
            self.obj = obj.to_frame(name="value" if self._unnamed else meta.name)
        self._groups, self._on = groups, on
        self.columns = names_of(meta_of(self.obj)) if groups is None else groups._columns()
        self._keys = [] if groups is None else list(groups._by.names)
        self._in_time = in_time
        if in_time:
            self._check_times()
        engine, names = engine_of(self.obj), names_of(meta_of(self.obj))
        needed = [*self._keys, *self.columns, on]
        self.obj = engine.read_once(engine.select(self.obj, [name in needed for name in names]))

    @cached_property
    def _numbers(self) -> Any:
        return None if self._in_time else self._asked(self.obj, False).row_number()

    def _check_times(self) -> None:
        meta, on = meta_of(self.obj), self._on
        if on is not None:
            check_column("on", on, names_of(meta))
        dtype = (library_of(meta).index_level(meta, 0) if on is None else column_of(meta, on)).dtype
        if dtype.kind not in "mM":
            where = "the index" if on is None else f"column {on!r}"
            raise TypeError(
                f"times are needed, found dtype {dtype} in {where}; name a column of times by on="
            )

    def _asked(self, rows: Any, chosen: bool = True) -> Any:
        """Return the methods of rows, or of their groups."""
        if self._groups is None:
            return methods_of(rows)
        keys, options = list(self._groups._by.columns), self._groups._options
        groups = methods_of(rows).groupby(keys, dropna=options.dropna, clustered=options.clustered)
        return groups[self.columns] if chosen else groups

    def marks(self, reverse: bool) -> Any:
        """Return, for each row and column, the time or the number of the row whose value is known last, or next."""
        given = self._keys, self.columns, self._on, self._numbers
        marks = engine_of(self.obj).map_partitions(self.obj, _marks, *given)
        asked = self._asked(marks)
        return asked.bfill() if reverse else asked.ffill()

    def before(self, function: Callable[..., Any], *given: Any) -> Any:
        """Return, for each row and column, the last value known before the row, of columns that a function makes."""
        engine, given = engine_of(self.obj), (self._keys, self.columns, *given)
        last = self._asked(engine.map_partitions(self.obj, function, *given)).ffill()
        return self._asked(engine.map_partitions(self.obj, _keyed, last, self._keys)).shift()

    def before_in_time(self) -> Any:
        """Return, for each row and column, the time of the last value that is known before the row."""
        return self.before(_marks, self._on, self._numbers)

    def map(self, function: Callable[..., Any], *given: Any) -> Any:
        """Apply a function to the rows, their times or numbers, and other frames; return a series for a series."""
        answer = engine_of(self.obj).map_partitions(
            self.obj, _with_times, function, self._on, self._numbers, self.columns, *given
        )
        if not self.as_series:
            return answer
        answer = answer[self.columns[0]]
        return answer.rename(None) if self._unnamed else answer


def _times(frame: Any, on: Hashable, numbers: Any) -> Any:
    if numbers is not None:
        return numbers.astype("float64")  # which hold nulls, whether there are any or not
    if on is not None:
        return frame[on]
    library = library_of(frame)
    return library.series(library.array(library.index_level(frame, 0)), library.index(frame))


def _marks(frame: Any, keys: Any, columns: Any, on: Hashable, numbers: Any) -> Any:
    times, found = _times(frame, on, numbers), frame[keys].copy()
    for name in columns:
        found[name] = times.where(frame[name].notna())
    return found


def _keyed(frame: Any, answers: Any, keys: Any) -> Any:
    found = frame[keys].copy()
    for name in names_of(answers):
        found[name] = answers[name]
    return found


def _with_times(
    frame: Any, function: Any, on: Hashable, numbers: Any, columns: Any, *given: Any
) -> Any:
    times, found = _times(frame, on, numbers), frame[columns].copy()
    for name in columns:
        found[name] = function(
            frame[name], times, *(g[name] if getattr(g, "ndim", 0) else g for g in given)
        )
    return found


def _within(own: Any, times: Any, filled: Any, marks: Any, limit: Any) -> Any:
    age = (times - marks).abs()
    return filled.where(own.notna() | (age <= limit))


def _age(own: Any, times: Any, marks: Any) -> Any:
    return times - marks


def _closed(own: Any, times: Any, filled: Any, before: Any, behind: Any, most: Any) -> Any:
    return filled.where(own.notna() | (behind - before <= most))


def fill_within(obj: Any, groups: Any, reverse: bool, limit: Any, on: Hashable) -> Any:
    """Fill nulls with values that are at most so far away in time."""
    accepted = "a positive integer, or a duration such as '10min'"
    limit = check_duration("limit", limit, accepted, pd.Timedelta(0))
    known = Known(obj, groups, on, True)
    asked = known._asked(known.obj)
    filled = asked.bfill() if reverse else asked.ffill()
    return known.map(_within, filled, known.marks(reverse), limit)


def fill_age(obj: Any, groups: Any, on: Hashable, in_time: bool) -> Any:
    """Return how old the value is that `ffill` gives."""
    known = Known(obj, groups, on, in_time)
    return known.map(_age, known.marks(False))


def close_gaps(obj: Any, groups: Any, filled: Any, most: Any) -> Any:
    """Return filled rows with null again in gaps that are longer, and before and behind all values."""
    in_time = not is_integer(most)
    if in_time:
        most = check_duration(
            "max_gap", most, "a positive integer, or a duration such as '3h'", pd.Timedelta(0)
        )
    elif most < 1:
        raise ValueError(f"max_gap must be a positive integer or a duration, found {shown(most)}")
    known = Known(obj, groups, None, in_time)
    filled = filled.to_frame(name=known.columns[0]) if meta_of(filled).ndim == 1 else filled
    return known.map(
        _closed, filled, known.marks(False), known.marks(True), most if in_time else most + 1
    )
