"""The methods of ``.gpuscan`` for sessions: events that follow each other within a gap.

A session number is the number of gaps before a row; a table of sessions is a group-by of those numbers.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ...engines.run import engine_of, meta_of, methods_of, run
from ...frames.keys import By, check_by
from ...frames.registry import column_of, library_of, names_of, stored_numbers, unused_name
from ...kernels.messages import shown
from ...kernels.scalars import is_number
from ...ops.core.operation import Part
from ...ops.time.sessions import NUMBER, CountGaps, SessionNumbers
from ..arguments import check_clustered, check_column, check_duration
from ..types import Duration, FrameT, Methods, Names, Obj, SeriesT
from .runs import check_agg


class SessionMethods(Methods[Obj, SeriesT, FrameT]):
    """The part of `Gpuscan` that numbers and summarises sessions."""

    def sessionize(
        self,
        time: Hashable = None,
        by: Names | None = None,
        *,
        gap: Duration | float,
        longest: Duration | float | None = None,
        clustered: bool | None = None,
    ) -> SeriesT:
        """Return the number of the session that each event belongs to, over all partitions.

        Parameters
        ----------
        time : name, optional
            Column of times or numbers, which must not decrease (within each key of `by`). By default, the index,
            which must hold times.
        by : name or list of names, optional
            Columns whose events have sessions of their own.
        gap : duration or number
            A session ends if the next event is later than this; for times, anything that `pandas.Timedelta`
            takes.
        longest : duration or number, optional
            A session also ends before an event that is later than this after its first one.
        clustered : bool, optional
            Whether rows with equal keys are adjacent, as for `groupby`.

        Returns
        -------
        Series
            ``session``, from 0 within each key, with the frame's index; null where the key is null.

        Raises
        ------
        TypeError
            If the column is neither of times nor of numbers.
        ValueError
            For unknown columns and a negative gap; at compute time, for null or decreasing times.

        See Also
        --------
        Gpuscan.sessions : One row for each session.
        Gpuscan.keep_apart : The first of rows that are close to each other.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({"user": list("abab"), "t": [0, 10, 20, 90]})
        >>> df.gpuscan.sessionize("t", by="user", gap=30).tolist()
        [0, 0, 0, 1]
        """
        rows, time, keys, wide = _checked(self._obj, time, by, gap, clustered)
        if NUMBER in keys.columns:
            raise ValueError(
                f"by names {NUMBER!r}, which is the name of the result; rename it first"
            )
        return _numbers(rows, time, keys, wide, clustered, True, longest)

    def keep_apart(
        self, distance: Duration | float, time: Hashable = None, by: Names | None = None
    ) -> FrameT:
        """Return the rows that are at least this far behind the last row that was kept: the first is kept.

        Parameters
        ----------
        distance : duration or number
            How far apart rows are at least; for times, anything that `pandas.Timedelta` takes.
        time : name, optional
            Column of times or numbers, which must not decrease (within each key of `by`). By default, the index,
            which must hold times.
        by : name or list of names, optional
            Columns whose rows are kept apart from those with equal keys only. Rows with null keys are left out.

        Returns
        -------
        DataFrame
            The rows that are kept, with their index.

        Raises
        ------
        TypeError
            If the column is neither of times nor of numbers, and on cuDF.
        ValueError
            For unknown columns and a negative distance; at compute time, for null times, and for times before the last
            row that was kept.

        See Also
        --------
        Gpuscan.sessionize : Events that follow each other within a gap, each compared with the one before it.
        Gpuscan.fold : Other rules by which rows follow each other.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> alarms = pd.DataFrame({"t": [0, 4, 11, 14, 21], "device": list("aabaa")})
        >>> alarms.gpuscan.keep_apart(10, "t")["t"].tolist()
        [0, 11, 21]
        >>> alarms.gpuscan.keep_apart(10, "t", by="device")["t"].tolist()
        [0, 11, 14]
        """
        obj = engine_of(self._obj).read_once(self._obj)
        rows, time, keys, wide = _checked(obj, time, by, distance, None, "distance")
        start = (False, *_of_times(meta_of(rows), time, 0, wide))
        kept = _folded(rows, time, keys, _keep, start, "kept")
        if keys.columns:  # null where a key is null
            kept = kept == True  # noqa: E712
        return methods_of(obj).filter(kept)

    def sessions(
        self,
        time: Hashable = None,
        by: Names | None = None,
        *,
        gap: Duration | float,
        longest: Duration | float | None = None,
        clustered: bool | None = None,
        agg: Mapping[Hashable, tuple[Hashable, str]] | None = None,
        **named: tuple[Hashable, str],
    ) -> FrameT:
        """Return one row for each session: its keys, number, start, end and count, and aggregates.

        Parameters
        ----------
        time, by, gap, longest, clustered
            As for `sessionize`.
        agg : dict of name to (column, reduction), optional
            More columns of the result, each a reduction of a column within each session, as for `rle`.
        **named : (column, reduction)
            The same, by names that are words.

        Returns
        -------
        DataFrame
            With columns for `by`, ``session``, ``start``, ``end`` and ``count``, and a default index.

        Raises
        ------
        TypeError, ValueError
            As for `sessionize` and `groupby`.

        See Also
        --------
        Gpuscan.sessionize : One number for each event.
        Gpuscan.resample : Buckets of fixed lengths.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({"user": list("abab"), "t": [0, 10, 20, 90], "x": [1, 2, 3, 4]})
        >>> df.gpuscan.sessions("t", by="user", gap=30, total=("x", "sum"))
          user  session  start  end  count  total
        0    a        0      0   20      2      4
        1    b        0     10   10      1      2
        2    b        1     90   90      1      4
        """
        rows, time, keys, wide = _checked(self._obj, time, by, gap, clustered)
        given: Mapping[Any, Any] = {} if agg is None else check_agg(agg)
        for name in given:
            if name in named:
                raise ValueError(f"{name!r} is named by agg and by an argument; name it once")
        asked = {**given, **named}
        if meta_of(self._obj).columns.nlevels > 1:
            raise TypeError("sessions need columns of one level, found several; rename them first")
        reserved = (NUMBER, "start", "end", "count")
        for name in (*keys.columns, *asked):
            if name in reserved or (name in asked and name in keys.columns):
                raise ValueError(f"{name!r} is the name of a column of the result; choose another")
        known = names_of(meta_of(rows))
        for name, pair in asked.items():
            if isinstance(pair, tuple) and pair:
                check_column(name, pair[0], known)
        number = unused_name(NUMBER, known)
        # rows with null keys, which the table leaves out, are numbered too: so numbers stay integers
        numbers = _numbers(rows, time, keys, wide, clustered, False, longest)
        numbered = engine_of(rows).with_column(rows, numbers, number)
        together = clustered if keys.columns else True
        groups = methods_of(numbered).groupby([*keys.columns, number], clustered=together)
        places: dict[Any, Any] = {
            "start": (time, "first"),
            "end": (time, "last"),
            "count": (time, "size"),
        }
        table = groups._aggregated(None, {**places, **asked})
        table = methods_of(table).reset_index()
        return table if number == NUMBER else table.rename(columns={number: NUMBER})


def _checked(
    obj: Any, time: Any, by: Any, gap: Any, clustered: Any, title: str = "gap"
) -> tuple[Any, Hashable, By, Any]:
    """Return the rows, the column of their times, the keys, and the gap in the units of the times."""
    meta = meta_of(obj)
    if meta.ndim == 1:
        raise TypeError(
            "sessions and distances need a DataFrame, found a Series; use to_frame() first"
        )
    if time is None and None not in names_of(meta):
        obj, time = _with_index(obj)
    check_column("time", time, names_of(meta_of(obj)))
    check_clustered(clustered)
    if clustered is not None and by is None:
        raise ValueError(f"clustered goes with by only, found {shown(clustered)}")
    found = By(()) if by is None else check_by(meta, by)
    if time in found.columns:
        raise ValueError(f"time and by both name {time!r}")
    return obj, time, found, _units(meta_of(obj), time, gap, title)


def _with_index(obj: Any) -> tuple[Any, Hashable]:
    """Return rows with one more column, the times that are their index, and its name."""
    meta = meta_of(obj)
    library = library_of(meta)
    dtype = library.index_level(meta, 0).dtype
    if len(library.index_names(meta)) > 1 or dtype.kind not in "mM":
        raise TypeError(
            f"time must name a column, unless the index holds times: found an index of dtype {dtype}"
        )
    name = unused_name("time", names_of(meta))
    rows = engine_of(obj).map_partitions(obj, _append_index, name)
    return rows, names_of(meta_of(rows))[-1]


def _append_index(frame: Any, name: str) -> Any:
    library = library_of(frame)
    times = library.array(library.index_level(frame, 0))
    return library.append(frame, library.series(times, library.index(frame), name), name)


def _units(meta: Any, time: Any, gap: Any, title: str) -> Any:
    library, dtype = library_of(meta), column_of(meta, time).dtype
    if library.is_number(dtype) and dtype.kind in "iuf":
        if not is_number(gap) or not gap >= 0:
            raise ValueError(f"{title} must be a number that is not negative, found {shown(gap)}")
        return float(gap) if dtype.kind == "f" else int(min(gap, 2**64 - 1))
    if library.layout(dtype) is None or dtype.kind not in "mM":
        raise TypeError(f"time must be a column of times or numbers, found dtype {dtype}")
    accepted = "a duration that is not negative, such as '30min'"
    wide = check_duration(title, gap, accepted, pd.Timedelta(0))
    return int(wide // pd.Timedelta(1, library.time_unit(dtype)))


def _numbers(
    obj: Any,
    time: Any,
    keys: By,
    gap: Any,
    clustered: bool | None,
    dropna: bool,
    longest: Any,
) -> Any:
    if longest is not None:
        most = _units(meta_of(obj), time, longest, "longest")
        start = (-1, *_of_times(meta_of(obj), time, 0, 0, gap, most))
        return _folded(obj, time, keys, _session, start, NUMBER, dropna)
    gaps = CountGaps(time, gap)
    if not keys.columns:
        return run(obj[time], SessionNumbers(gaps))
    groups = methods_of(obj).groupby(list(keys.columns), clustered=clustered, dropna=dropna)
    return groups._scan(NUMBER, [Part(NUMBER, (time, *keys.columns), gaps)], True)


# --- by what was before -------------------------------------------------------------------------------


def _of_times(meta: Any, time: Any, *numbers: Any) -> tuple[Any, ...]:
    """Return numbers in the dtype of stored times."""
    dtype = stored_numbers(column_of(meta, time)).dtype
    most = np.iinfo(dtype).max if dtype.kind in "iu" else None
    return tuple([dtype.type(n if most is None else min(n, most)) for n in numbers])


def _folded(
    obj: Any, time: Any, keys: By, step: Any, initial: Any, name: str, dropna: bool = True
) -> Any:
    """Return the answers of a step that takes times as numbers."""
    engine = engine_of(obj)
    numbers = engine.map_partitions(obj, _stored_times, time)
    if not keys.columns:
        return methods_of(numbers).fold(step, initial=initial, names=name)
    number = unused_name("time", names_of(meta_of(obj)))
    rows = engine.with_column(obj, numbers, number)
    return (
        methods_of(rows)
        .groupby(list(keys.columns), dropna=dropna)
        .fold(step, number, initial=initial, names=name)
    )


def _stored_times(frame: Any, time: Any) -> Any:
    library, column = library_of(frame), column_of(frame, time)
    if library.missing(column) is not None:
        raise ValueError(f"times in column {time!r} must not be null; fill or filter them first")
    return library.series(
        library.from_integers(stored_numbers(column)), library.index(frame), "time"
    )


def _keep(state, time):  # type: ignore[no-untyped-def]  # Numba reads the parameters
    met, last, distance = state
    if met and time < last:
        raise ValueError("times must not decrease; sort rows by time first")
    if met and time - last < distance:
        return state, False
    return (True, time, distance), True


def _session(state, time):  # type: ignore[no-untyped-def]
    number, start, last, gap, longest = state
    if number >= 0 and time < last:
        raise ValueError("times must not decrease; sort rows by time first")
    if number < 0 or time - last > gap or time - start > longest:
        number, start = number + 1, time
    return (number, start, time, gap, longest), number
