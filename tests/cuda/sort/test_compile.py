"""Every kind of kernel of sorting and of scans by code compiles, without a GPU and without register spills."""

import re

import numpy as np
import pytest

from dask_gpuscan import operator
from dask_gpuscan.kernels import BUILT_IN
from dask_gpuscan.kernels.cuda.codes.by_code import _steps, chunk_rows
from dask_gpuscan.kernels.cuda.core import source as source_module
from dask_gpuscan.kernels.cuda.core.build import build, source
from dask_gpuscan.kernels.cuda.core.plan import NULL_KINDS
from dask_gpuscan.kernels.cuda.sort.sort_pass import (
    CountPass,
    DigitPass,
    FewPass,
    KeyCode,
    MovePass,
    PackPass,
    PlacePass,
    RankPass,
    SearchPass,
    TiesPass,
)
from dask_gpuscan.kernels.operators.compensated import SUM
from helpers.architectures import builds, marks

CODES = {
    "u1": KeyCode(1), "i4": KeyCode(4, "signed", True), "f2": KeyCode(2, "floats", False, True),
    "f8": KeyCode(8, "floats"), "times": KeyCode(8, "times", True, True),
}  # fmt: skip


pair = operator(
    lambda a, b: (a[0] + b[0], max(a[1], b[1])),
    identity=(0, 0),
    lift=lambda x: (x, x),
    lower=lambda s: s,
)


def by_code(name, dtypes, nulls="none", exclusive=False, groups=1000, parted=False):
    forms = tuple(map(np.dtype, dtypes))
    op, chunk = BUILT_IN.get(name, name), 0 if parted else chunk_rows(1 << 20, groups)
    steps = _steps(op, forms, None, 4, nulls, exclusive, False, groups, chunk, True)[3]
    return steps if parted else steps[:3]


PASSES = {
    **{f"count-{name}": CountPass(code) for name, code in CODES.items()},
    **{f"ties-{name}": TiesPass(code) for name, code in CODES.items()},
    **{f"ranks-{name}": RankPass(code, "average") for name, code in CODES.items()},
    **{f"ranks-grouped-{size}": RankPass(KeyCode(8, "floats"), "average", size) for size in (4, 8)},
    **{f"search-{name}": SearchPass(code, name == "i4") for name, code in CODES.items()},
    **{
        f"merge-{name}": SearchPass(code, name == "i4", merges=True) for name, code in CODES.items()
    },
    **{f"keys-{name}": DigitPass(code) for name, code in CODES.items()},
    **{f"positions-{name}": DigitPass(code, 4, positions=True) for name, code in CODES.items()},
    **{f"pairs-{size}": DigitPass(CODES["i4"], size) for size in (1, 2, 4, 8)},
    **{f"few-{name}": FewPass(code) for name, code in CODES.items()},
    **{f"few-positions-{name}": FewPass(code, 4, True) for name, code in CODES.items()},
    **{f"few-pairs-{size}": FewPass(CODES["i4"], size) for size in (1, 2, 4, 8)},
    "few-last": FewPass(CODES["f8"], 4, True, writes_keys=False, widens=True),
    "last": DigitPass(CODES["f8"], 4, writes_keys=False, widens=True),
    "wide": DigitPass(CODES["f8"], 8, wide=True),
    **{f"restore-{size}": DigitPass(CODES["i4"], size, restores=True) for size in (1, 4, 8)},
    "restore-wide": DigitPass(KeyCode(8), 8, wide=True, writes_keys=False, restores=True),
    **{f"move-{size}": MovePass(size, 4, size > 4) for size in (1, 2, 4, 8, 16)},
    **{
        f"pack-{row}-{position}": PackPass(sizes, row, position)
        for sizes, row in (((4, 2, 1), 8), ((8, 8), 16), ((8, 8, 4, 1), 32))
        for position in (0, 4)
    },
    **{f"place-{size}": PlacePass(size, 4, 1 << 13) for size in (1, 2, 4, 8)},
    **{f"add-{each.step}": each for each in by_code("add", ["f8"], "bits", True)},
    **{f"last-{each.step}": each for each in by_code("last", ["i4"], "bytes", groups=2048)},
    **{f"pieces-{each.step}": each for each in by_code("add", ["f8"], "bytes", parted=True)},
    **{f"pair-{each.step}": each for each in by_code(pair, ["i8"], exclusive=(True, False))},
    **{f"welford-{each.step}": each for each in by_code("welford", ["f8"], "in band")},
    **{f"sum-{each.step}": each for each in by_code(SUM, ["f8"], "in band")},
}


@pytest.mark.parametrize(
    ("each", "capability", "schedule"),
    builds((name, each, ("classic",)) for name, each in PASSES.items()),
)
def test_passes_compile_without_spills(each, capability, schedule):
    code, log = build(each.sized(capability), schedule, capability)
    assert code[:4] == b"\x7fELF"
    assert re.findall(r"(\d+) bytes spill", log) == ["0", "0"]


@pytest.mark.parametrize("step", [pytest.param(i, marks=marks(i)) for i in (0, 2)])
def test_steps_for_racecheck_compile(monkeypatch, step):
    monkeypatch.setattr(source_module, "RACECHECK", True)
    code, _ = build(by_code("add", ["f8"])[step], "classic", (9, 0))
    assert code[:4] == b"\x7fELF"


def test_kinds_of_keys_and_nulls_are_told_apart():
    texts = {source(CountPass(code), "classic", (9, 0)) for code in CODES.values()}
    assert len(texts) == len(CODES)
    steps = {source(by_code("add", ["f8"], nulls)[0], "classic", (9, 0)) for nulls in NULL_KINDS}
    assert len(steps) == len(NULL_KINDS)
