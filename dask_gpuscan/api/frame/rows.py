"""The methods of ``.gpuscan`` that fill nulls and number rows."""

from __future__ import annotations

from typing import Any, Literal, SupportsIndex, overload

from ...engines.run import engine_of, meta_of, methods_of, run
from ...frames.registry import columns_of, library_of, names_of, unused_name
from ...ops.scan.fill import Fill, FillColumns
from ...ops.scan.row_number import ResetIndex, RowNumber
from ..arguments import check_flags, check_limit
from ..types import FrameT, Methods, Obj, Reset, SeriesT
from .resets import in_segments


class RowMethods(Methods[Obj, SeriesT, FrameT]):
    """The part of `Gpuscan` that fills nulls and numbers rows."""

    def ffill(
        self,
        limit: SupportsIndex | None = None,
        *,
        reset: Reset[SeriesT] = None,
    ) -> Obj:
        """Fill nulls with the last value before them, over partition borders too.

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
        Gpuscan.bfill : The next value instead.
        Gpuscan.interpolate : A value between both.
        GroupBy.ffill : Within groups.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series([1.0, None, None, 4.0]).gpuscan.ffill(limit=1).tolist()
        [1.0, 1.0, nan, 4.0]
        """
        return self._fill(False, limit, reset)

    def bfill(
        self,
        limit: SupportsIndex | None = None,
        *,
        reset: Reset[SeriesT] = None,
    ) -> Obj:
        """Fill nulls with the next value after them; parameters as for `ffill`.

        See Also
        --------
        Gpuscan.ffill : The last value instead.
        GroupBy.bfill : Within groups.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series([None, "a", None], dtype="string").gpuscan.bfill().tolist()
        ['a', 'a', <NA>]
        """
        return self._fill(True, limit, reset)

    def _fill(self, reverse: bool, limit: Any, reset: Any) -> Any:
        if reset is not None:
            return in_segments(self._obj, reset, lambda groups: groups._fill(reverse, limit))
        return run(self._obj, FillColumns(Fill(reverse, check_limit(limit))))

    def row_number(self, *, reset: Reset[SeriesT] = None) -> SeriesT:
        """Return the number of each row in the whole collection, from 0, as a Series of int64.

        Parameters
        ----------
        reset : name, str, function or Series of bool, optional
            Number from 0 again after each row where this is true; see `cumsum`.

        See Also
        --------
        Gpuscan.reset_index : The same numbers as the index.
        GroupBy.row_number : Within groups.

        Examples
        --------
        >>> import pandas as pd, dask.dataframe as dd, dask_gpuscan
        >>> ddf = dd.from_pandas(pd.DataFrame({"x": list("abc")}), npartitions=2)
        >>> ddf.gpuscan.row_number().compute().tolist()
        [0, 1, 2]
        """
        if reset is not None:
            return in_segments(self._obj, reset, lambda groups: groups.row_number())
        return self._numbers(RowNumber())

    def cumcount(
        self,
        ascending: bool = True,
        *,
        reset: Reset[SeriesT] = None,
    ) -> SeriesT:
        """Return the number of each row, from 0 or from the end, as `GroupBy.cumcount` does for one group.

        Parameters
        ----------
        ascending : bool, default True
            Number from the first row; else from the last one.
        reset : name, str, function or Series of bool, optional
            Number from 0 again after each row where this is true; see `cumsum`.

        Returns
        -------
        Series
            Of int64, without a name.

        See Also
        --------
        row_number : The same, with a name.

        Notes
        -----
        How many values so far are not null is ``df.notna().gpuscan.cumsum()``.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series(list("abc")).gpuscan.cumcount(ascending=False).tolist()
        [2, 1, 0]
        >>> pd.Series([1, 2, 0, 5]).gpuscan.cumcount(reset=lambda x: x == 0).tolist()
        [0, 1, 2, 0]
        """
        check_flags(ascending=ascending)
        if reset is not None:
            return in_segments(self._obj, reset, lambda groups: groups.cumcount(ascending))
        return self._numbers(RowNumber(None, not ascending))

    def _numbers(self, numbers: RowNumber) -> Any:
        # rows are counted by their index: no column need be read
        return run(self._obj if self._obj.ndim == 1 else self._obj[[]], numbers)

    @overload
    def reset_index(self, drop: Literal[False] = False) -> FrameT: ...
    @overload
    def reset_index(self, drop: Literal[True]) -> Obj: ...
    @overload
    def reset_index(self, drop: bool) -> Obj | FrameT: ...
    def reset_index(self, drop: bool = False) -> Any:
        """Return the collection with a default index, which does not restart in each partition.

        Parameters
        ----------
        drop : bool, default False
            Drop the old index rather than keeping it as a column.

        Returns
        -------
        Series or DataFrame
            As for `pandas.DataFrame.reset_index`; a Series whose index is kept becomes a DataFrame.

        See Also
        --------
        Gpuscan.row_number : The same numbers as a Series.

        Examples
        --------
        >>> import pandas as pd, dask.dataframe as dd, dask_gpuscan
        >>> ddf = dd.from_pandas(pd.DataFrame({"x": [5, 6]}, index=[10, 20]), npartitions=2)
        >>> ddf.gpuscan.reset_index(drop=True).compute().index.tolist()
        [0, 1]
        """
        check_flags(drop=drop)
        out, meta = run(self._obj, ResetIndex(drop)), meta_of(self._obj)
        levels = [str(dtype) for dtype in library_of(meta).index_dtypes(meta)]
        if drop or "object" not in levels or engine_of(self._obj).IN_PARTS:
            return out
        return _inferred(out, len(levels))


def _inferred(frame: Any, levels: int) -> Any:
    """Return a frame whose first columns, if they are objects, have the dtype of their values, as in pandas."""
    library = library_of(frame)
    arrays = [library.array(column) for column in columns_of(frame)]
    return library.rebuild(frame, [*map(library.inferred, arrays[:levels]), *arrays[levels:]])


def with_row_numbers(obj: Any) -> tuple[Any, Any]:
    """Return a frame with one more column, of row numbers in the whole collection, and that column's name."""
    frame = obj.to_frame() if obj.ndim == 1 else obj
    name = unused_name("row_number", names_of(meta_of(frame)))
    numbered = engine_of(frame).with_column(frame, methods_of(obj).row_number(), name)
    return numbered, names_of(meta_of(numbered))[-1]  # a tuple among columns of several levels
