"""The methods of ``.gpuscan`` that fill nulls and number rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, overload

from ...engines.run import engine_of, meta_of, methods_of, run
from ...frames.registry import columns_of, library_of, names_of, unused_name
from ...ops.core.plans import made_once
from ...ops.scan.fill import Fill, FillColumns
from ...ops.scan.row_number import ResetIndex, RowNumber
from ..arguments import check_flags, check_limit
from ..types import FrameT, Obj, SeriesT
from .resets import in_segments
from .running import RunningMethods


class RowMethods(RunningMethods[Obj, SeriesT, FrameT]):
    """The part of `Gpuscan` that fills nulls and numbers rows."""

    def _fill(self, reverse: bool, limit: Any, reset: Any = None) -> Any:
        if reset is not None:
            return self._in_segments(reset, lambda groups: groups._fill(reverse, limit))
        return run(self._obj, FillColumns(made_once(Fill, reverse, check_limit(limit))))

    def _numbers(self, name: str | None, from_last: bool = False) -> Any:
        # rows are counted by their index: no column need be read
        rows = self._obj if self._obj.ndim == 1 else self._obj[[]]
        return run(rows, RowNumber(name, from_last))

    def _in_segments(
        self, reset: Any, ask: Callable[[Any], Any], local_dict: Mapping[str, Any] | None = None
    ) -> Any:
        return in_segments(self._obj, reset, ask, local_dict)

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
