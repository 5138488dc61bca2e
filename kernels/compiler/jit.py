"""Numba's compiler for the engine, and its machine code on disk.

Numba's own cache does not check its files, which may not match its index. So `cache` keeps each kernel as one entry,
which is checked before it is used.
"""

import contextlib
import hashlib
import logging
import pickle
import sys
from collections.abc import Callable, Iterator
from typing import Any

import llvmlite
import numba
import numpy as np
from numba._dynfunc import make_function
from numba.core import types
from numba.core.caching import _Cache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult
from numba.core.compiler_machinery import register_pass
from numba.core.datamodel import default_manager
from numba.core.dispatcher import _FunctionCompiler
from numba.core.environment import lookup_environment
from numba.core.pythonapi import _unboxers
from numba.core.runtime import rtsys
from numba.core.serialize import dumps
from numba.core.typed_passes import (
    InlineOverloads,
    IRLegalization,
    NativeLowering,
    NopythonRewrites,
)
from numba.core.untyped_passes import (
    FindLiterallyCalls,
    InlineClosureLikes,
    InlineInlinables,
    LiteralPropagationSubPipelinePass,
    LiteralUnroll,
    MakeFunctionToJitFunction,
    WithLifting,
)
from numba.extending import intrinsic, overload

from . import cache as kernel_cache
from . import functions
from .argument_types import from_numba
from .compiling import compiling, say_compiling
from .forms import linked, operators_of
from .function_fingerprint import fingerprint
from .numba_internals import cpu_target, optimize, processor
from .pack import Kernel

if numba.config.DISABLE_JIT:
    raise ImportError(
        "NUMBA_DISABLE_JIT is set, and dask-gpuscan does nothing without compiled kernels: unset it for this process"
    )


# --- compilers --------------------------------------------------------------------------------------------------------


WRAPPER = "_ZN7cpython"
"""The prefix of the names of functions that unpack Python's arguments."""


class _EntryLibrary(JITCodeLibrary):
    """LLVM code that is optimised once, after all called functions were linked into it."""

    def add_ir_module(self, ir_module: Any) -> None:
        """Add LLVM code; functions that unpack arguments are not optimised, which saves a fifth of the time."""
        for function in ir_module.functions:
            if function.name.startswith(WRAPPER) and not function.is_declaration:
                function.attributes.add("noinline")
                function.attributes.add("optnone")
        super().add_ir_module(ir_module)

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout


class _FormedLibrary(_EntryLibrary):
    """An engine, and operators' functions that are inlined in it. It is simplified, so one run of passes is enough."""

    inlined: list[str]

    def _optimize_final_module(self) -> None:
        for name in self.inlined:
            function = self._final_module.get_function(name)
            if not function.is_declaration:
                function.linkage = "internal"
                function.add_function_attribute("alwaysinline")
        optimize(self._codegen, self._final_module)


class _LinkedLibrary(_EntryLibrary):
    """LLVM code that is linked into its callers and optimised there, without machine code of its own."""

    def _optimize_final_module(self) -> None: ...

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class _EntryLowering(NativeLowering):
    """Numba's pass that makes LLVM code, and machine code of it."""

    _name = "entry_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = _EntryLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        super().run_pass(state)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class _LinkedLowering(NativeLowering):
    """Numba's pass that makes LLVM code, but no machine code of it."""

    _name = "linked_lowering"

    def run_pass(self, state: Any) -> bool:
        library = _LinkedLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library, state.flags.no_compile = library, True
        super().run_pass(state)
        lowered = state["cr"]
        # callers look up by it how to call the function; it holds no address
        module, name = lowered.fndesc.lookup_module(), state.func_id.func_name
        handle = make_function(module, name, "", 0, lowered.env, (library,))
        state.targetctx.insert_user_function(handle, lowered.fndesc, [library])
        state["cr"] = lowered._replace(cfunc=handle)
        return True


IDLE: frozenset[Any] = frozenset({
    FindLiterallyCalls, InlineClosureLikes, InlineInlinables, InlineOverloads, IRLegalization,
    LiteralPropagationSubPipelinePass, LiteralUnroll, MakeFunctionToJitFunction, NopythonRewrites, WithLifting,
})  # fmt: skip
"""Numba's passes that have no effect on functions that make no arrays, but take a tenth of the time. They are for
functions within functions, comprehensions, array expressions, and code to inline or unroll."""


class _EntryCompiler(Compiler):
    """Numba's compiler for functions that are called by Python or by address.

    Unlike Numba's own, it does not optimise each function separately before it is optimised in its callers.
    """

    lowering: type[NativeLowering] = _EntryLowering

    def define_pipelines(self) -> list[Any]:
        pipelines = list(super().define_pipelines())
        idle = () if self.state.flags.nrt else IDLE
        for pipeline in pipelines:
            pipeline.passes = [
                (self.lowering if made is NativeLowering else made, why)
                for made, why in pipeline.passes
                if made not in idle
            ]
        return pipelines


class _LinkedCompiler(_EntryCompiler):
    """Numba's compiler for functions that only compiled code calls.

    Unlike Numba's own, it makes no machine code of such functions, as callers have copies of their LLVM code.
    """

    lowering = _LinkedLowering


# --- functions of the engine -----------------------------------------------------------------------------------------


def dispatcher(function: Any, options: dict[str, Any]) -> Any:
    """Return Numba's dispatcher of a function."""
    called = not (options["no_cpython_wrapper"] and options["no_cfunc_wrapper"])
    return numba.njit(**options, pipeline_class=_EntryCompiler if called else _LinkedCompiler)(
        function
    )


def cached_dispatcher(function: Any, options: dict[str, Any], linked: bool) -> Any:
    """Return a dispatcher that keeps the machine code of its function on disk."""
    compiled = dispatcher(function, options)
    compiled._cache = _KernelCache(compiled)
    if linked:
        engine = numba.njit(**options, pipeline_class=_LinkedCompiler)(function)
        compiled._compiler = _LinkingCompiler(compiled._compiler, compiled._cache, engine)
    return compiled


def made_intrinsic(function: Any, prefer_literal: bool) -> Any:
    """Return the intrinsic that Numba calls to write LLVM code."""
    return intrinsic(prefer_literal=prefer_literal)(function)


def type_of_function(made: Any) -> Any:
    """Return the type of a function that compiled code calls."""
    context = cpu_target.typing_context
    context.refresh()
    return context.resolve_value_type(made)


def register_overloads() -> None:
    """Register the replacements of functions with Numba."""
    while functions.overloads:
        function, choose = functions.overloads.popitem()
        overload(function, jit_options={**functions.OPTIONS, "pipeline_class": _LinkedCompiler})(
            choose
        )


# --- entries and their cache ------------------------------------------------------------------------------------------


def load(function: Any, arguments: tuple[Any, ...]) -> Kernel:
    """Find the kernel of a function for arguments of these types on disk, or compile it."""
    with compiling():
        register_overloads()
        if arguments not in function.overloads:
            function.compile(arguments)
            _give_environments(function.overloads[arguments])
    made = function.overloads[arguments]
    address = 0
    if not function.targetoptions["no_cfunc_wrapper"]:
        address = made.library.get_pointer_to_function(made.fndesc.llvm_cfunc_wrapper_name)
    return Kernel(made.entry_point, from_numba(made.signature.return_type), address)


def answer(function: Any, arguments: tuple[Any, ...], ask: Callable[[], Any]) -> Any:
    """Return the type of a kernel's answer without loading its machine code: from disk, or by `ask`."""
    known = function._cache.answers
    if arguments not in known:
        with compiling():
            register_overloads()
            known[arguments] = function._cache.answer(arguments, ask)
    return known[arguments]


def _give_environments(kernel: Any) -> None:
    """Give environments to the functions of a kernel, which Numba needs for errors with values in their messages.

    Numba gives them only to functions with their own machine code, and not to those of a kernel from disk.
    """
    library, codegen = kernel.library, kernel.library.codegen
    for module in (library._final_module, library._shared_module):
        for name in [each.name for each in module.global_variables] if module else []:
            if name.startswith("_ZN08NumbaEnv") and codegen._engine.get_global_value_address(name):
                codegen.set_env(name, lookup_environment(name) or kernel.environment)


class _KernelCache(_Cache):
    """A dispatcher's cache of machine code, looked up before it compiles and filled afterwards."""

    def __init__(self, function: Any) -> None:
        self._function = function
        self.answers: dict[Any, Any] = {}
        self._name = function.__qualname__

    @property
    def cache_path(self) -> str:
        return str(kernel_cache.folder())

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = self._found(sig, target_context)
        if found is None:
            say_compiling(_description(self._name, sig), "this CPU")
        return found

    def _found(self, sig: Any, target_context: Any) -> Any:
        content = kernel_cache.read(self.key(sig))
        if content is None:
            return None
        if b"NRT_" in content:  # it makes arrays; compiling does this, too
            rtsys.initialize(target_context)
        try:
            found = CompileResult._rebuild(target_context, *pickle.loads(content))
        except Exception as error:  # undamaged, but its operator's module cannot be imported
            reason = f"{type(error).__name__}: {error}"
            logging.getLogger(__name__).info("%s is compiled anew: %s", self._name, reason)
            return None
        # Two types may have the same name.
        return found if tuple(found.signature.args) == tuple(sig) else None

    def save_overload(self, sig: Any, compiled: Any) -> None:
        # Dynamic globals are addresses, which differ between processes.
        if not compiled.library.has_dynamic_globals:
            kernel_cache.write(self.key(sig), dumps(compiled._reduce()))

    def answer(self, arguments: Any, ask: Callable[[], Any]) -> Any:
        """Return the type of the answer, and keep it on disk."""
        key = self.key(arguments, "type")
        content = kernel_cache.read(key)
        with contextlib.suppress(Exception):  # undamaged, but not a type
            if content is not None:
                return pickle.loads(content)
        answer = ask()
        kernel_cache.write(key, dumps(answer))
        return answer

    def key(self, sig: Any, kind: str = "cpu") -> str:
        """Return the key of an entry: kernels with different machine code have different keys."""
        reached = fingerprint(self._function, *_reached_by_types(sig))
        content = repr((_environment(), self._function.__module__, self._name, reached))
        return f"{hashlib.sha256(content.encode()).hexdigest()}.{kind}"

    def enable(self) -> None: ...

    def disable(self) -> None: ...

    def flush(self) -> None: ...


class _LinkingCompiler(_FunctionCompiler):
    """The compiler of a dispatcher that links operators into an engine, which is kept on disk."""

    def __init__(self, plain: Any, cache: _KernelCache, engine: Any) -> None:
        self.__dict__.update(plain.__dict__)
        self._kept, self._engine = cache, engine

    def _compile_core(self, args: Any, return_type: Any) -> Any:
        operators = operators_of(args)
        if operators:
            context, name = self.targetdescr.target_context, self.py_func.__qualname__
            library = _FormedLibrary(context.codegen(), name)
            library.enable_object_caching()
            try:
                return linked(self._engine, operators, args, self._kept.key, context, library)
            except Exception as error:  # compiling the whole kernel reports errors of an operator
                logging.getLogger(__name__).info("%s is compiled as a whole: %r", name, error)
        return super()._compile_core(args, return_type)


def _description(name: str, sig: Any) -> str:
    """Name a kernel by the operators of its arguments, or by its function, and by the dtypes of its arrays."""
    found = list(_leaves(sig))
    operators = dict.fromkeys(kind.title for kind in found if hasattr(kind, "title"))
    arrays = dict.fromkeys(
        str(k.dtype) for k in found if isinstance(k, types.Array) and not k.mutable
    )
    what = " and ".join(operators) or name.rpartition(".")[2].replace("_", " ").strip()
    return f"{what} of {', '.join(arrays)}" if arrays else what


def _leaves(kinds: Any) -> Iterator[Any]:
    for kind in kinds:
        if isinstance(kind, types.BaseTuple):
            yield from _leaves(kind)
        else:
            yield kind


def _reached_by_types(kinds: Any) -> Iterator[Any]:
    """Yield the names of types, which identify operators, and what compiled code looks up by a type."""
    for kind in kinds:
        yield kind.name
        if isinstance(kind, types.BaseTuple):
            yield getattr(kind, "instance_class", None)
            yield from _reached_by_types(kind)
        elif not type(kind).__module__.startswith("numba."):
            yield type(kind), type(default_manager.lookup(kind)), _unboxers.lookup(type(kind))


def _environment() -> Any:
    """Return everything outside a function and the types of its arguments that its machine code depends on."""
    versions = sys.version, numba.__version__, llvmlite.__version__, np.__version__
    return versions, processor(), [getattr(numba.config, name) for name in _CONFIGURED]


_CONFIGURED = (
    "OPT",
    "LOOP_VECTORIZE",
    "SLP_VECTORIZE",
    "USING_SVML",
    "BOUNDSCHECK",
    "DEBUGINFO_DEFAULT",
)
"""Settings of Numba's environment variables that change machine code, other than the processor."""
