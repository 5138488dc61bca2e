"""Kernels that are linked: an engine, compiled once for all operators of a form, and the functions of one.

Most of a kernel's compile time goes into the walk, which is the same for all operators whose functions take and answer
the same types. So a kernel is compiled with a *form* in the place of each operator, its functions as undefined symbols;
that is kept as LLVM code, simplified but not vectorised. Of another operator only the functions are compiled: they are
linked into the engine and inlined, and all is optimised, as if it had been compiled at once.
"""

import hashlib
import pickle
from dataclasses import dataclass
from typing import Any

import llvmlite.binding as llvm
from numba.core import types
from numba.core.compiler import CompileResult
from numba.core.environment import Environment
from numba.core.serialize import dumps

from . import cache as kernel_cache
from .function_fingerprint import Registry
from .numba_internals import cgutils, optimize

SYMBOL = "operator."
"""How the symbols of operators' functions begin."""


class Linkable(types.Type):
    """A type of operators, whose functions can be linked into an engine."""

    functions: frozenset[str]
    """The names of the functions that it has."""

    values: types.Type
    """The type of the numbers that its functions take."""

    identity: tuple[Any, ...] | None
    """Its identity, if that is a constant in what is compiled."""

    def compiled(self, name: str, kinds: tuple[Any, ...]) -> Any:
        """Return what is compiled of a function, for arguments of these types after its numbers."""
        raise NotImplementedError


@dataclass(frozen=True)
class Symbol:
    """A function that an engine calls: of which of its operators, and the types that it takes and answers."""

    place: int
    name: str
    kinds: tuple[Any, ...]
    answer: Any

    def __str__(self) -> str:
        content = ", ".join(each.name for each in (*self.kinds, self.answer))
        return (
            f"{SYMBOL}{self.place}.{self.name}.{hashlib.sha256(content.encode()).hexdigest()[:16]}"
        )


class Unlinkable(Exception):
    """An operator that an engine cannot call: its kernel is compiled as a whole."""


class Form(types.Type):
    """The Numba type of any operator of a form, in an engine.

    Engines of the same numbers share what they call. What a function answers is asked of the operator that an engine is
    made with, and written down in the symbol.
    """

    def __init__(self, place: int, like: Linkable, numbers: tuple[str, ...]) -> None:
        self.place, self.functions, self.values = place, like.functions, like.values
        self.identity = like.identity
        has = ", ".join(sorted(like.functions))
        content = f"{place}, {has}, {like.values}, {like.identity}, {', '.join(numbers)}"
        super().__init__(name=f"Form({content})")

    def resolve(self, name: str, kinds: tuple[Any, ...], taken: tuple[Any, ...]) -> tuple[Any, Any]:
        """Return the type that a function answers with, and what generates a call of it."""
        answer = _made_with[str(self.place)].compiled(name, kinds).signature.return_type
        symbol = Symbol(self.place, name, kinds, answer)
        _symbols[str(symbol)] = symbol
        given = [*taken, *kinds]

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
"""The operators that the engine under way is made with, by their places: under the compilers' lock."""

_symbols = Registry()
"""What symbols stand for; as many as there are types of states."""


def operators_of(kinds: tuple[Any, ...]) -> list[Linkable]:
    """Return the operators among the types of a kernel's arguments."""
    found: dict[Linkable, None] = {}
    for kind in kinds:
        if isinstance(kind, Linkable):
            found[kind] = None
        elif isinstance(kind, types.BaseTuple):
            found |= dict.fromkeys(operators_of(tuple(kind)))
    return list(found)


def _formed(kinds: tuple[Any, ...], operators: list[Linkable]) -> tuple[Any, ...]:
    """Return types with forms in the place of operators."""
    numbers = tuple(sorted(_numbers(kinds)))
    forms = {each: Form(place, each, numbers) for place, each in enumerate(operators)}

    def one(kind: Any) -> Any:
        if kind in forms:
            return forms[kind]
        if isinstance(kind, types.BaseTuple) and len(kind):
            inner = tuple([one(each) for each in kind])
            return types.BaseTuple.from_types(inner, getattr(kind, "instance_class", None))
        return kind

    return tuple([one(kind) for kind in kinds])


def _numbers(kinds: tuple[Any, ...]) -> set[str]:
    """Return the types of numbers, and of flat tuples of them: those of elements, states and answers are among them."""
    found: set[str] = set()
    for kind in kinds:
        if isinstance(kind, types.BaseTuple):
            inner = tuple(kind)
            found |= _numbers(inner)
            if all(isinstance(each, (types.Number, types.Boolean)) for each in inner):
                found.add(str(kind))
        elif isinstance(kind, (types.Array, types.Number, types.Boolean)):
            found.add(str(getattr(kind, "dtype", kind)))
    return found


def _engine_of(function: Any, operators: list[Linkable], arguments: tuple[Any, ...]) -> bytes:
    """Compile an engine; return it as it is kept.

    Parameters
    ----------
    function
        The dispatcher of a kernel without machine code.
    operators
        What it is made with, one for each form among the arguments.
    arguments
        The types of its arguments.
    """
    _made_with.update({str(place): each for place, each in enumerate(operators)})
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
    asked = [_symbols[f.name] for f in module.functions if f.is_declaration and f.name in _symbols]
    held = (fndesc, made.environment.consts, made.signature.return_type, asked, module.as_bitcode())
    kept: bytes = dumps(held)
    return kept


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

    Raises
    ------
    Unlinkable
        If a function answers with another type than that of the operator that the engine was made with.
    """
    forms = _formed(arguments, operators)
    key = key_of(forms, "engine")
    kept = kernel_cache.read(key)
    if kept is None:
        kept = _engine_of(engine, operators, forms)
        kernel_cache.write(key, kept)
    fndesc, consts, answer, asked, code = pickle.loads(kept)
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
    inlined = []
    for symbol in asked:
        made = operators[symbol.place].compiled(symbol.name, symbol.kinds)
        if made.signature.return_type != symbol.answer:
            raise Unlinkable(f"{symbol.name} answers with {made.signature.return_type}")
        module.get_function(str(symbol)).name = made.fndesc.llvm_func_name
        inlined.append(made.fndesc.llvm_func_name)
        library.add_linking_library(made.library)
    library.inlined = inlined
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
