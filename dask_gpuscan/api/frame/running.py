"""The scans that frames and groups have by the same arguments: fills of nulls, numbers of rows, and flags so far."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Literal, SupportsIndex

from ...kernels.scalars import is_integer
from ..arguments import check_choice, check_flags
from ..family import family
from ..types import Duration, FrameT, Methods, Obj, Reset, SeriesT
from .gaps import fill_age, fill_within


class RunningMethods(Methods[Obj, SeriesT, FrameT]):
    """The part of `Gpuscan` and `GroupBy` that fills, numbers and tells; each says by what."""

    def _accumulate(self, label: str, reset: Any, numeric_only: bool | None, *given: Any) -> Any:
        """Scan each column by the method of this name; others are as for `cumulative`."""
        raise NotImplementedError

    def _fill(self, reverse: bool, limit: Any, reset: Any = None) -> Any:
        """Fill nulls with the value before them, or the next one."""
        raise NotImplementedError

    def _numbers(self, name: str | None, from_last: bool = False) -> Any:
        """Return the number of each row, as a series of this name."""
        raise NotImplementedError

    def _in_segments(
        self, reset: Any, ask: Callable[[Any], Any], local_dict: Mapping[str, Any] | None = None
    ) -> Any:
        """Return what `ask` returns for the groups of rows from one reset to the next."""
        raise NotImplementedError

    @family(
        """
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({{"k": [1, 2, 1, 2], "x": {0}}})
        >>> df["x"].gpuscan.{name}().tolist()
        {1}
        >>> df.gpuscan.groupby("k")["x"].{name}().tolist()
        {2}
        """
    )
    def _flag(
        self, *, exclusive: bool = False, reverse: bool = False, reset: Reset[SeriesT] = None
    ) -> Obj:
        """Return what is true of the values so far, of groups within the group; parameters as for `cumsum`."""
        return self._accumulate("_flag", reset, None, exclusive, reverse)

    cumany = _flag(
        """Return whether any value so far, of the group if there are groups, is true (not zero), ignoring nulls.

        See Also
        --------
        cumall : Whether all values so far are true.
        """,
        [0, 0, 3, 0],
        [False, False, True, True],
        [False, False, True, False],
    )
    cumall = _flag(
        """Return whether all values so far, of the group if there are groups, are true (not zero), ignoring nulls.

        See Also
        --------
        cumany : Whether any value so far is true.
        """,
        [1, 0, 3, 1],
        [True, False, False, False],
        [True, False, True, False],
    )

    _in_groups = False
    """Whether the rows are in groups."""

    def ffill(
        self,
        limit: SupportsIndex | Duration | None = None,
        *,
        on: Hashable = None,
        reset: Reset[SeriesT] = None,
    ) -> Obj:
        """Fill nulls with the last value before them, over partition borders too; of groups, within the group.

        Parameters
        ----------
        limit : int or duration, optional
            Fill at most this many nulls in a row; or only rows that are at most so much later than the value.
        on : name, optional
            The column of times for a `limit` that is a duration. By default, the index.
        reset : name, str, function or Series of bool, optional
            Start anew after each row where this is true, so that no earlier value fills later rows; see `cumsum`.

        Returns
        -------
        Series or DataFrame
            Of any dtype that pandas fills, strings and categoricals included.

        Raises
        ------
        TypeError
            If `limit` is a duration and there are no times.
        ValueError
            If `limit` is neither a positive integer nor a duration.

        See Also
        --------
        bfill : The next value instead.
        interpolate : A value between both.
        fill_age : How old the value is.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series([1.0, None, None, 4.0]).gpuscan.ffill(limit=1).tolist()
        [1.0, 1.0, nan, 4.0]
        >>> df = pd.DataFrame({"k": [1, 2, 1], "x": [6, 3, None]})
        >>> df.gpuscan.groupby("k")["x"].ffill().tolist()
        [6.0, 3.0, 6.0]
        >>> times = pd.to_datetime(["2026-01-05 08:00", "2026-01-05 08:05", "2026-01-05 09:00"])
        >>> pd.Series([6.0, None, None], index=times).gpuscan.ffill(limit="10min").tolist()
        [6.0, 6.0, nan]
        """
        return self._filled(False, limit, on, reset)

    def bfill(
        self,
        limit: SupportsIndex | Duration | None = None,
        *,
        on: Hashable = None,
        reset: Reset[SeriesT] = None,
    ) -> Obj:
        """Fill nulls with the next value after them, of groups within the group; parameters as for `ffill`.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series([None, "a", None], dtype="string").gpuscan.bfill().tolist()
        ['a', 'a', <NA>]
        >>> df = pd.DataFrame({"k": [1, 2, 1], "x": [None, 3, 5]})
        >>> df.gpuscan.groupby("k")["x"].bfill().tolist()
        [5.0, 3.0, 5.0]
        """
        return self._filled(True, limit, on, reset)

    def _filled(self, reverse: bool, limit: Any, on: Hashable, reset: Any) -> Any:
        if on is None and (limit is None or is_integer(limit)):
            return self._fill(reverse, limit, reset)
        if reset is not None or limit is None or is_integer(limit):
            raise ValueError(
                "on goes with a limit that is a duration, and such a limit not with reset"
            )
        return fill_within(self._obj, self if self._in_groups else None, reverse, limit, on)

    def fill_age(self, on: Hashable = None, unit: Literal["rows", "time"] = "rows") -> Obj:
        """Return how old the value is that `ffill` gives: 0 where there is a value, null before the first one.

        Parameters
        ----------
        on : name, optional
            The column of times to tell ages by.
        unit : {"rows", "time"}, default "rows"
            Without `on`: in rows, or by the times of the index.

        Returns
        -------
        Series or DataFrame
            The ages of values in each column, in rows or as timedeltas, with the index; of groups, within the group.

        Raises
        ------
        TypeError
            If there are no times.
        ValueError
            For unknown names and units.

        See Also
        --------
        ffill : The values; its `limit` leaves old ones out.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series([None, 6.0, None, None, 2.0]).gpuscan.fill_age().tolist()
        [nan, 0.0, 1.0, 2.0, 0.0]
        """
        check_choice("unit", unit, ("rows", "time"))
        in_time = on is not None or unit == "time"
        return fill_age(self._obj, self if self._in_groups else None, on, in_time)

    def row_number(self, *, reset: Reset[SeriesT] = None) -> SeriesT:
        """Return the number of each row in the whole collection, or within its group, from 0.

        Parameters
        ----------
        reset : name, str, function or Series of bool, optional
            Number from 0 again after each row where this is true; see `cumsum`.

        Returns
        -------
        Series
            Of int64, named ``row_number``; null in rows that are in no group.

        See Also
        --------
        Gpuscan.reset_index : The same numbers as the index.
        cumcount : The same, and from the end.

        Examples
        --------
        >>> import pandas as pd, dask.dataframe as dd, dask_gpuscan
        >>> df = pd.DataFrame({"k": [1, 2, 1], "x": list("abc")})
        >>> dd.from_pandas(df, npartitions=2).gpuscan.row_number().compute().tolist()
        [0, 1, 2]
        >>> df.gpuscan.groupby("k").row_number().tolist()
        [0, 0, 1]
        """
        if reset is not None:
            return self._in_segments(reset, lambda groups: groups.row_number())
        return self._numbers("row_number")

    def cumcount(self, ascending: bool = True, *, reset: Reset[SeriesT] = None) -> SeriesT:
        """Return the number of each row, or of each within its group, from 0, counted from the first or the last.

        Parameters
        ----------
        ascending : bool, default True
            Number from the first row; else from the last one.
        reset : name, str, function or Series of bool, optional
            Number from 0 again after each row where this is true; see `cumsum`.

        Returns
        -------
        Series
            Of int64, without a name; null in rows that are in no group.

        See Also
        --------
        row_number : The same, with a name.
        GroupBy.size : The number of rows of each group.

        Notes
        -----
        How many values so far are not null is ``df.notna().gpuscan.cumsum()``.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series([1, 2, 0, 5]).gpuscan.cumcount(reset=lambda x: x == 0).tolist()
        [0, 1, 2, 0]
        >>> df = pd.DataFrame({"k": [1, 2, 1], "x": [6, 3, 5]})
        >>> df.gpuscan.groupby("k").cumcount(ascending=False).tolist()
        [1, 0, 0]
        """
        check_flags(ascending=ascending)
        if reset is not None:
            return self._in_segments(reset, lambda groups: groups.cumcount(ascending))
        return self._numbers(None, not ascending)
