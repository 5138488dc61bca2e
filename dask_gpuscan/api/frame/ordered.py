"""``order_by``: methods that see rows in the order of columns, with answers in the rows' own order."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from ...engines.run import engine_of, meta_of, methods_of
from ...frames.keys import check_by
from ...frames.registry import names_of
from ...kernels.messages import shown
from ...ops.sort.sort import Order
from ..arguments import check_choice
from ..types import FrameT, Keep, Methods, Names, Obj, SeriesT
from .sort import NA_POSITIONS, flags_of

OF_ROWS = frozenset(
    "bfill cumall cumany cumcount cummax cummin cumprod cumsum diff duplicated ffill fold interpolate "
    "pct_change row_number run_length run_number scan sessionize shift transform".split()
)
"""Methods of frames and of groups with an answer for each row, which the order of rows decides."""

WINDOWS = frozenset(["rolling", "expanding", "ewm"])
"""Methods that return windows, all of whose methods have an answer for each row."""

ALL = OF_ROWS | WINDOWS | {"groupby"}


class OrderByMethods(Methods[Obj, SeriesT, FrameT]):
    """The part of `Gpuscan` that puts rows in order for a method."""

    def order_by(
        self, by: Names, ascending: bool | Sequence[bool] = True, na_position: Keep = "last"
    ) -> Any:
        """Return methods that see the rows in the order of columns; answers have the rows' own order.

        What SQL writes as ``over (partition by k order by t)`` is ``df.gpuscan.order_by("t").groupby("k")``.

        Parameters
        ----------
        by : name or list of names
            Columns, or levels of the index, the most significant first. Rows with equal keys are in their own order.
        ascending : bool or list of bool, default True
            For all keys, or for each of them.
        na_position : {"first", "last"}, default "last"
            Where rows with null keys go.

        Returns
        -------
        object
            It has those methods of this accessor that answer each row, `groupby`, `rolling`, `expanding` and `ewm`.
            Answers have the index, the order and the partitions of the rows. Columns are chosen by ``[]``. Rows are
            sorted once for all calls, and not at all if they are in order.

        Raises
        ------
        TypeError, ValueError
            As for `sort_values`.
        NotImplementedError
            For a stream, whose order is that of its batches.

        See Also
        --------
        sort_values : The rows in order.

        Notes
        -----
        A Dask collection is sorted, and the answers are sent back, each time it is computed: compute several answers
        together, or sort first where rows need not stay in their order.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({"k": list("aab"), "t": [2, 1, 1], "x": [10, 20, 30]})
        >>> df.gpuscan.order_by("t")["x"].cumsum().tolist()
        [60, 20, 50]
        >>> df.gpuscan.order_by("t").groupby("k")["x"].shift().tolist()
        [20.0, nan, nan]
        """
        obj = self._obj
        if meta_of(obj).ndim == 1:
            raise TypeError(
                "order_by needs a DataFrame, found a Series; choose the column by [] after it"
            )
        keys = check_by(meta_of(obj), by)
        check_choice("na_position", na_position, NA_POSITIONS)
        order = Order(keys, flags_of(ascending, len(keys.columns)), na_position == "first")
        rows = engine_of(obj).in_order(obj, order)
        return Ordered(rows, names_of(meta_of(obj)))


class Ordered:
    """Methods of rows in an order, as `Gpuscan.order_by` returns them."""

    def __init__(
        self, rows: Any, names: Sequence[Any] = (), target: Any = None, every: bool = False
    ):
        self._rows, self._names, self._given, self._every = rows, names, target, every

    @functools.cached_property
    def _target(self) -> Any:
        return methods_of(self._rows.rows()) if self._given is None else self._given

    def __getitem__(self, columns: Any) -> Ordered:
        """Return the same of one column, by its name, or of several, by a list of names."""
        if self._given is None:
            return Ordered(self._rows, (), methods_of(self._rows.rows(columns)))
        return Ordered(self._rows, (), self._given[columns], self._every)

    def __dir__(self) -> list[str]:
        return sorted(name for name in ALL if hasattr(self._target, name))

    def __repr__(self) -> str:
        return f"<{self._target!r} in another order>"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self._names and name not in ALL:
            return self[name]
        member = getattr(self._target, name)  # or its message
        if isinstance(member, type(self._target)):  # a column of groups
            return self[name]
        if not self._every and name not in ALL:
            raise AttributeError(
                f"order_by has no {name!r}: its answer does not have a row for each row, or is the same in any order; "
                f"use sort_values(...).gpuscan.{name}"
            )

        @functools.wraps(member)
        def call(*args: Any, **kwargs: Any) -> Any:
            for given in (*args, *kwargs.values()):
                if getattr(given, "ndim", 0):
                    raise TypeError(
                        f"{name} in another order takes names of columns, found {shown(type(given).__name__)}; "
                        f"make it a column first"
                    )
            found = member(*args, **kwargs)
            if getattr(found, "ndim", 0):
                return self._rows.answer(found)
            return Ordered(self._rows, (), found, self._every or name in WINDOWS)

        return call
