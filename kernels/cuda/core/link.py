"""An operator's Python functions as LTO-IR: functions of pointers to fields, under names that the engine calls.

Numba compiles them without a GPU. The text that is executed here is generated from field counts alone; a user's
function is only ever called by it. Some steps of operators (kernels/operators/numerics.py) are replaced by a GPU's own.
"""

# Numba reads these functions.
# mypy: disable-error-code="no-untyped-def"

from collections.abc import Callable
from types import CodeType
from typing import Any

import numba
import numpy as np
from numba import cuda, types
from numba.cuda.compiler import compile_cuda

from ...compiler.function_fingerprint import rebuild
from ...nulls import NAT
from ...operators import numerics
from ...operators.operator import Operator
from .closure_constants import kernel_code, numbers_of
from .plan import Form, TypedOperator


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
    """Return the LTO-IR of a predicate, the lift of `counter`: false where an input is missing in band.

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
    """Return an expression for numbers, without any text of a user's."""

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
    if dtype.kind in "fc":
        return f"({value} != {value})"
    return f"({value} == NAT)" if dtype == np.int64 else "False"


def _pointer(dtype: np.dtype) -> Any:
    return types.CPointer(types.uint8 if dtype.kind == "b" else numba.from_dtype(dtype))


def _device_function(function: Any, capability: tuple[int, int]) -> Any:
    """Make a function that others compiled for `capability` can call.

    Numba's own ``cuda.jit(device=True)`` compiles for the current device, which need not be there.
    """
    dispatcher = cuda.jit(device=True)(function)

    def compile_device(arguments: Any, return_type: Any = None) -> Any:
        if arguments not in dispatcher.overloads:
            compiled = compile_cuda(
                function,
                return_type,
                arguments,
                forceinline=True,
                nvvm_options={"opt": 3, "fastmath": False},
                cc=capability,
            )
            dispatcher.overloads[arguments] = compiled
            compiled.target_context.insert_user_function(
                compiled.entry_point, compiled.fndesc, [compiled.library]
            )
        return dispatcher.overloads[arguments]

    dispatcher.compile_device = compile_device
    return dispatcher


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
    """Compile ``call`` of ``f``, which reads fields ``v0_0, ...`` and whose answer goes to ``r0, ...``."""
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
            function, lambda plain: _device_function(on_device(plain), capability)
        )
    exec("\n".join(body), namespace)
    signature = types.void(*[_pointer(d) for form in (result, *arguments) for d in form])
    try:
        code, _ = cuda.compile(
            namespace[name],
            signature,
            device=True,
            cc=capability,
            abi="c",
            abi_info={"abi_name": f"op_{name}"},
            output="ltoir",
            forceinline=True,
        )
    except Exception as error:
        reason = next((line for line in reversed(str(error).splitlines()) if line.strip()), "")
        raise TypeError(f"{op.name}: Numba cannot compile {name} for CUDA: {reason}") from error
    return bytes(code)


_reciprocal = cuda.declare_device("__nv_rcp64h", "float64(float64)", abi="c")
"""libdevice's approximation, of the upper half of a number alone."""


def _flushed(number):
    return number


def _quotient(number, weight):
    # Newton's iteration, then one step of Markstein's (IBM Journal of Research and Development 34, 1990)
    r = _reciprocal(weight)
    r = cuda.fma(r, cuda.fma(-weight, r, 1.0), r)
    r = cuda.fma(r, cuda.fma(-weight, r, 1.0), r)
    q = number * r
    exact = cuda.fma(cuda.fma(-weight, q, number), r, q)
    return exact if exact == exact else q  # an infinite number has no remainder


def _bits_of(number):
    return cuda.libdevice.double_as_longlong(np.float64(number))


def _from_bits(bits):
    return cuda.libdevice.longlong_as_double(np.int64(bits))


_OWN: dict[CodeType, Callable[..., Any]] = {
    numerics.flushed.__code__: _flushed,
    numerics.quotient.__code__: _quotient,
    numerics.bits_of.__code__: _bits_of,
    numerics.from_bits.__code__: _from_bits,
}


def on_device(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return what a GPU does instead of a function, which may be a copy; by default, itself."""
    return _OWN.get(function.__code__, function)
