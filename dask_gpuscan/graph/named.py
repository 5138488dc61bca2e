"""What all our expressions share: their names, and graphs for those versions of Dask that ask for them early."""

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

    def __dask_graph__(self) -> Any:
        """Return the graph, also of what Dask has not lowered.

        Before 2026.7 Dask asks expressions that are not its own for their graphs, to find out whether they are
        collections, when `map_partitions` of them is built.
        """
        expression: Any = self
        lowered = expression.lower_completely()
        same = lowered._name == self._name
        return Expr.__dask_graph__(lowered) if same else lowered.__dask_graph__()


def _token(expression: Any) -> str:
    if hasattr(Expr, "deterministic_token"):  # Dask 2025.3 and later
        return str(expression.deterministic_token)
    return str(tokenize(type(expression), *expression.operands, ensure_deterministic=True))
