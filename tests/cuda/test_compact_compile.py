"""Every kind of compaction kernel compiles for every architecture, without a GPU and without register spills."""

import re
from dataclasses import replace

import numpy as np
import pytest
from dask_gpuscan.kernels import BUILT_IN, Predicate, carry_operator, operator
from dask_gpuscan.kernels.cuda.compaction import POSITIONS, _parametric, _reducing, _scanning
from dask_gpuscan.kernels.cuda.plan import (
    SHARED_BYTES,
    STAGES_AT_LEAST,
    Moved,
    Nullness,
    Plan,
    sized,
)
from dask_gpuscan.kernels.cuda.plan_source import plan_source
from dask_gpuscan.kernels.cuda.visits import build_plan

I4, I8, F8, BOOL = (np.dtype(d) for d in ("i4", "i8", "f8", "?"))
NO, BITS, BYTES, BAND = Nullness(), Nullness("bits", 0), Nullness("bytes", 1), Nullness("in band")
LESS = Predicate(lambda x, c: x < c, [np.arange(3, dtype="i4"), 5]).counter
KEPT = Plan(
    "compact", "predicate", (I4,), (BITS,), (I8,), LESS, (("row", 0), ("scalar", 0)),
    moved=(Moved(I4, 0), Moved(F8, -1), POSITIONS),
)  # fmt: skip
FLAGS = Plan("compact", "flags", (BOOL,), (NO,))
RUNS = Plan("compact", "runs", (I4,), (NO,))


def above(limit):
    return Predicate(lambda x: x > limit, [np.arange(3, dtype="i4")]).counter


def weighted(k):
    """An operator whose functions capture numbers."""
    return operator(lambda a, b: a + b, lift=lambda x: x * k, lower=lambda s: s / k, identity=0.0)


def by(plan, name, dtype, nulls=NO, *, reduces=False, exclusive=False):
    forms = tuple(map(np.dtype, np.atleast_1d(dtype)))
    op = BUILT_IN.get(name, name)
    if name == "product":
        op = carry_operator(BUILT_IN["multiply"], forms[0])
    if reduces:
        return _reducing(plan, op, forms, nulls, None, True, False)[0]
    return _scanning(plan, op, forms, nulls, None, exclusive, False)[0]


PLANS = {
    "select": KEPT,
    "partition": replace(KEPT, split=True),
    "select-wide": replace(
        KEPT, moved=(Moved(I4, 0), *[Moved(F8, -1)] * 4, Moved(np.dtype("c16"), -1), POSITIONS)
    ),
    "in-place": replace(
        FLAGS, moved=(Moved(I4, 1), Moved(F8, 2)), staged=(I4, F8), split=True, in_place=True
    ),
    "unique": replace(
        RUNS, keys=(I4, F8), key_nulls=(BITS, BYTES), moved=(Moved(I4, 0), POSITIONS), last=True
    ),
    "unique-key": replace(RUNS, moved=(Moved(I4, 0), POSITIONS)),
    "run-lengths": replace(RUNS, visitor="run_lengths"),
    "heads": Plan("heads", "runs", tuple(map(np.dtype, ("c16", "f2", "u1"))), (NO, BITS, BYTES)),
    "flags": replace(KEPT, visitor="heads", moved=()),
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
    "reduce-weighted": by(RUNS, weighted(2.0), "f8", reduces=True),
    "scan-weighted": by(RUNS, weighted(2.0), "f8"),
    "scan-last-exclusive": by(replace(RUNS, last=True), "last", "u1", exclusive=True),
}


@pytest.mark.parametrize(
    ("capability", "schedule"),
    [
        ((7, 5), "classic"),
        ((8, 0), "classic"),
        ((9, 0), "pipelined"),
        ((10, 0), "pipelined"),
        ((12, 0), "pipelined"),
    ],
)
@pytest.mark.parametrize("name", PLANS)
def test_no_spills(name, capability, schedule):
    plan = sized(PLANS[name], capability)
    code, log = build_plan(plan, "classic" if plan.visitor == "heads" else schedule, capability)
    assert code[:4] == b"\x7fELF"
    assert re.findall(r"Used (\d+) registers", log)
    assert set(re.findall(r"(\d+) bytes spill", log)) == {"0"}, log
    assert schedule == "classic" or plan.stages(capability) >= 2


@pytest.mark.parametrize("capability", [(8, 0), (9, 0), (10, 0), (12, 0)])
@pytest.mark.parametrize("keys", ["i1", "i4", "i8", "i4,i4", "i8,i8,i8", "i4,i4,i4,i4,i4,i4"])
def test_tiles_fit_into_shared_memory(keys, capability):
    form = tuple(map(np.dtype, keys.split(",")))
    room = SHARED_BYTES.get(10 * capability[0] + capability[1], 96 << 10)
    for key_nulls in (NO, BITS, BYTES):
        runs = replace(RUNS, keys=form, key_nulls=(key_nulls,) * len(form))
        plans = [replace(runs, visitor="run_lengths"), replace(runs, moved=(POSITIONS,))]
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
            found = sized(plan, capability)
            assert found.stages(capability) >= STAGES_AT_LEAST
            assert found.shared("pipelined", capability) <= room


def test_a_predicate_is_inlined():
    code, _ = build_plan(KEPT, "pipelined", (9, 0))
    assert b".text.op_" not in code


def test_no_text_of_a_user_in_cuda_source():
    assert LESS.token not in plan_source(KEPT, "classic", (9, 0))


def test_a_predicate_that_cuda_cannot_have_is_named():
    words = Predicate(lambda x: len(str(x)) > 1, [np.arange(3)]).counter
    broken = replace(KEPT, keys=(I8,), key_nulls=(NO,), scalars=(), predicate=words)
    with pytest.raises(TypeError, match="predicate: Numba cannot compile keep for CUDA"):
        build_plan(replace(broken, order=(("row", 0),), moved=(POSITIONS,)), "classic", (9, 0))


def test_numbers_that_functions_capture_are_no_part_of_a_plan():
    (one, values), (two, others) = (_parametric(above(limit), (I4,)) for limit in (5, 6))
    assert (values, others) == ((5,), (6,))
    plans = [
        replace(KEPT, predicate=found, order=(("scalar", 0), ("row", 0))) for found in (one, two)
    ]
    assert plans[0] == plans[1]
    assert plans[0].key == plans[1].key
    assert build_plan(plans[0], "pipelined", (9, 0))[0][:4] == b"\x7fELF"
    for make in (_reducing, _scanning):
        (one, *_, packed), (two, *_, other) = (
            make(RUNS, weighted(k), (F8,), NO, None, False, False) for k in (2.0, 3.0)
        )
        assert one == two
        assert one.key == two.key
        assert packed != other
