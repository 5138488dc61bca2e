"""Texts for messages to users: values, lists of names, and the known name nearest to an unknown one."""

from __future__ import annotations

import reprlib
from collections.abc import Collection, Hashable
from difflib import get_close_matches

_SHORT = reprlib.Repr()
_SHORT.maxlevel = 3
_SHORT.maxstring = _SHORT.maxother = _LONGEST_VALUE = 60
_SHORT.maxdict = _SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxset = _SHORT.maxfrozenset = 6

_LONGEST_LIST = 160
"""Characters of a list of names."""


def shown(value: object) -> str:
    """Show a value in a message, on one line: a long one shortened, a frame or an array by its type.

    Examples
    --------
    >>> shown("a" * 1000)[:3], len(shown("a" * 1000)), shown([1, 2] * 100)
    ("'aa", 60, '[1, 2, 1, 2, 1, 2, ...]')
    """
    ndim = getattr(value, "ndim", 0)
    if isinstance(ndim, int) and ndim:
        kind = type(value)
        return f"a {kind.__module__.partition('.')[0]} {kind.__name__}"
    text = _SHORT.repr(value)
    return " ".join(text.split()) if "\n" in text else text


def name_list(names: Collection[Hashable]) -> str:
    """List names for a message; if there are many, the first ones."""
    listed, length = [], 0
    for name in names:
        listed.append(shown(name))
        length += len(listed[-1]) + 2
        if length > _LONGEST_LIST:
            listed[-1] = "..."
            break
    return ", ".join(listed) or "none"


def hint(name: object, known: Collection[Hashable]) -> str:
    """Return the end of a message about an unknown name, which suggests a similar known name if there is one.

    Examples
    --------
    >>> hint("frist", ["first", "last"])
    "; did you mean 'first'?"
    """
    if not isinstance(name, str) or len(name) > _LONGEST_VALUE:
        return ""
    texts = {one.lower(): one for one in known if isinstance(one, str)}
    found = get_close_matches(name.lower(), texts, 1)
    return f"; did you mean {shown(texts[found[0]])}?" if found else ""


def not_among(
    name: object,
    known: Collection[Hashable],
    kind: str = "a column",
    kinds: str = "columns",
) -> str:
    """Return a message about an unknown name, with the known names and the most similar one.

    Examples
    --------
    >>> not_among("kk", ["k", "x"])
    "'kk' is not a column; columns are 'k', 'x'; did you mean 'k'?"
    """
    return f"{shown(name)} is not {kind}; {kinds} are {name_list(known)}{hint(name, known)}"
