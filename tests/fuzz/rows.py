"""A plain interpreter of predicates: Python's own tree of a text, computed for one row after the other as pandas would.

A null is None. What libraries need not agree on is an `UnknownError`.
"""

import ast
import math
import operator
import re
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

BINARY = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
COMPARE = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
NULLS = {"isnull": True, "isna": True, "notnull": False, "notna": False}
SPELLED = {"`odd name`": " odd_ ", r"`([a-z]+)`": r" \1 ", "ﬁ": "fi_", "&": " and ", r"\|": " or "}
"""What is written otherwise in Python."""
NANS, TEXTS, MASKED = {"b"}, {"s"}, {"n", "p", "q", "i"}
"""Columns with NaN, texts, and columns with nulls of their own, beside which those of the others become theirs."""


class UnknownError(Exception):
    """What Python and the library need not agree on."""


def by_python(text: str, table: Sequence[Mapping[str, Any]]) -> list[int]:
    """Return the rows that a text chooses.

    Raises a SyntaxError or a TypeError for texts that have no meaning, UnknownError where libraries differ.
    """
    for old, new in SPELLED.items():
        text = re.sub(old, new, text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(" ".join(text.split()), mode="eval").body
    names = names_of(tree)
    if names & NANS and names & MASKED:
        raise UnknownError
    named = [{"odd_": row["odd name"], "fi_": row["ﬁ"], **row} for row in table]
    return [i for i, row in enumerate(named) if truth(element(tree, row))]


def names_of(tree: ast.AST) -> set[str]:
    """Return the names that a tree holds."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def truth(value: Any) -> bool | None:
    """Return a value that is a truth, or null."""
    if value is not None and not isinstance(value, bool):
        raise TypeError
    return value


def element(node: ast.AST, row: Mapping[str, Any]) -> Any:
    """Return the value of a tree for a row."""
    match node:
        case ast.Name():
            return row[node.id]
        case ast.Constant(value=bool() | int() | float() | str()):
            return node.value
        case ast.List() | ast.Tuple():
            return [element(e, row) for e in node.elts]
        case ast.Call(func=ast.Attribute(value=of, attr=name), args=[], keywords=[]) if (
            name in NULLS
        ):
            value = element(of, row)
            if not isinstance(of, (ast.Name, ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp)):
                raise UnknownError
            return (value is None or value != value) is NULLS[name]
        case ast.Call(func=ast.Attribute(value=ast.Attribute(value=ast.Name(id="s"), attr="str"))):
            match node.func.attr, [*map(ast.unparse, (*node.args, *node.keywords))]:
                case "startswith", ["'x'"]:
                    return str(row["s"]).startswith("x")
                case "contains", ["'y'", "regex=False"]:
                    return "y" in str(row["s"])
            raise UnknownError
        case ast.Call() | ast.Attribute():
            raise UnknownError
        case ast.UnaryOp(op=ast.Not() | ast.Invert()):
            value = truth(element(node.operand, row))
            return None if value is None else not value
        case ast.UnaryOp():
            value = arithmetic(element(node.operand, row))
            if value is None:
                return None
            return -value if isinstance(node.op, ast.USub) else value
        case ast.BinOp():
            left, right = (arithmetic(element(n, row)) for n in (node.left, node.right))
            return computed(node.op, left, right)
        case ast.BoolOp():
            return joined(node.op, [truth(element(v, row)) for v in node.values])
        case ast.Compare():
            names = names_of(node)
            if names & TEXTS and names & MASKED:
                raise UnknownError
            values = [element(v, row) for v in (node.left, *node.comparators)]
            if "i" in names and any(isinstance(v, bool) for v in values):
                raise UnknownError
            pairs = zip(node.ops, values[:-1], values[1:], strict=True)
            return joined(ast.And(), [compared(op, left, right) for op, left, right in pairs])
    raise SyntaxError


def joined(op: ast.boolop, values: Sequence[bool | None]) -> bool | None:
    """Return what truths come to: a null is no more than what it may be (Kleene's logic)."""
    decides = isinstance(op, ast.Or)
    if decides in values:
        return decides
    return None if None in values else not decides


def compared(op: ast.cmpop, left: Any, right: Any) -> bool | None:
    """Return what a comparison comes to."""
    if isinstance(op, (ast.In, ast.NotIn)):
        if None in right:
            raise UnknownError
        return (left is not None and left in right) is isinstance(op, ast.In)
    if left is None or right is None:
        return None
    if left != left or right != right:  # NaN, and nulls among texts
        return isinstance(op, ast.NotEq)
    return bool(COMPARE[type(op)](left, right))


def arithmetic(value: Any) -> Any:
    """Return a value that is computed with."""
    if isinstance(value, (bool, str)):  # NumPy's sum of two bool is another one
        raise UnknownError
    return value


def computed(op: ast.operator, left: Any, right: Any) -> Any:
    """Return what two numbers come to."""
    if left is None or right is None:
        if isinstance(op, ast.Pow):  # pandas' null to the power of 0 is 1
            raise UnknownError
        return None
    whole = isinstance(left, int) and isinstance(right, int)
    finite = math.isfinite(left) and math.isfinite(right)
    if isinstance(op, (ast.Pow, ast.FloorDiv, ast.Mod)) and not (finite and right):
        raise UnknownError
    if isinstance(op, ast.Pow) and not (whole and 0 < right < 99):
        raise UnknownError
    try:
        value = BINARY[type(op)](left, right)
    except (ArithmeticError, ValueError):
        raise UnknownError from None
    if isinstance(value, int) and abs(value) >= 2**53:
        raise UnknownError
    if value != value and left == left and right == right:  # beside nulls, pandas makes it one
        raise UnknownError
    return value
