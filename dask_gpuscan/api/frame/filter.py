"""The methods of ``.gpuscan`` that keep the rows for which a predicate is true."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from ...engines.run import engine_of
from ...frames.messages import FLAG, refuse_flag
from ...frames.registry import names_of
from ...kernels.messages import shown
from ...ops.core.plans import made_once
from ...ops.predicates.filter import Predicate
from ...ops.predicates.function import function_of
from ...ops.predicates.text import Expression, captured, variables_of
from ...ops.predicates.tree import at
from ..tables.tables import unwrapped
from ..types import FrameT, Methods, Obj, SeriesT


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
        engine = engine_of(self._obj)
        kept = engine.filter(self._obj, checked)
        return engine.rebalance(kept) if rebalance else kept

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
        return engine_of(self._obj).partition(self._obj, checked)


def _check(obj: Any, predicate: Any, local_dict: Mapping[str, Any] | None) -> Predicate:
    """Return a predicate in the form that partitions get; raises the errors that a user should see early."""
    engine = engine_of(obj)
    meta = engine.meta(obj)
    names = names_of(meta)
    check_local_dict(local_dict, isinstance(predicate, str))
    checked: Predicate = predicate
    if isinstance(predicate, str):
        variables = variables_of(predicate)
        if not variables:
            checked = made_once(Expression, predicate)
        else:
            given = caller_variables(variables, local_dict)
            plain = {name: unwrapped(value) for name, value in given.items()}
            checked = Expression(predicate, captured(plain))
        checked.check(names)
    elif inspect.isfunction(predicate) or hasattr(predicate, "py_func"):
        checked = function_of(predicate, names, meta.ndim)
    else:
        engine.check_mask(obj, predicate)
    engine.check_predicate(obj, checked)
    return checked


# --- variables of the caller --------------------------------------------------------------------------


def check_local_dict(local_dict: Any, has_text: bool) -> None:
    """Check that variables are a mapping, and that there is a text that can name them."""
    if local_dict is None:
        return
    if not isinstance(local_dict, Mapping):
        raise TypeError(
            f"local_dict must be a mapping of names to values or None, found {shown(local_dict)}"
        )
    if not has_text:
        raise TypeError("local_dict goes with a text that names its variables, found none")


_PACKAGE = os.path.join(Path(os.path.abspath(__file__)).parents[2], "")
_INNER = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
"""Code that sees the variables of the function around it, too: that runs it."""


def caller_variables(names: Sequence[str], given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return variables by name: those given, or the local and global ones of whoever called this package.

    Raises
    ------
    ValueError
        For a name that is not there.
    """
    where = "a variable of the caller" if given is None else "in local_dict"
    scopes = _scopes() if given is None and names else [given or {}]
    found = {}
    for name in names:
        scope = next((scope for scope in scopes if name in scope), None)
        if scope is None:
            raise ValueError(f"predicate names {at(name)}, which is not {where}")
        found[name] = scope[name]
    return found


def _scopes() -> list[Mapping[str, Any]]:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    scopes: list[Mapping[str, Any]] = []
    while frame is not None:
        scopes.append(frame.f_locals)
        if frame.f_code.co_name not in _INNER:
            return [*scopes, frame.f_globals]
        frame = frame.f_back
    return scopes
