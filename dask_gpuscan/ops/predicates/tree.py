"""Trees of predicates: what their nodes are, and the value that a tree has for columns.

What a tree may compute is bounded here: literals are computed when a tree is made, to values of a bounded size, and
elements of columns cannot be repeated. This module must never know how a text is read.
"""

from __future__ import annotations

import ast
import datetime
import functools
import numbers
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from ...frames.types import Column
from .members import MEMBERS, check_arguments

DEEPEST = 100
"""Levels of a tree, which is walked recursively."""

LONGEST = 20_000
"""Characters of a text, and of the texts that it adds."""

WIDEST = 256
"""Bits of an integer without its sign: what the widest decimals hold."""

_EXCERPT = 80
"""Characters of a text in a message."""


@functools.lru_cache(maxsize=64)
def quoted(text: str) -> str:
    """Show a text in a message, of a long one the beginning."""
    shown = repr(text[:_EXCERPT])
    if len(text) <= _EXCERPT and len(shown) <= _EXCERPT + 2:
        return shown
    return f"{shown[:_EXCERPT]}..."


def at(name: str) -> str:
    """Show a variable in a message, of a long name the beginning."""
    return f"@{name}" if len(name) <= _EXCERPT else f"@{name[:_EXCERPT]}..."


@dataclass(frozen=True, slots=True)
class Node:
    """A column, a literal, or an operation with its operands."""

    kind: str
    """One of "column", "literal", "unary", "arithmetic", "boolean", "chain", which is of comparisons, and "member",
    which follows a dot."""
    value: Any
    """The column's name, the literal's value, the operation's class in `ast`, those of a chain, or how a member is
    written and its keywords."""
    operands: tuple[Node, ...] = ()
    source: str = ""
    """How it is written, for messages."""
    depth: int = 1
    """Levels of the tree below and with this node."""
    size: int = 0
    """Comparisons, arithmetic and signs in this tree."""


def node_of(kind: str, value: Any, operands: list[Node], source: str) -> Node:
    """Return an operation as a node, or as the literal that it comes to if its operands are literals.

    Raises
    ------
    ValueError
        If the literals cannot be computed with, are no arguments of a member, or have a value that may be large; if the
        tree becomes too deep.
    """
    depth = 1 + max(o.depth for o in operands)
    if depth > DEEPEST:
        raise ValueError(f"predicate is nested deeper than {DEEPEST} levels")
    if kind == "arithmetic":
        _check_literals(value, operands, source)
    own = len(value) if kind == "chain" else int(kind != "boolean")
    size = own + sum(o.size for o in operands)
    node = Node(kind, value, tuple(operands), source, depth, size)
    try:
        if kind == "member":
            check_arguments(value[0], [o.value for o in operands[1:]], dict(value[1]))
        if any(o.kind != "literal" for o in operands):
            return node
        literal = value_of(node, {})
    except Exception as error:  # whatever Python raises for literals that it cannot compute with
        raise ValueError(f"predicate holds {source}: {error}") from None
    if not is_small(literal):
        raise _too_large(source)
    return Node("literal", literal, (), source)


_SCALARS = (
    *(int, float, str, Decimal, datetime.date, datetime.time, datetime.timedelta),
    *(np.bool_, np.integer, np.floating, np.datetime64, np.timedelta64, pd.Period),
    *(type(None), type(pd.NA), type(pd.NaT)),
)
"""Types of the values that literals and variables have."""


def is_scalar(value: Any) -> bool:
    """Whether a variable may have a value where one value is needed."""
    return isinstance(value, _SCALARS)


def is_small(literal: Any) -> bool:
    """Whether a value is a literal's, and of a bounded size."""
    if isinstance(literal, int):
        return literal.bit_length() <= WIDEST
    return is_scalar(literal) and not (isinstance(literal, str) and len(literal) > LONGEST)


def _check_literals(sign: type[ast.AST], operands: list[Node], source: str) -> None:
    """Refuse arithmetic on literals whose value may be larger than its text."""
    literals = [o.value for o in operands if o.kind == "literal"]
    repeats = sign is not ast.Add and any(isinstance(value, str) for value in literals)
    power = sign is ast.Pow and len(literals) == 2 and all(isinstance(v, int) for v in literals)
    if repeats or (power and literals[1] > WIDEST):
        raise _too_large(source)


def _too_large(source: str) -> ValueError:
    return ValueError(f"predicate holds {source}; write its value instead")


# --- values ------------------------------------------------------------------------------------------


def _is_in(value: Any, literals: list[Any]) -> Any:
    return value.isin(literals) if hasattr(value, "isin") else value in literals


def _is_not_in(value: Any, literals: list[Any]) -> Any:
    found = _is_in(value, literals)
    return not found if isinstance(found, bool) else ~found


Operation = Callable[[Any, Any], Any]

OPERATORS: dict[type[ast.AST], tuple[str, Operation]] = {
    ast.Eq: ("==", operator.eq),
    ast.NotEq: ("!=", operator.ne),
    ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le),
    ast.Gt: (">", operator.gt),
    ast.GtE: (">=", operator.ge),
    ast.In: ("in", _is_in),
    ast.NotIn: ("not in", _is_not_in),
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("*", operator.mul),
    ast.Div: ("/", operator.truediv),
    ast.FloorDiv: ("//", operator.floordiv),
    ast.Mod: ("%", operator.mod),
    ast.Pow: ("**", operator.pow),
    ast.And: ("&", lambda left, right: operator.and_(*_alike(left, right))),
    ast.Or: ("|", lambda left, right: operator.or_(*_alike(left, right))),
}
"""Operators of two operands as they are written, and what they do."""


def _alike(left: Any, right: Any) -> tuple[Any, Any]:
    """Return truths of which one may be of Arrow and the other masked in one dtype: pandas does not join them."""
    dtypes = [getattr(truths, "dtype", None) for truths in (left, right)]
    if not any(isinstance(dtype, pd.BooleanDtype) for dtype in dtypes):
        return left, right
    left, right = (
        truths.astype("boolean") if isinstance(dtype, pd.ArrowDtype) else truths
        for truths, dtype in zip((left, right), dtypes, strict=True)
    )
    return left, right


def value_of(node: Node, columns: dict[str, Any]) -> Any:
    """Return the value of a tree for columns by their names: a series, or a scalar if it names no column.

    Of an operation with many operands, no more than two values are held at a time.
    """
    match node.kind:
        case "column":
            return columns[node.value]
        case "literal":
            return node.value
        case "unary" if node.value in (ast.Not, ast.Invert):
            value = _truth(node.operands[0], columns)
            return not value if isinstance(value, bool) else ~value
        case "unary":
            value = value_of(node.operands[0], columns)
            return -value if node.value is ast.USub else +value
        case "arithmetic":
            left, right = (value_of(o, columns) for o in node.operands)
            _check_elements(node.value, left)
            _check_elements(node.value, right)
            return _computed(OPERATORS[node.value][1], left, right, NotImplementedError)
        case "member":
            path, keywords = node.value
            column, *texts = (value_of(o, columns) for o in node.operands)
            return MEMBERS[path].value(column, *texts, **dict(keywords))
        case "boolean":
            truths = (_truth(o, columns) for o in node.operands)
            return functools.reduce(OPERATORS[node.value][1], truths)
    return functools.reduce(OPERATORS[ast.And][1], _compared(node, columns))


def _computed(operation: Operation, left: Any, right: Any, *errors: type[Exception]) -> Any:
    """Return what an operation makes of its operands: of integers of Arrow what pandas makes of its own, on errors.

    Arrow has no remainders, and compares no integers of which one does not fit the type of the other.
    """
    try:
        return operation(left, right)
    except errors:
        masked = [_as_masked(each) for each in (left, right)]
        if masked[0] is left and masked[1] is right:
            raise
        return operation(*masked)


def _as_masked(value: Any) -> Any:
    dtype = getattr(value, "dtype", None)
    if not isinstance(dtype, pd.ArrowDtype) or dtype.kind not in "iu":
        return value
    return value.astype(dtype.numpy_dtype.name.replace("int", "Int").replace("u", "U"))


def _as_time(value: Any, other: Any) -> Any:
    """Return a text as the time or date that it says, where it is compared with Arrow's; pandas takes others itself."""
    dtype = getattr(other, "dtype", None)
    if not isinstance(value, str) or not isinstance(dtype, pd.ArrowDtype) or dtype.kind not in "mM":
        return value
    if dtype.kind == "m":
        return pd.Timedelta(value)
    time = pd.Timestamp(value)
    if pa.types.is_date(dtype.pyarrow_dtype):
        if time != time.normalize():
            raise TypeError(f"{value!r} has a time of day, and is compared with dates")
        return time.date()
    zone = dtype.pyarrow_dtype.tz
    return time.tz_localize(zone) if zone is not None and time.tz is None else time


def _compared(chain: Node, columns: dict[str, Any]) -> Iterator[Any]:
    """The comparisons of a chain, one after the other."""
    left = value_of(chain.operands[0], columns)
    for sign, operand in zip(chain.value, chain.operands[1:], strict=True):
        right = value_of(operand, columns)
        pair = _as_time(left, right), _as_time(right, left)
        yield _computed(OPERATORS[sign][1], *pair, pa.ArrowException, OverflowError)
        left = right


def _truth(node: Node, columns: dict[str, Any]) -> Any:
    """Return an operand of a boolean operator, which must be boolean: integers would be combined bit by bit."""
    value = value_of(node, columns)
    dtype = getattr(value, "dtype", None)
    if not isinstance(value, bool) and getattr(dtype, "kind", "") != "b":
        found = type(value).__name__ if dtype is None else dtype
        raise TypeError(f"{node.source} is {found}, where a boolean operand is needed")
    return value


_NUMBERS = (
    numbers.Number,
    np.bool_,
    np.timedelta64,
    datetime.timedelta,
    type(None),
    type(pd.NA),
    type(pd.NaT),
)
"""Types of elements whose products are about as large as both factors together."""


def _check_elements(sign: type[ast.AST], column: Column) -> None:
    """Refuse what makes elements of a column large: strings repeated or formatted, powers of Python's integers.

    cuDF computes neither.
    """
    if sign in (ast.Add, ast.Sub) or not isinstance(column, pd.Series):
        return
    dtype = column.dtype
    if isinstance(
        dtype, pd.ArrowDtype
    ):  # its other types are of fixed width, or take no arithmetic
        grows = issubclass(dtype.type, (str, bytes))
    elif isinstance(dtype, pd.StringDtype):
        grows = True
    else:
        grows = dtype.kind == "O" and (sign is ast.Pow or not _are_numbers(column))
    if grows:
        raise TypeError(
            f"{OPERATORS[sign][0]!r} takes columns of numbers, found dtype {dtype}; cast it with astype, or give a "
            "boolean Series"
        )


def _are_numbers(column: pd.Series) -> bool:
    return all(issubclass(kind, _NUMBERS) for kind in set(map(type, column.array)))
