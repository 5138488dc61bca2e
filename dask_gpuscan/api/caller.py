"""Variables where a user calls a function of this package."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from types import FrameType
from typing import Any

from ..ops.predicate_tree import at

_PACKAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")
_INNER = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
"""Code that sees the variables of the function around it, too: that runs it."""


def caller_variables(names: Sequence[str], given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return variables by name: those given, or the local and global ones of whoever called this package.

    Raises
    ------
    TypeError
        If they are given as anything but a mapping.
    ValueError
        For a name that is not there.
    """
    if given is not None and not isinstance(given, Mapping):
        raise TypeError(
            f"local_dict must be a mapping of names to values or None, found {type(given).__name__}"
        )
    where = "a variable of the caller" if given is None else "in local_dict"
    scopes = _scopes() if given is None and names else [given or {}]
    found = {}
    for name in names:
        scope = next((scope for scope in scopes if name in scope), None)
        if scope is None:
            raise ValueError(f"predicate names {at(name)}, which is not {where}")
        found[name] = scope[name]
    return found


def _scopes() -> list[Mapping[str, Any]]:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    scopes: list[Mapping[str, Any]] = []
    while frame is not None:
        scopes.append(frame.f_locals)
        if frame.f_code.co_name not in _INNER:
            return [*scopes, frame.f_globals]
        frame = frame.f_back
    return scopes
