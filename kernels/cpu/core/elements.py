"""Elements of arrays in compiled code: loads, stores, conversions, tests for nulls; Numba resolves them from the types.

Each takes one array and a scalar, or a tuple of arrays and a tuple of scalars.
"""

# Numba reads the parameters of intrinsics.
# mypy: disable-error-code="no-untyped-def"

from functools import reduce

from ...compiler.functions import intrinsic
from ...compiler.late import cgutils, internals, ir, numba, symbols
from ...nulls import NAT
from ...operators.calls import converted, form, kinds, parts, whole


def _place(context, builder, kind, array, i):
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
            if isinstance(kind, symbols.Elements):
                array = context.make_array(kind)(context, builder, values[k])
                start = builder.bitcast(array.data, ir.IntType(8).as_pointer())
                given = [start, args[1], builder.extract_value(array.strides, 0)]
                values[k] = kind.dtype.ask("load", kind.dtype, context, builder, given)
            elif isinstance(kind, numba.types.Array):
                place = _place(context, builder, kind, values[k], args[1])
                values[k] = internals.load_item(context, builder, kind, place)
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
        return _nan(context, builder, element, args[0])

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
    if isinstance(given[1], symbols.Element):
        return given[1].ask("null", numba.types.boolean, context, builder, [element])
    if given[1] == numba.types.int64:
        return builder.icmp_signed("==", element, element.type(NAT))
    each = zip(kinds(given[1]), parts(builder, given[1], element), strict=True)
    found = [_nan(context, builder, kind, part) for kind, part in each]
    return reduce(builder.or_, found)


def _nan(context, builder, kind, value):
    if isinstance(kind, symbols.Element):
        return kind.ask("nan", numba.types.boolean, context, builder, [value])
    if isinstance(kind, numba.types.Complex):
        number = context.make_complex(builder, kind, value)
        return builder.or_(
            *(builder.fcmp_unordered("uno", x, x) for x in (number.real, number.imag))
        )
    if isinstance(kind, numba.types.Float):
        return builder.fcmp_unordered("uno", value, value)
    return cgutils.false_bit


def _masked(context, builder, kind, mask, i):
    buffer, offset, shift, missing = cgutils.unpack_tuple(builder, mask, 4)
    one = ir.Constant(ir.IntType(64), 1)
    at = builder.add(offset, i)
    place = _place(context, builder, kind[0], buffer, builder.ashr(at, shift))
    bits = builder.zext(internals.load_item(context, builder, kind[0], place), one.type)
    low = builder.and_(at, builder.sub(builder.shl(one, shift), one))
    return builder.icmp_signed("==", builder.and_(builder.lshr(bits, low), one), missing)
