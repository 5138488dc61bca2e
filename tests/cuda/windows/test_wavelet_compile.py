"""The kernels of the wavelet matrix compile, without a GPU and without register spills."""

import io
import re

import pytest

from cuda.core import Program, ProgramOptions
from dask_gpuscan.kernels.cuda.windows.order_statistics import SOURCE
from helpers.architectures import EVERY


@pytest.mark.parametrize("capability", sorted({on for on, _ in EVERY}))
def test_kernels_compile_without_spills(capability):
    arch, log = "sm_{}{}".format(*capability), io.StringIO()
    options = ProgramOptions(arch=arch, ptxas_options=["-v"])
    code = Program(SOURCE.read_text(), "c++", options).compile("cubin", logs=log).code
    for name in (b"count_zeros", b"part_rows", b"quantiles", b"ranks", b"count_again"):
        assert b".text." + name in code
    assert set(re.findall(r"(\d+) bytes spill", log.getvalue())) == {"0"}
