"""What the engine asks of a visitor; Numba resolves it from the visitor's class.

A visitor is a named tuple of what it reads and writes, and a handful of compiled functions that are registered
for its class. This module must never know a visitor.
"""

# Each function below is a name that has a meaning only inside compiled code.
# mypy: disable-error-code="no-untyped-def"

from dataclasses import dataclass
from typing import Any

import numba
from numba.core import types
from numba.extending import overload

from .calls import OPTIONS


def observe(work, space, seed, first, size):
    """Return the aggregate of a tile from `seed`, and what `emit` must know of the tile.

    Whatever is written over inputs of this or an earlier tile must have been read when it returns.
    """


def looks_back(work):
    """Tell whether the visitor has to know the prefix of a tile."""


def emit(work, space, prefix, memo, first, size):
    """Write what the tile's prefix decides on."""


def finish(work, prefix):
    """Write what the last prefix decides on; called once."""


@numba.njit(**OPTIONS)
def _nothing(*arguments):
    return None


@numba.njit(**OPTIONS)
def _yes(work):
    return True


@dataclass(frozen=True)
class Visitor:
    """The compiled functions of a class of visitors."""

    observe: Any
    emit: Any
    looks_back: Any = _yes
    finish: Any = _nothing


_visitors: dict[type, Visitor] = {}


def register(kind: type, visitor: Visitor) -> None:
    """Tell the engine how tiles are visited by works of a class of named tuples."""
    _visitors[kind] = visitor


@overload(observe)
def _observe(work, space, seed, first, size):
    function = _visitors[work.instance_class].observe
    return lambda work, space, seed, first, size: function(work, space, seed, first, size)


@overload(looks_back)
def _looks_back(work):
    function = _visitors[work.instance_class].looks_back
    return lambda work: function(work)


@overload(emit)
def _emit(work, space, prefix, memo, first, size):
    function = _visitors[work.instance_class].emit
    return lambda work, space, prefix, memo, first, size: function(
        work, space, prefix, memo, first, size
    )


@overload(finish)
def _finish(work, prefix):
    function = _visitors[work.instance_class].finish
    return lambda work, prefix: function(work, prefix)


def work_type(kind: type, **fields: Any) -> Any:
    """Return the Numba type of a named tuple whose fields have these types."""
    return types.BaseTuple.from_types(
        tuple(fields[name] for name in kind._fields),  # type: ignore[attr-defined]
        kind,
    )
