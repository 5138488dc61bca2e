"""Compaction of arrays against NumPy, and the algebra between select, partition, runs and their inverse."""

import gc
import os
import pickle
import platform
import subprocess
import sys

import cloudpickle
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dask_gpuscan.kernels import (
    InBand,
    Predicate,
    bitmap,
    byte_mask,
    flags,
    head_flags,
    partition,
    run_length_decode,
    run_length_encode,
    select,
    unique,
)
from dask_gpuscan.kernels.cpu.core import launch
from dask_gpuscan.kernels.cpu.core.engine import TILE
from dask_gpuscan.kernels.cpu.core.launch import PARALLEL

LENGTHS = [0, 1, 7, TILE - 1, TILE, TILE + 1, 21 * TILE + 5]
DTYPES = ["?", "i1", "u2", "i4", "i8", "f4", "f8", "c8", "c16", "M8[ns]", "m8[s]"]


def columns(n, dtypes=DTYPES, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, 2 if d == "?" else 100, n).astype(d) for d in dtypes]


def held(backend):
    """The dtypes that the backend has arrays of."""
    return list(filter(backend.holds, DTYPES))


def equal(found, expected, backend):
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        one = backend.to_numpy(one)
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


def random(n, share, seed=1):
    return np.random.default_rng(seed).random(n) < share


def first_rows(keys, nulls=None):
    """Reference: rows as tuples of Python objects, NaN and nulls by name."""
    n = len(keys[0])
    flags = np.ones(n, bool)
    nulls = nulls or [np.zeros(n, bool)] * len(keys)
    same = np.ones(max(n - 1, 0), bool)
    for key, null in zip(keys, nulls, strict=True):
        a, b = key[:-1], key[1:]
        alike = (a == b) | ((a != a) & (b != b))
        same &= (null[:-1] & null[1:]) | (~null[:-1] & ~null[1:] & alike)
    flags[1:] = ~same
    return flags


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 1.0])
@pytest.mark.parametrize("in_place", [False, True])
def test_select_and_partition(backend, n, share, in_place):
    arrays, keep = columns(n, held(backend)), random(n, share)
    rows = np.arange(n)

    def fresh():
        return [backend.array(a.copy()) for a in arrays]

    options = {"positions": True, "in_place": in_place}
    found = select(fresh(), backend.array(keep), **options)
    equal(found, [a[keep] for a in [*arrays, rows]], backend)
    kept, rest = partition(fresh(), backend.array(keep), **options)
    equal(kept, [a[keep] for a in [*arrays, rows]], backend)
    equal(rest, [a[~keep] for a in [*arrays, rows]], backend)


def test_in_place_returns_heads_and_tails(backend):
    x = backend.array(np.arange(3 * TILE))
    keep = backend.array(np.arange(3 * TILE) % 3 == 0)
    (kept,), (rest,) = partition([x], keep, in_place=True)
    assert kept.base is x or kept.base is x.base
    equal([x[:TILE], x[TILE:]], [backend.to_numpy(kept), backend.to_numpy(rest)], backend)


@given(
    rows=st.lists(st.tuples(st.integers(-9, 9), st.booleans(), st.booleans()), max_size=60),
    threshold=st.integers(-9, 9),
)
def test_predicate(backend, rows, threshold):
    x = np.array([r[0] for r in rows], np.int64)
    y = np.array([np.nan if r[1] else r[0] for r in rows], np.float64)
    missing = np.array([r[2] for r in rows], bool)
    predicate = Predicate(
        lambda a, b, limit: a > limit and b < 5,
        [backend.array(x), backend.array(y), threshold],
        nulls=[byte_mask(backend.array(missing)), InBand(), None],
    )
    keep = (x > threshold) & (y < 5) & ~missing
    equal(select([backend.array(x)], predicate), [x[keep]], backend)
    kept, rest = partition([backend.array(y)], predicate)
    equal([*kept, *rest], [y[keep], y[~keep]], backend)


def test_predicate_over_tiles_in_place(backend):
    x = np.random.default_rng(0).random(5 * TILE + 3)
    y = backend.array(x.copy())
    equal(select([y], Predicate(lambda v: v > 0.5, [y]), in_place=True), [x[x > 0.5]], backend)


def test_predicates_are_content(backend):
    x = backend.array(np.arange(4))

    def make(k, inputs):
        return Predicate(lambda v: v > k, inputs)

    one = make(1, [x])
    assert one.token == make(1, [x[:2]]).token != make(2, [x]).token
    again = pickle.loads(cloudpickle.dumps(one))
    assert again.token == one.token
    equal(select([x], again), [np.array([2, 3])], backend)


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("dtype", [*DTYPES, "f2"])
def test_heads_of_every_dtype(backend, n, dtype):
    if not backend.holds(dtype):
        pytest.skip(f"{backend.name} has no arrays of {dtype}")
    key = np.repeat(columns(n // 3 + 1, [dtype])[0], 3)[:n]
    if np.dtype(dtype).kind in "fc":
        key[key == 7] = np.nan
        key[key == 0] *= -1  # equal to zero
    if np.dtype(dtype).kind in "mM":
        key[key.astype("i8") == 7] = "NaT"
    flags = first_rows([key if key.dtype.kind not in "mM" else key.astype("i8")])
    found = head_flags([backend.array(key)])
    equal([found], [flags], backend)
    first = np.flatnonzero(flags)
    for answer in ("i8", "i4") if dtype == "i8" else ("i8",):
        found = run_length_encode([backend.array(key)], dtype=answer)
        equal(found, [x.astype(answer) for x in (first, np.diff(first, append=n))], backend)


def test_complex_numbers_with_a_nan_part_are_equal(backend):
    nan = float("nan")
    for dtype in ("c8", "c16"):
        key = np.array([complex(nan, 1), complex(1, nan), complex(nan, nan), 1], dtype)
        equal([head_flags([backend.array(key)])], [np.array([True, False, False, True])], backend)


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("keep", ["first", "last"])
@pytest.mark.parametrize("in_place", [False, True])
def test_unique_of_several_keys_with_nulls(backend, n, keep, in_place):
    keys = columns(n, ["i2", "f8", "i8"], seed=n)
    keys = [k % 2 for k in keys]
    null = [random(n, 0.3, seed=s) for s in (1, 2)]
    bits = np.packbits(np.concatenate([np.zeros(5, bool), ~null[1]]), bitorder="little")
    on_device = [backend.array(k.copy()) for k in keys]
    nulls = [byte_mask(backend.array(null[0])), None, bitmap(backend.array(bits), 5)]
    flags = first_rows(keys, [null[0], np.zeros(n, bool), null[1]])
    if keep == "last":
        flags = np.append(flags[1:], True)[:n]
    kept = [k[flags] for k in keys]
    nothing, found = unique(on_device, on_device, nulls=nulls, keep=keep, positions=False)
    assert nothing is None
    equal(found, kept, backend)
    rows, found = unique(on_device, on_device, nulls=nulls, keep=keep, in_place=in_place)
    equal([rows, *found], [np.flatnonzero(flags), *kept], backend)


def test_unique_of_a_mask_that_is_compacted_too(backend):
    n = 4 * TILE
    key, null = columns(n, ["i8"])[0] // 60, random(n, 0.5)
    flags = first_rows([key], [null])
    x, mask = backend.array(key.copy()), backend.array(null.copy())
    _, found = unique([x], [x, mask], nulls=[byte_mask(mask)], in_place=True)
    equal(found, [key[flags], null[flags]], backend)


@given(lengths=st.lists(st.integers(0, 9), max_size=30), share=st.floats(0, 1))
def test_decode_inverts_encode(backend, lengths, share):
    n = len(lengths)
    arrays = columns(n, held(backend))
    found = run_length_decode(
        backend.array(np.array(lengths, np.int64)), [backend.array(a) for a in arrays]
    )
    expected = [np.repeat(a, np.array(lengths, np.int64)) for a in arrays]
    equal(found, expected, backend)
    keys = [backend.array(a) for a in expected[:3]]
    starts, again = run_length_encode(keys)
    equal(run_length_decode(again, [k[starts] for k in keys]), expected[:3], backend)


@pytest.mark.parametrize("longest", [1, 3, 500, 10**6])
def test_decode_over_tiles(backend, longest):
    lengths = np.random.default_rng(0).integers(
        0, longest + 1, 10**6 // longest + 3 * TILE // longest
    )
    values = np.arange(len(lengths))
    found = run_length_decode(backend.array(lengths), [backend.array(values)])
    equal(found, [np.repeat(values, lengths)], backend)


def test_strided_inputs(backend):
    x, keep = columns(2 * TILE + 9, ["i8"])[0], random(2 * TILE + 9, 0.5)
    y, k = backend.array(x), backend.array(keep)
    equal(select([y[::-3]], k[::-3]), [x[::-3][keep[::-3]]], backend)
    equal([head_flags([y[::2]])], [first_rows([x[::2]])], backend)
    equal(select([y[::2]], Predicate(lambda v: v > 3, [y[::2]])), [x[::2][x[::2] > 3]], backend)


def test_outputs_are_written_everywhere(backend, poisoned):
    if backend.name != "cpu":
        pytest.skip("outputs on a device are poisoned by its own tests")
    test_select_and_partition(backend, 3 * TILE + 1, 0.5, False)
    test_heads_of_every_dtype(backend, 3 * TILE + 1, "i8")
    test_decode_over_tiles(backend, 3)


@pytest.mark.parametrize("kept", [10, 3 * PARALLEL // 4])
def test_memory_of_dropped_rows_is_given_back(backend, kept, monkeypatch):
    if backend.name != "cpu":
        pytest.skip("memory of a device comes from its own allocator")
    monkeypatch.setattr(launch, "MAPPED", 0)  # smaller arrays from the pool too, which counts
    gc.freeze()  # what earlier tests left, which is not to be given back meanwhile
    x, allocated = np.arange(PARALLEL), pa.total_allocated_bytes()
    by_flags = select([x], x < kept)
    by_predicate = select([x], Predicate(lambda v, most: v < most, [x, kept]))
    assert by_flags[0].nbytes == by_predicate[0].nbytes == 8 * kept
    held = pa.total_allocated_bytes() - allocated
    assert 2 * 8 * kept <= held <= 3 * 8 * kept + 1024  # a predicate's rows are known afterwards
    del by_flags, by_predicate
    assert pa.total_allocated_bytes() == allocated


@pytest.mark.parametrize("kept", [0, 10, 3 * TILE])
def test_memory_of_dropped_rows_of_small_arrays_is_given_back(backend, kept):
    if backend.name != "cpu":
        pytest.skip("memory of a device comes from its own allocator")
    x = np.arange(4 * TILE)
    for keep in (x < kept, Predicate(lambda v, most: v < most, [x, kept])):
        (found,) = select([x], keep)
        memory = found if found.base is None else found.base
        assert found.nbytes == 8 * kept
        assert memory.nbytes <= 4 * found.nbytes


@pytest.mark.parametrize("n", LENGTHS)
def test_flags_of_neighbours(backend, n):
    x = np.random.default_rng(n).integers(0, 9, n + 1)
    y, expected = backend.array(x), np.diff(x) > 2
    pairs = [y[:-1], y[1:], 2]
    found = flags(Predicate(lambda before, after, gap: after - before > gap, pairs))
    np.testing.assert_array_equal(backend.to_numpy(found), expected)
    room = backend.array(np.ones(n + 3, bool))  # one byte beside a word
    assert flags(Predicate(lambda a, b, c: b - a > c, pairs), out=room[1:-2]).shape == (n,)
    np.testing.assert_array_equal(backend.to_numpy(room), [True, *expected, True, True])
    for out in (room, room[: 2 * n : 2] if n > 1 else room, backend.array(np.zeros(n))):
        with pytest.raises(ValueError, match="out must be a contiguous array"):
            flags(Predicate(lambda a, b, c: b - a > c, pairs), out=out)
    if backend.name == "cpu":
        fixed = np.zeros(n, bool)
        fixed.flags.writeable = False
        with pytest.raises(ValueError, match="read-only"):
            flags(Predicate(lambda a, b, c: b - a > c, pairs), out=fixed)


OTHER_CPU = """
import numpy as np
from dask_gpuscan.kernels import select
from dask_gpuscan.kernels.cpu.core.packing import has_compress

assert not has_compress()
rng = np.random.default_rng(5)
for share in (0.01, 0.5, 1.0):
    x, keep = rng.random(100_003), rng.random(100_003) < share
    few = x.astype("f4")
    for found, expected in zip(
        select([x, few], keep, positions=True), (x[keep], few[keep], np.flatnonzero(keep))
    ):
        np.testing.assert_array_equal(found, expected)
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="names a CPU of x86")
def test_cpus_that_cannot_pack(tmp_path):
    other = {
        "NUMBA_CPU_NAME": "haswell",
        "NUMBA_CPU_FEATURES": "",
        "DASK_GPUSCAN_CACHE": str(tmp_path),
    }
    command = [sys.executable, "-c", OTHER_CPU]
    found = subprocess.run(command, env=os.environ | other, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
