"""Makes object files of recorded kernels: ``python emit.py FOLDER RECORD SHARE SHARES SYSTEM/LEVEL ...``.

Numba writes a kernel's LLVM code once, for any processor. Numba's own passes optimise it for each level of each system,
so that answers have the same bits. An entry with the C calling convention is added, which `call.c` calls.
"""

import copy
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.codegen import JITCPUCodegen
from numba.np.arrayobj import get_itemsize, populate_array
from record import function_of, load
from systems import SYSTEMS

from dask_gpuscan.kernels.compiler import jit, pack
from dask_gpuscan.kernels.compiler.argument_types import to_numba
from dask_gpuscan.kernels.compiler.compiling import compile_lock
from dask_gpuscan.kernels.compiler.functions import LINKED_ALLOCATING, OPTIONS

WORD = ir.IntType(64)

OUTSIDE = frozenset(
    "malloc calloc free memcpy memmove memset sched_yield "
    "sqrt fma fmaf floor ceil trunc fmod ldexp numba_frexp numba_frexpf "
    "NRT_MemInfo_alloc_aligned NRT_MemInfo_call_dtor".split()
)
"""Symbols of the system and of runtime.c that libraries may need. Functions that systems round differently, such as
`exp`, are not among them."""


class Unfit(Exception):
    """Raised for a kernel that a pack cannot have, with the reason: Numba compiles it on each machine."""


class _Library(jit._EntryLibrary):
    """LLVM code of a kernel and its entry; only the entry is exported."""

    def _optimize_final_module(self) -> None:
        seen = {each.name for each in self.seen(self._final_module)}
        for each in [*self._final_module.functions, *self._final_module.global_variables]:
            if not each.is_declaration and each.name not in seen:
                each.linkage = "internal"

    def seen(self, module: Any) -> list[Any]:
        """Return the functions that are exported."""
        return [module.get_function(self.name), module.get_global_variable(f"{self.name}_form")]

    def _finalize_final_module(self) -> None:
        self._finalized = True


class Level:
    """A level of processors of a system, and the kernels that are optimised for it so far."""

    def __init__(self, name: str) -> None:
        system, _, level = name.partition("/")
        features = ",".join(f"+{feature}" for feature in pack.LEVELS[level].split())
        self.name, self._triple = name, SYSTEMS[system].triple
        self._machine = llvm.Target.from_triple(self._triple).create_target_machine(
            cpu=level, features=features, opt=3, reloc="pic", codemodel="small"
        )
        self.whole = self._for_here(llvm.parse_assembly(""))

    def _for_here(self, module: Any) -> Any:
        module.triple, module.data_layout = self._triple, str(self._machine.target_data)
        return module

    def add(self, library: Any) -> None:
        """Optimise a kernel as Numba does for a processor of this level."""
        codegen = copy.copy(library._codegen)
        codegen._tm = self._machine
        module = self._for_here(library._final_module.clone())
        timings = library._recorded_timings
        given = SimpleNamespace(_codegen=codegen, _final_module=module, _recorded_timings=timings)
        jit._EntryLibrary._optimize_final_module(given)
        _check(given._final_module)
        if "windows" in self._triple:
            for each in library.seen(given._final_module):
                each.storage_class = "dllexport"
        self.whole.link_in(given._final_module)

    def object(self) -> bytes:
        """Return the object file of the kernels; kernels with the same code are merged."""
        options = llvm.create_pipeline_tuning_options(speed_level=3)
        builder = llvm.create_pass_builder(self._machine, options)
        passes = llvm.create_new_module_pass_manager()
        passes.add_merge_functions_pass()
        passes.add_constant_merge_pass()
        passes.run(self.whole, builder)
        return self._machine.emit_object(self.whole)  # type: ignore[no-any-return]


def library_of(name: str, function: Any, arguments: tuple[Any, ...]) -> Any:
    """Return the LLVM code of a kernel with an entry of this name."""
    own = function.made.targetoptions
    options = LINKED_ALLOCATING if own["_nrt"] else OPTIONS
    compiled = jit.dispatcher(function.py_func, options)
    jit.register_overloads()
    compiled.compile(arguments)
    made = compiled.overloads[arguments]
    library = _Library(made.library.codegen, name)
    code = library.create_ir_module(name)
    entry = _shared_entry if not own["no_cfunc_wrapper"] else _entry
    form = entry(made.target_context, code, name, made.fndesc, made.signature)
    text = cgutils.make_bytearray(form.encode() + b"\0")
    shown = cgutils.add_global_variable(code, text.type, f"{name}_form")
    shown.initializer, shown.global_constant = text, True
    with compile_lock:
        library.add_linking_library(made.library)
        library.add_ir_module(code)
        library.finalize()
    return library


def _check(module: Any) -> None:
    for each in module.global_variables:
        if each.name.startswith((".const.picklebuf", "numba.dynamic.globals")):
            raise Unfit("it raises errors, or holds addresses")
    for each in module.functions:
        if each.is_declaration and not each.name.startswith("llvm.") and each.name not in OUTSIDE:
            raise Unfit(f"it calls {each.name}")


def _function(code: Any, answer: Any, name: str, arguments: list[Any]) -> tuple[Any, Any]:
    function = ir.Function(code, ir.FunctionType(answer, arguments), name)
    return function, ir.IRBuilder(function.append_basic_block())


def _called(context: Any, builder: Any, fndesc: Any, signature: Any, given: list[Any]) -> Any:
    callee = context.declare_function(builder.module, fndesc)
    kinds = signature.args
    return context.call_conv.call_function(builder, callee, signature.return_type, kinds, given)


def _shared_entry(context: Any, code: Any, name: str, fndesc: Any, signature: Any) -> str:
    """Add the entry of a function that compiled code calls by address, with arguments in words."""
    kinds = [context.get_value_type(kind) for kind in signature.args]
    function, builder = _function(code, WORD, name, kinds)
    _, answer = _called(context, builder, fndesc, signature, function.args)
    builder.ret(answer)
    return "@ "


def _entry(context: Any, code: Any, name: str, fndesc: Any, signature: Any) -> str:
    """Add the entry of a kernel that Python calls; return the formats of its arguments and its answer."""
    function, builder = _function(code, ir.IntType(32), name, [WORD.as_pointer()])
    words = _Words(context, builder, function.args[0])
    given = [words.read(kind) for kind in signature.args]
    status, answer = _called(context, builder, fndesc, signature, given)
    words.form += " "
    words.write(signature.return_type, answer)
    builder.ret(status.code)
    return words.form


class _Words:
    """Generates code that reads values of Numba's types from words, one after another, and writes them.

    `form` is the format of the values for call.c, with NumPy's letters for numbers.
    """

    def __init__(self, context: Any, builder: Any, start: Any) -> None:
        self._context, self._builder, self._start, self._taken = context, builder, start, 0
        self.form = ""

    def _place(self) -> Any:
        place = cgutils.gep(self._builder, self._start, self._taken)
        self._taken += 1
        return place

    def _word(self) -> Any:
        return self._builder.load(self._place())

    def read(self, kind: Any) -> Any:
        builder, context = self._builder, self._context
        if hasattr(kind, "values"):  # an operator
            made = cgutils.create_struct_proxy(kind)(context, builder)
            self.form += "O" if any(kind.values) else "N"
            if any(kind.values):
                made.values = self.read(kind.values)
            return made._getvalue()
        if isinstance(kind, types.BaseTuple):
            self.form += "("
            parts = [self.read(each) for each in kind]
            self.form += ")"
            return context.make_tuple(builder, kind, parts)
        if isinstance(kind, types.Array):
            return self._read_array(kind)
        self.form += _letter(kind)
        if isinstance(kind, types.NoneType):
            return context.get_dummy_value()
        if isinstance(kind, types.Float):
            number = builder.bitcast(self._word(), ir.DoubleType())
            return number if kind.bitwidth == 64 else builder.fptrunc(number, ir.FloatType())
        word, value = self._word(), context.get_value_type(kind)
        return word if value == WORD else builder.trunc(word, value)

    def _read_array(self, kind: Any) -> Any:
        builder, context = self._builder, self._context
        self.form += f"A{kind.ndim}"
        made = context.make_array(kind)(context, builder)
        data = builder.inttoptr(self._word(), context.get_data_type(kind.dtype).as_pointer())
        shape = cgutils.pack_array(builder, [self._word() for _ in range(kind.ndim)])
        strides = cgutils.pack_array(builder, [self._word() for _ in range(kind.ndim)])
        size = context.get_constant(types.intp, get_itemsize(context, kind))
        populate_array(made, data, shape, strides, size, meminfo=None)
        return made._getvalue()

    def write(self, kind: Any, value: Any) -> None:
        """Write none, a number or a tuple of numbers."""
        if not isinstance(kind, types.BaseTuple):
            self._write_number(kind, value)
            return
        self.form += "("
        for each, part in zip(kind, cgutils.unpack_tuple(self._builder, value), strict=True):
            self._write_number(each, part)
        self.form += ")"

    def _write_number(self, kind: Any, value: Any) -> None:
        builder = self._builder
        self.form += _letter(kind)
        if isinstance(kind, types.NoneType):
            return
        if isinstance(kind, types.Float):
            number = value if kind.bitwidth == 64 else builder.fpext(value, ir.DoubleType())
            value = builder.bitcast(number, WORD)
        elif value.type != WORD:
            value = (builder.sext if getattr(kind, "signed", False) else builder.zext)(value, WORD)
        builder.store(value, self._place())


def _letter(kind: Any) -> str:
    letter = pack.LETTERS.get(str(types.unliteral(kind)))
    if letter is None:
        raise Unfit(f"words do not hold {kind}")
    return letter


def emit(asked: Any, levels: list[Level]) -> None:
    """Add kernels to levels; print to standard error which are left out."""
    for name, (module, qualname, arguments) in asked.items():
        try:
            library = library_of(name, function_of(module, qualname), to_numba(arguments))
            for level in levels:
                level.add(library)
        except Exception as error:
            reason = str(error).strip().partition("\n")[0] or repr(error)
            print(f"left out: {qualname} ({name}): {reason}", file=sys.stderr)


if __name__ == "__main__":
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    # LLVM changes the modules that it compiles for this processor, and kernels link the same modules: compile copies
    JITCPUCodegen._add_module = lambda self, module: self._engine.add_module(module.clone())
    asked = load(Path(sys.argv[2]))
    shares = slice(int(sys.argv[3]), None, int(sys.argv[4]))
    names = sorted(asked)[shares]
    levels = list(map(Level, sys.argv[5:]))
    emit({name: asked[name] for name in names}, levels)
    for level in levels:
        path = Path(sys.argv[1], f"{level.name}-{sys.argv[3]}.o")
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(level.object())
