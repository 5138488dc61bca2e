"""Undocumented names of Dask: no other module imports them, and a test fails if one is missing."""

from collections.abc import Callable
from operator import attrgetter

from dask.dataframe.dask_expr import new_collection
from dask.dataframe.dask_expr._collection import FrameBase
from dask.dataframe.dask_expr._cumulative import CumulativeAggregations
from dask.dataframe.dask_expr._expr import (
    AsType,
    Blockwise,
    Expr,
    Lengths,
    Literal,
    Mask,
    MaskAlign,
    MaybeAlignPartitions,
    Projection,
    Where,
    are_co_aligned,
    determine_column_projection,
    plain_column_projection,
)
from dask.dataframe.dask_expr._reductions import Len
from dask.dataframe.dask_expr._shuffle import Shuffle
from dask.dataframe.dask_expr.io import FromGraph
from dask.dataframe.dask_expr.io.io import IO
from dask.dataframe.methods import concat
from dask.dataframe.utils import meta_nonempty
from dask.tokenize import tokenize

__all__ = [
    "IO",
    "AsType",
    "Blockwise",
    "CumulativeAggregations",
    "Expr",
    "FrameBase",
    "FromGraph",
    "Len",
    "Lengths",
    "Literal",
    "Mask",
    "MaskAlign",
    "MaybeAlignPartitions",
    "Projection",
    "Shuffle",
    "Where",
    "are_co_aligned",
    "concat",
    "determine_column_projection",
    "meta_nonempty",
    "new_collection",
    "plain_column_projection",
    "token_of",
]


def _token(expression: Expr) -> str:
    return str(tokenize(type(expression), *expression.operands, ensure_deterministic=True))


token_of: Callable[[Expr], str] = (  # Dask 2025.3 and later
    attrgetter("deterministic_token") if hasattr(Expr, "deterministic_token") else _token
)
"""Returns the token at the end of an expression's name."""
