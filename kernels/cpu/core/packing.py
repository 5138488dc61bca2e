"""Packing the selected ones of eight neighbours next to each other: one instruction on CPUs that have it (AVX-512)."""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

from typing import Any

import numpy as np

from ...compiler.functions import intrinsic, overloaded
from ...compiler.late import internals, ir, numba
from .memory import read

EIGHT = 8

GATHER_BITS = np.uint64(0x0102040810204080)
"""Multiplied with eight bytes of 0 or 1, makes them the bits of the highest byte."""

ADD_UP = np.uint64(0x0101010101010101)
"""Multiplied with eight bytes of 0 or 1, adds to each byte those before it."""


def has_compress() -> bool:
    """Return whether Numba compiles for a CPU that packs 4-byte and 8-byte numbers."""
    features = internals.processor_features()
    return "+avx512f" in features and "+avx512vl" in features


@intrinsic
def pack(typing_context, source, bits, target, like):
    """Write to `target` which of the eight numbers at `source` have their bits set.

    Reads eight and writes eight, whatever the bits.

    With None for `like`, the numbers are `source`, `source` + 1 and so on, of 8 bytes.
    """

    def codegen(context, builder, signature, args):
        counts = isinstance(like, numba.types.NoneType)
        lane = ir.IntType(64 if counts else like.bitwidth)
        vector = ir.VectorType(lane, EIGHT)
        if counts:
            first = builder.insert_element(
                ir.Constant(vector, ir.Undefined), args[0], ir.Constant(ir.IntType(32), 0)
            )
            zeros = ir.Constant(ir.VectorType(ir.IntType(32), EIGHT), [0] * EIGHT)
            every = builder.shuffle_vector(first, first, zeros)
            values = builder.add(every, ir.Constant(vector, list(range(EIGHT))))
        else:
            values = builder.load(builder.inttoptr(args[0], vector.as_pointer()), align=1)
        chosen = ir.VectorType(ir.IntType(1), EIGHT)
        mask = builder.bitcast(builder.trunc(args[1], ir.IntType(EIGHT)), chosen)
        kind = ir.FunctionType(vector, [vector, vector, chosen])
        name = f"llvm.x86.avx512.mask.compress.v8i{lane.width}"
        compress = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
        packed = builder.call(compress, [values, ir.Constant(vector, None), mask])
        builder.store(packed, builder.inttoptr(args[2], vector.as_pointer()), align=1)
        return context.get_dummy_value()

    return numba.types.none(numba.types.int64, numba.types.uint64, numba.types.int64, like), codegen


def _is_packed(like: Any) -> bool:
    known = isinstance(like, numba.types.NoneType) or like in (
        numba.types.uint32,
        numba.types.uint64,
    )
    return has_compress() and known


def pack_rows(source, stride, width, flags, count, target, like):
    """Copy selected rows as long as eight are left; return how many rows were looked at, and how many were selected.

    Elements are of the type of `like`; of None they are the numbers from `source` on. Without the instruction no
    row is looked at.
    """


@overloaded(pack_rows)
def _pack_rows(source, stride, width, flags, count, target, like):
    if not _is_packed(like):
        return lambda source, stride, width, flags, count, target, like: (0, 0)
    step, dense = (1, 0) if isinstance(like, numba.types.NoneType) else (like.bitwidth // 8,) * 2

    def pack_them(source, stride, width, flags, count, target, like):
        row, selected = np.int64(0), np.int64(0)
        while stride == dense and count - selected >= EIGHT:
            word = read(flags + row, ADD_UP)
            bits = (word * GATHER_BITS) >> np.uint64(56)
            pack(source + row * step, bits, target + selected * width, like)
            selected += np.int64((word * ADD_UP) >> np.uint64(56))
            row += EIGHT
        return row, selected

    return pack_them
