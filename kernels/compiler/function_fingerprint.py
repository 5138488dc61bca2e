"""Python functions as content: a fingerprint that follows their code and everything that it uses.

Two functions with the same code, constants, defaults, closure and helpers have the same fingerprint, wherever and
whenever they were defined: graph names and kernel caches need this. Comments, docstrings and line numbers do not count.
"""

import dis
import functools
import hashlib
import inspect
import types
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from .late import Late, LateFunction

Function = Callable[..., Any]


def fingerprint(*parts: Any) -> str:
    """Return a hexadecimal digest of functions, constants and containers of them.

    Parameters
    ----------
    *parts
        Functions written in Python, scalars, strings, NumPy scalars and dtypes, tuples of these, None; also functions
        that Numba has compiled, with their options, and the Python that writes LLVM code: intrinsics, classes.

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
    return _Walk().digest(parts)[:32]


class Registry(dict[Any, Any]):
    """Values by names that identify their content, so that fingerprints of functions that use them leave it out."""


OVERLOAD = "compiled_as"
"""The attribute of a function with its compiled replacement."""

_LIBRARIES = frozenset(
    "abc builtins cmath collections contextlib dataclasses dis functools itertools llvmlite logging math numba numpy "
    "operator re scipy threading typing".split()
)
"""Packages that are identified by name, as their versions are in a kernel's key."""


class _Walk:
    """The digests of values; each value is visited once, however often it is used."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[str, Any]] = {}  # with the value, so that its id is not reused
        self._within: list[int] = []

    def digest(self, value: Any) -> str:
        """Return a string that differs between values of different content."""
        value = _known(value)
        kind = type(value)
        if kind in _PLAIN:
            return f"{kind.__name__} {value!r}"
        if kind is _BUILTIN or (isinstance(value, _NAMED) and _is_library(value)):
            return f"{value.__module__} {value.__qualname__}"
        if kind is types.ModuleType:
            return f"module {value.__name__}"
        place = id(value)
        if place in self._within:
            return f"recursive {len(self._within) - self._within.index(place)}"
        if place not in self._known:
            self._within.append(place)
            content = "\0".join(self._pieces(value))
            self._within.pop()
            self._known[place] = hashlib.sha256(content.encode()).hexdigest(), value
        return self._known[place][0]

    def _pieces(self, value: Any) -> Iterator[str]:
        kind = type(value)
        if kind is types.FunctionType:
            yield from self._function(value)
        elif hasattr(value, "py_func"):  # compiled
            pipeline = getattr(getattr(value, "_compiler", None), "pipeline_class", None)
            yield from self._all("compiled", value.py_func, value.targetoptions, pipeline)
        elif hasattr(value, "__wrapped__"):  # an intrinsic, a cache
            yield from self._all("wrapper", kind, value.__wrapped__)
        elif isinstance(value, type):
            getattr(value, "__dataclass_fields__", None)  # generates late methods
            content = {k: v for k, v in vars(value).items() if _says_what_it_does(k, v)}
            yield from self._all("class", value.__qualname__, value.__bases__, content)
        elif isinstance(value, (tuple, list)):
            yield from self._all(kind.__name__, *value)
        elif isinstance(value, (set, frozenset)):
            yield from (kind.__name__, *sorted(map(self.digest, value)))
        elif kind is Registry:
            yield "registry"
        elif isinstance(value, dict):
            yield from self._all("dict", *value, *value.values())
        elif isinstance(getattr(value, "token", None), str):  # an operator
            yield value.token
        elif hasattr(value, "tobytes") and hasattr(value, "dtype"):
            yield f"array {value.dtype} {value.shape} {value.tobytes().hex()}"
        elif isinstance(value, functools.partial):
            yield from self._all("partial", value.func, value.args, value.keywords)
        elif isinstance(value, types.MethodType):
            yield from self._all("method", value.__func__, value.__self__)
        elif isinstance(value, (staticmethod, classmethod)):
            yield from self._all(kind.__name__, value.__func__)
        elif isinstance(value, property):
            yield from self._all("property", value.fget, value.fset)
        elif _is_library(kind) or not hasattr(value, "__dict__"):
            shown = repr(value)
            yield f"{kind.__qualname__} {'' if ' at 0x' in shown else shown}"
        else:
            yield from self._all("instance", kind, vars(value))

    def _all(self, title: str, *values: Any) -> Iterator[str]:
        yield title
        yield from map(self.digest, values)

    def _function(self, function: types.FunctionType) -> Iterator[str]:
        code = function.__code__
        yield from ("function", _code_digest(code, function.__doc__))
        yield from map(self.digest, (function.__defaults__, function.__kwdefaults__))
        for cell in function.__closure__ or ():
            yield from self._used(_content_of(cell), code)
        for name in global_names(code):
            if name in function.__globals__:
                yield name
                yield from self._used(function.__globals__[name], code)
        yield from map(self.digest, [vars(function).get(OVERLOAD)])

    def _used(self, value: Any, code: types.CodeType) -> Iterator[str]:
        """Yield the content of a value that code uses; for a module, of the attributes that the code may use."""
        value = _known(value)
        yield self.digest(value)
        if type(value) is types.ModuleType and value.__name__.split(".")[0] not in _LIBRARIES:
            for name in dict.fromkeys(names(code)):
                taken = getattr(value, name, value)
                if taken is not value:
                    yield name
                    yield from self._used(taken, code)


def _known(value: Any) -> Any:
    """Return the imported or compiled form of a value, if it is made late."""
    if type(value) is Late:
        return value.module
    return value.made if isinstance(value, LateFunction) else value


_PLAIN = frozenset({int, float, complex, bool, str, bytes, type(None), type(...)})
_BUILTIN = types.BuiltinFunctionType
_NAMED = (types.FunctionType, type)


def _is_library(value: Any) -> bool:
    return (value.__module__ or "").split(".")[0] in _LIBRARIES


def _says_what_it_does(name: str, value: Any) -> bool:
    """Return whether an attribute of a class was written by its author; Python adds and removes others."""
    return not name.startswith("__") or isinstance(value, (types.FunctionType, classmethod))


def _content_of(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return "nothing yet"


@lru_cache(maxsize=4096)
def global_names(code: types.CodeType) -> tuple[str, ...]:
    """Return the names of globals in code and in the functions that it defines."""
    return tuple(dict.fromkeys(name for each in codes(code) for name in _global_names(each)))


def _global_names(code: types.CodeType) -> Iterator[str]:
    argument = 0  # `dis` would take ten times as long
    for operation, low in zip(code.co_code[::2], code.co_code[1::2], strict=True):
        argument = argument << 8 | low
        if operation == dis.EXTENDED_ARG:
            continue
        if operation == _LOAD_GLOBAL:
            yield code.co_names[argument >> 1]  # the last bit is about calls
        elif operation == _LOAD_NAME:
            yield code.co_names[argument]
        argument = 0


_LOAD_GLOBAL, _LOAD_NAME = dis.opmap["LOAD_GLOBAL"], dis.opmap["LOAD_NAME"]


def names(code: types.CodeType) -> Iterator[str]:
    """Yield the names of globals and attributes in code and in the functions that it defines."""
    for each in codes(code):
        yield from each.co_names


def codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield code, and that of the functions that it defines."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes(constant)


def operations(code: types.CodeType) -> set[int]:
    """Return the numbers of the operations in code: `dis` takes far longer."""
    return {*code.co_code[::2]}


@lru_cache(maxsize=4096)
def _code_digest(code: types.CodeType, docstring: str | None) -> str:
    return hashlib.sha256("\0".join(_code(code, docstring)).encode()).hexdigest()


def _code(code: types.CodeType, docstring: str | None = None) -> Iterator[str]:
    flags = code.co_flags & ~inspect.CO_NESTED  # where a function is defined is not what it does
    parameters = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount
    yield f"code {parameters} {flags} {code.co_code.hex()} {code.co_exceptiontable.hex()}"
    yield repr((code.co_names, code.co_varnames, code.co_freevars))
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _code(constant)
        elif isinstance(constant, frozenset):
            yield from ("frozenset", *sorted(map(repr, constant)))
        elif constant is None or constant != docstring:
            yield f"{type(constant).__qualname__} {constant!r}"
