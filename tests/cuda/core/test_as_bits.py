"""Dtypes of one width share kernels where nothing looks at what the elements are, and nowhere else."""

from dataclasses import replace

import numpy as np
import pytest

from dask_gpuscan.kernels import BUILT_IN, signature
from dask_gpuscan.kernels.cuda.columns.column_pass import ColumnPass
from dask_gpuscan.kernels.cuda.core.build import _key, as_bits, cubin
from dask_gpuscan.kernels.cuda.core.plan import NOWHERE, Nullness, typed
from dask_gpuscan.kernels.cuda.core.visitors import HEAD_FLAGS, REDUCE_BY_KEY
from dask_gpuscan.kernels.cuda.scan.scan_pass import ScanPass


def scan_pass(name, dtype, nulls="bits", mark_nulls=False, op=None):
    op = op or BUILT_IN[name]
    return ScanPass(
        typed(op, signature(op, [dtype])), nulls, False, False, mark_nulls=mark_nulls, write=True
    )


def by_key(op, dtype, key):
    of = typed(op, signature(op, [dtype]))
    return ColumnPass(
        REDUCE_BY_KEY,
        "runs",
        (np.dtype(key),),
        (NOWHERE,),
        operator=of,
        value_nulls=Nullness("bits"),
    )


def key_of(each, schedule="pipelined"):
    return _key(as_bits(each), schedule, (9, 0))


@pytest.mark.parametrize(
    ("name", "dtypes"),
    [
        ("last", ["i8", "u8", "f8"]),
        ("first", ["i4", "u4", "f4"]),
        ("last", ["i2", "u2"]),
        ("last", ["i1", "u1"]),
        ("add", ["i8", "u8"]),
        ("multiply", ["i8", "u8"]),
        ("bitwise_and", ["i8", "u8"]),
    ],
)
def test_dtypes_of_one_width_share_a_kernel(name, dtypes):
    for nulls in ("none", "bits", "bytes"):
        assert len({key_of(scan_pass(name, d, nulls)) for d in dtypes}) == 1


@pytest.mark.parametrize(
    ("name", "dtypes"),
    [
        ("add", ["i8", "f8"]),
        ("maximum", ["i8", "u8"]),
        ("add", ["i4", "u4"]),
        ("last", ["i8", "i4"]),
    ],
)
def test_what_depends_on_the_dtype_is_not_shared(name, dtypes):
    assert len({key_of(scan_pass(name, d)) for d in dtypes}) == len(dtypes)


@pytest.mark.parametrize("options", [{"nulls": "in band"}, {"mark_nulls": True}])
def test_nan_is_looked_for_and_written_in_its_dtype(options):
    of = scan_pass("last", "f8", **options)
    assert as_bits(of) is of


def test_launches_keep_the_dtypes():
    of = scan_pass("last", "f8")
    changed = as_bits(of)
    assert [d.str for d in changed.operator.state] == ["<u8", "|b1"]
    assert of.carry.itemsize == changed.carry.itemsize
    assert of.parameters == changed.parameters
    assert of.tile == changed.tile
    assert of.geometry("pipelined", (9, 0)) == changed.geometry("pipelined", (9, 0))
    assert BUILT_IN["bitwise_and"].identity_for(np.dtype("i8")) == -1
    assert as_bits(scan_pass("bitwise_and", "i8")).operator.identity == 2**64 - 1


def test_keys_of_one_width_share_a_kernel_unless_they_are_floats():
    first = replace(BUILT_IN["first"], lower=None)
    keys = [key_of(by_key(first, "f8", key)) for key in ("i8", "u8", "f8")]
    assert keys[0] == keys[1] != keys[2]
    assert keys[0] == key_of(by_key(first, "i8", "i8"))
    flags = [
        key_of(ColumnPass(HEAD_FLAGS, "runs", (np.dtype(key),), (NOWHERE,)), "classic")
        for key in ("i4", "u4", "f4")
    ]
    assert flags[0] == flags[1] != flags[2]


def test_a_shared_kernel_compiles(tmp_path, monkeypatch):
    monkeypatch.setenv("DASK_GPUSCAN_CACHE", str(tmp_path))
    codes = {cubin(scan_pass("last", d), "classic", (9, 0)) for d in ("f8", "i8")}
    assert len(codes) == len(list(tmp_path.glob("*.cubin"))) == 1
