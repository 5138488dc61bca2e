"""Copies of Python functions that no other code can change, and copies for a compiler, with all that they call."""

import builtins
import dis
import functools
import types
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from .function_fingerprint import Function, codes, global_names, names, operations

FROZEN = "<frozen>"
"""The module of frozen functions. It cannot be imported, so that cloudpickle writes the functions themselves.

For a function without a module, cloudpickle looks for its name in all loaded modules, and some then load others.
"""


def freeze(function: Function) -> Function:
    """Return a copy of a function that keeps the present content of its globals, closure and defaults, at any depth.

    Arrays are copied, and compiled functions are replaced by their Python functions. The content of modules is not
    copied; if it changes, so does the fingerprint.

    Raises
    ------
    TypeError
        If it uses something that may change and cannot be copied for a compiler, such as a list or a CuPy array.

    Examples
    --------
    >>> k, table = 2, np.array([10, 20])
    >>> twice = freeze(lambda x: k * x + table[0])
    >>> k, table[0] = 3, 0
    >>> int(twice(10))
    30
    """
    held = tuple(_held(function).values())
    defaults = function.__defaults__ or ()
    if function.__kwdefaults__ or any(True for _ in named_globals(function)):
        return _frozen(function)
    if not all(map(_is_constant, (*held, *defaults))):
        return _frozen(function)
    kinds = tuple(map(type, (*held, *defaults)))  # True is 1 for Python
    return _frozen_alone(function.__code__, function.__name__, held, defaults, kinds)


def _frozen(function: Function) -> Function:
    return _rebuild(function, _in_no_module, _own, {})  # type: ignore[no-any-return]


def _in_no_module(function: Function) -> Function:
    function.__module__ = FROZEN
    return function


@lru_cache(maxsize=1024)
def _frozen_alone(
    code: types.CodeType, name: str, held: tuple[Any, ...], defaults: tuple[Any, ...], kinds: Any
) -> Function:
    """Freeze a function that uses only constants: equal content gives the same function."""
    cells = tuple(map(types.CellType, held))
    return _frozen(types.FunctionType(code, {}, name, defaults or None, cells))


def _is_constant(value: Any) -> bool:
    """Return whether a value equals only identical values of its type, which is false for 0.0 and -0.0."""
    return type(value) in (int, bool, str) or (type(value) is float and value != 0)


def _own(function: Function, name: str, value: Any) -> Any:
    """Return a captured value in a form that no other code can change."""
    if isinstance(value, tuple):
        parts = [_own(function, name, part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(value, (np.ndarray, np.void)):
        copy = value.copy()
        if isinstance(copy, np.ndarray):
            copy.setflags(write=False)
        return copy
    if isinstance(value, _REFUSED) or hasattr(type(value), "__cuda_array_interface__"):
        kind = type(value)
        title = (
            kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
        )
        raise TypeError(
            f"{function.__name__} uses {name}, a {title}: it may use numbers, tuples, NumPy arrays and functions"
        )
    return value


_REFUSED = (list, set, dict, bytearray, memoryview, functools.partial, types.MethodType)
"""Types that compilers cannot use, or not with their present content."""


def rebuild(function: Function, compile_: Callable[[Function], Any]) -> Any:
    """Return ``compile_(function)`` with the plain Python functions that it calls compiled as well.

    Helpers are found in the closure and among the globals that the code names, at any depth; a
    compiler such as ``numba.njit`` needs them compiled before it can call them.
    """
    return _rebuild(function, compile_, lambda function, name, value: value, {})


def _rebuild(
    function: Function,
    compile_: Callable[[Function], Any],
    keep: Callable[[Function, str, Any], Any],
    done: dict[Any, Any],
) -> Any:
    """Copy a function and compile the copy; `keep` returns replacements of values that are not functions."""
    if function in done:
        return done[function]
    for name in _LOCKING & set(names(function.__code__)):
        if name == "objmode" or name not in function.__globals__:
            raise TypeError(
                f"{function.__name__} calls {name}, for which threads would wait for each other"
            )

    written = _written_to(function.__code__)
    if written:
        raise TypeError(
            f"{function.__name__} writes to {', '.join(written)}, which it may only read: threads would share it"
        )

    def made(name: str, value: Any) -> Any:
        plain = _written(value)
        if isinstance(plain, types.FunctionType):
            return _rebuild(plain, compile_, keep, done)
        return keep(function, name, value)

    cells = tuple(types.CellType() for _ in function.__closure__ or ())
    namespace: dict[str, Any] = {"__builtins__": builtins}
    copy = types.FunctionType(function.__code__, namespace, function.__name__, None, cells)
    done[function] = copy  # for a function that calls itself
    for cell, (name, value) in zip(cells, _held(function).items(), strict=True):
        cell.cell_contents = made(name, value)
    for name, value in named_globals(function):
        namespace[name] = made(name, value)
    if function.__defaults__ is not None:
        copy.__defaults__ = tuple(made("a default", value) for value in function.__defaults__)
    if function.__kwdefaults__ is not None:
        copy.__kwdefaults__ = {n: made(n, value) for n, value in function.__kwdefaults__.items()}
    done[function] = compile_(copy)
    return done[function]


_LOCKING = {"print", "objmode"}
"""Names that take the GIL in compiled code, although the thread that called it may hold it."""


def _written(value: Any) -> Any:
    """Return the Python function of a compiled function."""
    return getattr(value, "py_func", value)


def named_globals(function: Function) -> Iterator[tuple[str, Any]]:
    """Yield the globals that a function's code names, and what they hold."""
    for name in global_names(function.__code__):
        if name in function.__globals__:
            yield name, function.__globals__[name]


def _held(function: Function) -> dict[str, Any]:
    """Return the values that a function captures in its closure, by name."""
    held = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            held[name] = cell.cell_contents
        except ValueError:
            raise TypeError(f"{function.__name__} uses {name}, which has no value yet") from None
    return held


@lru_cache(maxsize=1024)
def _written_to(code: types.CodeType) -> tuple[str, ...]:
    """Return the names of globals and enclosing variables that a function's code writes to."""
    writing = [each for each in codes(code) if _WRITING & operations(each)]
    steps = [i for each in writing for i in dis.get_instructions(each)]
    outer = {i.argval for i in steps if i.opname in ("STORE_DEREF", "DELETE_DEREF")}
    written = outer & set(code.co_freevars)
    written |= {i.argval for i in steps if i.opname in ("STORE_GLOBAL", "DELETE_GLOBAL")}
    return tuple(sorted(written))


_WRITING = {
    dis.opmap[f"{what}_{where}"] for what in ("STORE", "DELETE") for where in ("DEREF", "GLOBAL")
}
