"""Linked kernels: an engine, compiled once for all operators of a form, and the functions of one operator.

Most of a kernel's compile time goes into its loop, which is the same for all operators with the same number of fields
in their states and answers, whatever their types. So a kernel is compiled with a *form* instead of each operator: its
functions are undefined symbols, and its numbers are *elements* (`symbols`). The result is kept as LLVM code, simplified
but not vectorised. For an operator only its functions are compiled: they are linked into the engine and inlined, and
the whole is optimised as if it had been compiled at once.
"""

import hashlib
import pickle
from functools import partial
from typing import Any

import llvmlite
import llvmlite.binding as llvm
import numba
from numba.core import types
from numba.core.compiler import CompileResult
from numba.core.environment import Environment
from numba.core.serialize import dumps

from . import cache as kernel_cache
from . import pack
from .functions import ANSWERS, ROLES, STATES
from .numba_internals import optimize
from .symbols import (
    MOST,
    SYMBOLS,
    Element,
    Elements,
    Symbol,
    call,
    call_or_raise,
    cut,
    generate,
    has_elements_in_memory,
    inlined,
    with_numbers,
)
from .tuples import form
from .tuples import kinds as parts_of


class Linkable(types.Type):
    """A type of operators with functions that can be linked into an engine."""

    functions: frozenset[str]
    """The names of its functions."""

    values: types.Type
    """The type of the numbers that its functions take."""

    def compiled(self, name: str, kinds: tuple[Any, ...]) -> Any:
        """Return a function compiled for arguments of these types, including its numbers."""
        raise NotImplementedError

    def generated(self, context: Any, builder: Any, answer: Any, given: list[Any]) -> Any:
        """Generate the identity, of the type `answer`."""
        raise NotImplementedError


class Unlinkable(Exception):
    """An operator that an engine cannot call: its kernel is compiled as a whole."""


class Form(types.Type):
    """The Numba type, in an engine, of all operators with these types of states and answers."""

    def __init__(self, place: int, like: Linkable, states: Any, answers: Any) -> None:
        self.place, self.functions, self.values = place, like.functions, like.values
        self.states, self.answers = states, answers
        has = ", ".join(sorted(like.functions))
        super().__init__(name=f"Form({place}, {has}, {like.values}, {states}, {answers})")

    def resolve(self, name: str, kinds: tuple[Any, ...]) -> tuple[Any, Any]:
        """Return the type of a function's answer, and the generator of a call."""
        answer = self.answers if name == "lower" else self.states
        symbol = Symbol(name, kinds, answer, self.place)
        return answer, partial(call_or_raise if symbol.may_raise else call, symbol)


def operators_of(kinds: tuple[Any, ...]) -> list[Linkable]:
    """Return the operators among the types of a kernel's arguments."""
    found: dict[Linkable, None] = {}
    for kind in kinds:
        if isinstance(kind, Linkable):
            found[kind] = None
        elif isinstance(kind, types.BaseTuple):
            found |= dict.fromkeys(operators_of(tuple(kind)))
    return list(found)


class _Formed:
    """The types of a kernel's arguments, with elements instead of operators' numbers, and forms instead of operators.

    Parameters
    ----------
    operators
        The operators among the types.
    """

    def __init__(self, operators: list[Linkable]) -> None:
        self.operators, self._place = operators, 0
        self._elements: dict[Any, Element] = {}
        self._kinds: dict[Any, Any] = {}
        self.numbers: list[Any] = []

    def formed(self, function: Any, kinds: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the types of the arguments of a kernel."""
        names = function.__code__.co_varnames[: len(kinds)]
        erased = self._erased(function, names, kinds)
        forms = {
            each: Form(place, each, *[self._kinds.get((place, role)) for role in (STATES, ANSWERS)])
            for place, each in enumerate(self.operators)
        }
        return tuple([_replaced(kind, forms) for kind in erased])

    def _erased(self, owner: Any, names: Any, kinds: Any) -> list[Any]:
        roles = ROLES.get(owner, {})
        return [self._one(kind, roles.get(name)) for name, kind in zip(names, kinds, strict=True)]

    def _one(self, kind: Any, role: Any) -> Any:
        if isinstance(kind, Linkable):
            self._place = self.operators.index(kind)
            if role is not None:
                self._kinds[self._place, STATES] = role.numba
            return kind
        if role is not None:
            return self._of_operator(kind, role)
        if not isinstance(kind, types.BaseTuple) or not len(kind):
            return kind
        made = getattr(kind, "instance_class", None)
        names = made._fields if made else [""] * len(kind)
        return types.BaseTuple.from_types(self._erased(made, names, kind), made)

    def _of_operator(self, kind: Any, role: str) -> Any:
        """Return the type of numbers of the last operator before this argument."""
        if isinstance(kind, types.NoneType):
            return kind
        found = [self._element(each, role, k) for k, each in enumerate(parts_of(kind))]
        self._kinds.setdefault(
            (self._place, role), form(kind, [getattr(k, "dtype", k) for k in found])
        )
        return form(kind, found)

    def _element(self, kind: Any, role: str, k: int) -> Any:
        """Return the type of an element, or of an array of elements, if it can be one."""
        number = getattr(kind, "dtype", kind)
        key = self._place, role, k
        if key not in self._elements:
            if not isinstance(number, (types.Number, types.Boolean)) or len(self.numbers) == MOST:
                return kind
            self._elements[key] = Element(len(self.numbers))
            self.numbers.append(number)
        element = self._elements[key]
        if self.numbers[element.number] != number:
            return kind
        if not isinstance(kind, types.Array):
            return element
        return Elements(element, kind.ndim, kind.layout, readonly=not kind.mutable)


def _replaced(kind: Any, forms: dict[Any, Form]) -> Any:
    """Return a type with forms instead of operators."""
    if isinstance(kind, types.BaseTuple) and len(kind):
        inner = [_replaced(each, forms) for each in kind]
        return types.BaseTuple.from_types(inner, getattr(kind, "instance_class", None))
    return forms.get(kind, kind)


def _engine_of(function: Any, arguments: tuple[Any, ...]) -> bytes:
    """Compile an engine; return its bytes.

    Parameters
    ----------
    function
        The dispatcher of a kernel without machine code.
    arguments
        The types of its arguments, with forms and elements.
    """
    function.compile(arguments)
    made = function.overloads[arguments]
    made.library._ensure_finalized()
    module = llvm.parse_bitcode(made.library._final_module.as_bitcode())
    fndesc = made.fndesc
    fndesc.typemap = fndesc.calltypes = None
    names = _names(fndesc)
    for each in [*module.functions, *module.global_variables]:
        if (
            not each.is_declaration
            and each.name not in names
            and not each.name.startswith("_ZN08NumbaEnv")
        ):
            each.linkage = "internal"
    simplify = partial(optimize, loop_vectorize=False, slp_vectorize=False, opt=2, cost="cheap")
    simplify(made.library.codegen, module)
    moving = [f.name for f in module.functions if has_elements_in_memory(str(f))]
    # only now: loops of functions that are inlined before they are simplified are slower
    if moving := [name for name in moving if name not in names]:
        module = llvm.parse_assembly(inlined(str(module), moving))
        simplify(made.library.codegen, module)
    if any(each.name.startswith("numba.dynamic.globals") for each in module.global_variables):
        raise Unlinkable("it holds addresses of this process")
    wrapper = fndesc.llvm_cpython_wrapper_name  # which is not optimised
    if any(f.name != wrapper and has_elements_in_memory(str(f)) for f in module.functions):
        raise Unlinkable("it has numbers of the operator's in memory")
    for function in module.functions:
        for block in function.blocks:
            block.name = ""  # it may have hundreds of characters
    asked = [SYMBOLS[f.name] for f in module.functions if f.is_declaration and f.name in SYMBOLS]
    held = (
        fndesc,
        made.environment.consts,
        made.signature.return_type,
        asked,
        cut(str(module), wrapper),
    )
    kept: bytes = dumps(held)
    return kept


COMPILERS = f"{numba.__version__} {llvmlite.__version__}"
"""The compilers that an engine in a pack must have been made by."""


def kept_engine(function: Any, arguments: tuple[Any, ...], key_of: Any) -> bytes:
    """Return the bytes of an engine from the pack or from disk, or compile and keep it."""
    kept = pack.engine(engine_name(function, arguments), COMPILERS)
    if kept is None:
        key = key_of(arguments, "engine")
        kept = kernel_cache.read(key)
        if kept is None:
            kept = _engine_of(function, arguments)
            kernel_cache.write(key, kept)
    return kept


def engine_name(function: Any, arguments: tuple[Any, ...]) -> str:
    """Return the name of an engine in packs."""
    plain = function.py_func
    content = plain.__module__, plain.__qualname__, [each.name for each in arguments]
    return pack.digest(repr(content).encode())


def _names(fndesc: Any) -> list[str]:
    """Return the names under which a kernel is found."""
    wrapper = fndesc.llvm_cpython_wrapper_name
    return [fndesc.llvm_func_name, wrapper, fndesc.llvm_cfunc_wrapper_name, fndesc.env_name]


def linked(
    engine: Any,
    operators: list[Linkable],
    arguments: tuple[Any, ...],
    key_of: Any,
    context: Any,
    library: Any,
) -> Any:
    """Link the functions of operators into an engine; return what a compiler would return.

    Parameters
    ----------
    engine
        The dispatcher of the kernel without machine code.
    operators
        The operators among the arguments.
    arguments
        The types of the kernel's arguments.
    key_of : callable
        Returns the key of the entry for types of arguments.
    context
        Numba's target.
    library
        An empty library for the kernel.
    """
    formed = _Formed(operators)
    kinds, numbers = formed.formed(engine.py_func, arguments), tuple(formed.numbers)
    fndesc, consts, answer, asked, pieces = pickle.loads(kept_engine(engine, kinds, key_of))
    module = llvm.parse_assembly(with_numbers(pieces, numbers, context))
    before = _names(fndesc)
    fndesc.argtypes = arguments
    mark = hashlib.sha256(repr([each.name for each in arguments]).encode()).hexdigest()[:24]
    fndesc.mangled_name, fndesc.env_name = (
        f"{fndesc.mangled_name}.{mark}",
        f"{fndesc.env_name}.{mark}",
    )
    named = {each.name: each for each in [*module.functions, *module.global_variables]}
    for old, new in zip(before, _names(fndesc), strict=True):
        if old in named:
            named[old].name = new
    library.inlined = [str(symbol) for symbol in asked]
    functions = library.create_ir_module("symbols")
    with context.push_code_library(library):
        for symbol in asked:
            generate(symbol, functions, operators, numbers, context, library)
    library.add_ir_module(functions)
    library._final_module.link_in(module)
    library.finalize()
    environment = Environment.from_fndesc(fndesc)
    environment.consts.extend(consts)
    return CompileResult(
        typing_context=context.typing_context, target_context=context, typing_error=None, type_annotation="",
        entry_point=context.get_executable(library, fndesc, environment), signature=answer(*arguments),
        objectmode=False, lifted=(), fndesc=fndesc, library=library, call_helper=None, environment=environment,
        metadata=None, reload_init=[], referenced_envs=[],
    )  # fmt: skip
