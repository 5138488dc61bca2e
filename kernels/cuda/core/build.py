"""From a pass to a loaded kernel: NVRTC compiles the engine, Numba the functions, nvJitLink links and inlines them.

Any pass can be built for any architecture without a GPU. A pass that only moves its elements is compiled as one over
unsigned integers of the same width, so dtypes of one width share a kernel. Launches need no other dtypes, as they
depend on widths alone.
"""

import hashlib
import pickle
import re
import struct
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from cuda.bindings import driver

from cuda.core import Linker, LinkerOptions, ObjectCode, Program, ProgramOptions

from ...compiler import cache as kernel_cache
from ...compiler.compiling import compiling, say_compiling
from ...compiler.pack import Foreign, content_name
from ...late_dataclass import dataclass
from ...operators.built_in import traits_of
from ..codes.code_pass import code_source
from ..columns.column_pass import ColumnPass, forms_of
from ..columns.columns_source import columns_source
from ..grids.grid_pass import grid_source
from ..intervals.interval_pass import interval_source
from ..scan.scan_pass import scan_source
from ..sort.sort_pass import sort_source
from ..windows.window_pass import window_source, window_starts_source
from . import packed
from .closure_constants import kernel_code, numbers_of
from .devices import ADVICE, OUT_OF_MEMORY, Device, check, device, free_kept
from .link import lto_functions, lto_predicate
from .plan import Capability, Form, Pass, TypedOperator
from .requirements import package
from .tuning import RELIEFS

FOLDER = Path(__file__).parents[1]

SOURCES: dict[str, Callable[..., str]] = {
    "scan": scan_source,
    "columns": columns_source,
    "sort": sort_source,
    "codes": code_source,
    "windows": window_source,
    "starts": window_starts_source,
    "intervals": interval_source,
    "grids": grid_source,
}
"""The generator of the source of a pass, by the engine of its visitor."""

ENTRY = "run_tiles"
"""The name of every kernel in its machine code."""

NO_IMAGE = {
    f"CUDA_ERROR_{name}"
    for name in (
        "INVALID_IMAGE", "INVALID_PTX", "INVALID_SOURCE", "NO_BINARY_FOR_GPU", "NOT_FOUND",
        "UNSUPPORTED_PTX_VERSION",
    )
}  # fmt: skip
"""The driver's errors for machine code that it cannot load, now or later."""


@dataclass(frozen=True, eq=False)
class Kernel:
    """A compiled kernel on one device, and what a launch of it needs to know."""

    name: str
    function: Any
    module: Any
    threads: int
    shared: int
    parameters: struct.Struct


_building = threading.Lock()
_kernels: dict[tuple[Pass, str, int], Kernel] = {}


def kernel(each: Pass, schedule: str, number: int) -> Kernel:
    """Return the kernel of a pass, with tiles of the size for the device; it is compiled once."""
    key = each, schedule, number
    found = _kernels.get(key)
    if found is None:
        with _building:
            found = _kernels.get(key)
            if found is None:
                on = device(number)
                try:
                    found = _load(each, schedule, on)
                except MemoryError:
                    free_kept()
                    found = _load(each, schedule, on)
                _kernels[key] = found
    return found


def _load(each: Pass, schedule: str, on: Device) -> Kernel:
    module, handle = _loaded(each, schedule, on)
    geometry = each.geometry(schedule, on.capability)
    attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    if geometry.shared:
        (status,) = driver.cuKernelSetAttribute(
            attribute, geometry.shared, handle, driver.CUdevice(on.number)
        )
        action = f"blocks of {each.name} could not get {geometry.shared} bytes of shared memory"
        check(status, f"{action} on GPU {on.number}")
    return Kernel(
        name=each.name,
        function=driver.CUfunction(int(handle)),
        module=module,
        threads=geometry.threads,
        shared=geometry.shared,
        parameters=struct.Struct(each.parameters),
    )


def _loaded(each: Pass, schedule: str, on: Device) -> tuple[Any, Any]:
    """Return a module and its kernel; if the GPU cannot load an entry of the cache, it is built again, once."""
    action = (
        f"GPU {on.number} (compute capability {on.capability[0]}.{on.capability[1]}) could not load the "
        f"kernel of {each.name}"
    )
    for fresh in (False, True):
        code = cubin(each, schedule, on.capability, fresh)
        try:
            module = ObjectCode.from_cubin(code)
            return module, module.get_kernel(ENTRY).handle
        except Exception as error:
            failure, name = error, str(error).partition(":")[0]
        if name == OUT_OF_MEMORY.name:
            raise MemoryError(f"{action}: {failure}. {ADVICE}") from failure
        if name not in NO_IMAGE:
            raise RuntimeError(f"{action}: {failure}") from failure
    raise RuntimeError(
        f"{action}: {failure}. Is its NVIDIA driver as new as the CUDA packages? "
        f"Kernels are kept in {kernel_cache.folder()}"
    ) from failure


def cubin(each: Pass, schedule: str, capability: Capability, fresh: bool = False) -> bytes:
    """Return the machine code of a pass for a GPU of this compute capability: packed, from the cache, or `fresh`.

    Raises
    ------
    TypeError
        If Numba cannot compile the operator or the predicate for CUDA.
    """
    title, each, arch = _title(each), as_bits(each), _architecture(capability)
    with compiling():
        if not fresh and packed.is_there(arch, sources()):
            name = pack_name(each, schedule, capability)
            found = packed.read(name, arch, sources()) if name else None
            if found is not None:
                return found
        key = _key(each, schedule, capability)
        found = None if fresh else kernel_cache.read(key)
        if found is None:
            say_compiling(title, arch)
            found = build(each, schedule, capability)[0]
            kernel_cache.write(key, found)
    return found


def _title(each: Pass) -> str:
    dtypes = each.operator.inputs if each.operator else ()
    listed = ", ".join("int128" if d.kind == "V" else str(d) for d in dtypes)
    return f"{each.name} of {listed}" if listed else each.name


def _architecture(capability: Capability) -> str:
    return f"sm_{capability[0]}{capability[1]}"


def build(each: Pass, schedule: str, capability: Capability) -> tuple[bytes, str]:
    """Compile and link a pass; return its cubin and the linker's log.

    The number of registers that an operator takes is known only now. If the compiler had to spill some to memory, it
    is given more of them, step by step (`tuning.RELIEFS`).
    """
    arch = _architecture(capability)
    functions, linked = _functions(each, capability), b""
    text = log = ""
    for relief in range(RELIEFS):
        before, text = text, source(each, schedule, capability, relief)
        if text == before:  # no more registers can be freed
            break
        linked, log = _link(text, functions, arch)
        if not re.search(r"\b[1-9]\d* bytes spill", log):
            break
    return linked, log


def source(each: Pass, schedule: str, capability: Capability, relief: int = 0) -> str:
    """Return the CUDA source of a pass."""
    return SOURCES[each.visitor.engine](each, schedule, capability, relief)


def _functions(each: Pass, capability: Capability) -> list[bytes]:
    """Return the LTO-IR of the functions that a pass calls."""
    of, found = each.operator, []
    if of is not None and not of.is_native:
        found += _operator_functions(of, of.follow, capability)
    if isinstance(each, ColumnPass) and each.predicate is not None:
        found.append(lto_predicate(each.predicate, *predicate_form(each), capability))
    return found


def predicate_form(each: ColumnPass) -> tuple[Form, tuple[bool, ...]]:
    """Return the dtypes that the predicate of a pass reads, and whether elements of each are missing in band."""
    in_band = [kind == "row" and each.key_nulls[i].kind == "in band" for kind, i in each.order]
    return forms_of(each.order, each.keys, each.scalars), tuple(in_band)


@lru_cache(maxsize=64)
def _operator_functions(of: TypedOperator, follow: Any, capability: Capability) -> list[bytes]:
    """Return the LTO-IR of an operator's functions, which several passes call; `follow` distinguishes equal operators.

    It is cached as well: Numba takes up to a second for its first function, and up to two for an operator.
    """
    key = _entry("ltoir", of.token, follow is not None, capability)
    found = kernel_cache.read(key)
    if found is None:
        found = pickle.dumps(lto_functions(of, capability))
        kernel_cache.write(key, found)
    functions: list[bytes] = pickle.loads(found)
    return functions


def _link(text: str, functions: list[bytes], arch: str) -> tuple[bytes, str]:
    options = ProgramOptions(
        std="c++17",
        arch=arch,
        relocatable_device_code=True,
        link_time_optimization=True,
        include_path=[
            str(folder) for folder in sorted({path.parent for path in FOLDER.rglob("*.cuh")})
        ],
        device_as_default_execution_space=True,
        minimal=True,
    )
    engine = Program(text, "c++", options).compile("ltoir")
    parts = [ObjectCode.from_ltoir(code, name=f"op{i}") for i, code in enumerate(functions)]
    linking = LinkerOptions(
        arch=arch, link_time_optimization=True, ptxas_options=["-v"], verbose=True
    )
    linker = Linker(engine, *parts, options=linking)
    linked = linker.link("cubin")
    return bytes(linked.code), linker.get_info_log()


def pack_name(each: Pass, schedule: str, capability: Capability) -> str | None:
    """Return the name of the machine code of a pass in packs; None if a function is not the package's own.

    It is the same under every version of Python, unlike the key of the cache.
    """
    of = each.operator
    parts: list[Any] = [source(each, schedule, capability)]
    if of is not None and not of.is_native:
        forms = of.inputs, of.state, of.outputs, of.scalar_state, of.scalar_output
        parts += [*kernel_code(of.op, of.inputs).functions.values(), of.follow]
        parts.append(repr((forms, numbers_of(of.op, of.inputs), of.identity)))
    if isinstance(each, ColumnPass) and each.predicate is not None:
        parts += [each.predicate.lift, repr(predicate_form(each))]
    try:
        return content_name(*parts)
    except Foreign:
        return None


def _key(each: Pass, schedule: str, capability: Capability) -> str:
    return _entry("cubin", each.token, capability, source(each, schedule, capability))


def _entry(kind: str, *content: Any) -> str:
    """Return the name of an entry of the cache: a digest of the content that the entry is made from."""
    digest = hashlib.sha256(repr((_environment(), *content)).encode())
    return f"{digest.hexdigest()}.{kind}"


@lru_cache(maxsize=1)
def sources() -> str:
    """Return a digest of all files that machine code is made from, except operators of `ops`."""
    digest = hashlib.sha256()
    shared = [
        FOLDER.parent / "compiler" / name
        for name in ("frozen_functions.py", "function_fingerprint.py", "closure_constants.py")
    ]
    for path in sorted([*FOLDER.rglob("*.cuh"), *FOLDER.rglob("*.py"), *shared]):
        digest.update(path.read_bytes())
    return digest.hexdigest()


@lru_cache(maxsize=1)
def _environment() -> str:
    """Return everything outside a pass that its machine code depends on."""
    packages = ("cuda-core", "cuda-bindings", package(), "numba", "llvmlite")
    libraries = ("nvidia-cuda-nvrtc", "nvidia-nvjitlink", "nvidia-cuda-nvcc", "nvidia-nvvm")
    return f"{sources()} {[(p, _version(p)) for p in packages + libraries]}"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"


def as_bits(each: Pass) -> Pass:
    """Return the pass that a kernel is compiled from: one over unsigned integers where the functions allow it."""
    of = each.operator
    if of is None or of.is_native or _looks_at_elements(each):
        return each
    dtype, kinds = of.inputs[0], traits_of(of.op).as_bits
    rest = (*of.inputs, *of.state, *of.outputs)
    if dtype.kind not in kinds or any(d != dtype and d.kind != "b" for d in rest):
        return each
    fields = (of.identity,) if of.scalar_state else of.identity
    identity = tuple(_bits(field) for field in fields)
    changed = replace(
        of,
        inputs=_unsigned(of.inputs),
        state=_unsigned(of.state),
        outputs=_unsigned(of.outputs),
        identity=identity[0] if of.scalar_state else identity,
    )
    return replace(each, operator=changed)  # type: ignore[type-var]


def _looks_at_elements(each: Any) -> bool:
    """Return whether a pass looks for NaN or NaT, or writes them."""
    nulls = each.value_nulls.kind if isinstance(each, ColumnPass) else each.nulls
    return nulls == "in band" or getattr(each, "mark_nulls", False)


def _unsigned(form: Form) -> Form:
    return tuple(d if d.kind == "b" else np.dtype(f"u{d.itemsize}") for d in form)


def _bits(field: Any) -> Any:
    found = np.asarray(field)
    return found.view(*_unsigned((found.dtype,)))[()]
