"""Predicates written as text: parsed to a checked tree, evaluated on columns.

Text never does anything but choose rows. Small trees that compare columns of plain numbers can be had as a Python
function too, which kernels compile. This module must never know frames' partitions, nor hand unchecked text to Python.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ...frames.messages import ColumnError
from ...kernels.compiler.pack import written
from ...kernels.late_dataclass import dataclass
from ...kernels.messages import not_among
from ..core.plans import Planned
from .parser import Parsed
from .tree import OPERATORS, Node, at, is_scalar, quoted, value_of

_FUSED = 40
"""Comparisons and signs of the largest tree that is compiled; a larger one takes a pass over a column for each.

Seconds to compile comparisons with numbers joined by ``or``, of one column on the CPU: 2 terms 1.3, 40 1.6, 80 2.5,
160 3.9, 320 12; of two columns for sm_90: 2 terms 1, 40 2, 66 2.7 and the first registers spilled, 160 7.
40 terms of 40 columns take 6 on either."""

_LONGEST_REASON = 160
"""Characters of a library's own message in ours."""

_parsed = functools.lru_cache(maxsize=32)(Parsed)
"""Few, as the tree of a long text takes some megabytes."""


def variables_of(text: str) -> tuple[str, ...]:
    """Return the names of the variables in a predicate's text; raises a ValueError if it is none."""
    return _parsed(text).variables


@dataclass(frozen=True)
class Expression(Planned):
    """A predicate's text, checked, and the values of its variables; equal ones are equal.

    Parameters
    ----------
    text : str
    values : tuple of pairs, optional
        Names of variables and their values, from `captured`.

    Raises
    ------
    TypeError
        For a list where one value is needed, and the other way around.
    ValueError
        If the text is no expression, holds anything but what is accepted, or names a variable without a value.

    Examples
    --------
    >>> Expression("delay > 30 and `carrier code` == 'UA'").columns
    ('delay', 'carrier code')
    """

    text: str
    values: tuple[tuple[str, Any], ...] = ()

    def __post_init__(self) -> None:
        known, parsed = dict(self.values), _parsed(self.text)
        for name in parsed.variables:
            if name not in known:
                raise ValueError(f"{self.title} names {at(name)}, which has no value")
        if parsed.tree is None:
            vars(self)["_bound"] = parsed.bound(known)

    def __reduce__(self) -> Any:
        return Expression, (self.text, self.values)

    @property
    def tree(self) -> Node:
        """What the text says, with the values of its variables."""
        return _parsed(self.text).tree or vars(self)["_bound"]

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that the text names, in the order of their first appearance."""
        return _parsed(self.text).columns

    @property
    def key(self) -> tuple[str, str]:
        """Differs between expressions: types may differ where values are equal."""
        return self.text, repr(self.values)

    @property
    def title(self) -> str:
        """How messages call it."""
        return f"predicate {quoted(self.text)}"

    def check(self, names: list[Any]) -> None:
        """Raise a ValueError for a column that is not there, or is there twice."""
        for name in self.columns:
            if name not in names:
                raise ColumnError(f"{self.title}: {not_among(name, names)}")
            if names.count(name) > 1:
                raise ValueError(f"{self.title}: there are two columns named {quoted(name)}")

    @property
    def may_divide_by_zero(self) -> bool:
        """Whether it takes floors or remainders of divisions by what may be zero."""
        return _divides(self.tree)

    def evaluate(self, columns: dict[str, Any]) -> Any:
        """Return the predicate's value for columns by their names: a series of bool, if it is one.

        Raises
        ------
        TypeError
            Where columns and literals cannot be computed with or compared.
        """
        try:
            return value_of(self.tree, columns)
        except Exception as error:  # whatever the library raises for what it cannot do
            reason = str(error) or type(error).__name__
            if len(reason) > _LONGEST_REASON:
                reason = f"{reason[:_LONGEST_REASON]}..."
            raise TypeError(f"{self.title}: {reason}") from error

    def function(
        self, dtypes: dict[str, np.dtype], nulls: bool = False
    ) -> tuple[Callable[..., Any], list[Any]] | None:
        """Return the predicate as a function of elements of `columns` and of numbers, and the numbers.

        None where columns of these dtypes are not certain to compare in compiled code as they do in NumPy, where a
        row may be kept although a column is null in it, if there are `nulls`: the function is not asked there; and
        where it would take long to compile.

        Examples
        --------
        >>> between, numbers = Expression("0 < x <= 3").function({"x": np.dtype("i8")})
        >>> numbers, between(2, *numbers)
        ([0, 3], True)
        """
        key = *dtypes.values(), nulls
        found = self.plans.get(key)
        if found is None:
            is_same = all(d.kind in "bi" or d in _EXACT for d in dtypes.values())
            is_same = is_same and (not nulls or _keeps_no_null(self.tree))
            found = self.plans.store(key, (self._compiled(_source) if is_same else None,))
        return found[0]  # type: ignore[no-any-return]

    def number(self, dtypes: dict[str, np.dtype]) -> tuple[Callable[..., Any], list[Any]] | None:
        """Return an expression of numbers as `function` does a predicate; None where that one would.

        Examples
        --------
        >>> value, numbers = Expression("price * (1 + rate)").number(dict.fromkeys(["price", "rate"], np.dtype("f8")))
        >>> numbers, value(10.0, 0.5, *numbers)
        ([1], 15.0)
        """
        if not all(d in _WIDE for d in dtypes.values()):
            return None
        return self._compiled(_number)

    def _compiled(self, write: Writer) -> tuple[Callable[..., Any], list[Any]] | None:
        if self.values:
            return _compiled(self.tree, self.columns, write)
        return _compiled_text(self.text, write)


_EXACT = tuple(np.dtype(name) for name in ("uint8", "uint16", "uint32", "float64"))
"""Types whose elements are the same numbers in 64 bits."""

_WIDE = (np.dtype(np.int64), np.dtype(np.float64))
"""Types of which compiled code computes with the same types as NumPy."""


def _divides(node: Node) -> bool:
    """Whether a floor or a remainder of a division by anything but a literal is among the operations."""
    if node.kind == "arithmetic" and node.value in (ast.FloorDiv, ast.Mod):
        by = node.operands[1]
        if by.kind != "literal" or by.value == 0:
            return True
    return any(map(_divides, node.operands))


def _keeps_no_null(node: Node) -> bool:
    """Whether a null in any column is enough for a row not to be kept, as null or False is not."""
    match node:
        case Node(kind="boolean", value=ast.And):
            return all(map(_keeps_no_null, node.operands))
        case Node(kind="unary", operands=(Node(kind="chain", value=(_,)),)):  # not null is null
            return True
    return node.kind == "chain"


Writer = Callable[[Node, dict[str, str], list[Any]], str | None]
"""What writes a tree as Python, given the parameters of columns; it adds the numbers of the tree to the last."""


def _compiled(
    tree: Node, names: tuple[str, ...], write: Writer
) -> tuple[Callable[..., Any], list[Any]] | None:
    """The tree as a function of elements and numbers, if it is small and there is nothing else in it."""
    if tree.size > _FUSED:
        return None
    parameters = {name: f"c{i}" for i, name in enumerate(names)}
    numbers: list[Any] = []
    source = write(tree, parameters, numbers)
    if source is None:
        return None
    listed = [*parameters.values(), *(f"n{i}" for i in range(len(numbers)))]
    return _function(f"lambda {', '.join(listed)}: {source}"), numbers


@functools.lru_cache(maxsize=32)
def _compiled_text(text: str, write: Writer) -> tuple[Callable[..., Any], list[Any]] | None:
    """A text without variables as such a function; its numbers are not to be changed."""
    parsed = _parsed(text)
    assert parsed.tree is not None
    return _compiled(parsed.tree, parsed.columns, write)


@functools.lru_cache(maxsize=256)
def _function(source: str) -> Callable[..., Any]:
    """Return the function that `_compiled` wrote: of nothing but parameters, numbers and operators."""
    function: Callable[..., Any] = eval(written(source), {"__builtins__": {}})
    return function


def _source(node: Node, parameters: dict[str, str], numbers: list[Any]) -> str | None:
    """Write a tree as Python of elements; None for one whose meaning might differ."""
    match node.kind:
        case "boolean":
            parts = [_source(o, parameters, numbers) for o in node.operands]
            return _joined(node.value, parts)
        case "unary" if node.value in (ast.Not, ast.Invert):
            inner = _source(node.operands[0], parameters, numbers)
            return None if inner is None else f"(not {inner})"
        case "chain":
            elements = [_element(o, parameters, numbers) for o in node.operands]
            compared = zip(elements[:-1], node.value, elements[1:], strict=True)
            parts = [
                None if left is None or right is None else f"({left} {OPERATORS[sign][0]} {right})"
                for left, sign, right in compared
            ]
            return _joined(ast.And, parts)
    return None


def _joined(sign: type[ast.AST], parts: list[str | None]) -> str | None:
    known = [part for part in parts if part is not None]
    return f"({f' {OPERATORS[sign][0]} '.join(known)})" if len(known) == len(parts) else None


def _element(node: Node, parameters: dict[str, str], numbers: list[Any]) -> str | None:
    """The parameter that stands for a column's element, or for a number that 64 bits hold."""
    if node.kind == "column":
        return parameters[node.value]
    value = node.value
    if node.kind != "literal" or not isinstance(value, (int, float)):
        return None
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return None
    numbers.append(value)
    return f"n{len(numbers) - 1}"


_COMPUTED = (ast.Add, ast.Sub, ast.Mult, ast.Div)
"""Arithmetic that compiled code does as NumPy does, of zeros too."""


def _number(node: Node, parameters: dict[str, str], numbers: list[Any]) -> str | None:
    """Write arithmetic as Python of elements; None for what is other than in NumPy."""
    match node.kind:
        case "arithmetic" if node.value in _COMPUTED:
            parts = [_number(o, parameters, numbers) for o in node.operands]
            return _joined(node.value, parts)
        case "unary" if node.value in (ast.UAdd, ast.USub):
            inner = _number(node.operands[0], parameters, numbers)
            return None if inner is None else f"({'-' if node.value is ast.USub else '+'}{inner})"
        case "literal" if isinstance(node.value, bool):
            return None
    return _element(node, parameters, numbers)


# --- variables, written ``@name`` ---------------------------------------------------------------------

_ARRAYS = (np.ndarray, pd.Series, pd.Index, pd.api.extensions.ExtensionArray)
_LISTS = (list, tuple, set, frozenset, range, *_ARRAYS)


def captured(variables: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Return variables as pairs of name and value, of lists the tuples of their elements.

    Raises
    ------
    TypeError
        For a value that is neither a scalar nor a list, set or array of scalars.

    Examples
    --------
    >>> captured({"low": 3, "names": {"b", "a"}})
    (('low', 3), ('names', ('a', 'b')))
    """
    return tuple((name, _captured(name, value)) for name, value in variables.items())


def _captured(name: str, value: Any) -> Any:
    if is_scalar(value):
        return bool(value) if isinstance(value, np.bool_) else value
    if not isinstance(value, _LISTS) or getattr(value, "ndim", 1) != 1:
        lazy = ", to be computed first" if hasattr(value, "compute") else ""
        raise TypeError(
            f"{at(name)} must be a number, bool, text, date or another scalar, or for 'in' a list, set or array of "
            f"scalars, found {type(value).__name__}{lazy}"
        )
    if isinstance(value, _ARRAYS):
        value = pd.Series(value).tolist()  # an array of NumPy would list times as integers
    listed = sorted(value, key=repr) if isinstance(value, (set, frozenset)) else value
    for one in listed:
        if not is_scalar(one):
            raise TypeError(
                f"{at(name)} must be a list of scalars, found {type(one).__name__} in it"
            )
    return tuple(listed)
