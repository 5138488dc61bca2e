"""The functions of visitors that the engine calls; Numba resolves them from the visitor's class.

A visitor is a named tuple of what it reads and writes, and a few compiled functions that are registered for its class.
"""

# Numba reads the parameters of intrinsics.
# mypy: disable-error-code="no-untyped-def"

from typing import Any

from ...compiler.functions import intrinsic
from ...compiler.late import numba
from ...late_dataclass import dataclass
from ...operators.calls import resolve


@dataclass(frozen=True)
class Visitor:
    """The compiled functions of a class of visitors; a visitor that emits nothing need not look back."""

    observe: Any
    emit: Any = None
    finish: Any = None


def register(kind: Any, visitor: Visitor) -> None:
    """Register the visitor of a class of named tuples."""
    kind.visitor = visitor


def visit(typing_context, function, *arguments):
    """Call a compiled function from an intrinsic; without a function, do nothing."""
    if function is None:
        return numba.types.none(*arguments), lambda context, *_: context.get_dummy_value()
    answer, generate = resolve(typing_context, function, arguments)

    def codegen(context, builder, signature, args):
        return generate(context, builder, args)

    return answer(*arguments), codegen


@intrinsic
def observe(typing_context, work, space, before, first, size):
    """Return the aggregate of a tile from the state `before` it, and a memo of the tile for `emit`.

    Inputs of this or an earlier tile that will be overwritten must have been read when it returns.
    """
    function = work.instance_class.visitor.observe
    return visit(typing_context, function, work, space, before, first, size)


@intrinsic
def looks_back(typing_context, work):
    """Return whether the visitor has to know the prefix of a tile."""
    emits = work.instance_class.visitor.emit is not None

    def codegen(context, builder, signature, args):
        return context.get_constant(numba.types.boolean, emits)

    return numba.types.boolean(work), codegen


@intrinsic
def emit(typing_context, work, space, prefix, memo, first, size):
    """Write what depends on the tile's prefix."""
    function = work.instance_class.visitor.emit
    return visit(typing_context, function, work, space, prefix, memo, first, size)


@intrinsic
def finish(typing_context, work, prefix):
    """Write what depends on the last prefix; called once."""
    return visit(typing_context, work.instance_class.visitor.finish, work, prefix)
