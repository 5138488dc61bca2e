"""Inputs of scans that are not names of columns: texts, functions and series."""

from __future__ import annotations

import inspect
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from ...engines.run import engine_of, meta_of
from ...frames.keys import is_name
from ...frames.messages import ColumnError
from ...frames.registry import names_of, unused_name
from ...kernels.messages import not_among, shown
from ...ops.predicates.function import Function, function_of
from ...ops.predicates.text import Expression, captured, variables_of
from ...ops.scan.fused.plan import entitled
from ...ops.scan.inputs import Input, PlainColumn
from ..tables.tables import unwrapped
from .filter import caller_variables


def with_rows_told(obj: Any, where: Any, title: str = "where") -> tuple[Any, Any]:
    """Return a frame in which `where` is a column if it is a Series or an array; else both as they are.

    Messages call it by its title.

    Raises
    ------
    TypeError, ValueError
        If it is not boolean, or does not have the rows of the collection.
    """
    if getattr(where, "ndim", 0) != 1 or not hasattr(where, "dtype"):
        return obj, where
    name = unused_name(title, [str(name) for name in names_of(meta_of(obj))])
    with entitled(title):
        engine_of(obj).check_mask(obj, where)
        frame = engine_of(obj).append_mask(obj, where, name)
    return frame, PlainColumn(names_of(meta_of(frame))[-1])


def input_of(
    of: Any, names: Sequence[Hashable], ndim: int, local_dict: Mapping[str, Any] | None
) -> Input:
    """Return a column by its name, or else what a text or a function computes of columns.

    Raises
    ------
    TypeError
        For anything else.
    ValueError
        For names that are not there, and texts that are not expressions.
    """
    if is_name(of) and of in names:
        if list(names).count(of) > 1:
            raise ValueError(f"column {shown(of)} is there twice; rename one of them first")
        return PlainColumn(of)
    if isinstance(of, str):
        variables = caller_variables(variables_of(of), local_dict)
        plain = {name: unwrapped(value) for name, value in variables.items()}
        text = Expression(of, captured(plain))
        text.check(list(names))
        return text
    if inspect.isfunction(of) or hasattr(of, "py_func"):
        function = function_of(of, list(names), ndim)
        return Function(function.function, tuple(names)) if ndim == 1 else function
    if is_name(of) and not callable(of):
        raise ColumnError(f"column {not_among(of, list(names))}")
    raise TypeError(
        f"it must be a column, a text or a function of columns, found {shown(of)}; assign a Series as a column first"
    )
