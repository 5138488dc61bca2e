"""Every kind of kernel compiles, without a GPU and without register spills."""

import re
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest

from dask_gpuscan import operator, segmented
from dask_gpuscan.api.frame.operator_scans import scan_parts
from dask_gpuscan.kernels import BUILT_IN, INT128, Operator, signature
from dask_gpuscan.kernels.compiler import cache as kernel_cache
from dask_gpuscan.kernels.cuda.core import build as build_module
from dask_gpuscan.kernels.cuda.core import closure_constants as captured_numbers
from dask_gpuscan.kernels.cuda.core import source as source_module
from dask_gpuscan.kernels.cuda.core.build import build, cubin, source
from dask_gpuscan.kernels.cuda.core.plan import typed
from dask_gpuscan.kernels.cuda.scan.scan_pass import ScanPass
from dask_gpuscan.kernels.cuda.scan.sequential_product import stable_product
from dask_gpuscan.kernels.cuda.scan.table_pass import TablePass, table_of
from dask_gpuscan.kernels.cuda.sort.sort_pass import MovePass
from dask_gpuscan.kernels.operators.clamped import clamped_add
from dask_gpuscan.kernels.operators.compensated import SUM
from dask_gpuscan.kernels.scan import carry_operator
from dask_gpuscan.ops.arrays.nulls import last_within
from dask_gpuscan.ops.scan.kernel_scan import ScanArguments
from dask_gpuscan.ops.statistics.table import window_operator
from helpers.architectures import builds, marks

SEVEN = np.uint8(7)


def larger(a, b):
    return b[0] > a[0]


argmax = operator(  # with a helper function
    lambda a, b: b if larger(a, b) else a,
    identity=(-np.inf, -1),
    lift=lambda x, i: (x, i),
    lower=lambda s: s[1],
)


def numbered(k, m=2, identity=0.0):
    """An operator whose functions capture numbers."""
    return operator(
        lambda a, b: a + b + 0 * m,
        lift=lambda x: x * k,
        lower=lambda s: s + m,
        identity=identity,
        name="numbered",
    )


def fused(scans, where=None):
    """The operator of several scans at once."""
    meta = pd.DataFrame({"x": [1.0], "n": [1]})
    (part,) = scan_parts(meta, scans, ScanArguments(), where, {})
    return part.operation.op


PAIR = {"total": (BUILT_IN["add"], "x"), "peak": (BUILT_IN["maximum"], "x")}
OTHERS = {"total": (BUILT_IN["add"], "x * n"), "peak": (BUILT_IN["maximum"], "x")}

# operator, dtypes, nulls, options
KERNELS = [
    (BUILT_IN["add"], ["i4"], "none", {}),
    (BUILT_IN["add"], ["i4"], "none", {"dtype": np.dtype("i4"), "reverse": True}),
    (BUILT_IN["add"], ["f4"], "none", {}),
    (BUILT_IN["add"], ["f8"], "in band", {"mark_nulls": True}),
    (BUILT_IN["add"], ["i8"], "bits", {"exclusive": True}),
    (BUILT_IN["add"], ["i1"], "none", {"dtype": np.dtype("i1")}),
    (BUILT_IN["maximum"], ["u1"], "bits", {"reverse": True}),
    (BUILT_IN["maximum"], ["i2"], "bytes", {}),
    (BUILT_IN["logical_any"], ["?"], "bits", {}),
    (BUILT_IN["multiply"], ["c16"], "none", {}),
    (BUILT_IN["last"], ["f8"], "bits", {"exclusive": True, "reverse": True}),
    (BUILT_IN["affine"], ["f8", "f8"], "none", {}),
    (BUILT_IN["welford"], ["f8"], "in band", {}),
    (BUILT_IN["add_reproducible"], ["f8"], "in band", {"mark_nulls": True}),
    (
        BUILT_IN["add_reproducible"],
        ["f4"],
        "in band",
        {"dtype": np.dtype("f4"), "mark_nulls": True},
    ),
    (BUILT_IN["add_reproducible"], ["f4"], "none", {"dtype": np.dtype("f4"), "write": False}),
    (window_operator("mean", reproducible=True), ["f8"], "none", {}),
    (window_operator("mean"), ["f8"], "none", {"exclusive": True}),
    (window_operator("std"), ["f8"], "none", {"reverse": True}),
    (segmented(BUILT_IN["add"]), ["?", "i8"], "bytes", {}),
    (argmax, ["f4", "i4"], "none", {}),
    (
        BUILT_IN["multiply"],
        ["f4"],
        "none",
        {},
    ),  # these three are run as substitutes, see sequential_product.py
    (BUILT_IN["multiply"], ["f8"], "in band", {"mark_nulls": True}),
    (segmented(BUILT_IN["multiply"]), ["?", "f8"], "bits", {}),
    (carry_operator(BUILT_IN["multiply"], np.dtype("f8")), ["f8"], "in band", {"write": False}),
    (BUILT_IN["add"], [INT128], "none", {}),
    (BUILT_IN["maximum"], [INT128], "bits", {"reverse": True}),
    (BUILT_IN["last"], [INT128], "bits", {"exclusive": True}),
    (numbered(np.float32(2)), ["f4"], "bits", {}),
    (last_within(3, False), ["f8"], "none", {}),
    (fused(PAIR), ["f8"], "in band", {"mark_nulls": True}),
    (fused(PAIR), ["f8"], "in band", {"exclusive": (False, True)}),
    (fused(OTHERS, "n > 2"), ["i8", "f8"], "none", {}),
    (clamped_add(np.dtype("i8"), 0, 9), ["i8"], "bits", {}),
    (clamped_add(np.dtype("u8"), 0, 9), ["u1"], "none", {"dtype": np.dtype("u8")}),
    (clamped_add(np.dtype("f8"), 0), ["f8"], "in band", {"mark_nulls": True}),
    (SUM, ["f8"], "in band", {"mark_nulls": True}),
    (window_operator("cov"), ["f8", "f8"], "none", {}),
]


ARGMAX = next(kernel for kernel in KERNELS if kernel[0] is argmax)


def name_of(kernel):
    dtypes = ["int128" if d == INT128 else d for d in kernel[1]]
    return f"{kernel[0].name}-{'-'.join(dtypes)}-{kernel[2]}"


def pass_of(op, dtypes, nulls, options):
    options = {"exclusive": False, "reverse": False, "mark_nulls": False, "write": True} | options
    types_ = signature(op, dtypes, options.pop("dtype", None))
    stable = stable_product(op, types_) if op.in_order else None
    follow = None
    if stable is not None:
        op, types_, follow = stable.op, stable.types, stable.follow
    return ScanPass(typed(op, types_, follow), nulls, **options)


@pytest.mark.parametrize(
    ("kernel", "capability", "schedule"),
    builds((name_of(kernel), kernel, ("classic", "pipelined")) for kernel in KERNELS),
)
def test_no_spills(kernel, capability, schedule, record_property):
    code, log = build(pass_of(*kernel), schedule, capability)
    assert code[:4] == b"\x7fELF"
    used = re.findall(r"Used (\d+) registers", log)
    spills = re.findall(r"(\d+) bytes spill", log)
    record_property("registers", used)
    assert used, f"no report of registers in {log!r}"
    assert set(spills) == {"0"}, log


LINES = [
    ("strided", True),
    ("strided", False),
    ("strided_4", True),
    ("strided_1", False),
    ("rows", True),
    ("rows", False),
    ("classic", False),
]


@pytest.mark.parametrize(
    ("kernel", "schedule", "write"),
    [
        pytest.param(*each, id=f"{name_of(each[0])}-{each[1]}-{each[2]}", marks=marks(i))
        for i, each in enumerate((kernel, *line) for kernel in KERNELS[2::8] for line in LINES)
    ],
)
def test_lines_and_reductions(kernel, schedule, write):
    op, dtypes, nulls, options = kernel
    _, log = build(pass_of(op, dtypes, nulls, options | {"write": write}), schedule, (9, 0))
    assert set(re.findall(r"(\d+) bytes spill", log)) == {"0"}, log


TABLES = [
    ("add", "f4", 8),
    ("add", "f8", 4),
    ("add", "i1", 3),
    ("maximum", "f4", 7),
    ("last", "f8", 2),
]


@pytest.mark.parametrize(
    ("name", "dtype", "width", "schedule", "write"),
    [
        pytest.param(*table, *how, marks=marks(i))
        for i, (table, how) in enumerate(
            product(TABLES, product(("classic", "pipelined", "rows"), (True, False)))
        )
    ],
)
def test_narrow_tables(name, dtype, width, schedule, write):
    """Each kernel compiles for one architecture, scans and reductions of a table in turn for one and the other."""
    table = table_of(pass_of(BUILT_IN[name], [dtype], "none", {}), width)
    assert isinstance(table, TablePass)
    capability = (9, 0) if write is (width % 2 == 0) else (12, 0)
    _, log = build(replace(table, write=write), schedule, capability)
    assert set(re.findall(r"(\d+) bytes spill", log)) == {"0"}, log


def test_tables_that_are_not_narrow():
    add = pass_of(BUILT_IN["add"], ["f4"], "none", {})
    assert [isinstance(table_of(add, n), TablePass) for n in (0, 1, 2, 8, 9)] == [
        False, False, True, True, False,
    ]  # fmt: skip
    for name, dtype, nulls in (
        ("add", "f4", "bits"),
        ("add_reproducible", "f8", "none"),
        ("multiply", "f8", "none"),
    ):
        one = pass_of(BUILT_IN[name], [dtype], nulls, {})
        assert table_of(one, 2) is one


def test_an_operator_is_inlined():
    code, _ = build(pass_of(*ARGMAX), "classic", (9, 0))
    assert b".text.op_" not in code


def test_no_text_of_a_user_in_cuda_source():
    chosen = pass_of(*ARGMAX)
    text = source(chosen, "classic", (9, 0))
    assert chosen.operator.op.name not in text
    assert chosen.operator.op.token not in text


def test_an_operator_that_cuda_cannot_have_is_named():
    words = operator(lambda a, b: a + len(str(b)), identity=0, name="wordy")
    add = pass_of(*KERNELS[0])
    broken = replace(add, operator=replace(add.operator, op=words))
    with pytest.raises(TypeError, match="wordy: Numba cannot compile combine for CUDA"):
        build(broken, "classic", (9, 0))


def test_cubins_are_kept_and_damaged_ones_made_anew(tmp_path, monkeypatch):
    monkeypatch.setenv("DASK_GPUSCAN_CACHE", str(tmp_path))
    chosen = MovePass(4, 4, False), "classic"  # compiles soon
    code = cubin(*chosen, (8, 0))
    (entry,) = tmp_path.glob("*.cubin")
    assert cubin(*chosen, (8, 0)) == code
    good = entry.read_bytes()
    for damaged in (good[:100], good[:-1] + bytes([good[-1] ^ 1]), b""):
        entry.write_bytes(damaged)
        assert kernel_cache.read(entry.name) is None
        assert cubin(*chosen, (8, 0))[:4] == b"\x7fELF"
        assert kernel_cache.read(entry.name) is not None
    cubin(*chosen, (9, 0))
    assert len(list(tmp_path.glob("*.cubin"))) == 2


def test_functions_of_an_operator_are_kept_for_its_other_kernels(tmp_path, monkeypatch):
    monkeypatch.setenv("DASK_GPUSCAN_CACHE", str(tmp_path))
    made = []

    def functions(of, capability):
        made.append((of, capability))
        return [f"{len(made)}".encode()]

    monkeypatch.setattr(build_module, "lto_functions", functions)
    product, other = (
        pass_of(BUILT_IN["multiply"], ["f8"], nulls, options).operator
        for nulls, options in (
            ("in band", {"mark_nulls": True}),
            ("none", {"dtype": np.dtype("f4")}),
        )
    )
    assert product.follow is not None
    operators = [product, replace(product, follow=None), other]
    asked = [(of, of.follow, on) for of in operators for on in ((9, 0), (8, 0))]
    ask = build_module._operator_functions.__wrapped__
    first = [ask(*each) for each in asked]
    assert len(made) == len(list(tmp_path.glob("*.ltoir"))) == len(asked)
    assert [ask(*each) for each in asked] == first
    assert len(made) == len(asked)


def test_numbers_that_functions_capture_are_no_part_of_a_cubin(tmp_path, monkeypatch):
    monkeypatch.setenv("DASK_GPUSCAN_CACHE", str(tmp_path))

    def made(*arguments, schedule="classic"):
        op = numbered(*arguments)
        return cubin(pass_of(op, ["f8"], "none", {"write": False}), schedule, (9, 0))

    def kept():
        return len(list(tmp_path.glob("*.cubin")))

    assert made(2.0) == made(3.0) == made(-0.0, 5)
    assert kept() == 1
    made(2)  # of another type
    made(2.0, 2, -0.0)  # and another identity, which is part of the code
    assert kept() == 3


def test_numbers_are_laid_out_as_in_the_source():
    c = np.float32(1.5)
    op = operator(lambda a, b: a + b * c, lift=lambda x, k=SEVEN: x * k + c, identity=0.0)
    inputs = (np.dtype("f8"),)
    other, _ = captured_numbers.shared_code(op, inputs)
    assert other == op
    packed = captured_numbers.shared_code(op, inputs)[1]
    layout = np.dtype("f4, f4, u1, 7u1")
    assert np.frombuffer(packed, layout)[0].tolist()[:3] == (1.5, 1.5, 7)
    assert len(packed) == captured_numbers.numbers_size(op, inputs) == 16


@pytest.mark.parametrize(
    "write", [pytest.param(write, marks=marks(2 * i)) for i, write in enumerate((True, False))]
)
def test_kernels_for_racecheck_compile(monkeypatch, write):
    monkeypatch.setattr(source_module, "RACECHECK", True)
    op, dtypes, nulls, options = KERNELS[4]
    chosen = pass_of(op, dtypes, nulls, options | {"write": write})
    code, _ = build(chosen, "pipelined", (9, 0))
    assert code[:4] == b"\x7fELF"


def test_names_never_decide_which_functions_are_native():
    for name in ("plus", "maximum"):
        mine = operator(lambda a, b: a + b, identity=0, name=name)
        chosen, add = (pass_of(op, [INT128], "none", {}) for op in (mine, BUILT_IN["add"]))
        assert chosen.operator.identity == add.operator.identity == 0
        assert source(chosen, "classic", (9, 0)) == source(add, "classic", (9, 0))


def moments(lift, lower=lambda s: s[2]):
    """An operator that combines states as `welford` does."""
    return Operator(BUILT_IN["welford"].combine, (0.0, 0.0, 0.0), lift, lower, name="moments")


def test_only_states_that_are_made_as_those_of_welford_are_moments():
    for op in (BUILT_IN["welford"], window_operator("var"), window_operator("std")):
        assert pass_of(op, ["f8"], "none", {}).adds_moments
    for lift in (lambda x: (2.0, x * 1.0, 0.0), lambda x: (1.0, x * 1.0, 4.0)):
        assert not pass_of(moments(lift), ["f8"], "none", {}).adds_moments


def test_a_word_has_a_bit_for_each_item_of_a_lane():
    op = moments(BUILT_IN["welford"].lift, lambda s: s[2] > 5.0)
    for dtype in ("i1", "i2", "f4"):
        each = pass_of(op, [dtype], "bits", {})
        assert each.rakes
        assert each.tile.vector <= 32
