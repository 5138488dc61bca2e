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
            what it does in `pandas.DataFrame.query`; or a Python function whose parameters are named like columns of
            numbers or bool, which is compiled and fused into the pass: it may compute, but neither read files nor
            print nor use objects. It sees NaN, but no other nulls.
        rebalance : bool, default False
            Spread the rows that are left evenly over the partitions of a Dask collection. Counts them now, as
            all lengths tell which partitions a new one is made of, and so makes them known.
        local_dict : mapping, optional
            Values of the variables that a text names; by default they are the local and global variables of the
            caller. Their values are taken now. Give one, if need be an empty one, for texts that others write.

        Returns
        -------
        Series or DataFrame
            As of ``frame[predicate]``; a Dask collection keeps its divisions, unless it is rebalanced.

        Raises
        ------
        TypeError
            For a predicate that is not boolean.
        ValueError
            For one that names unknown columns or variables, holds anything else, or whose rows are not the frame's.

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
            Compute those of a Dask collection together (``dask.compute(kept, rest)``), for one pass.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> odd, even = pd.Series([1, 2, 3, 4], name="x").gpuscan.partition("x % 2 == 1")
        >>> odd.tolist(), even.tolist()
        ([1, 3], [2, 4])
        """
        checked = _check(self._obj, predicate, local_dict)
        return (split if isinstance(self._obj, Collection) else split_rows)(self._obj, checked)


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
    elif is_dask_collection(predicate):
        if not isinstance(obj, Collection):
            raise TypeError("predicate is a Dask collection and the frame is not; compute it first")
        if getattr(predicate, "ndim", 0) != 1 or not hasattr(predicate, "divisions"):
            raise TypeError(f"predicate must be a Series of bool, found {type(predicate).__name__}")
        checked = predicate
    elif inspect.isfunction(predicate) or hasattr(predicate, "py_func"):
        checked = function_of(predicate, names, meta.ndim)
    elif getattr(predicate, "ndim", 0) == 1 and hasattr(predicate, "dtype"):
        if isinstance(obj, Collection):
            raise TypeError(
                f"predicate of a Dask collection must be a Dask Series, a string or a function, "
                f"found {type(predicate).__name__}"
            )
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
