"""What to use instead of methods of pandas that are absent here."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NoReturn

import pandas as pd
from pandas.api import typing as pandas_types

from ..kernels.messages import hint, shown

APPLY = "scan(op), with an operator made by dask_gpuscan.operator"

SUBSTITUTES: dict[str, dict[str, str]] = {
    "gpuscan": {
        "apply": APPLY,
        "transform": APPLY,
        "map": APPLY,
        "agg": "groupby(keys).agg(...), or agg of the frame itself",
        "argsort": "rank(method='first'), or sort_values(by)",
        "asof": "dask_gpuscan.merge_asof(left, right, on=...)",
        "autocorr": "x.corr(x.gpuscan.shift(lag))",
        "backfill": "bfill()",
        "fillna": "ffill() or bfill()",
        "list": "list of one column, as in df['x'].gpuscan.list",
        "merge_asof": "dask_gpuscan.merge_asof(left, right, on=...)",
        "mode": "value_counts()",
        "pad": "ffill()",
        "query": "filter('x > 3')",
        "unique": "drop_duplicates()",
    },
    "groupby": {
        "aggregate": "agg(...)",
        "apply": "reduce(op) or scan(op), with an operator made by dask_gpuscan.operator",
        "backfill": "bfill()",
        "filter": "filter(...) of the frame, by a column assigned from a scan of the groups",
        "fillna": "ffill() or bfill()",
        "ohlc": "agg(['first', 'max', 'min', 'last'])",
        "pad": "ffill()",
    },
    "rolling": {},
    "expanding": {"apply": "scan(op) of the frame, with an operator made by dask_gpuscan.operator"},
    "ewm": {
        "online": "dask_gpuscan.stream(source), whose ewm goes on from batch to batch",
    },
    "resample": {
        "aggregate": "agg(...)",
        "apply": "reduce(op), with an operator made by dask_gpuscan.operator",
        "backfill": "bfill()",
        "pad": "ffill()",
        "transform": "agg(...), whose answers dask_gpuscan.merge_asof brings to the rows",
    },
    "groupby.resample": {
        "aggregate": "agg(...)",
        "apply": "reduce(op), with an operator made by dask_gpuscan.operator",
        "backfill": "bfill()",
        "interpolate": "resample(rule) of the rows of one group",
        "ohlc": "agg(['first', 'max', 'min', 'last'])",
        "pad": "ffill()",
    },
}
"""What to use instead of absent methods, by the object that they are looked for in."""

PEERS: dict[str, tuple[Any, ...]] = {
    "gpuscan": (pd.DataFrame, pd.Series),
    "groupby": (pandas_types.DataFrameGroupBy, pandas_types.SeriesGroupBy),
    "rolling": (pandas_types.Rolling,),
    "expanding": (pandas_types.Expanding,),
    "ewm": (pandas_types.ExponentialMovingWindow,),
    "resample": (pandas_types.Resampler,),
    "groupby.resample": (pandas_types.Resampler,),
}
"""The classes of pandas that have the methods, by the same names."""


class NotIterable:
    """An object that has columns by name, and cannot be iterated."""

    def __iter__(self) -> NoReturn:
        raise TypeError(
            f"{type(self).__name__} cannot be iterated; iterate over the frame itself, without .gpuscan"
        )


def attribute(
    owner: Any, kind: str, name: str, names: Callable[[], Sequence[Hashable]] = tuple
) -> Any:
    """Return a column by its name; of others raise an AttributeError, which says what to use instead of a method."""
    if name.startswith("_"):
        raise AttributeError(name)
    columns = names()
    if name in columns:
        return owner[name]
    if name in SUBSTITUTES[kind]:
        raise AttributeError(f"{kind} has no {name}; use {SUBSTITUTES[kind][name]}")
    if any(hasattr(peer, name) for peer in PEERS[kind]):
        path = name if kind == "gpuscan" else f"{kind}(...).{name}"
        raise AttributeError(f"{kind} has no {name}; use {path} of the frame itself")
    known = [method for method in dir(type(owner)) if not method.startswith("_")]
    either = "neither a method nor a column" if columns else "no method"
    raise AttributeError(f"{kind} has {either} {shown(name)}{hint(name, [*known, *columns])}")
