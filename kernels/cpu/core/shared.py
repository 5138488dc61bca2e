"""Functions that kernels share: compiled once for all operators and dtypes, kept on disk, and called by address.

A function belongs here if every operator's kernel would compile it again although no operator changes it. Kernels get
its address, which differs between processes, as data.
"""

# Numba reads the parameters of intrinsics.
# mypy: disable-error-code="no-untyped-def"

from functools import lru_cache
from typing import Any

import numpy as np

from ...compiler import argument_types as types
from ...compiler.functions import SHARED, cached_njit, intrinsic, load_kernel
from ...compiler.late import cgutils, ir, numba
from ...late_dataclass import dataclass


@dataclass(frozen=True)
class NumberType(types.Type):
    """The type of the first argument of a shared function: what number it is for."""

    number: types.Number

    @property
    def name(self) -> str:
        return f"NumberType({self.number})"

    @property
    def numba(self) -> Any:
        return numba.types.NumberClass(self.number.numba)


def shared_njit(function: Any) -> Any:
    """Compile a shared function lazily, and keep its machine code on disk."""
    return cached_njit(function, SHARED)


@lru_cache(maxsize=256)
def address(function: Any, number: str = "uint8") -> int:
    """Return where a shared function for a type of numbers is, compiled now if it never was.

    Parameters
    ----------
    function : Function
        Takes a `NumberType` and, for the rest, int64; returns int64; never raises.
    number : str
        The name of a dtype.
    """
    words = [types.int64] * (function.py_func.__code__.co_argcount - 1)
    return load_kernel(function, (NumberType(types.Number(np.dtype(number))), *words)).address


OF_WIDTH = {1: "uint8", 2: "uint16", 4: "uint32", 8: "uint64", 16: "complex128"}
"""Numbers that stand for any element of their width."""


@intrinsic
def zero(typing_context, kind):
    """Return a number of a kind."""

    def codegen(context, builder, signature, args):
        return context.get_constant(kind.instance_type, 0)

    return kind.instance_type(kind), codegen


@intrinsic
def call(typing_context, function, words):
    """Call the shared function at an address with a tuple of words."""

    def codegen(context, builder, signature, args):
        word, kind = ir.IntType(64), ir.IntType(8).as_pointer()
        given = cgutils.unpack_tuple(builder, args[1])
        form = ir.FunctionType(word, [kind, *[word] * len(given)])
        return builder.call(builder.inttoptr(args[0], form.as_pointer()), [kind(None), *given])

    return numba.types.int64(
        numba.types.int64, numba.types.UniTuple(numba.types.int64, len(words))
    ), codegen
