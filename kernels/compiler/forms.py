"""Kernels that are linked: an engine, compiled once for all operators of a form, and the functions of one.

Most of a kernel's compile time goes into the walk, which is the same for all operators with states and answers of the
same types, and for inputs of any. So a kernel is compiled with a *form* in the place of each operator, whose functions
are undefined symbols, and so is what loads an element of its inputs; that is kept as LLVM code, simplified but not
vectorised. Of another operator only the functions are compiled: they are linked into the engine and inlined, and all is
optimised, as if it had been compiled at once.
"""

import hashlib
import pickle
from functools import partial
from typing import Any

import llvmlite.binding as llvm
from numba.core import types
from numba.core.compiler import CompileResult
from numba.core.environment import Environment
from numba.core.serialize import dumps

from . import cache as kernel_cache
from .function_fingerprint import Registry
from .functions import INPUTS
from .numba_internals import cgutils, optimize
from .symbols import (
    IDENTITY,
    SYMBOLS,
    Element,
    Elements,
    Numbers,
    adapted,
    generated,
    numbers_of,
    plain_call,
    symbol_of,
)


class Linkable(types.Type):
    """A type of operators, whose functions can be linked into an engine."""

    functions: frozenset[str]
    """The names of the functions that it has."""

    values: types.Type
    """The type of the numbers that its functions take."""

    def compiled(self, name: str, kinds: tuple[Any, ...]) -> Any:
        """Return what is compiled of a function, for arguments of these types after its numbers."""
        raise NotImplementedError

    def generated(self, context: Any, builder: Any, answer: Any, given: list[Any]) -> Any:
        """Generate the identity of the type `answer`, which is given."""
        raise NotImplementedError

    def answer(self, name: str, kinds: tuple[Any, ...]) -> Any:
        """Return the type that a function answers with."""
        return kinds[0] if name == IDENTITY else self.compiled(name, kinds).signature.return_type


class Unlinkable(Exception):
    """An operator that an engine cannot call: its kernel is compiled as a whole."""


class Form(types.Type):
    """The Numba type of any operator of a form, in an engine.

    Engines of the same numbers share what they call. What a function answers is asked of the operator that an engine is
    made with, and written down in the symbol; operators with other `answers` have an engine of their own.
    """

    def __init__(self, place: int, like: Linkable, numbers: tuple[str, ...], answers: str) -> None:
        self.place, self.functions, self.values = place, like.functions, like.values
        has = ", ".join(sorted(like.functions))
        content = f"{place}, {has}, {like.values}, {', '.join(numbers)}{answers}"
        super().__init__(name=f"Form({content})")

    def resolve(self, name: str, kinds: tuple[Any, ...], taken: tuple[Any, ...]) -> tuple[Any, Any]:
        """Return the type that a function answers with, and what generates a call of it."""
        made, numbers = _made_with["engine"]
        answer = made[self.place].answer(name, numbers_of(kinds, numbers))
        symbol = symbol_of(self.place, name, kinds, answer)
        given = [*taken, *kinds]
        if name == IDENTITY:
            return answer, partial(plain_call, symbol)

        def call(context: Any, builder: Any, values: list[Any]) -> Any:
            convention = context.call_conv
            kind = convention.get_function_type(answer, given)
            function = cgutils.get_or_insert_function(builder.module, kind, str(symbol))
            status, found = convention.call_function(builder, function, answer, given, values)
            with cgutils.if_unlikely(builder, status.is_error):
                convention.return_status_propagate(builder, status)
            return found

        return answer, call


_made_with = Registry()
"""The operators and the types of elements that the engine under way is made with: under the compilers' lock."""


def operators_of(kinds: tuple[Any, ...]) -> list[Linkable]:
    """Return the operators among the types of a kernel's arguments."""
    found: dict[Linkable, None] = {}
    for kind in kinds:
        if isinstance(kind, Linkable):
            found[kind] = None
        elif isinstance(kind, types.BaseTuple):
            found |= dict.fromkeys(operators_of(tuple(kind)))
    return list(found)


def _loaded(kinds: tuple[Any, ...], operators: list[Linkable]) -> tuple[tuple[Any, ...], Numbers]:
    """Return types with arrays of elements in the place of operators' inputs, and the types of these elements."""
    numbers: Numbers = {}

    def array(kind: Any, place: int, number: int) -> Any:
        fits = isinstance(kind.dtype, (types.Integer, types.Float, types.Boolean))
        if not fits or numbers.setdefault((place, number), kind.dtype) != kind.dtype:
            return kind
        return Elements(Element(place, number, kind.layout), kind.ndim, kind.layout, readonly=True)

    def one(kind: Any) -> Any:
        if not isinstance(kind, types.BaseTuple) or not len(kind):
            return kind
        made = getattr(kind, "instance_class", None)
        inner = [one(each) for each in kind]
        if made in INPUTS:
            op, xs = made._fields.index("op"), made._fields.index("xs")
            place, several = operators.index(kind[op]), isinstance(kind[xs], types.BaseTuple)
            given = tuple(kind[xs]) if several else (kind[xs],)
            arrays = tuple([array(each, place, number) for number, each in enumerate(given)])
            inner[xs] = types.BaseTuple.from_types(arrays) if several else arrays[0]
        return types.BaseTuple.from_types(tuple(inner), made)

    return tuple([one(kind) for kind in kinds]), numbers


def _formed(kinds: tuple[Any, ...], operators: list[Linkable], answers: str) -> tuple[Any, ...]:
    """Return types with forms in the place of operators."""
    names = tuple(sorted(_numbers(kinds)))
    forms = {each: Form(place, each, names, answers) for place, each in enumerate(operators)}

    def one(kind: Any) -> Any:
        if kind in forms:
            return forms[kind]
        if isinstance(kind, types.BaseTuple) and len(kind):
            inner = tuple([one(each) for each in kind])
            return types.BaseTuple.from_types(inner, getattr(kind, "instance_class", None))
        return kind

    return tuple([one(kind) for kind in kinds])


def _numbers(kinds: tuple[Any, ...]) -> set[str]:
    """Return the types of numbers, and of flat tuples of them: those of states and answers, not those of elements."""
    found: set[str] = set()
    for kind in kinds:
        if isinstance(kind, types.BaseTuple):
            inner = tuple(kind)
            found |= _numbers(inner)
            if all(isinstance(each, (types.Number, types.Boolean)) for each in inner):
                found.add(str(kind))
        elif isinstance(kind, (types.Array, types.Number, types.Boolean)) and not isinstance(
            kind, Elements
        ):
            found.add(str(getattr(kind, "dtype", kind)))
    return found


def _engine_of(
    function: Any, operators: list[Linkable], arguments: tuple[Any, ...], numbers: Numbers
) -> bytes:
    """Compile an engine; return it as it is kept.

    Parameters
    ----------
    function
        The dispatcher of a kernel without machine code.
    operators
        What it is made with, one for each form among the arguments.
    arguments
        The types of its arguments.
    numbers
        The types of the elements among them.
    """
    _made_with["engine"] = operators, numbers
    try:
        function.compile(arguments)
    finally:
        _made_with.clear()
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
    optimize(
        made.library.codegen, module, loop_vectorize=False, slp_vectorize=False, opt=2, cost="cheap"
    )
    if any(each.name.startswith("numba.dynamic.globals") for each in module.global_variables):
        raise Unlinkable("it holds addresses of this process")
    asked = [SYMBOLS[f.name] for f in module.functions if f.is_declaration and f.name in SYMBOLS]
    held = (fndesc, made.environment.consts, made.signature.return_type, asked, module.as_bitcode())
    kept: bytes = dumps(held)
    return kept


def _fitting(
    engine: Any, operators: list[Linkable], arguments: tuple[Any, ...], key_of: Any
) -> tuple[Any, Numbers]:
    """Return an engine whose symbols answer with the types that the operators do, and the types of elements."""
    answers = ""
    loaded, numbers = _loaded(arguments, operators)
    for _ in range(2):
        forms = _formed(loaded, operators, answers)
        key = key_of(forms, "engine")
        kept = kernel_cache.read(key)
        if kept is None:
            kept = _engine_of(engine, operators, forms, numbers)
            kernel_cache.write(key, kept)
        found = pickle.loads(kept)
        asked = [symbol for symbol in found[3] if not symbol.is_generated]
        own = [operators[s.place].answer(s.name, numbers_of(s.kinds, numbers)) for s in asked]
        if own == [symbol.answer for symbol in asked]:
            return found, numbers
        answers = "".join([f", {each}" for each in own])
    raise Unlinkable(f"functions answer with other types: {answers}")


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
    """Link the functions of operators into an engine; return what a compiler would.

    Parameters
    ----------
    engine
        The dispatcher of the kernel without machine code.
    operators
        Those among the arguments.
    arguments
        The types of the kernel's arguments.
    key_of : callable
        Returns the key of what is kept for types of arguments.
    context
        Numba's target.
    library
        An empty one, for the kernel.
    """
    (fndesc, consts, answer, asked, code), numbers = _fitting(engine, operators, arguments, key_of)
    module = llvm.parse_bitcode(code)
    before = _names(fndesc)
    fndesc.argtypes = arguments
    mark = hashlib.sha256(repr([each.name for each in arguments]).encode()).hexdigest()[:24]
    fndesc.mangled_name, fndesc.env_name = (
        f"{fndesc.mangled_name}.{mark}",
        f"{fndesc.env_name}.{mark}",
    )
    names = dict(zip(before, _names(fndesc), strict=True))
    for each in [*module.functions, *module.global_variables]:
        each.name = names.get(each.name, each.name)
    library.inlined = []
    for symbol in asked:
        operator, name = operators[symbol.place], str(symbol)
        if symbol.is_generated:
            library.add_ir_module(generated(symbol, operator, numbers, context, library))
        else:
            kinds = numbers_of(symbol.kinds, numbers)
            made = operator.compiled(symbol.name, kinds)
            library.add_linking_library(made.library)
            if kinds == symbol.kinds:
                module.get_function(name).name = name = made.fndesc.llvm_func_name
            else:
                library.add_ir_module(adapted(symbol, made, numbers, context, library))
                library.inlined.append(made.fndesc.llvm_func_name)
        library.inlined.append(name)
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
