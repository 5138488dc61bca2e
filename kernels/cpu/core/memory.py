"""Memory in compiled code: reads and writes by address, arrays that are borrowed, loads and stores between threads.

By address, columns of any number and width are data, not types: one compiled kernel moves every combination of
columns, and whoever calls it keeps the arrays alive. Acquire loads, release stores and tickets are what the look-back
between threads needs.
"""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

from functools import partial
from typing import Any

from ...compiler.functions import intrinsic
from ...compiler.late import cgutils, internals, ir, numba


@intrinsic
def read(typing_context, address, like):
    """Read a number of the type of `like` at an address, aligned or not."""

    def codegen(context, builder, signature, args):
        kind = context.get_data_type(signature.args[1])
        return builder.load(builder.inttoptr(args[0], kind.as_pointer()), align=1)

    return like(numba.types.int64, like), codegen


@intrinsic
def write(typing_context, address, value):
    """Write a number to an address, aligned or not."""

    def codegen(context, builder, signature, args):
        pointer = builder.inttoptr(args[0], args[1].type.as_pointer())
        builder.store(args[1], pointer, align=1)
        return context.get_dummy_value()

    return numba.types.none(numba.types.int64, value), codegen


@intrinsic
def copy_bytes(typing_context, target, source, count):
    """Copy bytes between addresses whose memory does not overlap."""

    def codegen(context, builder, signature, args):
        void = ir.IntType(8).as_pointer()
        target, source = (builder.inttoptr(a, void) for a in args[:2])
        cgutils.raw_memcpy(builder, target, source, args[2], 1)
        return context.get_dummy_value()

    return numba.types.none(numba.types.int64, numba.types.int64, numba.types.int64), codegen


@intrinsic
def borrow(typing_context, value):
    """Return a value whose arrays, also in tuples, do not count who uses them; the value must outlive it.

    Counting takes an atomic addition wherever an array is named, and threads that share arrays wait for each
    other there.
    """

    def forget(context, builder, kind, value):
        if isinstance(kind, numba.types.Array):
            array = context.make_array(kind)(context, builder, value)
            array.meminfo = cgutils.get_null_value(array.meminfo.type)
            return internals.struct_value(array)
        if isinstance(kind, numba.types.BaseTuple):
            for i, part in enumerate(kind):
                forgotten = forget(context, builder, part, builder.extract_value(value, i))
                value = builder.insert_value(value, forgotten, i)
        return value

    def codegen(context, builder, signature, args):
        return forget(context, builder, signature.args[0], args[0])

    return value(value), codegen


@intrinsic
def elements(typing_context, address, count, like):
    """Return an array of `count` elements of the type of `like` at an address."""
    kind = numba.types.Array(like, 1, "C")

    def codegen(context, builder, signature, args):
        array = context.make_array(kind)(context, builder)
        width = context.get_constant(numba.types.intp, like.bitwidth // 8)
        data = builder.inttoptr(args[0], array.data.type)
        internals.populate_array(array, data, [args[1]], [width], width, meminfo=None)
        return internals.struct_value(array)

    return kind(numba.types.int64, numba.types.int64, like), codegen


@partial(intrinsic, prefer_literal=True)
def on_stack(typing_context, size):
    """Return the address of so many bytes, a constant, that last until the function returns.

    An array of NumPy's in a kernel would take longer to compile than most kernels.
    """
    if not isinstance(size, numba.types.IntegerLiteral):
        return None

    def codegen(context, builder, signature, args):
        memory = ir.ArrayType(ir.IntType(64), -(-size.literal_value // 8))
        with builder.goto_entry_block():
            return builder.ptrtoint(builder.alloca(memory), ir.IntType(64))

    return numba.types.int64(size), codegen


# --- between threads ---------------------------------------------------------------------------------


def _element(context, builder, signature, args):
    """Pointer to ``array[index]`` (no bounds check, no wrap-around)."""
    array_type = signature.args[0]
    array = context.make_array(array_type)(context, builder, args[0])
    return cgutils.get_item_pointer(
        context, builder, array_type, array, [args[1]], wraparound=False
    )


def _is_word_array(array: Any) -> bool:
    return (
        isinstance(array, numba.types.Array)
        and array.ndim == 1
        and array.dtype == numba.types.int64
    )


@intrinsic
def load_acquire(typing_context, array, index):
    """Read ``array[index]``; whatever was written before the matching release store is visible."""
    if not _is_word_array(array):
        return None

    def codegen(context, builder, signature, args):
        return builder.load_atomic(_element(context, builder, signature, args), "acquire", 8)

    return numba.types.int64(array, numba.types.intp), codegen


@intrinsic
def store_release(typing_context, array, index, value):
    """Write ``array[index] = value`` after everything this thread wrote before."""
    if not _is_word_array(array):
        return None

    def codegen(context, builder, signature, args):
        pointer = _element(context, builder, signature, args)
        builder.store_atomic(args[2], pointer, "release", 8)
        return context.get_dummy_value()

    return numba.types.none(array, numba.types.intp, numba.types.int64), codegen


@intrinsic
def take_ticket(typing_context, array, index):
    """Add one to ``array[index]`` and return what was there before."""
    if not _is_word_array(array):
        return None

    def codegen(context, builder, signature, args):
        pointer = _element(context, builder, signature, args)
        one = ir.Constant(ir.IntType(64), 1)
        return builder.atomic_rmw("add", pointer, one, "acq_rel")

    return numba.types.int64(array, numba.types.intp), codegen
