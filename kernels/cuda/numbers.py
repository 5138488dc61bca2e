"""The numbers that an operator's functions capture, as a kernel has them: parameters of the launch.

One kernel serves all operators with the same code; `shared_code` chooses which of them it is compiled from. This
module must never know what an operator computes.
"""

from collections.abc import Sequence

import numpy as np

from ..cpu.calls import code_of
from ..functions import fingerprint
from ..operators import Operator

Form = tuple[np.dtype, ...]

_first: dict[str, Operator] = {}


def shared_code(op: Operator) -> tuple[Operator, bytes]:
    """Return the operator that stands for all with the same code and identity, and the numbers of this one.

    Its signature must have been asked for: that decides whether the numbers are constants.
    """
    values = [x for each in code_of(op).values for x in each]
    if not values:
        return op, b""
    packed = np.zeros(1, numbers_dtype([x.dtype for x in values]))
    for i, value in enumerate(values):
        packed[f"f{i}"] = value
    return _first.setdefault(kernel_token(op), op), packed.tobytes()


def kernel_token(op: Operator) -> str:
    """Return what tells the machine code of operators apart, beside the types."""
    return fingerprint(code_of(op).token, op.identity, op.inputs, op.in_order, op.null_identity)


def numbers_of(op: Operator) -> dict[str, Form]:
    """Return the dtypes of the numbers of each function."""
    code = code_of(op)
    each = zip(code.functions, code.values, strict=True)
    return {role: tuple([x.dtype for x in values]) for role, values in each}


def numbers_size(op: Operator) -> int:
    """Return how many bytes of a launch's parameters the numbers take: a word where there are none."""
    form = [dtype for each in numbers_of(op).values() for dtype in each]
    return numbers_dtype(form).itemsize if form else 8


def numbers_dtype(form: Sequence[np.dtype]) -> np.dtype:
    """Return the structured dtype with the memory layout of the C++ struct `Numbers`, in whole words."""
    fields = [(f"f{i}", dtype) for i, dtype in enumerate(form)]
    size = np.dtype(fields, align=True).itemsize
    rest = [("rest", np.uint8, -size % 8)] if size % 8 else []
    return np.dtype([*fields, *rest], align=True)
