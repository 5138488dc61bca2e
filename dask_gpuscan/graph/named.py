"""What our expressions share: names, references to partitions, and graphs for versions of Dask that ask early."""

import functools
from dataclasses import dataclass
from typing import Any

from dask.dataframe.dask_expr._expr import Expr, Projection
from dask.dataframe.dask_expr.io import FromGraph
from dask.task_spec import Task, TaskRef
from dask.tokenize import tokenize

from ..frames.registry import aligned, names_of


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

    def _blockwise_arg(self, given: Any, number: int) -> Any:
        """Return what the task of one partition takes, where Dask makes these tasks."""
        if not isinstance(given, Expr):
            return given
        one: Any = self
        return input_of(given, 0 if one._broadcast_dep(given) else number)


@dataclass(frozen=True)
class Apart:
    """An expression that is read by itself.

    Dask does not see it as an operand until it is lowered: it would read several partitions of few columns as one.
    """

    reading: Any
    """The expression; Dask would take anything that is named `expr` out of its holder."""

    def __dask_tokenize__(self) -> Any:
        return type(self).__name__, self.reading._name


def _token(expression: Any) -> str:
    if hasattr(Expr, "deterministic_token"):  # Dask 2025.3 and later
        return str(expression.deterministic_token)
    return str(tokenize(type(expression), *expression.operands, ensure_deterministic=True))


def partition_of(expression: Expr, number: int) -> TaskRef:
    """Return what a task takes for one partition of an expression.

    Of what was persisted, it is the partition as it was made: Dask has one more task for each, which gives it
    another name, and which on a cluster takes as long as any small task.
    """
    if isinstance(expression, FromGraph):
        return TaskRef(expression.operand("keys")[number])
    return TaskRef((expression._name, number))


def input_of(expression: Expr, number: int) -> Any:
    """Return what a task takes for one partition that users gave: with its collection's columns, in their order."""
    given, meta = partition_of(expression, number), expression._meta
    return Task(None, aligned, given, names_of(meta)) if getattr(meta, "ndim", 1) == 2 else given


def is_held(expression: Expr) -> bool:
    """Tell whether the partitions of an expression are in memory whatever is computed: they were persisted."""
    while isinstance(expression, Projection):
        expression = expression.frame
    return isinstance(expression, FromGraph)
