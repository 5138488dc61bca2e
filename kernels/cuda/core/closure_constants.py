"""The numbers that an operator's functions capture, which are parameters of a launch.

One kernel serves all operators with the same code; `shared_code` chooses the operator that it is compiled from.
"""

from collections.abc import Sequence

import numpy as np

from ...compiler.function_fingerprint import fingerprint
from ...operators.calls import code_of
from ...operators.operator import Code, Operator

Form = tuple[np.dtype, ...]

_first: dict[str, Operator] = {}
_is_shared: dict[tuple[str, Form], bool] = {}


def kernel_code(op: Operator, inputs: Form) -> Code:
    """Return the code that kernels for inputs of these dtypes are compiled from: the same at every call.

    The signature must have been made before: it decides whether the numbers are constants. Later signatures for other
    dtypes may decide otherwise, but launches must still fit kernels that were compiled before.
    """
    key = op.code.token, inputs
    return op.code if _is_shared.setdefault(key, code_of(op) is op.code) else op.constant


def shared_code(op: Operator, inputs: Form) -> tuple[Operator, bytes]:
    """Return the operator that stands for all with the same code and identity, and the numbers of this one."""
    values = [x for each in kernel_code(op, inputs).values for x in each]
    if not values:
        return op, b""
    packed = np.zeros(1, numbers_dtype([x.dtype for x in values]))
    for i, value in enumerate(values):
        packed[f"f{i}"] = value
    return _first.setdefault(kernel_token(op, inputs), op), packed.tobytes()


def kernel_token(op: Operator, inputs: Form) -> str:
    """Return what identifies an operator's machine code, together with the types."""
    token = kernel_code(op, inputs).token
    return fingerprint(token, op.identity, op.inputs, op.in_order, op.null_identity)


def numbers_of(op: Operator, inputs: Form) -> dict[str, Form]:
    """Return the dtypes of the numbers of each function."""
    code = kernel_code(op, inputs)
    each = zip(code.functions, code.values, strict=True)
    return {role: tuple([x.dtype for x in values]) for role, values in each}


def numbers_size(op: Operator, inputs: Form) -> int:
    """Return how many bytes of a launch's parameters the numbers take: 8 if there are none."""
    form = [dtype for each in numbers_of(op, inputs).values() for dtype in each]
    return numbers_dtype(form).itemsize if form else 8


def numbers_dtype(form: Sequence[np.dtype]) -> np.dtype:
    """Return the structured dtype with the memory layout of the C++ struct `Numbers`, in whole words."""
    fields = [(f"f{i}", dtype) for i, dtype in enumerate(form)]
    size = np.dtype(fields, align=True).itemsize
    rest = [("rest", np.uint8, -size % 8)] if size % 8 else []
    return np.dtype([*fields, *rest], align=True)
