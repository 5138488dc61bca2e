"""``fold`` of frames and groups: a function of a state and a row, for what no operator can say."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import pandas as pd

from ...engines.run import meta_of, run
from ...frames.keys import By, is_name
from ...frames.registry import names_of
from ...kernels.fold import Step
from ...kernels.messages import shown
from ...kernels.scalars import is_number
from ...ops.fold import Fold
from ..arguments import check_column
from ..types import FrameT, Methods, Names, Obj, SeriesT


class FoldMethods(Methods[Obj, SeriesT, FrameT]):
    """The part of `Gpuscan` that folds."""

    def fold(
        self,
        step: Callable[..., tuple[Any, Any]],
        of: Names | None = None,
        *,
        initial: Any,
        names: Names | None = None,
    ) -> Any:
        """Go through rows in order with a state, and return an answer for each row.

        For what no associative operator can say: where a decision depends on the decision before it.

        Parameters
        ----------
        step : function
            ``step(state, *row) -> (state, answer)``. Numba compiles it, so it may use numbers, tuples, `math`, arrays
            that it captures, and other such functions.
        of : name or list of names
            The columns of numbers that the step takes, in this order. A Series is its own column.
        initial : number or tuple of numbers
            The state before the first row. An integer becomes a float if the step returns floats.
        names : name or list of names, optional
            The names of answers that are tuples; by default 0, 1 and so on. Of a number, by default the name of the
            column, if there is one.

        Returns
        -------
        Series or DataFrame
            One row for each row, with its index: a Series of numbers, or a DataFrame if the step answers with tuples.

        Raises
        ------
        TypeError
            If Numba cannot compile the step for the dtypes of the columns, if it does not return a state like it and
            a number or a tuple, and on cuDF.
        ValueError
            For unknown columns, and for another number of names.

        See Also
        --------
        scan : With an associative operator, which all cores and a GPU compute in parallel.

        Notes
        -----
        NaN is a number for the step. A row with a null of a nullable or Arrow column has a null answer, and leaves the
        state as it is. On a Dask collection, each partition waits for the state behind the one before. In groups, each
        group has its own state. A stream saves states, and refuses to go on with a step of another name or `initial`.

        Examples
        --------
        A pump that is switched on below 2 and off above 5:

        >>> import pandas as pd, dask_gpuscan
        >>> level = pd.Series([4, 1, 3, 6, 4, 1])
        >>> def pump(on, x):
        ...     on = x < 2 or (on and x <= 5)
        ...     return on, on
        >>> level.gpuscan.fold(pump, initial=False).tolist()
        [False, True, True, False, False, True]
        """
        meta = meta_of(self._obj)
        if meta.ndim == 1 and of is not None:
            raise TypeError(f"a Series is its own column: of must be None, found {shown(of)}")
        chosen = () if meta.ndim == 1 else chosen_columns(of, names_of(meta))
        name = meta.name if meta.ndim == 1 else None
        return run(self._obj, folded(By(()), step, chosen, initial, names, name))


def chosen_columns(of: Any, known: Sequence[Hashable]) -> tuple[Hashable, ...]:
    """Return the names of the columns that a step takes; raises an error for others."""
    names = tuple(of) if isinstance(of, list) else (of,)
    if of is None or not names:
        raise TypeError("of must name the columns that the step takes")
    for name in names:
        check_column("of", name, known)
    return names


def folded(
    by: By,
    step: Any,
    of: tuple[Hashable, ...],
    initial: Any,
    names: Any,
    name: Hashable,
    **groups: Any,
) -> Fold:
    """Return the operation of a fold; `name` is that of answers that are numbers, by default."""
    given = None if names is None else tuple(names) if isinstance(names, list) else (names,)
    for one in given or ():
        if not is_name(one) or pd.isna(one) is True:
            raise TypeError(f"names must be a name or a list of names, found {shown(names)}")
    default = of[0] if len(of) == 1 else name
    return Fold(by, Step.of(step, initial), of, given, default, **groups)


USUAL = (False, False, None, True, None, False, None, None, None)
"""The defaults of other arguments of `cumsum`: exclusive, reverse, initial, skipna, dtype and so on."""


def restarted(
    obj: Any, is_series: bool, restart_at: Any, restart_above: Any, given: Sequence[Any]
) -> Any:
    """Return running sums that start again, of the methods of a frame or of groups."""
    name = "restart_at" if restart_above is None else "restart_above"
    changed = any(one is not usual for one, usual in zip(given, USUAL, strict=True))
    if changed or (restart_at is not None and restart_above is not None):
        raise ValueError(
            "restart_at and restart_above go with no other argument, nor with each other"
        )
    if not is_series:
        raise TypeError(f"{name} is for one column; choose it first")
    limit, step = (restart_at, _until) if restart_above is None else (restart_above, _below)
    if not is_number(limit) or limit != limit or (limit % 1 == 0 and abs(limit) >= 2**63):
        raise TypeError(f"{name} must be a number of 64 bits, found {shown(limit)}")
    return obj.fold(step, initial=(0, limit))


def _until(state, x):  # type: ignore[no-untyped-def]  # Numba reads the parameters
    total, limit = state
    if x != x:  # a null
        return state, x
    total += x
    return (total if total < limit else total - total, limit), total


def _below(state, x):  # type: ignore[no-untyped-def]
    total, limit = state
    if x != x:
        return state, x
    total = total + x if total + x <= limit else x + (total - total)
    return (total, limit), total
