"""Private names of Numba stand in `kernels/compiler/` and in one module of `kernels/cuda/`, and each exists.

Numba may drop or rename what is tested here in any version: the message of a failure names the one that did.
"""

import ast
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numba
import pytest
from numba import types
from numba.core import cgutils, compiler
from numba.core.registry import cpu_target

from dask_gpuscan import kernels
from dask_gpuscan.kernels.compiler import functions, late

ROOT = Path(kernels.__file__ or "").parent
USERS = [*sorted((ROOT / "compiler").glob("*.py")), ROOT / "cuda" / "core" / "ltoir.py"]
PACKAGES = ("numba", "numba_cuda_mlir")
PUBLIC = ("numba", "numba.extending", "numba.cuda", "numba_cuda_mlir")
"""Modules whose names the documentation of Numba has."""


def imported(path: Path) -> list[tuple[str, str]]:
    """Return what a module imports from Numba's own modules, each as a module and a name."""
    return [
        (node.module or "", name.name)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in PACKAGES
        for name in node.names
        if node.module not in PUBLIC
    ]


NAMES = sorted({found for path in USERS for found in imported(path)})


def library() -> Any:
    return cpu_target.target_context.codegen().create_library("empty")


ATTRIBUTES: dict[str, Callable[[], Any]] = {
    "_cache": lambda: numba.njit(lambda: None),
    "_compiler": lambda: numba.njit(lambda: None),
    "_compile_core": lambda: numba.njit(lambda: None)._compiler,
    "_rebuild": lambda: compiler.CompileResult,
    "_reduce": lambda: compiler.CompileResult,
    "_getvalue": lambda: cgutils.create_struct_proxy(types.Tuple([types.int64])),
    "_engine": lambda: library().codegen,
    "_module_pass_manager": lambda: library().codegen,
    "_get_return_status": lambda: cpu_target.target_context.call_conv,
    "set_env": lambda: library().codegen,
    "magic_tuple": lambda: library().codegen,
    "dead_branch_prune": lambda: late.analysis.module,
    "run_frontend": lambda: late.compiler.module,
    "Branch": lambda: late.numba_ir.module,
    "_cached_cc": lambda: pytest.importorskip("numba_cuda_mlir.tools"),
    "_ensure_finalized": library,
    "_final_module": library,
    "_shared_module": library,
}
"""What has each private attribute."""


def dropped(what: str) -> str:
    return f"Numba {numba.__version__} has no {what}, which kernels/compiler/ needs"


@pytest.mark.parametrize(("module", "name"), NAMES, ids=".".join)
def test_private_names_exist(module: str, name: str) -> None:
    if "cuda" in module:
        pytest.importorskip("numba_cuda" if module.startswith("numba.cuda") else "numba_cuda_mlir")
    try:
        found = hasattr(import_module(module), name) or bool(find_spec(f"{module}.{name}"))
    except ImportError:
        found = False
    assert found, dropped(f"{module}.{name}")


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_private_attributes_exist(name: str) -> None:
    owner = ATTRIBUTES[name]()
    assert hasattr(owner, name), dropped(f"{name} of {owner}")


def test_numba_asks_an_object_for_the_type_that_it_has_in_compiled_code() -> None:
    inner = functions.njit(lambda x: x + 1)
    assert isinstance(numba.typeof(inner), types.Dispatcher), dropped("_numba_type_")
    assert numba.njit(lambda x: inner(x))(2) == 3


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda p: str(p.relative_to(ROOT)))
def test_private_names_stand_in_one_place(path: Path) -> None:
    assert path in USERS or not imported(path)
