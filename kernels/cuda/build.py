"""From a variant to a cubin: NVRTC compiles the engine, Numba the operator, nvJitLink links and inlines them.

Nothing here needs a GPU: any variant can be built for any architecture. This module must never see an
array or launch a kernel.
"""

import hashlib
import re
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from cuda.core import Linker, LinkerOptions, ObjectCode, Program, ProgramOptions

from .. import kernel_cache
from ..compile_lock import compile_lock
from .functions import lto_functions
from .numbers import kernel_token
from .source import Variant, is_native, source
from .tuning import RELIEFS, stages_for, tile_for

FOLDER = Path(__file__).parent


def cubin(
    variant: Variant, identity: Any, capability: tuple[int, int], fresh: bool = False
) -> bytes:
    """Return the machine code of a variant for a GPU of this compute capability, from the cache or `fresh`.

    Raises
    ------
    TypeError
        If Numba cannot compile the operator for CUDA.
    """
    key = _key(variant, capability)
    with compile_lock:
        found = None if fresh else kernel_cache.read(key)
        if found is None:
            found = build(variant, identity, capability)[0]
            kernel_cache.write(key, found)
    return found


def build(variant: Variant, identity: Any, capability: tuple[int, int]) -> tuple[bytes, str]:
    """Compile and link a variant; return its cubin and what the linker says about it.

    How many registers an operator takes is known only now. If the compiler had to spill some to memory, it
    is given more of them step by step (`source`).
    """
    arch = f"sm_{capability[0]}{capability[1]}"
    functions = [] if is_native(variant) else lto_functions(variant, identity, capability)
    for relief in range(RELIEFS):
        linked, log = _link(_text(variant, capability, relief), functions, arch)
        if not re.search(r"\b[1-9]\d* bytes spill", log):
            break
    return linked, log


def _link(text: str, functions: list[bytes], arch: str) -> tuple[bytes, str]:
    options = ProgramOptions(
        std="c++17",
        arch=arch,
        relocatable_device_code=True,
        link_time_optimization=True,
        include_path=[str(FOLDER)],
        device_as_default_execution_space=True,
    )
    engine = Program(text, "c++", options).compile("ltoir")
    parts = [ObjectCode.from_ltoir(code, name=f"op{i}") for i, code in enumerate(functions)]
    linking = LinkerOptions(
        arch=arch, link_time_optimization=True, ptxas_options=["-v"], verbose=True
    )
    linker = Linker(engine, *parts, options=linking)
    linked = linker.link("cubin")
    return bytes(linked.code), linker.get_info_log()


def _text(variant: Variant, capability: tuple[int, int], relief: int = 0) -> str:
    tile = tile_for(variant.inputs, variant.state, variant.outputs)
    stages = stages_for(variant.inputs, variant.nulls, tile, 10 * capability[0] + capability[1])
    return source(variant, tile, stages, relief)


def _key(variant: Variant, capability: tuple[int, int]) -> str:
    digest = hashlib.sha256(_environment().encode())
    digest.update(
        repr((kernel_token(variant.op, variant.inputs), variant.dtype, capability)).encode()
    )
    digest.update(repr((variant.inputs, variant.state, variant.outputs)).encode())
    digest.update(_text(variant, capability).encode())
    return f"{digest.hexdigest()}.cubin"


@lru_cache(maxsize=1)
def _environment() -> str:
    """Everything outside a variant that its machine code depends on."""
    digest = hashlib.sha256()
    shared = [FOLDER.parent / name for name in ("user_functions.py", "captured.py")]
    for path in sorted([*FOLDER.glob("*.cuh"), *FOLDER.glob("*.py"), *shared]):
        digest.update(path.read_bytes())
    packages = ("cuda-core", "cuda-bindings", "numba-cuda", "numba", "llvmlite")
    libraries = ("nvidia-cuda-nvrtc", "nvidia-nvjitlink", "nvidia-cuda-nvcc", "nvidia-nvvm")
    return f"{digest.hexdigest()} {[(p, _version(p)) for p in packages + libraries]}"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"
