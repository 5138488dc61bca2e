"""The kernels of order statistics of windows compile, without a GPU and without register spills."""

import io
import re

import pytest

from cuda.core import Program, ProgramOptions
from dask_gpuscan.kernels.cuda.windows import sorted_windows
from dask_gpuscan.kernels.cuda.windows.tuning import SORTED_SHAPES, TILE_SHAPES
from helpers.architectures import EVERY, builds

CAPABILITIES = sorted({on for on, _ in EVERY})


def compiled(source, capability, given=()):
    """The machine code, and how many bytes of registers and arrays are in memory."""
    log = io.StringIO()
    macros = [each[2:].split("=") for each in given if each.startswith("-D")]
    options = ProgramOptions(
        arch="sm_{}{}".format(*capability),
        define_macro=[tuple(each) for each in macros] or None,
        ptxas_options=["-v"],
    )
    code = Program(source, "c++", options).compile("cubin", logs=log).code
    return code, set(re.findall(r"(\d+) bytes (?:spill|stack)", log.getvalue()))


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_a_wavelet_matrix(capability):
    code, spilt = compiled(sorted_windows.source("wavelet"), capability)
    for name in (b"count_zeros", b"part_rows", b"quantiles", b"ranks", b"count_again"):
        assert b".text." + name in code
    assert spilt == {"0"}


@pytest.mark.parametrize(
    ("shape", "capability", "schedule"),
    builds((str(rows), shape, ("classic",)) for rows, shape in SORTED_SHAPES.items()),
)
def test_values_in_order(shape, capability, schedule):
    code, spilt = compiled(
        sorted_windows.source("sorted_windows"),
        capability,
        sorted_windows.options("sorted_windows", shape),
    )
    assert b".text.sorted_windows" in code
    assert spilt == {"0"}


@pytest.mark.parametrize(
    ("shape", "capability", "schedule"),
    builds((str(rows), shape, ("classic",)) for rows, shape in TILE_SHAPES.items()),
)
def test_tiles_in_order(shape, capability, schedule):
    code, spilt = compiled(
        sorted_windows.source("tile_windows"),
        capability,
        sorted_windows.options("tile_windows", shape),
    )
    assert b".text.tile_windows" in code
    assert spilt == {"0"}
