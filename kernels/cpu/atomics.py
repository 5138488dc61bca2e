"""Acquire loads, release stores and tickets on one-dimensional integer arrays, for Numba functions.

The look-back between threads needs these three operations and nothing else. This module must never
know what is being scanned.
"""

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.extending import intrinsic


def _element(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Pointer to ``array[index]`` (no bounds check, no wrap-around)."""
    array_type = signature.args[0]
    array = context.make_array(array_type)(context, builder, args[0])
    return cgutils.get_item_pointer(
        context, builder, array_type, array, [args[1]], wraparound=False
    )


def _is_word_array(array: Any) -> bool:
    return isinstance(array, types.Array) and array.ndim == 1 and array.dtype == types.int64


@intrinsic
def load_acquire(typing_context, array, index):  # type: ignore[no-untyped-def]
    """Read ``array[index]``; whatever was written before the matching release store is visible."""
    if not _is_word_array(array):
        return None

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load_atomic(_element(context, builder, signature, args), "acquire", 8)

    return types.int64(array, types.intp), codegen


@intrinsic
def store_release(typing_context, array, index, value):  # type: ignore[no-untyped-def]
    """Write ``array[index] = value`` after everything this thread wrote before."""
    if not _is_word_array(array):
        return None

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _element(context, builder, signature, args)
        builder.store_atomic(args[2], pointer, "release", 8)
        return context.get_dummy_value()

    return types.none(array, types.intp, types.int64), codegen


@intrinsic
def take_ticket(typing_context, array, index):  # type: ignore[no-untyped-def]
    """Add one to ``array[index]`` and return what was there before."""
    if not _is_word_array(array):
        return None

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _element(context, builder, signature, args)
        one = ir.Constant(ir.IntType(64), 1)
        return builder.atomic_rmw("add", pointer, one, "acq_rel")

    return types.int64(array, types.intp), codegen
