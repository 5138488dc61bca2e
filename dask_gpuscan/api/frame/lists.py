"""The methods of ``.gpuscan`` for columns of lists: inside lists, and one row an item."""

from __future__ import annotations

from typing import Any

from ...engines.run import engine_of
from ...frames.registry import names_of
from ...kernels.messages import shown
from ...ops.lists import Explode
from ..arguments import check_column, check_flags
from ..types import FrameT, Methods, Names, Obj, SeriesT
from .list_accessor import ListAccessor


class ListMethods(Methods[Obj, SeriesT, FrameT]):
    """The part of `Gpuscan` for columns of lists."""

    def explode(self, column: Names | None = None, ignore_index: bool = False) -> Obj:
        """Return one row for each item of lists; the other columns are repeated.

        Parameters
        ----------
        column : name or list of names
            Columns of lists; several must have as many items in each row. A Series takes none.
        ignore_index : bool, default False
            Number the rows from 0, over partitions too, rather than repeating the labels of the index.

        Returns
        -------
        Series or DataFrame
            In the rows' order. A list without items, and a null one, has one row, in which the item is null.

        Raises
        ------
        TypeError
            For a column that holds no lists.
        ValueError
            For columns that are not there, and if the lists of a row have different lengths.
        MemoryError
            If the rows would not fit into memory.

        See Also
        --------
        GroupBy.agg : Makes lists of the values of groups, by the name ``"list"``.
        Gpuscan.list : Methods that work inside lists.

        Examples
        --------
        >>> import pandas as pd, pyarrow as pa, dask_gpuscan
        >>> df = pd.DataFrame({"k": ["a", "b", "c"]})
        >>> df["x"] = pd.Series([[1, 2], [], [3]], dtype=pd.ArrowDtype(pa.list_(pa.int64())))
        >>> df.gpuscan.explode("x")
           k     x
        0  a     1
        0  a     2
        1  b  <NA>
        2  c     3
        """
        check_flags(ignore_index=ignore_index)
        engine = engine_of(self._obj)
        meta = engine.meta(self._obj)
        explode = Explode(_columns(meta, column), bool(ignore_index))
        explode.check(meta)
        found = engine.map_partitions(self._obj, explode.apply, keeps_divisions=not ignore_index)
        return engine.renumber(found) if ignore_index else found

    @property
    def list(self) -> ListAccessor[Obj, SeriesT, FrameT]:
        """The methods that work inside each list of a Series; see `ListAccessor`.

        Examples
        --------
        >>> import pandas as pd, pyarrow as pa, dask_gpuscan
        >>> s = pd.Series([[1, 2], [3]], dtype=pd.ArrowDtype(pa.list_(pa.int64())))
        >>> s.gpuscan.list.max().tolist()
        [2, 3]
        """
        if self._obj.ndim != 1:
            raise AttributeError("list")  # api/absent.py says what to use
        return ListAccessor(self._obj)


def _columns(meta: Any, column: Any) -> tuple[Any, ...]:
    """Return the names of the columns of lists of a frame, or that of a series."""
    if meta.ndim == 1:
        if column is not None:
            raise TypeError(f"column is for DataFrames, found {shown(column)} for a Series")
        return (meta.name,)
    known = names_of(meta)
    names = column if isinstance(column, (tuple, list)) and column not in known else [column]
    if not names:
        raise ValueError("column must name at least one column, found none")
    for name in names:
        check_column("column", name, known)
    if len(set(names)) < len(names):
        raise ValueError(f"column must name each column once, found {names!r}")
    return tuple(names)
