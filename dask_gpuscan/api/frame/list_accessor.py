"""The methods of ``.gpuscan.list``, which work inside each list of a column."""

from __future__ import annotations

from typing import Any, Literal

from ...engines.run import engine_of, meta_of
from ...frames.registry import names_of
from ...kernels import BUILT_IN, Operator
from ...ops.lists import (
    ListLength,
    ListOperation,
    ListScan,
    ListSort,
    list_reduction,
    of_lists,
)
from ...ops.scan.column_scan import Scan
from ...ops.scan.kernel_scan import ScanArguments
from ..arguments import OPERATORS, check_choice, check_flags, check_operator, checked_options, hints
from ..family import family
from ..types import FrameT, Methods, Obj, SeriesT

EXAMPLE = """
>>> import pandas as pd, pyarrow as pa, dask_gpuscan
>>> lists = [[2, 1, 3], [4, None, 5], [], None]
>>> pd.Series(lists, dtype=pd.ArrowDtype(pa.list_(pa.int64()))).gpuscan.list.{name}().tolist()
{0}
"""


class ListAccessor(Methods[Obj, SeriesT, FrameT]):
    """Methods that work inside each list of a column, reached as ``.gpuscan.list``.

    Columns are Arrow's lists of pandas (``pd.ArrowDtype(pa.list_(...))``, large lists and lists of one length too),
    cuDF's lists, and those of polars and pyarrow. Scans and `sort` answer with lists that are as long, and null where
    they were; reductions with one value a row. A null list stays null, and null items are passed over.

    Examples
    --------
    >>> import pandas as pd, pyarrow as pa, dask_gpuscan
    >>> s = pd.Series([[1, 2], None, [3, 4, 5]], dtype=pd.ArrowDtype(pa.list_(pa.int64())))
    >>> s.gpuscan.list.cumsum().tolist()
    [[1, 3], <NA>, [3, 7, 12]]
    >>> s.gpuscan.list.sum().tolist()
    [3, <NA>, 12]
    """

    def __init__(self, obj: Any) -> None:
        self._obj = obj

    def __repr__(self) -> str:
        return f"<lists of a {type(self._obj).__module__.partition('.')[0]} Series>"

    # --- lists as long ----------------------------------------------------------------------------

    @family(EXAMPLE)
    def _running(
        self,
        skipna: bool = True,
        *,
        exclusive: bool = False,
        initial: Any = None,
        reverse: bool = False,
        dtype: Any = None,
    ) -> Obj:
        """Return a running value inside each list; parameters as for `cumsum`."""
        options = ScanArguments(exclusive, initial, reverse, skipna, dtype)
        return self._scan("_running", BUILT_IN[OPERATORS.get("_running", "add")], options)

    cumsum = _running(
        """Return the running sum inside each list.

        Parameters
        ----------
        skipna : bool, default True
            Null items stay null and the sum goes on after them; if False, all that follows one in its list is null.
        exclusive, initial, reverse, dtype
            As for `Gpuscan.cumsum`; each list starts from `initial`.

        Returns
        -------
        Series
            Of lists, as long and null where they were, of the same index. Items have the dtype that `GroupBy.cumsum`
            gives them: sums of narrow integers and of bool are of 64 bits.

        Raises
        ------
        TypeError
            For a column that holds no lists, lists of lists, and items that have no sum.
        ValueError
            For a flag that is neither True nor False.

        See Also
        --------
        Gpuscan.cumsum : The running sum of a column.
        GroupBy.cumsum : The running sum of each group.

        Notes
        -----
        One pass over the items where they lie in memory; a list is a segment of it, after Blelloch, *Prefix sums and
        their applications* (CMU-CS-90-190), 1.5. Sums of 64-bit integers wrap around, as those of groups do.
        """,
        "[[2, 3, 6], [4, None, 9], [], <NA>]",
    )
    cumprod = _running(
        "Return the running product inside each list; parameters as for `cumsum`.",
        "[[2, 2, 6], [4, None, 20], [], <NA>]",
    )
    cummax = _running(
        "Return the running maximum inside each list, of datetimes too; parameters as for `cumsum`.",
        "[[2, 2, 3], [4, None, 5], [], <NA>]",
    )
    cummin = _running(
        "Return the running minimum inside each list, of datetimes too; parameters as for `cumsum`.",
        "[[2, 1, 1], [4, None, 4], [], <NA>]",
    )

    def scan(
        self,
        op: Operator,
        *,
        exclusive: bool = False,
        initial: Any = None,
        reverse: bool = False,
        skipna: bool = True,
        dtype: Any = None,
    ) -> Obj:
        """Scan inside each list by any operator of one input.

        Parameters
        ----------
        op : Operator
            A built-in one, or one made by `dask_gpuscan.operator`.
        exclusive, initial, reverse, skipna, dtype
            As for `cumsum`; `initial` is a state of the operator.

        Returns
        -------
        Series
            Of lists, as long and null where they were.

        Raises
        ------
        TypeError, ValueError
            As `cumsum`; if `op` is not an operator of one input, or its functions cannot be compiled for the items.

        See Also
        --------
        Gpuscan.scan : The scan of a column.

        Examples
        --------
        >>> import pandas as pd, pyarrow as pa, dask_gpuscan
        >>> s = pd.Series([[6, 3], [5]], dtype=pd.ArrowDtype(pa.list_(pa.int64())))
        >>> s.gpuscan.list.scan(dask_gpuscan.bitwise_xor).tolist()
        [[6, 5], [5]]
        """
        if check_operator(op).inputs != 1:
            raise TypeError(f"{op.name} takes {op.inputs} inputs, and lists have one item a place")
        options = ScanArguments(exclusive, initial, reverse, skipna, dtype)
        return self._scan(f"scan-{op.name}", op, options)

    def sort(self, ascending: bool = True, na_position: Literal["first", "last"] = "last") -> Obj:
        """Return each list with its items in order.

        Parameters
        ----------
        ascending : bool, default True
            From small to large; else from large to small.
        na_position : {"first", "last"}, default "last"
            Where null items, and NaN, go.

        Returns
        -------
        Series
            Of the same dtype and index.

        Raises
        ------
        TypeError
            For a column that holds no lists, lists of lists, and items that have no order.
        ValueError
            For any other `ascending` or `na_position`.

        See Also
        --------
        Gpuscan.sort_values : The order of rows.

        Examples
        --------
        >>> import pandas as pd, pyarrow as pa, dask_gpuscan
        >>> s = pd.Series([[2, None, 1]], dtype=pd.ArrowDtype(pa.list_(pa.int64())))
        >>> s.gpuscan.list.sort(ascending=False).tolist()
        [[2, 1, None]]
        """
        check_flags(ascending=ascending)
        check_choice("na_position", na_position, ("first", "last"))
        return self._done(ListSort(bool(ascending), na_position == "first"))

    # --- one value a list -------------------------------------------------------------------------

    @family(EXAMPLE)
    def _one(self) -> SeriesT:
        """Return one value a row, null for a null list."""
        return self._reduce("_one")

    sum = _one(
        """Return the sum of each list: 0 for a list without values.

        Returns
        -------
        Series
            One value a row, null for a null list; of the dtype of a sum of groups: integers have 64 bits.
        """,
        "[6, 9, 0, <NA>]",
    )
    min = _one(
        "Return the smallest item of each list, of any dtype that has an order; null for a list without values.",
        "[1, 4, <NA>, <NA>]",
    )
    max = _one(
        "Return the largest item of each list, of any dtype that has an order; null for a list without values.",
        "[3, 5, <NA>, <NA>]",
    )
    mean = _one(
        "Return the mean of each list, of datetimes too; null for a list without values.",
        "[2.0, 4.5, <NA>, <NA>]",
    )
    first = _one(
        "Return the first item of each list that is not null, of any dtype; null for a list without values.",
        "[2, 4, <NA>, <NA>]",
    )
    last = _one(
        "Return the last item of each list that is not null, of any dtype; null for a list without values.",
        "[3, 5, <NA>, <NA>]",
    )

    def len(self) -> SeriesT:
        """Return the number of items of each list, null ones too; null for a null list.

        Examples
        --------
        >>> import pandas as pd, pyarrow as pa, dask_gpuscan
        >>> s = pd.Series([[1, None], [], None], dtype=pd.ArrowDtype(pa.list_(pa.int64())))
        >>> s.gpuscan.list.len().tolist()
        [2, 0, <NA>]
        """
        return self._done(ListLength())

    # --- how --------------------------------------------------------------------------------------

    def _scan(self, label: str, op: Operator, options: ScanArguments) -> Any:
        checked = checked_options(options, lambda: names_of(meta_of(self._obj)))
        return self._done(ListScan(Scan(label, op, checked, in_groups=True)))

    def _reduce(self, name: str) -> Any:
        return self._done(list_reduction(name, meta_of(self._obj)))

    def _done(self, operation: ListOperation) -> Any:
        with hints(True, None):
            operation.dtype(meta_of(self._obj))
        return engine_of(self._obj).map_partitions(self._obj, of_lists, operation)
