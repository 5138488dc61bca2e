"""The names of our expressions, whatever the version of Dask."""

import functools
from typing import Any

from dask.dataframe.dask_expr._expr import Expr
from dask.tokenize import tokenize


class Named:
    """An expression whose name says what it does: a base class that stands before Dask's."""

    _label: Any
    """What the name starts with: a string, or a property that returns one."""

    @functools.cached_property
    def _name(self) -> str:
        return f"{self._label}-{_token(self)}"


def _token(expression: Any) -> str:
    if hasattr(Expr, "deterministic_token"):  # Dask 2025.3 and later
        return str(expression.deterministic_token)
    return str(tokenize(type(expression), *expression.operands, ensure_deterministic=True))
