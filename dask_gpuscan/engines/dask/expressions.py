"""The basis of all expressions and collections: names of tasks, references to partitions, empty frames, columns."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from operator import attrgetter
from typing import Any

import numpy as np
import pandas as pd
from dask.task_spec import Task, TaskRef

from ...frames.messages import FLAG
from ...frames.registry import aligned, check_names, choose_columns, library_of, names_of
from ...kernels.late_dataclass import dataclass
from ...kernels.messages import shown
from .compat import (
    IO,
    AsType,
    Blockwise,
    Expr,
    FrameBase,
    FromGraph,
    Mask,
    MaskAlign,
    Projection,
    Where,
    meta_nonempty,
    new_collection,
    token_of,
)


class ExprMixin:
    """A base class for expressions that chooses their names; it comes before Dask's base class."""

    _label: Any
    """The beginning of the name: a string, or a property that returns one."""

    @functools.cached_property
    def _name(self) -> str:
        return f"{self._label}-{token_of(self)}"

    def __dask_graph__(self) -> Any:
        """Return the graph, also of an expression that Dask has not lowered.

        Before 2026.7, `map_partitions` asks foreign expressions for their graphs to find out if they are collections.
        """
        expression: Any = self
        lowered = expression.lower_completely()
        same = lowered._name == self._name
        return Expr.__dask_graph__(lowered) if same else lowered.__dask_graph__()

    def _blockwise_arg(self, given: Any, number: int) -> Any:
        """Return the argument of one partition's task, for tasks that Dask makes."""
        if not isinstance(given, Expr):
            return given
        one: Any = self
        return self._input(given, 0 if one._broadcast_dep(given) else number)

    def _input(self, given: Expr, number: int) -> Any:
        """Return what `input_of` does; that of other partitions is kept, so that names are asked for once."""
        made: dict[str, list[Any]] = vars(self).setdefault("_made", {})
        if given._name not in made:
            made[given._name] = inputs_of(given)
        return made[given._name][number]


@dataclass(frozen=True)
class SeparateKeyRead:
    """An expression that Dask does not see as an operand until it is lowered.

    Otherwise Dask would join several partitions when it reads few columns.
    """

    reading: Any
    """The expression; Dask would unpack a field with the name `expr`."""

    def __dask_tokenize__(self) -> Any:
        return type(self).__name__, self.reading._name


def read_separately(keys: Any) -> Any:
    """Return keys that are read separately if they come straight from files; others are computed once for all."""
    if _is_made(keys):
        return keys
    alone = keys.simplify()
    is_read = all(isinstance(e, (Blockwise, IO)) for e in alone.walk())
    return SeparateKeyRead(alone) if is_read else keys


def _is_made(expression: Any) -> bool:
    """Return whether rows come out of a carry or a shuffle; this is faster than simplifying their expression."""
    while not isinstance(expression, ExprMixin) or isinstance(expression, Blockwise):
        sources = expression.dependencies()
        if not sources:
            return False
        expression = sources[0]
    return True


class Aside(ExprMixin, Expr):  # type: ignore[misc]
    """An operand with other rows than the frame, such as a table of groups.

    It has no dimensions, so that Dask takes it for a scalar, which is aligned with any frame. Otherwise Dask would not
    know that an answer has the rows of its frame, and would join both by label if one is assigned to the other.
    """

    _parameters = ("frame",)
    _label = "aside"
    ndim = 0

    @functools.cached_property
    def _meta(self) -> Any:
        return self.frame._meta

    def _divisions(self) -> Any:
        return self.frame.divisions

    def _layer(self) -> dict[Any, Task]:
        if isinstance(self.frame, Inlined):
            return {}
        keys = [(self._name, i) for i in range(self.frame.npartitions)]
        return {key: Task(key, _itself, partition_of(self.frame, key[1])) for key in keys}


def _itself(partition: Any) -> Any:
    return partition


def partition_of(expression: Expr, number: int) -> TaskRef:
    """Return the argument of a task for one partition of an expression.

    A persisted partition is taken by its first name: Dask has another task that only renames it, which costs as much as
    any small task on a cluster.
    """
    if isinstance(expression, Aside):
        return partition_of(expression.frame, number)
    if isinstance(expression, FromGraph):
        return TaskRef(expression.operand("keys")[number])
    return TaskRef((expression._name, number))


class Inlined(ExprMixin, Expr):  # type: ignore[misc]
    """Partitions that each task makes for itself, so that none is kept in memory for another task."""

    def made(self, number: int) -> Task:
        """Return the task that makes a partition."""
        raise NotImplementedError

    def _layer(self) -> dict[Any, Task]:
        return {}


def input_of(expression: Expr, number: int) -> Any:
    """Return the argument of a task for a user's partition, with columns in the order of its collection."""
    (found,) = inputs_of(expression, [number])
    return found


def inputs_of(expression: Expr, numbers: Iterable[int] | None = None) -> list[Any]:
    """Return the arguments of tasks, as `input_of`, for some partitions or for all."""
    expression = expression.frame if isinstance(expression, Aside) else expression
    numbers = range(expression.npartitions) if numbers is None else numbers
    if isinstance(expression, Inlined):
        return [expression.made(number) for number in numbers]
    given, meta = [partition_of(expression, number) for number in numbers], expression._meta
    if getattr(meta, "ndim", 1) != 2:
        return given
    names = names_of(meta)
    return [Task(None, aligned, each, names) for each in given]


class Chosen(Projection):  # type: ignore[misc]
    """Columns of a frame, chosen as by Dask but without pandas' slower look-up of labels."""

    operation = staticmethod(choose_columns)

    def _simplify_down(self) -> Any:
        found = super()._simplify_down()
        if type(found) is Projection:  # of this one's own frame
            return type(self)(*found.operands)
        return found


def is_held(expression: Expr) -> bool:
    """Return whether the partitions of an expression were persisted, so that they stay in memory."""
    while isinstance(expression, Projection):
        expression = expression.frame
    return isinstance(expression, FromGraph)


meta: Callable[[Any], Any] = attrgetter("_meta")
"""Returns the empty frame or series of a collection."""

_SURROGATE = re.compile("[\ud800-\udfff]")
"""A character that UTF-8 cannot write."""


def accepted(obj: Any) -> Any:
    """Return a collection in dtypes that operations take, which all its partitions have.

    Dask gives ``where`` and ``mask`` the dtypes of the frame, and only partitions that keep all rows have these; here
    all partitions get the dtypes of pandas.

    Raises
    ------
    ValueError
        If Dask cannot choose a column, which is named: it loses None and NaN among labels that are not all strings, and
        takes a list of True and False for a mask.
    """
    _check_labels(obj)
    expression, known = obj.expr, set[str]()
    while True:
        nodes = expression.find_operations((Where, Mask, MaskAlign))
        node = next((one for one in nodes if one._name not in known), None)
        if node is None:
            break
        wider = _wider_dtypes(node)
        if wider is not None:
            wide = type(node)(AsType(node.frame, wider), *node.operands[1:])
            expression, node = expression.substitute(node, wide), wide
        known.add(node._name)
    found = obj if expression is obj.expr else new_collection(expression)
    native = library_of(meta(found)).native
    return found if native(meta(found)) is meta(found) else map_partitions(found, native)


def _wider_dtypes(node: Expr) -> Any:
    """Return the dtypes that also hold the replacements of ``where`` or ``mask``; None if the frame has them."""
    frame = meta_nonempty(node.frame._meta)
    if not isinstance(frame, (pd.DataFrame, pd.Series)):
        return None
    other = node.operand("other")
    other = meta_nonempty(other._meta) if isinstance(other, Expr) else other
    try:
        found = frame.where(np.zeros(frame.shape, np.bool_), other)
    except (TypeError, ValueError):  # computing raises it again
        return None
    if frame.ndim == 1:
        return found.dtype if found.dtype != frame.dtype else None
    pairs = zip(frame.columns, frame.dtypes, found.dtypes, strict=True)
    wider = {name: dtype for name, own, dtype in pairs if dtype != own}
    return wider if wider and frame.columns.is_unique else None


def collected(expression: Expr) -> Any:
    """Return the collection of an expression; raises a ValueError if Dask would lose the name of a series."""
    found = new_collection(expression)
    _check_name(meta(found))
    return found


def _check_name(empty: Any) -> None:
    if empty.ndim == 1 and empty.name != empty.name:  # NaN differs from that of another partition
        raise ValueError(
            f"Dask does not keep {shown(empty.name)} as the name of a series; rename it first"
        )


def _check_labels(obj: Any) -> None:
    empty = meta(obj)
    names = names_of(empty)
    check_names(names)
    _check_name(empty)
    mixed = empty.ndim == 2 and empty.columns.dtype == object
    for name in names:
        is_null = name is None or name != name
        is_lost = (mixed and is_null) or (empty.ndim == 2 and isinstance(name, FLAG))
        if is_lost or (isinstance(name, str) and _SURROGATE.search(name)):
            raise ValueError(
                f"Dask cannot choose column {shown(name)} by its label; rename it first"
            )


is_sorted_by_index: Callable[[Any], bool] = attrgetter("known_divisions")
"""Returns whether divisions are known, so that equal labels of the index share a partition."""


def is_column(obj: Any, name: Hashable, series: Any) -> bool:
    """Return whether a column and a series simplify to the same expression."""
    return bool(obj[name].expr.simplify()._name == series.expr.simplify()._name)


def as_series(like: Any, values: Any) -> Any:
    """Return values, a collection, unchanged."""
    return values


def select(obj: Any, flags: Sequence[bool]) -> Any:
    """Return the columns whose flag is true."""
    return narrow(obj, [n for n, flag in zip(names_of(obj._meta), flags, strict=True) if flag])


def choose(obj: Any, names: Iterable[Hashable]) -> Any:
    """Return the columns of these names, so that no others are read; a series is returned unchanged."""
    return obj if obj.ndim == 1 else new_collection(Chosen(obj.expr, list(dict.fromkeys(names))))


narrow = choose


def map_partitions(
    obj: Any,
    function: Callable[..., Any],
    *given: Any,
    keeps_divisions: bool = True,
    typed_by_rows: bool = False,
) -> Any:
    """Apply a function to each partition.

    Dask must not compare columns with those of the empty answer: to Dask, two NaN are different labels.
    """
    asked = (with_rows, function) if typed_by_rows else (function,)
    empty = [one._meta if isinstance(one, FrameBase) else one for one in (obj, *asked[1:], *given)]
    return obj.map_partitions(
        _on_aligned,
        names_of(obj._meta),
        *asked,
        *given,
        meta=asked[0](*empty),
        enforce_metadata=False,
        clear_divisions=not keeps_divisions,
        align_dataframes=False,
    )


def read_once(obj: Any) -> Any:
    """Return the same rows, of which Dask reads all columns; it would join partitions where few are read."""
    return map_partitions(obj, _same)


def _same(partition: Any) -> Any:
    return partition


def _on_aligned(partition: Any, known: Any, function: Any, /, *given: Any) -> Any:
    return function(aligned(partition, known), *given)


def with_rows(partition: Any, function: Any, /, *given: Any) -> Any:
    """Apply a function to a partition; the answer for an empty one has the dtypes of the others."""
    if len(partition):
        return function(partition, *given)
    rows = meta_nonempty(partition)
    labels = rows.index.dropna()  # sample texts and categories include a null
    rows = rows.iloc[: len(labels)]
    rows.index = labels
    return function(rows, *given).iloc[:0]
