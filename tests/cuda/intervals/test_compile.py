"""Every kind of kernel of intervals compiles, without a GPU and without register spills."""

import re

import pytest

from dask_gpuscan.kernels.cuda.core.build import build
from dask_gpuscan.kernels.cuda.intervals.interval_pass import IntervalPass, IntervalSumsPass
from helpers.architectures import builds

WAYS = {
    "repeat": {"repeats": True},
    "gather": {"gathers": True},
    "scatter": {"scatters": True},
    "move": {"gathers": True, "scatters": True},
}

PASSES = {
    "sums": IntervalSumsPass(),
    **{f"{name}-{size}": IntervalPass(size, **WAYS[name]) for name in WAYS for size in (8, 16)},
    **{
        f"{name}-{size}": IntervalPass(size, **WAYS[name])
        for name in ("repeat", "gather")
        for size in (1, 2, 4)
    },
}


@pytest.mark.parametrize(
    ("each", "capability", "schedule"),
    builds((name, each, ("classic",)) for name, each in PASSES.items()),
)
def test_passes_compile_without_spills(each, capability, schedule):
    code, log = build(each, schedule, capability)
    assert code[:4] == b"\x7fELF"
    assert set(re.findall(r"(\d+) bytes spill", log)) == {"0"}, log
