"""An operator's Python functions as LTO-IR: functions of pointers to fields, under names that the engine calls.

They are compiled without a GPU. The text that is executed here is generated from the number of fields alone; it calls
a user's function, and contains none of its text. Some steps of operators (kernels/operators/numerics.py) have
replacements on GPUs.
"""

# Numba reads these functions.
# mypy: disable-error-code="no-untyped-def"

from collections.abc import Callable
from functools import lru_cache
from types import CodeType
from typing import Any

import numpy as np

from ...compiler.frozen_functions import rebuild
from ...nulls import NAT
from ...operators import numerics
from ...operators.operator import Operator
from .closure_constants import kernel_code, numbers_of
from .ltoir import compiler
from .plan import Form, TypedOperator

_FLOAT = np.dtype(np.float64)


def lto_functions(of: TypedOperator, capability: tuple[int, int]) -> list[bytes]:
    """Return the LTO-IR of the functions that the engine calls, for one operator and its types.

    Raises
    ------
    TypeError
        If Numba cannot compile a function of the operator for CUDA.
    """
    op, state = of.op, of.state
    code, numbers = kernel_code(op, of.inputs), numbers_of(op, of.inputs)
    scalar_state, scalar_output = of.scalar_state, of.scalar_output
    parts = (of.identity,) if scalar_state else of.identity
    one_input = len(of.inputs) == 1
    functions = {**code.functions, "follow": of.follow}
    found = []

    def add(
        name: str, result: Form, scalar: bool, arguments: list[Form], call: str, given: str = ""
    ) -> None:
        function, taken = functions.get(name), numbers.get(name, ())
        if function is not None:
            values = [f"{_read(f'v{len(arguments)}_{i}', d)}, " for i, d in enumerate(taken)]
            call = f"f({''.join(values)}{given})"
        forms = [*arguments, taken]
        found.append(_compile(op, name, function, result, scalar, forms, call, capability))

    def fields(a: int, form: Form) -> str:
        return ", ".join(_read(f"v{a}_{i}", d) for i, d in enumerate(form))

    def whole(a: int, form: Form, scalar: bool) -> str:
        return fields(a, form) if scalar else f"({fields(a, form)},)"

    a, b = whole(0, state, scalar_state), whole(1, state, scalar_state)
    add("combine", state, scalar_state, [state, state], "", f"{a}, {b}")
    element = whole(0, of.inputs, one_input)
    add("lift", state, scalar_state, [of.inputs], element, fields(0, of.inputs))
    add("lower", of.outputs, scalar_output, [state], a, a)
    if of.follow is not None:
        given = f"{whole(0, of.outputs, scalar_output)}, {fields(1, of.inputs)}"
        add("follow", of.outputs, scalar_output, [of.outputs, of.inputs], "", given)
    add("identity", state, False, [], _constants([p.item() for p in parts]))
    nulls = _constants([_null(d) for d in of.outputs])
    add("null_output", of.outputs, False, [], nulls)
    gone = [_gone(f"v0_{i}[0]", d) for i, d in enumerate(of.inputs)]
    add("missing", (np.dtype(np.uint8),), True, [of.inputs], " | ".join(gone))
    return found


def lto_predicate(
    counter: Operator, inputs: Form, in_band: tuple[bool, ...], capability: tuple[int, int]
) -> bytes:
    """Return the LTO-IR of a predicate, the lift of `counter`, which is false where an input is missing in band.

    Raises
    ------
    TypeError
        If Numba cannot compile it for CUDA.
    """
    call = f"f({', '.join(_read(f'v0_{i}', d) for i, d in enumerate(inputs))})"
    for i, dtype in enumerate(inputs):
        if in_band[i]:
            call = f"(not {_gone(f'v0_{i}[0]', dtype)}) and ({call})"
    result = (np.dtype(np.bool_),)
    return _compile(counter, "predicate", counter.lift, result, True, [inputs], call, capability)


def _null(dtype: np.dtype) -> Any:
    if dtype.kind in "fc":
        return dtype.type(np.nan).item()
    return NAT if dtype == np.int64 else 0


def _constants(values: list[Any]) -> str:
    """Return an expression for numbers, without any text from a user."""

    def number(value: Any) -> str:
        if isinstance(value, complex):
            return f"complex({number(value.real)}, {number(value.imag)})"
        if isinstance(value, float) and not np.isfinite(value):
            return f"float_{'nan' if value != value else 'inf' if value > 0 else 'lowest'}"
        return repr(value)

    items = [number(v) for v in values]
    return f"({', '.join(items)},)"


def _read(pointer: str, dtype: np.dtype) -> str:
    return f"({pointer}[0] != 0)" if dtype.kind == "b" else f"{pointer}[0]"


def _gone(value: str, dtype: np.dtype) -> str:
    if dtype.kind == "c":  # part by part: numba-cuda-mlir does not compare complex numbers
        return f"({_gone(f'{value}.real', _FLOAT)} | {_gone(f'{value}.imag', _FLOAT)})"
    if dtype.kind == "f":
        return f"({value} != {value})"
    return f"({value} == NAT)" if dtype == np.int64 else "False"


def _compile(
    op: Operator,
    name: str,
    function: Callable[..., Any] | None,
    result: Form,
    scalar: bool,
    arguments: list[Form],
    call: str,
    capability: tuple[int, int],
) -> bytes:
    """Compile ``call`` of ``f``, which reads fields ``v0_0, ...`` and writes its answer to ``r0, ...``."""
    parameters = [f"r{i}" for i in range(len(result))]
    parameters += [f"v{a}_{i}" for a, form in enumerate(arguments) for i in range(len(form))]
    body = [f"def {name}({', '.join(parameters)}):", f"    s = {call}"]
    for i, dtype in enumerate(result):
        part = "s" if scalar else f"s[{i}]"
        value = f"{part} != 0" if dtype.kind == "b" else f"cast{i}({part})"
        body.append(f"    r{i}[0] = {value}")
    namespace: dict[str, Any] = {f"cast{i}": d.type for i, d in enumerate(result)}
    namespace |= {"NAT": NAT, "float_nan": np.nan, "float_inf": np.inf, "float_lowest": -np.inf}
    if function is not None:
        namespace["f"] = rebuild(
            function, lambda plain: compiler().device_function(on_device(plain), capability)
        )
    exec("\n".join(body), namespace)
    pointers = [d for form in (result, *arguments) for d in form]
    try:
        return compiler().ltoir(namespace[name], pointers, f"op_{name}", capability)
    except Exception as error:
        raise TypeError(
            f"{op.name}: Numba cannot compile {name} for CUDA: {_reason(error)}"
        ) from error


def _reason(error: Exception) -> str:
    """Return the line that says what is wrong: the lines around it say where."""
    lines = [line.strip() for line in str(error).splitlines()]
    telling = (line for line in lines if line and not line.startswith(("Failed in", "During:")))
    return next(telling, type(error).__name__)


@lru_cache(maxsize=1)
def _own_steps() -> dict[CodeType, Callable[..., Any]]:
    """Return the replacements of functions on GPUs, by the code of the functions."""
    cuda = compiler().cuda
    libdevice = cuda.libdevice
    # libdevice's approximation, which reads the upper half of a number only
    reciprocal = cuda.declare_device("__nv_rcp64h", "float64(float64)", abi="c")

    def flushed(number):
        return number

    def quotient(number, weight):
        # Newton's iteration, then one step of Markstein's (IBM Journal of Research and Development 34, 1990)
        r = reciprocal(weight)
        r = cuda.fma(r, cuda.fma(-weight, r, 1.0), r)
        r = cuda.fma(r, cuda.fma(-weight, r, 1.0), r)
        q = number * r
        exact = cuda.fma(cuda.fma(-weight, q, number), r, q)
        return exact if exact == exact else q  # infinite numbers have no remainder

    # the GPU's approximation, defined in words.cuh
    inverse_root = cuda.declare_device("inverse_root", "float64(float64)", abi="c")
    tiny, up, down = 2.0**-900, 2.0**128, 2.0**-64

    def root(number):
        # the steps of CUDA's own square root for usual numbers; the last one is Markstein's
        is_tiny = number < tiny
        scaled = number * (up if is_tiny else 1.0)
        r = inverse_root(scaled)
        e = cuda.fma(scaled, -(r * r), 1.0)
        r = cuda.fma(cuda.fma(e, 0.375, 0.5), r * e, r)
        near = scaled * r
        found = cuda.fma(cuda.fma(-near, near, scaled), r * 0.5, near) * (down if is_tiny else 1.0)
        rare = number if number >= 0.0 else np.nan  # zero, infinity, negative numbers, NaN
        return found if found == found else rare

    def bits_of(number):
        return libdevice.double_as_longlong(np.float64(number))

    def from_bits(bits):
        return libdevice.longlong_as_double(np.int64(bits))

    own = (flushed, quotient, root, bits_of, from_bits)
    return {getattr(numerics, step.__name__).__code__: step for step in own}


def on_device(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the replacement of a function on GPUs, or the function if it has none; the function may be a copy."""
    return _own_steps().get(function.__code__, function)
