"""The scans that frames and groups have by the same arguments: fills of nulls, numbers of rows, and flags so far."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, SupportsIndex

from ..arguments import check_flags
from ..family import family
from ..types import FrameT, Methods, Obj, Reset, SeriesT


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

    def ffill(self, limit: SupportsIndex | None = None, *, reset: Reset[SeriesT] = None) -> Obj:
        """Fill nulls with the last value before them, over partition borders too; of groups, within the group.

        Parameters
        ----------
        limit : int, optional
            Fill at most this many nulls in a row.
        reset : name, str, function or Series of bool, optional
            Start anew after each row where this is true, so that no earlier value fills later rows; see `cumsum`.

        Returns
        -------
        Series or DataFrame
            Of any dtype that pandas fills, strings and categoricals included.

        Raises
        ------
        ValueError
            If `limit` is not a positive integer.

        See Also
        --------
        bfill : The next value instead.
        interpolate : A value between both.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series([1.0, None, None, 4.0]).gpuscan.ffill(limit=1).tolist()
        [1.0, 1.0, nan, 4.0]
        >>> df = pd.DataFrame({"k": [1, 2, 1], "x": [6, 3, None]})
        >>> df.gpuscan.groupby("k")["x"].ffill().tolist()
        [6.0, 3.0, 6.0]
        """
        return self._fill(False, limit, reset)

    def bfill(self, limit: SupportsIndex | None = None, *, reset: Reset[SeriesT] = None) -> Obj:
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
        return self._fill(True, limit, reset)

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
