"""The kernels of order statistics of windows compile, without a GPU and without register spills."""

import io
import re

import pytest

from cuda.core import Program, ProgramOptions
from dask_gpuscan.kernels.cuda.windows import sorted_windows
from dask_gpuscan.kernels.cuda.windows.tuning import SORTED_SHAPES, TILE_SHAPES
from helpers.architectures import EVERY, builds, marks

CAPABILITIES = sorted({on for on, _ in EVERY})


def compiled(source, capability, unlinked, given=()):
    """The machine code, how many bytes of registers and arrays are in memory, and how many of shared memory it has."""
    log = io.StringIO()
    macros = [each[2:].split("=") for each in given if each.startswith("-D")]
    options = ProgramOptions(
        arch="sm_{}{}".format(*capability),
        define_macro=[tuple(each) for each in macros] or None,
        ptxas_options=["-v"],
        relocatable_device_code=unlinked is not None,
        link_time_optimization=unlinked is not None,
    )
    code = Program(source, "c++", options).compile("ltoir" if unlinked else "cubin", logs=log).code
    if unlinked:
        unlinked()
    said = log.getvalue()
    (shared,) = re.findall(r"(\d+) bytes smem", said) or ["0"]
    return code, set(re.findall(r"(\d+) bytes (?:spill|stack)", said)), int(shared)


@pytest.mark.parametrize(
    "capability", [pytest.param(on, marks=marks(i)) for i, on in enumerate(CAPABILITIES)]
)
def test_a_wavelet_matrix(capability, unlinked):
    code, spilt, _ = compiled(sorted_windows.source("wavelet"), capability, unlinked)
    for name in (b"count_zeros", b"part_rows", b"quantiles", b"ranks", b"count_again"):
        assert b".text." + name in code
    assert spilt == {"0"}


@pytest.mark.parametrize(
    ("kernel", "capability", "schedule"),
    builds(
        (f"{name} {rows}", (name, shape), ("classic",))
        for name, shapes in {"sorted_windows": SORTED_SHAPES, "tile_windows": TILE_SHAPES}.items()
        for rows, shape in shapes.items()
    ),
)
def test_values_in_order(kernel, capability, schedule, unlinked):
    name, shape = kernel
    code, spilt, shared = compiled(
        sorted_windows.source(name), capability, unlinked, sorted_windows.options(name, shape)
    )
    assert b".text." + name.encode() in code
    assert spilt == {"0"}
    # the compiler reads what is left of a loop in vectors of 16 bytes, and none may lie across the end
    assert shared
    assert shared % 16 == 0
