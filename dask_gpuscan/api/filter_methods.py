"""The methods of ``.gpuscan`` that keep the rows for which a predicate is true."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from dask.base import is_dask_collection
from dask.dataframe.utils import meta_nonempty

from ..frames.messages import FLAG, refuse_flag
from ..frames.registry import names_of
from ..graph.filter_expressions import keep_rows, split
from ..graph.lookback import Collection
from ..graph.rebalance import rebalanced
from ..ops.filter import Predicate, filter_rows, split_rows
from ..ops.predicate_function import function_of
from ..ops.predicate_text import Expression, variables_of
from ..ops.predicate_variables import captured
from .caller import caller_variables
from .object_types import FrameT, Methods, Obj, SeriesT
from .tables import unwrapped


class FilterMethods(Methods[Obj, SeriesT, FrameT]):
    """The part of `Gpuscan` that filters rows."""

    def filter(
        self,
        predicate: SeriesT | str | Callable[..., Any],
        rebalance: bool = False,
        *,
        local_dict: Mapping[str, Any] | None = None,
    ) -> Obj:
        """Return the rows that a predicate keeps, in their order, with index and dtypes.

        Parameters
        ----------
        predicate : Series of bool, str or function
            A boolean Series, whose nulls are not kept; an expression of comparisons, arithmetic, boolean
            operators, literals, names of columns (odd ones in backquotes), variables (``@low``), tests for nulls
            (``x.isnull()``), of texts (``s.str.startswith("a")``) and parts of dates (``t.dt.hour``), which means
            what it does in `pandas.DataFrame.query`; or a Python function whose parameters are names of columns of
            numbers or bool. The function is compiled: it may compute, but not read files, print or use objects.
            Rows with nulls other than NaN are dropped before it runs.
        rebalance : bool, default False
            Spread the rows that are left evenly over the partitions of a Dask collection. This reads the data
            once, at once, as all partition lengths must be known first; then ``len`` of the answer is known.
        local_dict : mapping, optional
            Values of the variables that a text names; by default the local and global variables of the caller,
            taken when this is called. Give an empty one for texts that others have written.

        Returns
        -------
        Series or DataFrame
            As from ``frame[predicate]``; a Dask collection keeps its divisions, unless it is rebalanced.

        Raises
        ------
        TypeError
            For a predicate that is not boolean.
        ValueError
            For one that names unknown columns or variables, holds anything else, or does not have the rows of the
            frame.

        See Also
        --------
        Gpuscan.partition : The other rows too.
        Gpuscan.unique_consecutive : One row of each run of equal rows.

        Notes
        -----
        One pass over the columns of fixed width; strings and others are gathered. Algorithm: Merrill and
        Garland, NVR-2016-002, section 5.2.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({"delay": [40.0, None, 5.0, 90.0], "carrier": ["UA", "UA", "AA", "AA"]})
        >>> df.gpuscan.filter("delay > 30 and carrier == 'UA'")
           delay carrier
        0   40.0      UA
        >>> df.gpuscan.filter(lambda delay: delay < 50).index.tolist()
        [0, 2]
        >>> carriers = ["AA", "DL"]
        >>> df.gpuscan.filter("delay.isnull() or carrier in @carriers").index.tolist()
        [1, 2, 3]
        """
        if not isinstance(rebalance, FLAG):
            refuse_flag("rebalance", rebalance)
        checked = _check(self._obj, predicate, local_dict)
        kept = keep_rows(self._obj, checked)
        return rebalanced(kept) if rebalance and isinstance(kept, Collection) else kept

    def partition(
        self,
        predicate: SeriesT | str | Callable[..., Any],
        *,
        local_dict: Mapping[str, Any] | None = None,
    ) -> tuple[Obj, Obj]:
        """Return the rows that a predicate keeps, and the rest: both in their order, from one pass.

        Parameters
        ----------
        predicate, local_dict
            As for `filter`. Rows for which it is null are in the rest.

        Returns
        -------
        kept, rest : Series or DataFrame
            For one pass over a Dask collection, compute both together: ``dask.compute(kept, rest)``.

        See Also
        --------
        Gpuscan.filter : Only the rows that are kept; says what a predicate may be.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> odd, even = pd.Series([1, 2, 3, 4], name="x").gpuscan.partition("x % 2 == 1")
        >>> odd.tolist(), even.tolist()
        ([1, 3], [2, 4])
        """
        checked = _check(self._obj, predicate, local_dict)
        return (split if isinstance(self._obj, Collection) else split_rows)(self._obj, checked)


def check_mask(obj: Any, predicate: Any) -> None:
    """Check that a Series or an array is a predicate of a collection like it.

    Raises
    ------
    TypeError
        If only one of them is Dask's, or it has several columns.
    """
    if not is_dask_collection(predicate):
        if isinstance(obj, Collection):
            raise TypeError(
                f"predicate must be a Dask Series, a string or a function for a Dask collection, "
                f"found {type(predicate).__name__}"
            )
    elif not isinstance(obj, Collection):
        raise TypeError("predicate is a Dask collection and the frame is not; compute it first")
    elif getattr(predicate, "ndim", 0) != 1 or not hasattr(predicate, "divisions"):
        raise TypeError(f"predicate must be a Series of bool, found {type(predicate).__name__}")


def _check(obj: Any, predicate: Any, local_dict: Mapping[str, Any] | None) -> Predicate:
    """Return a predicate in the form that partitions are given it; raises what a user should see early."""
    meta = obj._meta if isinstance(obj, Collection) else obj
    names = names_of(meta)
    checked: Predicate
    if isinstance(predicate, str):
        variables = caller_variables(variables_of(predicate), local_dict)
        plain = {name: unwrapped(value) for name, value in variables.items()}
        checked = Expression(predicate, captured(plain))
        checked.check(names)
    elif inspect.isfunction(predicate) or hasattr(predicate, "py_func"):
        checked = function_of(predicate, names, meta.ndim)
    elif is_dask_collection(predicate) or (
        getattr(predicate, "ndim", 0) == 1 and hasattr(predicate, "dtype")
    ):
        check_mask(obj, predicate)
        checked = predicate
    else:
        raise TypeError(
            f"predicate must be a boolean Series, a string or a function, "
            f"found {type(predicate).__name__}"
        )
    if not isinstance(obj, Collection):
        return checked  # others are told at once, when the rows are chosen
    empty = checked._meta if is_dask_collection(checked) else checked
    filter_rows(meta.iloc[:0], empty)
    if isinstance(checked, Expression):
        named = meta.to_frame() if meta.ndim == 1 else meta
        named = named[list(checked.columns)]
        if not any(
            isinstance(d, np.dtype) and d.kind == "O" for d in named.dtypes
        ):  # whose values may be anything
            filter_rows(meta_nonempty(named), checked)  # some libraries compare what has no rows
    return checked
