"""Every kind of kernel of rolling windows compiles, without a GPU and without register spills."""

import re

import numpy as np
import pytest
from dask_gpuscan.kernels import BUILT_IN, INT128
from dask_gpuscan.kernels.cuda.build import build, source
from dask_gpuscan.kernels.cuda.first_within_pass import FirstWithinPass
from dask_gpuscan.kernels.cuda.rolling import _passes
from dask_gpuscan.kernels.cuda.window_pass import NULLS

from architectures import builds


def passes(name, dtypes, nulls="none", width=10):
    forms = tuple(map(np.dtype, dtypes))
    _, tiles, levels, _ = _passes(BUILT_IN[name], forms, None, nulls, width, (9, 0))
    return [tiles, *levels]


PASSES = {
    **{f"add-{each.step}": each for each in passes("add", ["f8"], "in band", 1000)},
    **{f"add-of-{width}": passes("add", ["f4"], width=width)[0] for width in (1, 3, 16)},
    **{f"last-{each.step}": each for each in passes("last", ["i4"], "bytes")},
    **{f"affine-{each.step}": each for each in passes("affine", ["f8", "f8"], "bits")},
    **{f"welford-{each.step}": each for each in passes("welford", ["f8"], "bits")},
    **{f"int128-{each.step}": each for each in passes("maximum", [INT128])},
    "first-within": FirstWithinPass(),
}


@pytest.mark.parametrize(
    ("each", "capability", "schedule"),
    builds((name, each, ("classic",)) for name, each in PASSES.items()),
)
def test_passes_compile_without_spills(each, capability, schedule):
    code, log = build(each, schedule, capability)
    assert code[:4] == b"\x7fELF"
    assert set(re.findall(r"(\d+) bytes spill", log)) == {"0"}, log


def test_nulls_and_steps_are_told_apart():
    texts = {source(each, "classic", (9, 0)) for n in NULLS for each in passes("add", ["f8"], n)}
    assert len(texts) == 4 * len(NULLS)


def test_wide_windows_take_levels():
    assert passes("add", ["f8"], width=4096)[0] is not None
    assert passes("add", ["f8"], width=5000)[0] is None
    assert passes("add", ["f8"], width=0)[0] is None
