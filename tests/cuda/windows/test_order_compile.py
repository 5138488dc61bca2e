"""The kernels of order statistics of windows compile, without a GPU and without register spills."""

import io
import re

import pytest

from cuda.core import Program, ProgramOptions
from dask_gpuscan.kernels.cuda.windows import order_statistics, sorted_windows
from helpers.architectures import EVERY

CAPABILITIES = sorted({on for on, _ in EVERY})
SORTED = [
    *((slots, True) for slots in sorted_windows.OF_THREAD),
    *((slots, False) for slots in sorted_windows.OF_WARP),
]


def compiled(source, capability, given=()):
    """The machine code, and how many bytes of registers spill."""
    log = io.StringIO()
    macros = [each[2:].split("=") for each in given if each.startswith("-D")]
    options = ProgramOptions(
        arch="sm_{}{}".format(*capability),
        define_macro=[tuple(each) for each in macros] or None,
        ptxas_options=["-v"],
    )
    code = Program(source, "c++", options).compile("cubin", logs=log).code
    return code, set(re.findall(r"(\d+) bytes spill", log.getvalue()))


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_a_wavelet_matrix(capability):
    code, spilt = compiled(order_statistics.source(), capability)
    for name in (b"count_zeros", b"part_rows", b"quantiles", b"ranks", b"count_again"):
        assert b".text." + name in code
    assert spilt == {"0"}


@pytest.mark.parametrize("capability", CAPABILITIES)
@pytest.mark.parametrize(("slots", "by_thread"), SORTED)
def test_values_in_order(capability, slots, by_thread):
    given = sorted_windows.options(slots, by_thread)
    code, spilt = compiled(sorted_windows.source(), capability, given)
    assert b".text." + sorted_windows.name_of(by_thread).encode() in code
    assert spilt == {"0"}
