"""The private names of Numba that code outside this folder uses; tests/kernels/test_private_names.py checks each."""

from functools import lru_cache
from typing import Any

from numba.core import cgutils
from numba.core.callconv import excinfo_t
from numba.core.registry import cpu_target
from numba.np.arrayobj import load_item, populate_array, store_item
from numba.np.numpy_support import as_dtype

__all__ = [
    "as_dtype",
    "cgutils",
    "cpu_target",
    "excinfo_t",
    "load_item",
    "optimize",
    "populate_array",
    "processor",
    "processor_features",
    "status_of",
    "store_item",
    "struct_value",
]


def struct_value(struct: Any) -> Any:
    """Return the value that a proxy of a struct has built."""
    return struct._getvalue()


def status_of(context: Any, builder: Any, code: Any, error: Any) -> Any:
    """Return the status of a call, given its code and, if it raised, its error."""
    return context.call_conv._get_return_status(builder, code, error)


def optimize(codegen: Any, module: Any, **options: Any) -> None:
    """Run Numba's passes on LLVM code; before Numba 0.62 they need no builder."""
    made = codegen._module_pass_manager(**options)
    passes, builder = made if isinstance(made, tuple) else (made, None)
    passes.run(module, *([builder] if builder else []))


@lru_cache(maxsize=1)
def processor() -> tuple[str, str, str]:
    """Return the target of machine code: system and architecture, processor, and its features."""
    found: tuple[str, str, str] = cpu_target.target_context.codegen().magic_tuple()
    return found


def processor_features() -> list[str]:
    """Return the features of the processor beyond its base instructions, by LLVM's names with signs."""
    return processor()[2].split(",")
