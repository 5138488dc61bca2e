"""Functions of the engine, which are compiled when a kernel is needed that is in no pack.

Kernels and the functions that they call are Python functions. Numba compiles each with its first caller.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import update_wrapper
from typing import Any

from . import pack
from .argument_types import Type, from_numba, to_numba
from .function_fingerprint import OVERLOAD, Registry
from .late import Late, LateFunction, numba

compiling, jit = Late(f"{__package__}.compiling"), Late(f"{__package__}.jit")

ENTRY: dict[str, Any] = {
    "nogil": True, "error_model": "numpy", "debug": False,  # Numba has no debug information for empty tuples
    "no_cpython_wrapper": False, "no_cfunc_wrapper": True, "_nrt": False,
}  # fmt: skip
SHARED: dict[str, Any] = {**ENTRY, "no_cpython_wrapper": True, "no_cfunc_wrapper": False}
OPTIONS: dict[str, Any] = {**ENTRY, "no_cpython_wrapper": True}
"""Options of functions that Python calls, that are called by address, and that only compiled code calls: wrappers that
are never called would double a function's compile time. They do not count references to arrays, which callers keep."""

ALLOCATING: dict[str, Any] = {**ENTRY, "_nrt": True}
LINKED_ALLOCATING: dict[str, Any] = {**OPTIONS, "_nrt": True}
"""`ENTRY` and `OPTIONS` for functions that make arrays, or may, such as operators' functions."""


class Function(LateFunction):
    """A Python function that is compiled, or that writes compiled code."""

    def __init__(self, function: Any, make: str, *how: Any) -> None:
        own: Any = self
        update_wrapper(own, function)
        self.py_func, self._make, self._how = function, make, how
        self._made = self._type = None

    @property
    def made(self) -> Any:
        """Numba's dispatcher or intrinsic of the function."""
        if self._made is None:
            with compiling.compile_lock:  # one for all threads
                self._made = self._made or getattr(jit, self._make)(self.py_func, *self._how)
        return self._made

    @property
    def _numba_type_(self) -> Any:
        if self._type is None:
            self._type = jit.type_of_function(self.made)
        return self._type


@dataclass(frozen=True)
class External:
    """A function of the system without arguments that returns 32 bits."""

    name: str

    @property
    def _numba_type_(self) -> Any:
        return numba.types.ExternalFunction(self.name, numba.types.int32())


INPUTS, STATES, ANSWERS = "inputs", "states", "answers"

ROLES: dict[Any, dict[str, Any]] = Registry()
"""What fields of a record, or arguments of a kernel, hold: an operator's inputs, states or answers.

The operator is the last one before them among the arguments. If no argument holds states, the role of the operator
itself is the type of its states.
"""


def njit(function: Any, options: dict[str, Any] = OPTIONS) -> Any:
    """Mark a function for compilation when compiled code calls it."""
    return Function(function, "dispatcher", options)


def cached_njit(
    function: Any, options: dict[str, Any] = ENTRY, linked: bool = True, **roles: str
) -> Any:
    """Let a function of the engine be compiled once, and keep its machine code on disk.

    Operators are `linked` into it, unless it is small. Arguments with `roles` hold numbers of operators (`ROLES`).
    """
    ROLES[function] = roles
    return Function(function, "cached_dispatcher", options, linked)


def intrinsic(function: Any, prefer_literal: bool = False) -> Any:
    """Mark a function that writes LLVM code at its calls in compiled code; with `prefer_literal` it gets constants."""
    return Function(function, "made_intrinsic", prefer_literal)


overloads: dict[Any, Any] = Registry()
"""The replacements of functions that Numba does not know of yet."""


def overloaded(function: Any) -> Any:
    """Compile, instead of `function`, the function that the decorated one returns for the types of arguments."""

    def register(choose: Any) -> Any:
        setattr(function, OVERLOAD, choose)
        overloads[function] = choose
        return choose

    return register


def load_kernel(function: Function, arguments: tuple[Type, ...]) -> pack.Kernel:
    """Find the kernel of `function` for arguments of these types in the pack or on disk, or compile it."""
    found = pack.find(function, arguments)
    return jit.load(function.made, to_numba(arguments)) if found is None else found


def answer_of(function: Function, arguments: tuple[Type, ...], ask: Callable[[], Any]) -> Type:
    """Return the type of a kernel's answer without loading its machine code: from the pack, from disk, or by `ask`."""
    found = pack.answer(function, arguments)
    if found is not None:
        return found
    return from_numba(jit.answer(function.made, to_numba(arguments), ask))
