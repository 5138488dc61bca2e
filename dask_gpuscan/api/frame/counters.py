"""``increase`` and ``rate`` of frames and groups: counters that only grow, and begin again when they are reset."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd

from ...engines.run import meta_of
from ...frames.messages import column_title
from ...frames.registry import column_of, library_of, stored_numbers, view_of
from ...kernels.messages import shown
from ...kernels.scalars import is_integer
from ..arguments import check_duration
from ..types import Duration, FrameT, Methods, Obj, SeriesT
from .gaps import Known


class CounterMethods(Methods[Obj, SeriesT, FrameT]):
    """The part of `Gpuscan` and `GroupBy` that reads counters."""

    _in_groups: bool

    def increase(self, wrap: int | None = None) -> Obj:
        """Return by how much counters grew since their last known value, over resets.

        Parameters
        ----------
        wrap : int, optional
            The counter begins at 0 again after ``wrap - 1``, such as ``2**32``. By default, a value below the one
            before means that the counter was reset to 0, and has grown by this value since.

        Returns
        -------
        Series or DataFrame
            Of each column of numbers; null in the first row with a value, and in rows without one. With the dtypes of
            `diff`; differences of integers are exact.

        Raises
        ------
        TypeError
            For columns that hold no numbers.
        ValueError
            For a `wrap` that is no positive integer, or more than the dtype of a column holds.
        OverflowError
            At compute time, for an answer of NumPy's integers that float64 does not hold.

        See Also
        --------
        diff : Differences, which may be negative.
        rate : Per second.

        Notes
        -----
        The increase of buckets or windows is the sum of that of their rows.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> requests = pd.Series([5, 9, 2, 4])
        >>> requests.gpuscan.increase().tolist()
        [nan, 4.0, 2.0, 2.0]
        >>> requests.gpuscan.increase(wrap=16).tolist()
        [nan, 4.0, 9.0, 2.0]
        """
        known, wraps = self._counters(False, None, wrap)
        return known.map(_grown, known.before(_masked), wraps)

    def rate(self, unit: Duration = "1s", on: Hashable = None, wrap: int | None = None) -> Obj:
        """Return by how much counters grew per unit of time since their last known value, over resets.

        Parameters
        ----------
        unit : duration, default "1s"
        on : name, optional
            The column of times, which should not decrease. By default, the index.
        wrap : int, optional
            As for `increase`.

        Returns
        -------
        Series or DataFrame
            Of floats; null as for `increase`, and infinite or NaN between rows of equal times.

        Raises
        ------
        TypeError
            If there are no times, and for columns that hold no numbers.
        ValueError
            For unknown names, and for other values of the arguments.

        See Also
        --------
        increase : By how much, whatever the time between rows.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> times = pd.to_datetime(["2026-01-05 08:00:00", "2026-01-05 08:00:10", "2026-01-05 08:00:15"])
        >>> pd.Series([100, 160, 10], index=times).gpuscan.rate().tolist()
        [nan, 6.0, 2.0]
        """
        step = check_duration(
            "unit", unit, "a positive duration, such as '1s'", pd.Timedelta(1, "ns")
        )
        known, wraps = self._counters(True, on, wrap)
        grown = known.before(_masked)
        return known.map(_rate, grown, wraps, known.before_in_time(), step)

    def _counters(self, in_time: bool, on: Hashable, wrap: Any) -> tuple[Known, Any]:
        if wrap is not None and (not is_integer(wrap) or wrap < 1):
            raise ValueError(f"wrap must be a positive integer, found {shown(wrap)}")
        known = Known(self._obj, self if self._in_groups else None, on, in_time)
        if not self._in_groups:
            known.columns = [name for name in known.columns if on is None or name != on]
        meta = meta_of(known.obj)
        library = library_of(meta)
        for name in known.columns:
            column = column_of(meta, name)
            if not library.is_number(column.dtype) or column.dtype.kind not in "iuf":
                raise TypeError(
                    f"{column_title(column)} has dtype {column.dtype}, and counters are numbers; choose their columns"
                )
            stored = stored_numbers(library.column(meta, name)).dtype
            if wrap is not None and stored.kind in "iu" and wrap - 1 > np.iinfo(stored).max:
                raise ValueError(
                    f"wrap={wrap} is more than {column.dtype} holds; cast it with astype"
                )
        return known, None if wrap is None else int(wrap)


def _masked(frame: Any, keys: Any, columns: Any) -> Any:
    """Return integers in dtypes that hold nulls, with keys."""
    library, found = library_of(frame), frame[keys].copy()
    for name in columns:
        found[name] = _exact(library, frame[name])
    return found


def _exact(library: Any, column: Any) -> Any:
    array = library.to_masked(library.array(column))
    return library.series(array, library.index(column), column.name)


def _grown(own: Any, times: Any, before: Any, wrap: Any) -> Any:
    library, (grown, missing) = library_of(own), _growth(own, before, wrap)
    exact = _exact(library, own)
    layout = library.layout(exact.dtype)
    assert layout is not None
    array = layout.wrap(grown, missing, exact.dtype)
    return library.series(library.from_masked(array, own.dtype), library.index(own), own.name)


def _growth(own: Any, before: Any, wrap: Any) -> tuple[Any, Any]:
    """Return by how much numbers grew, and where that is null."""
    library = library_of(own)
    views = view_of(_exact(library, own)), view_of(before)
    now, was = (view.values for view in views)
    missing, grows, xp = views[0].missing() | views[1].missing(), now >= was, library.xp
    if now.dtype.kind == "f":
        return now - xp.where(grows, was, 0 if wrap is None else was - wrap), missing
    # differences of 64 bits are right though they wrap around
    wide = xp.where(grows, was, 0).astype("uint64") if wrap is None else was.astype("uint64")
    grown = now.astype("uint64") - wide
    if wrap is not None:
        grown += xp.where(grows, 0, xp.uint64(wrap % 2**64)).astype("uint64")
    if bool(((grown > np.iinfo(now.dtype).max) & ~missing).any()):
        raise OverflowError(
            f"an increase does not fit {own.dtype}; cast the column to a wider dtype first"
        )
    return grown.astype(now.dtype), missing


def _rate(own: Any, times: Any, before: Any, wrap: Any, since: Any, unit: Any) -> Any:
    library, (grown, missing) = library_of(own), _growth(own, before, wrap)
    array = library.set_null(library.from_integers(grown.astype("float64")), missing)
    return library.series(array, library.index(own), own.name) / ((times - since) / unit)
