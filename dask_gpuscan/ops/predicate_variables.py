"""Variables of predicates, written ``@name``: which values they may have, and trees in which they are literals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from .predicate_tree import Node, at, is_scalar, node_of

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


def bound(node: Node, values: Mapping[str, Any]) -> Node:
    """Return a tree with literals for its variables.

    Raises
    ------
    TypeError
        For a list where one value is needed, and the other way around.
    ValueError
        As `node_of`, for what cannot be computed with these values.

    Examples
    --------
    >>> bound(Node("variable", "low", (), "@low"), {"low": 3}).value
    3
    """
    match node.kind:
        case "variable" | "list variable":
            value = values[node.value]
            is_list = isinstance(value, tuple)
            if is_list != (node.kind == "list variable"):
                wanted = "one value" if is_list else "a list"
                found = "a list" if is_list else f"a {type(value).__name__}"
                raise TypeError(f"{at(node.value)} is {found}, where the predicate takes {wanted}")
            return Node("literal", list(value) if is_list else value, (), node.source)
        case "list":
            return Node("literal", [bound(o, values).value for o in node.operands], (), node.source)
        case _ if not node.operands:
            return node
    return node_of(node.kind, node.value, [bound(o, values) for o in node.operands], node.source)
