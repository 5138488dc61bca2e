"""The method of ``.gpuscan`` that fills nulls from the values on both sides."""

from __future__ import annotations

from typing import Any, Literal, SupportsIndex

from ...engines.run import run
from ...kernels.messages import shown
from ...ops.scan.fill import Fill, FillColumns
from ...ops.windows.interpolate import AREAS, DIRECTIONS, METHODS, Interpolate
from ..arguments import check_choice, check_limit
from ..types import Duration, FrameT, Methods, Obj, SeriesT
from .gaps import close_gaps


class InterpolateMethods(Methods[Obj, SeriesT, FrameT]):
    """The part of `Gpuscan` that interpolates."""

    def interpolate(
        self,
        method: Literal["linear", "time", "index", "values", "pad"] = "linear",
        *,
        limit: SupportsIndex | None = None,
        limit_direction: Literal["forward", "backward", "both"] | None = None,
        limit_area: Literal["inside", "outside"] | None = None,
        max_gap: SupportsIndex | Duration | None = None,
    ) -> Obj:
        """Fill nulls from the last value before them and the next one after, over partition borders too.

        Parameters
        ----------
        method : {"linear", "time", "index", "values", "pad"}, default "linear"
            "linear" puts values on a line between both, with equal distances between rows. "time", "index" and
            "values" mean the same: distances are those of the index, which must not decrease. "pad" takes the
            value before.
        limit : int, optional
            Fill at most this many nulls in a row.
        limit_direction : {"forward", "backward", "both"}, optional
            From which side nulls are counted for `limit`; nulls after the last value ("forward") or before the
            first one ("backward") are filled with it. Default "forward", the only one that "pad" takes.
        limit_area : {"inside", "outside"}, optional
            Fill only nulls that have values on both sides, or only the others.
        max_gap : int or duration, optional
            Fill a whole gap or nothing: gaps of at most this many nulls, or between values at most so far apart by the
            times of the index. Nulls before the first value and behind the last are left.

        Returns
        -------
        Series or DataFrame
            With the same index. Integers that have nulls become float64 (an `OverflowError` where that would
            round one), all others keep their dtype.

        Raises
        ------
        TypeError
            For a column that does not hold numbers or, for "linear", times; "pad" takes any dtype.
        ValueError
            For any other `method`, `limit_direction` or `limit_area`, a `limit` that is not a positive integer,
            or an index that does not fit the method; at compute time, for an index that decreases, naming the
            partition.

        See Also
        --------
        ffill : The last value before, of any dtype.

        Notes
        -----
        Numbers are those of `pandas.DataFrame.interpolate` on the whole data, to the bit on CPUs. Times of Arrow, which
        pandas does not take, are rounded down to their unit, and exact. A partition
        is given, for each column, the nearest value on either side, however many partitions away.

        Examples
        --------
        >>> import pandas as pd, dask.dataframe as dd, dask_gpuscan
        >>> x = pd.Series([1.0, None, None, 4.0, None])
        >>> x.gpuscan.interpolate().tolist()
        [1.0, 2.0, 3.0, 4.0, 4.0]
        >>> ddf = dd.from_pandas(x, npartitions=5)
        >>> ddf.gpuscan.interpolate(limit=1, limit_area="inside").compute().tolist()
        [1.0, 2.0, nan, 4.0, nan]
        """
        found = run(self._obj, checked_fill(method, limit, limit_direction, limit_area))
        return found if max_gap is None else close_gaps(self._obj, None, found, max_gap)


def checked_fill(method: Any, limit: Any, limit_direction: Any, limit_area: Any) -> Any:
    """Return the operation that fills nulls as the arguments of `interpolate` say; raises a ValueError for others."""
    check_choice("method", method, METHODS)
    check_choice("limit_direction", limit_direction, (*DIRECTIONS, None))
    check_choice("limit_area", limit_area, AREAS)
    limit = check_limit(limit)
    if method == "pad":
        if limit_direction not in (None, "forward"):
            raise ValueError(
                f"limit_direction must be 'forward' for method='pad', found {shown(limit_direction)}"
            )
        if limit_area is None:
            return FillColumns(Fill(False, limit))
    return Interpolate(method, limit, limit_direction or "forward", limit_area)
