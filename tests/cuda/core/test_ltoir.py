"""Both packages that compile Python functions for GPUs compile those of operators; none of this needs a GPU."""

from importlib.util import find_spec

import numpy as np
import pytest

from dask_gpuscan import operator, segmented
from dask_gpuscan.kernels import BUILT_IN, signature
from dask_gpuscan.kernels.cuda.core import link, ltoir
from dask_gpuscan.kernels.cuda.core.plan import typed
from dask_gpuscan.kernels.cuda.core.requirements import package
from dask_gpuscan.kernels.operators.compensated import SUM

INSTALLED = [name for name in ltoir.BY_PACKAGE if find_spec(name)]


def larger(a, b):
    return b[0] > a[0]


OPERATORS = {
    "maximum": (operator(lambda a, b: b if b > a else a, identity=-np.inf), "f8"),
    "argmax": (
        operator(
            lambda a, b: b if larger(a, b) else a,
            identity=(-np.inf, -1),
            lift=lambda x: (x, 1),
            lower=lambda s: s[1],
        ),
        "f4",
    ),
    "complex": (operator(lambda a, b: a * b, identity=1 + 0j), "c16"),
    "segmented": (segmented(BUILT_IN["add"]), "?", "i8"),
    "welford": (BUILT_IN["welford"], "f8"),
    "compensated": (SUM, "f8"),
    "compensated complex": (SUM, "c16"),
}


@pytest.fixture(params=INSTALLED)
def compiler(request, monkeypatch):
    chosen = ltoir.BY_PACKAGE[request.param]()
    monkeypatch.setattr(link, "compiler", lambda: chosen)
    link._own_steps.cache_clear()
    yield chosen
    link._own_steps.cache_clear()


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("capability", [(9, 0), (7, 5)])
def test_functions_of_operators_compile(compiler, name, capability):
    op, *dtypes = OPERATORS[name]
    types = signature(op, tuple(map(np.dtype, dtypes)), None)
    functions = link.lto_functions(typed(op, types), capability)
    assert len(functions) >= 6
    assert all(functions)


def test_what_is_wrong_is_told(compiler):
    op = operator(lambda a, b: a + b.nothing, identity=0.0)
    with pytest.raises(TypeError, match=r"Numba cannot compile combine for CUDA: .*nothing"):
        link._compile(
            op, "combine", op.combine, (np.dtype("f8"),), True, [(np.dtype("f8"),)] * 2,
            "f(v0_0[0], v1_0[0])", (9, 0),
        )  # fmt: skip


def test_the_package_is_chosen(monkeypatch):
    monkeypatch.delenv("DASK_GPUSCAN_COMPILER", raising=False)
    assert package() == INSTALLED[0]
    monkeypatch.setenv("DASK_GPUSCAN_COMPILER", "numba-cuda-mlir")
    assert package() == "numba_cuda_mlir"
    monkeypatch.setenv("DASK_GPUSCAN_COMPILER", "nvcc")
    with pytest.raises(ValueError, match=r"nvcc, not one of numba_cuda, numba_cuda_mlir"):
        package()


def test_not_a_number_differs_from_itself(compiler, monkeypatch):
    if isinstance(compiler, ltoir.NumbaCudaMlir):
        monkeypatch.setattr(compiler._tools, "_cached_cc", (9, 0))

    def differs(answer, x):
        answer[0] = x[0] != x[0]

    types = compiler.types
    pointers = types.void(types.CPointer(types.uint8), types.CPointer(types.float64))
    ptx, _ = compiler.cuda.compile(differs, pointers, device=True, abi="c", cc=(9, 0))
    assert "setp" in ptx  # compared, not known to be equal


def test_an_unknown_compiler_is_refused(monkeypatch):
    math = pytest.importorskip("numba_cuda_mlir.lowering.math")
    monkeypatch.delattr(math, "_operator_mapping")
    with pytest.raises(ImportError, match=r"numba-cuda-mlir \d.* may compare NaN .* numba-cuda"):
        ltoir.NumbaCudaMlir()
