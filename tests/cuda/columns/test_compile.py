"""Every kind of compaction kernel compiles, without a GPU and without register spills."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dask_gpuscan import operator
from dask_gpuscan.kernels import BUILT_IN, INT128, Predicate
from dask_gpuscan.kernels.cuda.columns.by_key import reducing, scanning
from dask_gpuscan.kernels.cuda.columns.column_pass import ColumnPass, Gathered
from dask_gpuscan.kernels.cuda.columns.compact import POSITIONS, gathering, measuring
from dask_gpuscan.kernels.cuda.columns.selection import parametric, visited
from dask_gpuscan.kernels.cuda.columns.tuning import COLUMN_LIMITS
from dask_gpuscan.kernels.cuda.core import source as source_module
from dask_gpuscan.kernels.cuda.core.build import build, source
from dask_gpuscan.kernels.cuda.core.plan import Nullness
from dask_gpuscan.kernels.cuda.core.tuning import STAGES_AT_LEAST
from dask_gpuscan.kernels.cuda.core.visitors import HEAD_FLAGS, SELECT, UNIQUE, VISITORS
from dask_gpuscan.kernels.operators.compensated import MEAN, SUM
from dask_gpuscan.kernels.scan import carry_operator
from helpers.architectures import builds, marks

I4, I8, F8, BOOL = (np.dtype(d) for d in ("i4", "i8", "f8", "?"))
NO, BITS, BYTES, BAND = Nullness(), Nullness("bits", 0), Nullness("bytes", 1), Nullness("in band")
LESS = Predicate(lambda x, c: x < c, [np.arange(3, dtype="i4"), 5]).counter
LATE = ColumnPass(SELECT, "predicate", (I4,), (BITS,), (I8,), LESS, (("row", 0), ("scalar", 0)))
KEPT = (Gathered(I4, 0), Gathered(F8, -1), POSITIONS)
FLAGS = ColumnPass(SELECT, "flags", (BOOL,), (NO,))
RUNS = ColumnPass(UNIQUE, "runs", (I4,), (NO,))
ENDS = ColumnPass(SELECT, "bits", (), (Nullness("bits", 1),))


def gather(each, *gathered, held=(), split=False, in_place=False):
    return gathering(each, gathered, held, split, in_place)


def above(limit):
    return Predicate(lambda x: x > limit, [np.arange(3, dtype="i4")]).counter


def weighted(k):
    """An operator whose functions capture numbers."""
    return operator(lambda a, b: a + b, lift=lambda x: x * k, lower=lambda s: s / k, identity=0.0)


sum_and_largest = operator(
    lambda a, b: (a[0] + b[0], max(a[1], b[1])),
    identity=(0, 0),
    lift=lambda x: (x, x),
    lower=lambda s: s,
)


def by(each, name, dtype, nulls=NO, *, reduces=False, exclusive=False):
    forms = tuple(map(np.dtype, np.atleast_1d(dtype)))
    op = BUILT_IN.get(name, name)
    if name == "product":
        op = carry_operator(BUILT_IN["multiply"], forms[0])
    if reduces:
        return reducing(each, op, forms, nulls, None, True, False)[0]
    return scanning(each, op, forms, nulls, None, exclusive, False)[0]


PLANS = {
    "select": gather(LATE, *KEPT),
    "partition": gather(LATE, *KEPT, split=True),
    "select-wide": gather(
        LATE, Gathered(I4, 0), *[Gathered(F8, -1)] * 4, Gathered(np.dtype("c16"), -1), POSITIONS
    ),
    "in-place": gather(
        FLAGS, Gathered(I4, 1), Gathered(F8, 2), held=(I4, F8), split=True, in_place=True
    ),
    "unique": gather(
        replace(RUNS, keys=(I4, F8), key_nulls=(BITS, BYTES), last=True), Gathered(I4, 0), POSITIONS
    ),
    "unique-key": gather(RUNS, Gathered(I4, 0), POSITIONS),
    "run-lengths": measuring(RUNS, I4),
    "heads": ColumnPass(
        HEAD_FLAGS, "runs", tuple(map(np.dtype, ("c16", "f2", "u1"))), (NO, BITS, BYTES)
    ),
    "flags": visited(LATE, HEAD_FLAGS),
    "reduce-add": by(RUNS, "add", "f4", reduces=True),
    "reduce-add-wide": by(RUNS, "add", "f8", reduces=True),
    "reduce-add-wider": by(
        replace(RUNS, keys=(I8,), key_nulls=(BYTES,)), "add", "f8", reduces=True
    ),
    "reduce-first": by(RUNS, "first", "f8", reduces=True),
    "reduce-product": by(RUNS, "multiply", "f8", reduces=True),
    "reduce-carried-product": by(RUNS, "product", "f4", reduces=True),
    "scan-product": by(RUNS, "multiply", "f4"),
    "scan-add": by(RUNS, "add", "i4", BAND),
    "scan-welford": by(replace(RUNS, last=True, key_nulls=(BITS,)), "welford", "f8"),
    "scan-weighted": by(RUNS, weighted(2.0), "f8"),
    "reduce-weighted": by(RUNS, weighted(2.0), "f8", reduces=True),
    "scan-segments": by(ENDS, "add", "f8", BAND),
    "scan-segments-back": by(replace(ENDS, last=True), "maximum", "i4", BITS, exclusive=True),
    "reduce-segments": by(ENDS, "add", "f8", BAND, reduces=True),
    "scan-pair-exclusive": by(
        replace(RUNS, last=True), sum_and_largest, "i8", exclusive=(True, False)
    ),
    "scan-last-exclusive": by(replace(RUNS, last=True), "last", "u1", exclusive=True),
    "scan-sum": by(RUNS, SUM, "f8", BAND),
    "reduce-mean": by(RUNS, MEAN, "f8", BAND, reduces=True),
}


@pytest.mark.parametrize(
    ("each", "capability", "schedule"),
    builds((name, each, each.visitor.schedules) for name, each in PLANS.items()),
)
def test_no_spills(each, capability, schedule):
    each = each.sized(capability)
    code, log = build(each, schedule, capability)
    assert code[:4] == b"\x7fELF"
    assert re.findall(r"Used (\d+) registers", log)
    assert set(re.findall(r"(\d+) bytes spill", log)) == {"0"}, log
    assert schedule == "classic" or each.stages(capability) >= STAGES_AT_LEAST


@pytest.mark.parametrize("capability", [(8, 0), (9, 0), (10, 0), (12, 0)])
@pytest.mark.parametrize("keys", ["i1", "i4", "i8", "i4,i4", "i8,i8,i8", "i4,i4,i4,i4,i4,i4"])
def test_tiles_fit_into_shared_memory(keys, capability):
    form = tuple(map(np.dtype, keys.split(",")))
    room = COLUMN_LIMITS.shared_on(capability)
    for key_nulls in (NO, BITS, BYTES):
        runs = replace(RUNS, keys=form, key_nulls=(key_nulls,) * len(form))
        plans = [measuring(runs, I8), gather(runs, POSITIONS)]
        for nulls in (NO, BITS, BYTES, BAND):
            for reduces in (True, False):
                for name, dtype in (
                    ("add", "f4"),
                    ("add", "f8"),
                    ("last", "f8"),
                    ("welford", "f8"),
                ):
                    plans.append(by(runs, name, dtype, nulls, reduces=reduces))
                plans.append(by(runs, "affine", ("f8", "f8"), NO, reduces=reduces))
        for plan in plans:
            found = plan.sized(capability)
            assert found.stages(capability) >= STAGES_AT_LEAST
            assert found.shared("pipelined", capability) <= room


def test_a_predicate_is_inlined():
    code, _ = build(PLANS["select"], "pipelined", (9, 0))
    assert b".text.op_" not in code


def test_no_text_of_a_user_in_cuda_source():
    assert LESS.token not in source(PLANS["select"], "classic", (9, 0))


def test_a_predicate_that_cuda_cannot_have_is_named():
    words = Predicate(lambda x: len(str(x)) > 1, [np.arange(3)]).counter
    broken = replace(
        LATE, keys=(I8,), key_nulls=(NO,), scalars=(), predicate=words, order=(("row", 0),)
    )
    with pytest.raises(TypeError, match="predicate: Numba cannot compile predicate for CUDA"):
        build(gather(broken, POSITIONS), "classic", (9, 0))


def test_numbers_that_functions_capture_are_no_part_of_a_plan():
    (one, values), (two, others) = (parametric(above(limit), (I4,)) for limit in (5, 6))
    assert (values, others) == ((5,), (6,))
    plans = [
        replace(PLANS["select"], predicate=found, order=(("scalar", 0), ("row", 0)))
        for found in (one, two)
    ]
    assert plans[0] == plans[1]
    assert plans[0].token == plans[1].token
    assert build(plans[0], "pipelined", (9, 0))[0][:4] == b"\x7fELF"
    for make in (reducing, scanning):
        (one, *_, packed), (two, *_, other) = (
            make(RUNS, weighted(k), (F8,), NO, None, False, False) for k in (2.0, 3.0)
        )
        assert one == two
        assert one.token == two.token
        assert packed != other


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=marks(i))
        for i, name in enumerate(("select", "run-lengths", "scan-add"))
    ],
)
def test_kernels_for_racecheck_compile(monkeypatch, name):
    monkeypatch.setattr(source_module, "RACECHECK", True)
    code, _ = build(PLANS[name].sized((9, 0)), "pipelined", (9, 0))
    assert code[:4] == b"\x7fELF"


def test_every_visitor_has_its_sources():
    folder = Path(source_module.__file__).parents[1]
    for visitor in VISITORS:
        wanted = {visitor.source}
        if visitor.engine in ("scan", "columns"):  # whose tiles are handed out in more than one way
            wanted |= {f"{visitor.engine}_{s.partition('_')[0]}" for s in visitor.schedules}
        assert wanted <= {path.stem for path in folder.rglob("*.cuh")}


@pytest.mark.parametrize("make", [reducing, scanning])
def test_by_key_takes_no_128_bits(make):
    with pytest.raises(TypeError, match="add by key: the kernels do not take arrays of dtype"):
        make(RUNS, BUILT_IN["add"], (INT128,), NO, None, False, False)
