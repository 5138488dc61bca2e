"""Elements of arrays in compiled code: loads, stores, conversions, tests for nulls; Numba resolves them from the types.

Each takes one array and a scalar, or a tuple of arrays and a tuple of scalars.
"""

# Numba reads the parameters of intrinsics.
# mypy: disable-error-code="no-untyped-def"

from functools import reduce

from ...compiler.functions import intrinsic
from ...compiler.late import cgutils, internals, ir, numba, symbols
from ...compiler.tuples import converted, form, kinds, parts, whole


def _place(context, builder, kind, array, i):
    if isinstance(kind, symbols.Elements):
        return kind.address(context, builder, array, i)
    array = context.make_array(kind)(context, builder, array)
    return cgutils.get_item_pointer(context, builder, kind, array, [i], wraparound=False)


@intrinsic
def load(typing_context, arrays, i):
    """Element `i` of an array, or the tuple of elements `i` of a tuple of arrays; a scalar is itself."""
    found = [k.dtype if isinstance(k, numba.types.Array) else k for k in kinds(arrays)]
    answer = form(arrays, found)

    def codegen(context, builder, signature, args):
        values = parts(builder, arrays, args[0])
        for k, kind in enumerate(kinds(arrays)):
            if isinstance(kind, numba.types.Array):
                place = _place(context, builder, kind, values[k], args[1])
                values[k] = (
                    kind.load(context, builder, place)
                    if isinstance(kind, symbols.Elements)
                    else internals.load_item(context, builder, kind, place)
                )
        return whole(context, builder, answer, values)

    return answer(arrays, numba.types.intp), codegen


@intrinsic
def store(typing_context, arrays, i, value):
    """Write element `i` of an array or of a tuple of arrays; of None, nothing."""

    def codegen(context, builder, signature, args):
        if not isinstance(arrays, numba.types.NoneType):
            targets, values = parts(builder, arrays, args[0]), parts(builder, value, args[2])
            for kind, array, found, part in zip(
                kinds(arrays), targets, kinds(value), values, strict=True
            ):
                place = _place(context, builder, kind, array, args[1])
                part = context.cast(builder, part, found, kind.dtype)
                if isinstance(kind, symbols.Elements):
                    kind.store(context, builder, part, place)
                else:
                    internals.store_item(context, builder, kind, part, place)
        return context.get_dummy_value()

    return numba.types.none(arrays, numba.types.intp, value), codegen


@intrinsic
def fetch(typing_context, arrays, i):
    """Have element `i` of an array or of a tuple of arrays brought into the cache; there may be no such element."""

    def codegen(context, builder, signature, args):
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        call = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        to_write_and_keep_near = [ir.Constant(word, x) for x in (1, 3, 1)]
        for kind, array in zip(kinds(arrays), parts(builder, arrays, args[0]), strict=True):
            place = builder.bitcast(_place(context, builder, kind, array, args[1]), byte)
            builder.call(call, [place, *to_write_and_keep_near])
        return context.get_dummy_value()

    return numba.types.none(arrays, numba.types.intp), codegen


@intrinsic
def cast(typing_context, like, value):
    """Convert a scalar or tuple to the types of `like`."""
    answer = numba.types.unliteral(like)

    def codegen(context, builder, signature, args):
        return converted(context, builder, answer, value, args[1])

    return answer(like, value), codegen


# --- nulls ----------------------------------------------------------------------------------------


@intrinsic
def is_nan(typing_context, element):
    """Return whether a scalar is NaN; integers never are."""

    def codegen(context, builder, signature, args):
        return symbols.nan(context, builder, element, args[0])

    return numba.types.boolean(element), codegen


@intrinsic
def is_null(typing_context, nulls, element, i):
    """Return whether element `i` is missing: never (None), in band (bool) or by a mask (tuple)."""

    def codegen(context, builder, signature, args):
        return null(context, builder, (nulls, element), *args)

    return numba.types.boolean(nulls, element, numba.types.int64), codegen


def null(context, builder, given, nulls, element, i):
    """Generate what `is_null` returns for nulls and an element of the types `given`."""
    if isinstance(given[0], numba.types.NoneType):
        return cgutils.false_bit
    if isinstance(given[0], numba.types.BaseTuple):
        return _masked(context, builder, given[0], nulls, i)
    if not isinstance(given[1], numba.types.BaseTuple):
        return symbols.null(context, builder, given[1], element)
    each = zip(given[1], parts(builder, given[1], element), strict=True)
    return reduce(builder.or_, [symbols.nan(context, builder, *one) for one in each])


def _masked(context, builder, kind, mask, i):
    buffer, offset, shift, missing = cgutils.unpack_tuple(builder, mask, 4)
    one = ir.Constant(ir.IntType(64), 1)
    at = builder.add(offset, i)
    place = _place(context, builder, kind[0], buffer, builder.ashr(at, shift))
    bits = builder.zext(internals.load_item(context, builder, kind[0], place), one.type)
    low = builder.and_(at, builder.sub(builder.shl(one, shift), one))
    return builder.icmp_signed("==", builder.and_(builder.lshr(bits, low), one), missing)
