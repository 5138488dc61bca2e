"""The methods of ``.gpuscan`` for intervals: which are open where, and which overlap.

Each interval is two events, its start and its end. In the order of their positions, a running sum of +1 and -1 is the
number of intervals that are open: overlapping intervals are a stretch where it is not 0.
"""

from __future__ import annotations

import contextlib
from collections.abc import Hashable
from math import inf
from typing import Any, Generic

import pandas as pd

from ...engines.run import engine_of, meta_of, methods_of
from ...frames.keys import By, any_null, check_by
from ...frames.registry import (
    choose_columns,
    column_of,
    library_of,
    names_of,
    stored_numbers,
    unused_name,
)
from ...kernels.messages import shown
from ...kernels.scalars import is_number
from ..arguments import check_column, check_duration
from ..types import Duration, FrameT, Methods, Names, Obj, SeriesT


class IntervalMethods(Methods[Obj, SeriesT, FrameT]):
    """The part of `Gpuscan` that treats rows as intervals."""

    def intervals(
        self, start: Hashable, end: Hashable, by: Names | None = None
    ) -> Intervals[FrameT]:
        """Return rows as intervals, in any order, to be merged or counted.

        Parameters
        ----------
        start, end : name
            The columns of the first position of each interval, and of the first position after it: of one dtype,
            numbers or times. Rows where one of them is null are left out.
        by : name or list of names, optional
            Only intervals with equal keys overlap. Rows with null keys are left out.

        Returns
        -------
        Intervals

        Raises
        ------
        TypeError
            For a Series, and for columns that hold neither numbers nor times, or not the same.
        ValueError
            For unknown columns. At compute time, for intervals that end before they start.

        See Also
        --------
        sessions : Events that follow each other within a gap.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> stays = pd.DataFrame({"room": list("aba"), "since": [9, 1, 2], "until": [12, 6, 10]})
        >>> stays.gpuscan.intervals("since", "until", by="room").merge()
          room  since  until  count
        0    a      2     12      2
        1    b      1      6      1
        """
        meta = meta_of(self._obj)
        if meta.ndim == 1:
            raise TypeError("intervals need a DataFrame, found a Series")
        if meta.columns.nlevels > 1:
            raise TypeError("intervals need columns of one level, found several; rename them first")
        known, library = names_of(meta), library_of(meta)
        for argument, name in (("start", start), ("end", end)):
            check_column(argument, name, known)
        first, last = (column_of(meta, name).dtype for name in (start, end))
        is_time = first.kind in "mM"
        if library.layout(first) is None or not (is_time or library.is_number(first)):
            raise TypeError(f"{start!r} must be a column of numbers or times, found dtype {first}")
        if first != last:
            raise TypeError(
                f"{start!r} and {end!r} must have one dtype, found {first} and {last}; cast one with astype"
            )
        keys = By(()) if by is None else check_by(meta, by)
        if len({start, end, *keys.columns}) < 2 + len(keys.columns):
            raise ValueError(
                f"start, end and by must be different columns, found {start!r}, {end!r}, {by!r}"
            )
        return Intervals(self._obj, start, end, keys, first)


class Intervals(Generic[FrameT]):
    """Rows as intervals, as `Gpuscan.intervals` returns them."""

    def __init__(self, obj: Any, start: Any, end: Any, by: By, dtype: Any) -> None:
        self._obj, self._start, self._end, self._by, self._dtype = obj, start, end, by, dtype

    def __repr__(self) -> str:
        return f"<gpuscan of intervals from {self._start!r} to {self._end!r}>"

    def merge(self, gap: Duration | float = 0) -> FrameT:
        """Return the intervals that remain if those which overlap or touch are joined.

        Parameters
        ----------
        gap : number or duration, default 0
            Intervals that are at most this far apart are joined, too.

        Returns
        -------
        DataFrame
            The keys, start, end and ``count``, the number of intervals that were joined, in the order of the keys and
            positions, with a default index.

        Raises
        ------
        ValueError
            For a negative gap, or one of another kind than the positions.

        See Also
        --------
        depth : How many intervals are open where.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> shifts = pd.DataFrame({"since": [9, 1, 4, 13], "until": [12, 5, 8, 15]})
        >>> shifts.gpuscan.intervals("since", "until").merge(gap=1)
           since  until  count
        0      1     15      4
        """
        step = self._step(gap)
        positions = self._positions("count", step)
        engine, columns = engine_of(positions), names_of(meta_of(positions))
        number = unused_name("number", columns)
        numbers = methods_of(engine.map_partitions(positions, _is_first)).cumsum()
        numbered = engine.with_column(positions, numbers, number)
        groups = methods_of(numbered).groupby([*self._by.columns, number], clustered=True)
        places = {self._end: (self._start, "last"), "count": (columns[-2], "sum")}
        table = groups._aggregated(None, {self._start: (self._start, "first"), **places})
        table = methods_of(table).reset_index()
        names = [*self._by.columns, self._start, *places]
        return engine.map_partitions(table, _with_ends, names, self._end, step)

    def depth(self) -> FrameT:
        """Return how many intervals are open, for each stretch of positions with at least one.

        Returns
        -------
        DataFrame
            The keys, start, end and ``depth`` of each stretch, in the order of the keys and positions, with a default
            index. Neighbouring stretches have different depths. Empty intervals are nowhere open.

        Raises
        ------
        ValueError
            At compute time, for intervals that end before they start.

        See Also
        --------
        merge : Stretches of any depth.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> reads = pd.DataFrame({"start": [5, 1, 3], "end": [8, 4, 6]})
        >>> reads.gpuscan.intervals("start", "end").depth()
           start  end  depth
        0      1    3      1
        1      3    4      2
        2      4    5      1
        3      5    6      2
        4      6    8      1
        """
        positions = self._positions("depth", None)
        dtype = column_of(meta_of(positions), self._start).dtype
        columns = names_of(meta_of(positions))
        changed = methods_of(positions).filter(positions[columns[-3]] != 0)
        # the last position of keys is left out below, so that any value may stand behind the last of all
        behind = methods_of(changed[self._start]).shift(
            -1, fill_value=pd.array([0], dtype=dtype)[0]
        )
        ended = engine_of(changed).with_column(changed, behind, self._end)
        stretches = methods_of(ended).filter(ended[columns[-1]] > 0)
        names = [*self._by.columns, self._start, self._end, columns[-1]]
        table = engine_of(stretches).map_partitions(stretches, _with_ends, names, self._end, None)
        return methods_of(table).reset_index(drop=True)

    def _step(self, gap: Any) -> Any:
        """Return a gap as what is added to positions, None for no gap."""
        library, dtype = library_of(meta_of(self._obj)), self._dtype
        if dtype.kind in "mM" and not (is_number(gap) and gap == 0):
            accepted = "a duration that is not negative, such as '30min'"
            unit = pd.Timedelta(1, library.time_unit(dtype))
            return check_duration("gap", gap, accepted, pd.Timedelta(0)).floor(unit)
        if not is_number(gap) or not 0 <= gap < inf or (dtype.kind in "iu" and gap % 1):
            kind = "a number" if dtype.kind == "f" else "an integer"
            raise ValueError(f"gap must be {kind} that is not negative, found {shown(gap)}")
        return gap or None

    def _positions(self, answer: str, step: Any) -> Any:
        """Return a row for each position where intervals start or end, in order, and three counts of intervals.

        The last columns are by how much more intervals are open than before, how many start, and how many are open.
        """
        names = [*self._by.columns, self._start]
        if answer in names or answer == self._end:
            raise ValueError(
                f"{answer!r} is the name of a column of the result; rename the column first"
            )
        change, opened = (unused_name(name, [*names, self._end]) for name in ("change", "opened"))
        depth = answer if answer == "depth" else unused_name("depth", [*names, self._end])
        engine = engine_of(self._obj)
        given = (self._by, self._start, self._end, step, [*names, change, opened])
        events = engine.map_partitions(self._obj, _events, *given, keeps_divisions=False)
        events = methods_of(events).sort_values(names, ignore_index=True)
        groups = methods_of(events).groupby(names, clustered=True)
        sums = groups._aggregated(None, {name: (name, "sum") for name in (change, opened)})
        positions = methods_of(sums).reset_index()
        return engine.with_column(positions, methods_of(positions[change]).cumsum(), depth)


def _events(frame: Any, by: By, start: Hashable, end: Hashable, step: Any, names: Any) -> Any:
    """Return two rows for each interval: its keys, a position, what changes there, and whether it starts."""
    library = library_of(frame)
    first, last = (library.column(frame, name) for name in (start, end))
    with library.acquire(frame):
        missing = any_null(library, [first, last])
        if missing is not None:
            frame = library.rows(frame, library.xp.flatnonzero(~missing))
            first, last = (library.column(frame, name) for name in (start, end))
        if bool((stored_numbers(last) < stored_numbers(first)).any()):
            raise ValueError(f"an interval ends before it starts: {end!r} is below {start!r}")
        if step is not None:
            last = library.columns(_later(frame[[end]], step))[0]
        keys = by.series(library, frame) if by.columns else []
        columns = [*keys, first]
        arrays = [library.array(column) for column in columns]
        others = [*arrays[:-1], library.cast(library.array(last), arrays[-1].dtype)]
        pairs = zip(arrays, others, strict=True)
        one = library.one_each(len(frame))
        counts = [
            library.from_integers(library.xp.concatenate(pair))
            for pair in ((one, -one), (one, one * 0))
        ]
        joined = [library.concatenate(list(pair)) for pair in pairs]
        return library.frame(
            [*joined, *counts], names, library.range_index(0, 2 * len(frame)), None
        )


def _later(ends: Any, step: Any) -> Any:
    """Return a frame of one column with a gap added."""
    library = library_of(ends)
    known = stored_numbers(library.columns(ends)[0])
    with contextlib.suppress(OverflowError):
        later = ends + step
        if not bool((stored_numbers(library.columns(later)[0]) < known).any()):
            return later
    raise OverflowError(f"gap {step} from the ends reaches beyond what {known.dtype} holds")


def _is_first(positions: Any) -> Any:
    """Return whether no interval was open before each position, as integers."""
    library = library_of(positions)
    change, _, depth = library.columns(positions)[-3:]
    opened = stored_numbers(change) == stored_numbers(depth)
    numbers = library.from_integers(opened.astype("int64"))
    return library.series(numbers, library.index(positions))


def _with_ends(frame: Any, names: Any, end: Hashable, step: Any) -> Any:
    """Choose columns, and take a gap off the ends again."""
    chosen = choose_columns(frame, names)
    if step is not None:
        chosen[end] = (chosen[end] - step).astype(chosen[end].dtype)
    return chosen
