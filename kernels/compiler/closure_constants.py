"""Turns the numbers that a function captures into parameters, so that one compiled function serves all values.

A number that decides which code is compiled stays a constant. So do all numbers of a function that takes `*args` or
keyword-only arguments, has defaults that are not numbers, or calls itself. The text that is executed here contains
names of a user's variables, and nothing else from users.
"""

import dis
import inspect
import types
from functools import lru_cache
from typing import Any

import numpy as np

from ..late_dataclass import dataclass
from . import pack
from .function_fingerprint import Function, codes, fingerprint, operations
from .late import analysis, compiler, numba, numba_ir


@dataclass(frozen=True, eq=False)
class Extracted:
    """A function with numbers as first parameters, and these numbers.

    ``function(*values, *elements)`` equals the original function of the elements that this one requires.
    """

    function: Function
    values: tuple[np.generic, ...] = ()


def extract_constants(function: Function) -> Extracted:
    """Turn numbers in the closure and defaults of a frozen function, and in closures of its helpers, into parameters.

    Examples
    --------
    >>> def late(limit):
    ...     return lambda delay: delay > limit
    >>> found = extract_constants(late(30))
    >>> found.values
    (np.int64(30),)
    >>> found.function(30, 45), found.function(60, 45)
    (True, False)
    """
    return _extract(function, (), {})


MOST = 64
"""The most numbers of a function and its helpers that become parameters; if there are more, all are constants."""


def _extract(
    function: Function, within: tuple[Function, ...], known: dict[Function, Extracted]
) -> Extracted:
    if function not in known:
        known[function] = _extracted(function, within, known)
    return known[function]


def _extracted(
    function: Function, within: tuple[Function, ...], known: dict[Function, Extracted]
) -> Extracted:
    within = (*within, function)
    held = dict(zip(function.__code__.co_freevars, _held(function), strict=True))
    defaults = [_number(d, flags=True) for d in function.__defaults__ or ()]
    varies = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
    if (
        function.__code__.co_flags & varies
        or function.__code__.co_kwonlyargcount
        or any(d is None for d in defaults)
        or any(value is one for value in held.values() for one in within)
    ):
        return Extracted(function)
    optional = tuple([d for d in defaults if d is not None])
    numbers = {n: x for n, x in ((n, _number(v)) for n, v in held.items()) if x is not None}
    helpers = {}
    for name, value in held.items():
        if isinstance(value, types.FunctionType) and not value.__defaults__:
            made = _extract(value, within, known)
            if made.values:
                helpers[name] = made
    template = _template(function, held, tuple(numbers), helpers)
    if numbers and not pack.is_of_package(function) and _chooses(function, template):
        numbers = {}
        template = _template(function, held, (), helpers)
    taken = [x for helper in helpers.values() for x in helper.values]
    values = (*taken, *numbers.values(), *optional)
    return Extracted(template, values) if 0 < len(values) <= MOST else Extracted(function)


def _held(function: Function) -> list[Any]:
    return [cell.cell_contents for cell in function.__closure__ or ()]


def _number(value: Any, flags: bool = False) -> np.generic | None:
    """Return a value as a number of compiled code, or None if it is no number; with `flags`, bools are numbers too."""
    if isinstance(value, np.generic):
        return value if value.dtype.name in _NUMBERS or (flags and value.dtype == bool) else None
    if type(value) is int:
        return np.int64(value) if -(2**63) <= value < 2**63 else None
    if type(value) is bool:
        return np.bool_(value) if flags else None
    kind = {float: np.float64, complex: np.complex128}.get(type(value))
    return None if kind is None else kind(value)


_NUMBERS = frozenset(
    "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128".split()
)


def _template(
    function: Function,
    held: dict[str, Any],
    numbers: tuple[str, ...],
    helpers: dict[str, Extracted],
) -> Function:
    """Return a function with the parameters of helpers, the numbers and the defaults as first parameters."""
    form = tuple((n, len(h.values), held[n].__code__.co_argcount) for n, h in helpers.items())
    code = _template_code(function.__code__, numbers, form, len(function.__defaults__ or ()))
    kept = [value for name, value in held.items() if name not in (*numbers, *helpers)]
    make = types.FunctionType(code, function.__globals__)
    template: Function = make(*kept, *(h.function for h in helpers.values()))
    template.__name__ = function.__name__
    return template


@lru_cache(maxsize=1024)
def _template_code(
    code: types.CodeType,
    numbers: tuple[str, ...],
    helpers: tuple[tuple[str, int, int], ...],
    defaults: int,
) -> types.CodeType:
    """Return the code of a function that makes a template, given everything else that the user's function captures.

    A template defines the user's function within itself, so that its variables are found around it, and calls it;
    compilers inline such functions.

    Parameters
    ----------
    code
        The code of the user's function.
    numbers
        Its variables that become parameters.
    helpers
        The name of each helper with such parameters, their number, and the number of its other parameters.
    defaults
        The number of last parameters with defaults that become parameters.
    """
    own = "_"
    while any(name.startswith(own) for name in code.co_freevars):
        own += "_"

    def some(letter: str, count: int) -> list[str]:
        return [f"{own}{letter}{i}" for i in range(count)]

    known = {*numbers, *(name for name, _, _ in helpers)}
    kept = [name for name in code.co_freevars if name not in known]
    lines, first = [], []
    for k, (name, values, arguments) in enumerate(helpers):
        given, rest = some(f"{k}_", values), some("a", arguments)
        first += given
        lines += [
            f"  def {name}({', '.join(rest)}):",
            f"   return {own}f{k}({', '.join(given + rest)})",
        ]
    required, optional = some("x", code.co_argcount - defaults), some("d", defaults)
    parameters = [*first, *numbers, *optional, *required]
    inner = ", ".join(required + optional)
    text = [
        f"def make({', '.join([*kept, *some('f', len(helpers))])}):",
        f" def {own}template({', '.join(parameters)}):",
        *lines,
        f"  def {own}inner({inner}):",
        f"   return ({', '.join([*code.co_freevars, '0'])})",
        f"  return {own}inner({inner})",
        f" return {own}template",
    ]
    namespace: dict[str, Any] = {}
    exec(pack.written("\n".join(text), "exec"), namespace)
    return _replaced(namespace["make"].__code__, f"{own}inner", code)


def _replaced(code: types.CodeType, name: str, by: types.CodeType) -> types.CodeType:
    """Replace the code of a function that code defines, at any depth."""
    if code.co_name == name:
        assert code.co_freevars == by.co_freevars
        return by
    constants = [
        _replaced(c, name, by) if isinstance(c, types.CodeType) else c for c in code.co_consts
    ]
    return code.replace(co_consts=tuple(constants))


_choosing: dict[str, bool] = {}
"""Earlier answers of `_chooses` for templates, by their content."""


def _chooses(function: Function, template: Function) -> bool:
    """Return whether numbers decide which branches of a function are compiled, and thus perhaps its return type."""
    token = fingerprint(template)
    if token not in _choosing:
        if len(_choosing) >= 4096:
            _choosing.clear()
        try:
            _choosing[token] = _pruned(function) != _pruned(template)
        except Exception:  # code that cannot be analysed is left to the compiler
            _choosing[token] = True
    return _choosing.get(token, True)


def _pruned(function: Function) -> int:
    """Return how many branches a compiler removes, because it knows their conditions."""
    if not any(_JUMPS & operations(code) for code in codes(function.__code__)):
        return 0
    found = compiler.run_frontend(function, inline_closures=True)
    before = _branches(found)
    unknown = (numba.types.unknown,) * function.__code__.co_argcount
    analysis.dead_branch_prune(found, unknown)
    return before - _branches(found)


_JUMPS = {*dis.hasjrel, *dis.hasjabs}


def _branches(found: Any) -> int:
    return sum(isinstance(block.body[-1], numba_ir.Branch) for block in found.blocks.values())
