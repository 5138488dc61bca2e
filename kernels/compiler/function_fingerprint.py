"""Python functions as content: a fingerprint that follows their code, and a rebuild that compiles what they call.

Two functions with the same code, constants, defaults, closure and helpers have the same fingerprint
wherever and whenever they were defined, which is what graph names and kernel caches need.
"""

import builtins
import dis
import functools
import hashlib
import inspect
import types
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np

Function = Callable[..., Any]

FROZEN = "<frozen>"
"""The module of frozen functions: none that can be imported, so that cloudpickle writes the functions themselves.

Of a function that has no module, it asks all modules that are loaded for one of that name, which takes as long as the
modules that some of them load when they are asked.
"""


def fingerprint(*parts: Any) -> str:
    """Return a hexadecimal digest of functions, constants and containers of them.

    Parameters
    ----------
    *parts
        Functions written in Python, scalars, strings, NumPy scalars and dtypes, tuples of these, None.

    Returns
    -------
    str
        32 hexadecimal digits, equal in every process for equal content.

    Examples
    --------
    >>> fingerprint(lambda a, b: a + b) == fingerprint(lambda a, b: a + b)
    True
    >>> fingerprint(lambda a, b: a + b) == fingerprint(lambda a, b: a - b)
    False
    """
    digest = hashlib.sha256()
    for piece in _content(parts, ()):
        digest.update(piece.encode() + b"\0")
    return digest.hexdigest()[:32]


def freeze(function: Function) -> Function:
    """Return a copy of a function that keeps what its globals, closure and defaults hold now, at any depth.

    Arrays are copied and functions that are compiled already are taken as they were written. What a module holds
    is out of reach; that it has changed shows in the fingerprint.

    Raises
    ------
    TypeError
        If it uses something that may change and cannot be copied for a compiler: a list, a CuPy array.

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
    """Freeze a function that uses nothing but constants: the same one for the same content."""
    cells = tuple(map(types.CellType, held))
    return _frozen(types.FunctionType(code, {}, name, defaults or None, cells))


def _is_constant(value: Any) -> bool:
    """Whether a value is equal to those of its type that are the same, and to no others: 0.0 is to -0.0."""
    return type(value) in (int, bool, str) or (type(value) is float and value != 0)


def _own(function: Function, name: str, value: Any) -> Any:
    """Return what a function captures under a name as nobody else can change it."""
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
"""What a function might use and compilers cannot, or not as it is now."""


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
    """Copy a function and compile the copy; `keep` returns what it uses in place of values that are no functions."""
    if function in done:
        return done[function]
    for name in _LOCKING & set(_names(function)):
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
"""What compiled code needs Python's lock for, which the thread that started it may hold."""


def _written(value: Any) -> Any:
    """The function that its user has written, where it is compiled already."""
    return getattr(value, "py_func", value)


def _is_plain(value: Any) -> bool:
    return isinstance(value, types.FunctionType)


def named_globals(function: Function) -> Iterator[tuple[str, Any]]:
    """Yield the globals that a function's code names, and what they hold."""
    for name in _globals(function.__code__):
        if name in function.__globals__:
            yield name, function.__globals__[name]


def _held(function: Function) -> dict[str, Any]:
    """What a function captures in its closure, by name."""
    held = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            held[name] = cell.cell_contents
        except ValueError:
            raise TypeError(f"{function.__name__} uses {name}, which has no value yet") from None
    return held


@lru_cache(maxsize=1024)
def _written_to(code: types.CodeType) -> tuple[str, ...]:
    """The names of globals and of variables around a function that its code writes to."""
    steps = [i for each in _codes(code) for i in dis.get_instructions(each)]
    outer = {i.argval for i in steps if i.opname in ("STORE_DEREF", "DELETE_DEREF")}
    written = outer & set(code.co_freevars)
    written |= {i.argval for i in steps if i.opname in ("STORE_GLOBAL", "DELETE_GLOBAL")}
    return tuple(sorted(written))


@lru_cache(maxsize=1024)
def _globals(code: types.CodeType) -> tuple[str, ...]:
    """The names of globals in code and in the functions that it defines."""
    steps = [i for each in _codes(code) for i in dis.get_instructions(each)]
    return tuple(dict.fromkeys(i.argval for i in steps if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")))


def _names(function: Function) -> Iterator[str]:
    """The names of globals and attributes in a function's code and in the functions that it defines."""
    for code in _codes(function.__code__):
        yield from code.co_names


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """Code, and that of the functions that it defines."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _content(value: Any, within: tuple[Any, ...]) -> Iterator[str]:
    """Yield strings that tell ``value`` from any other content; ``within`` breaks recursion."""
    value = _written(value)
    if _is_plain(value):
        if value in within:
            yield f"recursive {within.index(value)}"
            return
        yield "function"
        yield from _code(value.__code__)
        inner = (*within, value)
        kwdefaults = tuple(sorted((value.__kwdefaults__ or {}).items()))
        yield from _content((value.__defaults__, kwdefaults), inner)
        held = [("", cell.cell_contents) for cell in value.__closure__ or ()]
        for name, referred in (*held, *named_globals(value)):
            yield name
            if isinstance(referred, types.ModuleType):
                yield from _attributes(referred, tuple(_names(value)), inner)
            else:
                yield from _content(referred, inner)
    elif isinstance(value, (tuple, list, frozenset)):
        items = sorted(value, key=repr) if isinstance(value, frozenset) else value
        yield f"{type(value).__name__} {len(value)}"
        for item in items:
            yield from _content(item, within)
    elif isinstance(getattr(value, "token", None), str):  # an operator
        yield value.token
    elif isinstance(value, (types.ModuleType, type, types.BuiltinFunctionType)):
        yield f"{getattr(value, '__module__', '')} {getattr(value, '__qualname__', value.__name__)}"
    elif hasattr(value, "tobytes") and hasattr(value, "dtype"):
        yield f"array {value.dtype} {value.shape} {value.tobytes().hex()}"
    else:
        yield f"{type(value).__qualname__} {value!r}"


_LIBRARIES = ("math", "cmath", "numpy", "numba", "scipy", "operator", "builtins")
"""Modules whose functions the compilers know by name."""


def _attributes(module: Any, names: tuple[str, ...], within: tuple[Any, ...]) -> Iterator[str]:
    """The content of what a function may take from a module: constants and helpers, at any depth."""
    yield module.__name__
    if module.__name__.split(".")[0] in _LIBRARIES:
        return
    for name in names:
        value = getattr(module, name, None)
        if isinstance(value, types.ModuleType):
            yield from _attributes(value, names, within)
        elif value is not None:
            yield name
            yield from _content(value, within)


def _code(code: types.CodeType) -> Iterator[str]:
    flags = code.co_flags & ~inspect.CO_NESTED  # where a function is defined is not what it does
    yield f"code {code.co_argcount} {flags} {code.co_code.hex()}"
    yield repr((code.co_names, code.co_varnames, code.co_freevars))
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _code(constant)
        else:
            yield f"{type(constant).__qualname__} {constant!r}"
