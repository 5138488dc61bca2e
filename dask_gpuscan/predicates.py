"""Predicates written as text: parsed to a syntax tree, checked node by node, evaluated on columns.

Only comparisons, arithmetic, boolean operators, column names and literals are accepted, so text never does
anything but choose rows. Trees that compare columns of plain numbers can be had as a Python function too,
which kernels compile. This module must never know frames' partitions, nor hand unchecked text to Python.
"""

from __future__ import annotations

import ast
import functools
import io
import operator
import re
import tokenize
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .arguments import one_of

_COMPARE: dict[type[ast.cmpop], tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Eq: ("==", operator.eq),
    ast.NotEq: ("!=", operator.ne),
    ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le),
    ast.Gt: (">", operator.gt),
    ast.GtE: (">=", operator.ge),
}
_MEMBER: dict[type[ast.cmpop], bool] = {ast.In: False, ast.NotIn: True}
_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_BOOLEAN: dict[type[ast.boolop], tuple[str, Callable[[Any, Any], Any]]] = {
    ast.And: ("&", operator.and_),
    ast.Or: ("|", operator.or_),
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}

_ACCEPTED = (
    "comparisons, arithmetic (+ - * / // % **), and, or, not, &, |, ~, column names and literals"
)

_DEEPEST = 100
"""Levels of a tree, as both Python's parser and this module walk trees recursively."""

_LONGEST = 20_000
"""Characters of a text."""

_HIDDEN = "_column_{}_"
"""What stands for a name in backquotes while Python parses."""


@dataclass(frozen=True)
class Expression:
    """A predicate's text, checked; equal texts are equal.

    Parameters
    ----------
    text : str

    Raises
    ------
    ValueError
        If the text is no expression, or holds anything but what is accepted.

    Examples
    --------
    >>> Expression("delay > 30 and `carrier code` == 'UA'").columns
    ('delay', 'carrier code')
    """

    text: str

    def __post_init__(self) -> None:
        _parse(self.text)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that the text names, in the order of their first appearance."""
        return _parse(self.text)[1]

    def check(self, names: list[Any]) -> None:
        """Raise a ValueError for a column that is not there, or is there twice."""
        for name in self.columns:
            if name not in names:
                raise ValueError(
                    f"predicate {self.text!r} names column {name!r}, found {one_of(names)}"
                )
            if names.count(name) > 1:
                raise ValueError(f"predicate {self.text!r}: there are two columns named {name!r}")

    def evaluate(self, columns: dict[str, Any]) -> Any:
        """Return the predicate's value for columns by their names: a series of bool, if it is one.

        Raises
        ------
        TypeError
            Where columns and literals cannot be computed with or compared.
        """
        try:
            return _evaluate(_parse(self.text)[0], columns)
        except Exception as error:  # whatever the library raises for what it cannot do
            raise TypeError(f"predicate {self.text!r}: {error}") from error

    def function(
        self, dtypes: dict[str, np.dtype], nulls: bool = False
    ) -> tuple[Callable[..., Any], list[Any]] | None:
        """Return the predicate as a function of elements of `columns` and of numbers, and the numbers.

        None where columns of these dtypes are not certain to compare in compiled code as they do in NumPy, and where
        a row may be kept although a column is null in it, if there are `nulls`: the function is not asked there.

        Examples
        --------
        >>> between, numbers = Expression("0 < x <= 3").function({"x": np.dtype("i8")})
        >>> numbers, between(2, *numbers)
        ([0, 3], True)
        """
        if not all(d.kind in "bi" or d in _EXACT for d in dtypes.values()):
            return None
        if nulls and not _keeps_no_null(_parse(self.text)[0]):
            return None
        return _compiled(self.text)


_EXACT = tuple(np.dtype(name) for name in ("uint8", "uint16", "uint32", "float64"))
"""Types whose elements are the same numbers in 64 bits."""


@functools.lru_cache(maxsize=256)
def _parse(text: str) -> tuple[ast.expr, tuple[str, ...]]:
    """Return the checked tree, whose names are those of columns, and the names."""
    if len(text) > _LONGEST:
        raise ValueError(f"predicate must be at most {_LONGEST} characters, found {len(text)}")
    plain, quoted = _without_backquotes(text)
    try:
        tree = ast.parse(_with_words(plain).strip(), mode="eval").body
    except (SyntaxError, tokenize.TokenError, RecursionError, MemoryError) as error:
        raise ValueError(f"predicate {text!r} is no expression: {error}") from None
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in quoted:
            node.id = quoted[node.id]
    names: dict[str, None] = {}
    _check(tree, text, names, 0)
    if not names:
        raise ValueError(f"predicate {text!r} names no column")
    return tree, tuple(names)


def _without_backquotes(text: str) -> tuple[str, dict[str, str]]:
    """Put plain names for those in backquotes, outside of string literals; also return what they stand for."""
    quoted: dict[str, str] = {}

    def put(match: re.Match[str]) -> str:
        if match[1] is None:  # a string literal
            return match[0]
        placeholder = _HIDDEN.format(len(quoted))
        if placeholder in text:
            raise ValueError(f"predicate {text!r} names {placeholder}, which is reserved")
        quoted[placeholder] = match[1]
        return placeholder

    strings = r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\""
    plain = re.sub(rf"{strings}|`([^`]+)`", put, text)
    if "`" in re.sub(strings, "", plain):
        raise ValueError(f"predicate {text!r} has a backquote without its partner")
    return plain, quoted


def _with_words(text: str) -> str:
    """Put ``and`` and ``or`` for ``&`` and ``|``, which bind as loosely in pandas' expressions."""
    words = {"&": "and", "|": "or"}
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return tokenize.untokenize(
        (tokenize.NAME, words[t.string]) if t.string in words else (t.type, t.string)
        for t in tokens
    )


def _check(node: ast.expr, text: str, names: dict[str, None], depth: int) -> None:
    """Raise a ValueError for a tree that holds anything but what is accepted; collect the names."""
    if depth > _DEEPEST:
        raise ValueError(f"predicate is nested deeper than {_DEEPEST} levels")
    match node:
        case ast.Name():
            names[node.id] = None
        case ast.Constant(value=bool() | int() | float() | str()):
            pass
        case ast.Compare():
            for op, right in zip(node.ops, node.comparators, strict=True):
                if type(op) in _MEMBER:
                    if not isinstance(right, (ast.List, ast.Tuple)) or not all(
                        _is_literal(e) for e in right.elts
                    ):
                        raise ValueError(
                            f"predicate {text!r}: 'in' takes a list of literals on its right, "
                            f"found {ast.unparse(right)}"
                        )
                elif type(op) not in _COMPARE:
                    raise _refused(node, text)
        case ast.BoolOp() | ast.UnaryOp():
            pass
        case ast.BinOp() if type(node.op) in _ARITHMETIC:
            _check_size(node, text)
        case _:
            raise _refused(node, text)
    for child in _children(node):
        _check(child, text, names, depth + 1)


def _check_size(node: ast.BinOp, text: str) -> None:
    """Refuse arithmetic on literals whose value may be larger than its text."""
    operands = (node.left, node.right)
    strings = [o for o in operands if isinstance(o, ast.Constant) and isinstance(o.value, str)]
    named = any(isinstance(child, ast.Name) for o in operands for child in ast.walk(o))
    if (strings and not isinstance(node.op, ast.Add)) or (
        isinstance(node.op, ast.Pow) and not named
    ):
        raise ValueError(f"predicate {text!r} holds {ast.unparse(node)!r}; write its value instead")


def _children(node: ast.expr) -> Iterator[ast.expr]:
    """The operands of a node; lists of literals on the right of ``in`` are none."""
    if isinstance(node, ast.Compare):
        yield node.left
        for op, right in zip(node.ops, node.comparators, strict=True):
            if type(op) in _COMPARE:
                yield right
    else:
        yield from (c for c in ast.iter_child_nodes(node) if isinstance(c, ast.expr))


def _is_literal(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        node = node.operand
        return isinstance(node, ast.Constant) and type(node.value) in (int, float)
    return isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float, str))


def _refused(node: ast.expr, text: str) -> ValueError:
    what = type(node).__name__
    return ValueError(
        f"predicate {text!r} holds {ast.unparse(node)!r} ({what}), accepted are {_ACCEPTED}; "
        f"for anything else give a boolean Series or a function"
    )


def _evaluate(node: ast.expr, columns: dict[str, Any]) -> Any:
    """The value of a checked tree: a series or a scalar."""
    match node:
        case ast.Name():
            return columns[node.id]
        case ast.Constant():
            return node.value
        case ast.UnaryOp():
            value = _evaluate(node.operand, columns)
            if isinstance(node.op, (ast.Not, ast.Invert)):
                value = _truth(value, node.operand)
                return not value if isinstance(value, bool) else ~value
            return _UNARY[type(node.op)](value)
        case ast.BinOp():
            left, right = _evaluate(node.left, columns), _evaluate(node.right, columns)
            return _ARITHMETIC[type(node.op)](left, right)
        case ast.BoolOp():
            parts = [_truth(_evaluate(v, columns), v) for v in node.values]
            return functools.reduce(_BOOLEAN[type(node.op)][1], parts)
        case ast.Compare():
            left, parts = _evaluate(node.left, columns), []
            for op, comparator in zip(node.ops, node.comparators, strict=True):
                if type(op) in _MEMBER:
                    found = left.isin(ast.literal_eval(comparator))
                    parts.append(~found if _MEMBER[type(op)] else found)
                else:
                    right = _evaluate(comparator, columns)
                    parts.append(_COMPARE[type(op)][1](left, right))
                    left = right
            return functools.reduce(operator.and_, parts)
    raise AssertionError(f"{ast.dump(node)} was not checked")


def _truth(value: Any, node: ast.expr) -> Any:
    """Return an operand of a boolean operator, which must be boolean: integers would be combined bit by bit."""
    dtype = getattr(value, "dtype", None)
    if not isinstance(value, bool) and getattr(dtype, "kind", "") != "b":
        found = type(value).__name__ if dtype is None else dtype
        raise TypeError(f"{ast.unparse(node)!r} is {found}, where a boolean operand is needed")
    return value


def _keeps_no_null(node: ast.expr) -> bool:
    """Whether a null in any column is enough for a row not to be kept, as null or False is not."""
    match node:
        case ast.BoolOp(op=ast.And()):
            return all(map(_keeps_no_null, node.values))
        case ast.UnaryOp(operand=ast.Compare(ops=[_])):  # not null is null
            return True
    return isinstance(node, ast.Compare)


@functools.lru_cache(maxsize=256)
def _compiled(text: str) -> tuple[Callable[..., Any], list[Any]] | None:
    """The tree as a function of elements and numbers, if it only compares them."""
    tree, names = _parse(text)
    parameters = {name: f"c{i}" for i, name in enumerate(names)}
    numbers: list[Any] = []
    source = _source(tree, parameters, numbers)
    if source is None:
        return None
    listed = [*parameters.values(), *(f"n{i}" for i in range(len(numbers)))]
    # the source holds nothing but the parameters and operators that _source wrote
    code = compile(f"lambda {', '.join(listed)}: {source}", "<predicate>", "eval")
    function: Callable[..., Any] = eval(code, {"__builtins__": {}})
    return function, numbers


def _source(node: ast.expr, parameters: dict[str, str], numbers: list[Any]) -> str | None:
    """Write a checked tree as Python of elements; None for one whose meaning might differ."""
    match node:
        case ast.BoolOp():
            parts = [_source(v, parameters, numbers) for v in node.values]
            return _joined(f" {_BOOLEAN[type(node.op)][0]} ", parts)
        case ast.UnaryOp(op=ast.Not() | ast.Invert()):
            inner = _source(node.operand, parameters, numbers)
            return None if inner is None else f"(not {inner})"
        case ast.Compare():
            operands = [_element(e, parameters, numbers) for e in (node.left, *node.comparators)]
            parts = []
            for left, op, right in zip(operands[:-1], node.ops, operands[1:], strict=True):
                if left is None or right is None or type(op) not in _COMPARE:
                    return None
                parts.append(f"({left} {_COMPARE[type(op)][0]} {right})")
            return _joined(" & ", parts)
    return None


def _joined(word: str, parts: list[str | None]) -> str | None:
    known = [part for part in parts if part is not None]
    return f"({word.join(known)})" if len(known) == len(parts) else None


def _element(node: ast.expr, parameters: dict[str, str], numbers: list[Any]) -> str | None:
    """The parameter that stands for a column's element, or for a number that 64 bits hold."""
    if isinstance(node, ast.Name):
        return parameters[node.id]
    if not _is_literal(node):
        return None
    value = ast.literal_eval(node)
    if isinstance(value, str) or (isinstance(value, int) and not -(2**63) <= value < 2**63):
        return None
    numbers.append(value)
    return f"n{len(numbers) - 1}"
