"""The types that Numba infers for the answers of an operator's functions, or the reason why it cannot compile them.

All states have one type: the smallest that holds a lifted element and the combination of two states.
"""

# Numba reads the parameters of compiled functions.
# mypy: disable-error-code="no-untyped-def"

import re
import threading
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ..compiler import argument_types as types
from ..compiler.functions import answer_of, cached_njit, load_kernel
from .calls import asked, combine, lift, lower, make_constant, operator_type
from .operator import BUILT_IN, Operator

Form = tuple[np.dtype, ...]


def lifted(op: Operator, inputs: Form) -> types.Type:
    """Return the type of a lifted element of these dtypes.

    Raises
    ------
    TypeError
        If Numba cannot compile the lift for them.
    """
    element = (
        types.Tuple(tuple([numba_type(d) for d in inputs]))
        if op.inputs > 1
        else numba_type(inputs[0])
    )
    return element if op.lift is None else _ask(op, "lift", element)


def combined(op: Operator, state: types.Type) -> types.Type:
    """Return the smallest type that holds `state` and the combination of any two such states.

    Raises
    ------
    TypeError
        If Numba cannot compile the combination, or there is no such type.
    """
    for _ in range(4):
        answer = _ask(op, "combine", state, state)
        wider = _unify(state, answer)
        if wider is None:
            raise TypeError(f"{op.name}: combine of two states {state} is {answer}: another form")
        if wider == state:
            return state
        state = wider
    raise TypeError(f"{op.name}: the type of the state grows with every combine, last {state}")


def lowered(op: Operator, state: types.Type) -> types.Type:
    """Return the type of the answer for a state.

    Raises
    ------
    TypeError
        If Numba cannot compile the lowering.
    """
    return state if op.lower is None else _ask(op, "lower", state)


_probe = partial(cached_njit, linked=False)


@_probe
def probe_lift(op, element):
    """Lift an element."""
    return lift(op, element)


@_probe
def probe_combine(op, a, b):
    """Combine two states."""
    return combine(op, a, b)


@_probe
def probe_lower(op, state):
    """Lower a state."""
    return lower(op, state)


_PROBES = {"lift": probe_lift, "combine": probe_combine, "lower": probe_lower}

PATIENCE = 10.0
"""Seconds after which a function of one element is assumed not to end."""


class Endless(ValueError):
    """A function that does not end."""


_endless: set[tuple[str, str]] = set()
"""Tokens and functions of operators that did not end: each further call would leave another thread running."""


def compiled(op: Operator, role: str, *arguments: Any) -> Any:
    """Compile a function of the operator for the types of some arguments; it takes the operator first."""
    wanted = (operator_type(op), *map(types.type_of, arguments))
    return load_kernel(_PROBES[role], wanted).entry_point


def run(op: Operator, role: str, *arguments: Any) -> Any:
    """Compile a function of the operator and call it; only the time of the call is limited.

    It runs in its own thread, as compiled code cannot be interrupted. If it never ends, the thread runs on, but holds
    no lock and does not keep the process from ending.
    """
    message = f"{op.name}: {role} did not end within {PATIENCE:g} seconds for small numbers; it runs on in a thread"
    if (op.token, role) in _endless:
        raise Endless(message)
    called = compiled(op, role, *arguments)
    found: list[Any] = []
    failures: list[BaseException] = []

    def attempt() -> None:
        try:
            found.append(called(op, *arguments))
        except BaseException as failure:
            failures.append(failure)

    thread = threading.Thread(target=attempt, daemon=True, name=f"{role} of {op.name}")
    thread.start()
    until = time.monotonic() + PATIENCE
    while thread.is_alive():
        if time.monotonic() > until:
            _endless.add((op.token, role))
            raise Endless(message)
        thread.join(0.1)  # short, so that interrupts are handled
    if failures:
        raise failures[0]
    return found[0]


def _unify(a: types.Type, b: types.Type) -> types.Type | None:
    """The smallest type that holds values of both; None if only one of them is a tuple."""
    if isinstance(a, types.Tuple) and isinstance(b, types.Tuple) and len(a) == len(b):
        fields = [_unify(x, y) for x, y in zip(a, b, strict=True)]
        known = [each for each in fields if each is not None]
        return types.Tuple(tuple(known)) if len(known) == len(fields) else None
    if not (isinstance(a, types.Number) and isinstance(b, types.Number)):
        return None
    return numba_type(np.result_type(a.dtype, b.dtype))


def _ask(op: Operator, role: str, *arguments: types.Type) -> types.Type:
    """Return the type of `role` of `op` for arguments of these types.

    If it cannot be compiled with its captured numbers as arguments, they become constants, for all threads.
    """
    kind = operator_type(op)
    try:
        answer = answer_of(_PROBES[role], (kind, *arguments), lambda: asked(kind, role, arguments))
    except ImportError:  # of the compiler
        raise
    except Exception as error:
        if any(kind.code.values):
            made = make_constant(op)  # unless another thread has
            try:
                return _ask(op, role, *arguments)
            except TypeError:
                if made:  # they were not the reason
                    make_constant(op, False)
                raise
        if BUILT_IN.get(op.name) is op:
            raise TypeError(undefined(op, arguments)) from error
        called = f"{role}({', '.join(map(str, arguments))})"
        raise TypeError(f"{op.name}: Numba cannot compile {called}: {reason_of(error)}") from error
    dtypes_of(op, role, answer)
    return answer


def undefined(op: Operator, arguments: Sequence[Any]) -> str:
    """Return the message for types that a built-in operator does not take."""
    return f"{op.name} is not defined for {' and '.join(dict.fromkeys(map(str, arguments)))}"


def reason_of(error: Exception) -> str:
    """Return the line of Numba's long message that has the reason."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", str(error))  # without colours
    lines = [line.strip(" >") for line in plain.splitlines()] or [type(error).__name__]
    for start in (
        "Unknown attribute",
        "Untyped global",
        "No implementation",
        "Cannot unify",
        "Invalid",
    ):
        for at, line in enumerate(lines):
            if line.startswith(start) and "<function " not in line:  # not one of our own stubs
                return " ".join(part for part in lines[at : at + 3] if part)
    return next((line for line in lines[1:] if line), lines[0])


def dtypes_of(op: Operator, role: str, answer: types.Type) -> Form:
    """Return the dtypes of the fields of the answer of an operator's function.

    Raises
    ------
    TypeError
        If these are not numbers.
    """
    fields = tuple(answer) if isinstance(answer, types.Tuple) else (answer,)
    dtypes = tuple([each.dtype for each in fields if isinstance(each, types.Number)])
    if len(dtypes) < len(fields):
        raise TypeError(f"{op.name}: {role} must return numbers or a flat tuple, found {answer}")
    return dtypes


def numba_type(dtype: np.dtype) -> types.Type:
    """Return the type of elements of a dtype.

    Raises
    ------
    TypeError
        If the kernels do not take arrays of the dtype.
    """
    if dtype.name not in _SUPPORTED or not dtype.isnative:
        raise TypeError(f"the kernels do not take arrays of dtype {dtype}; cast them with astype")
    return types.Number(dtype)


_SUPPORTED = frozenset(
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128".split()
)
