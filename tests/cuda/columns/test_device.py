"""Compaction and ordered group-by on a GPU, on both schedules, against plain NumPy."""

import cupy as cp
import numpy as np
import pytest

from dask_gpuscan import operator
from dask_gpuscan.kernels import (
    BUILT_IN,
    InBand,
    Predicate,
    bitmap,
    byte_mask,
    head_flags,
    partition,
    reduce_by_key,
    run_length_decode,
    run_length_encode,
    scan_by_key,
    select,
    unique,
)
from dask_gpuscan.kernels.cuda.columns.column_pass import ColumnPass
from dask_gpuscan.kernels.cuda.columns.columns import run_columns
from dask_gpuscan.kernels.cuda.columns.compact import POSITIONS, gathering
from dask_gpuscan.kernels.cuda.columns.selection import visited
from dask_gpuscan.kernels.cuda.core import build, launch
from dask_gpuscan.kernels.cuda.core.plan import NOWHERE, Extent, Plan
from dask_gpuscan.kernels.cuda.core.visitors import HEAD_FLAGS, SELECT, UNIQUE
from dask_gpuscan.kernels.operators.compensated import MEAN, SUM

pytestmark = pytest.mark.gpu

LENGTHS = [0, 1, 2, 31, 129, 2047, 2048, 4097, 8191, 8192, 8193, 16384, 16385, 270_341, 1_500_007]
MEAN_RUNS = [1, 2, 7, 33, 500, 1_000_000]


@pytest.fixture(params=["classic", "pipelined"], autouse=True)
def schedule(request, monkeypatch):
    if request.param == "pipelined" and int(cp.cuda.Device().compute_capability) < 90:
        pytest.skip("needs compute capability 9.0")
    monkeypatch.setattr(launch, "SCHEDULE", request.param)
    empty = cp.empty

    def poisoned(shape, dtype=float, **options):
        out = empty(shape, dtype, **options)
        out.view("u1").fill(0xCC)
        return out

    monkeypatch.setattr(cp, "empty", poisoned)
    return request.param


def on_device(x, shift=0):
    """A copy on the GPU, `shift` elements from where arrays begin."""
    host = np.concatenate([np.zeros(shift, x.dtype), x])
    return cp.asarray(host)[shift:]


def same(found, expected):
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found.get(), expected)


def key_of(rng, n, mean, dtype="i4"):
    """Keys in runs of about `mean` rows."""
    return (np.cumsum(rng.random(n) < 1 / mean) % 100).astype(dtype)


def first_rows(*keys):
    n = len(keys[0])
    marks = np.zeros(n, bool)
    for key in keys:
        a, b = key[:-1], key[1:]
        marks[1:] |= (a != b) & ((a == a) | (b == b))
    marks[:1] = True
    return marks


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("share", [0.0, 0.01, 0.03, 0.5, 1.0])
def test_select_and_partition(n, share):
    rng = np.random.default_rng(n)
    for shift in (0, 3):
        keep = rng.random(n) < share
        columns = [rng.integers(0, 99, n).astype(d) for d in ("i4", "f8", "i1", "c16", "i2")]
        given = [on_device(c, shift) for c in columns]
        flags = on_device(keep, shift)
        found = select(given, flags, positions=True)
        for f, c in zip(found, [*columns, np.arange(n)], strict=True):
            same(f, c[keep])
        kept, rest = partition(given, flags, positions=True)
        for k, r, c in zip(kept, rest, [*columns, np.arange(n)], strict=True):
            same(k, c[keep])
            same(r, c[~keep])
        here = given[:3]
        found = select(here, flags, positions=True, in_place=True)
        for f, c in zip(found, [*columns[:3], np.arange(n)], strict=True):
            same(f, c[keep])
        assert not n or found[0].data.ptr == here[0].data.ptr
        given = [on_device(c, shift) for c in columns]
        kept, rest = partition(given, flags, in_place=True)
        for k, r, c, g in zip(kept, rest, columns, given, strict=True):
            same(k, c[keep])
            same(r, c[~keep])
            same(g, np.concatenate([c[keep], c[~keep]]))


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("shift", [0, 1, 5])
def test_predicates(n, shift):
    rng = np.random.default_rng(n)
    x, y = rng.integers(0, 1000, n).astype("i4"), rng.normal(size=n)
    z, gone, b = rng.normal(size=n), rng.random(n) < 0.2, rng.random(n) < 0.5
    y[rng.random(n) < 0.1] = np.nan
    valid = np.packbits(np.concatenate([np.ones(shift, bool), ~gone]), bitorder="little")
    given = [on_device(a, shift) for a in (x, y, z, b)]
    less = Predicate(lambda x, c: x < c, [given[0], 300])
    (found,) = select([given[0]], less)
    same(found, x[x < 300])
    several = Predicate(
        lambda c, x, y, z, b, d: x < c and (y * d < z or b),
        [500, *given, 2.0],
        [None, bitmap(cp.asarray(valid), shift), InBand(), byte_mask(cp.asarray(gone)), None, None],
    )
    keep = (x < 500) & ((y * 2 < z) | b) & ~gone & ~np.isnan(y)
    found = select([given[2], given[0]], several, positions=True)
    for f, c in zip(found, [z, x, np.arange(n)], strict=True):
        same(f, c[keep])
    kept, rest = partition([given[0]], less)
    same(kept[0], x[x < 300])
    same(rest[0], x[x >= 300])


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("mean", MEAN_RUNS)
def test_runs(n, mean):
    rng = np.random.default_rng(n)
    for shift in (0, 1):
        key = key_of(rng, n, mean)
        given = on_device(key, shift)
        first = first_rows(key)
        last = np.append(first[1:], True) if n else first
        same(head_flags([given]), first)
        at = np.flatnonzero(first)
        for dtype in ("i4", "i8"):
            starts, lengths = run_length_encode([given], dtype=dtype)
            same(starts, at.astype(dtype))
            same(lengths, np.diff(at, append=n).astype(dtype))
        same(run_length_decode(lengths, [given[starts]])[0], key)
        other = rng.normal(size=n)
        for keep, marks in (("first", first), ("last", last)):
            positions, found = unique([given], [given, on_device(other, shift)], keep=keep)
            same(positions, np.flatnonzero(marks))
            same(found[0], key[marks])
            same(found[1], other[marks])
            here = [given.copy(), on_device(other, shift)]
            positions, found = unique([here[0]], here, keep=keep, in_place=True)
            same(positions, np.flatnonzero(marks))
            same(found[0], key[marks])
            same(here[1][: len(found[1])], other[marks])


@pytest.mark.parametrize("dtype", "? i1 u2 i8 f4 f8 c8 c16".split())
@pytest.mark.parametrize("n", [1, 8193, 100_003])
def test_keys_of_every_type(dtype, n):
    rng = np.random.default_rng(n)
    key = key_of(rng, n, 3, dtype)
    if key.dtype.kind in "fc":
        key[key_of(rng, n, 5) % 3 == 0] = np.nan
        key[key_of(rng, n, 5) % 7 == 0] = -0.0
    second = key_of(rng, n, 10, "i8")
    gone = key_of(rng, n, 4) % 2 == 0
    valid = np.packbits(np.concatenate([np.ones(3, bool), ~gone]), bitorder="little")
    same(head_flags([cp.asarray(key)]), first_rows(key))
    same(head_flags([cp.asarray(key), cp.asarray(second)]), first_rows(key, second))
    nulls = [bitmap(cp.asarray(valid), 3), byte_mask(cp.asarray(gone)), None]
    clean = [np.where(gone, 0, k) for k in (key, second)]
    expected = first_rows(*clean, gone, second)
    third = [cp.asarray(k) for k in (key, second, second)]
    same(head_flags(third, nulls=nulls), expected)
    positions, _ = unique(third, nulls=nulls, keep="last")
    same(positions, np.flatnonzero(np.append(expected[1:], True)))


def test_many_keys():
    rng = np.random.default_rng(0)
    keys = [key_of(rng, 50_000, 500, "i8") for _ in range(60)]
    first = first_rows(*keys)
    given = [cp.asarray(k) for k in keys]
    same(head_flags(given), first)
    same(run_length_encode(given)[0], np.flatnonzero(first))


def restarted(values, marks):
    """Running sums that restart at marks."""
    total = np.cumsum(values)
    at = np.flatnonzero(marks)
    return total - np.repeat(total[at] - values[at], np.diff(at, append=len(values)))


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("mean", MEAN_RUNS)
@pytest.mark.parametrize("nulls", [False, True])
def test_sums_that_carry_what_rounding_lost(n, mean, nulls):
    rng = np.random.default_rng(n + mean)
    key = key_of(rng, n, mean)
    whole = rng.choice([-(2**52), 0, 2**52] if mean < 1000 else [0], n) + rng.integers(-9, 10, n)
    gone = rng.random(n) < (0.3 if nulls else 0)
    described = byte_mask(cp.asarray(gone)) if nulls else None
    seen, first = np.where(gone, 0, whole), first_rows(key)
    last = np.append(first[1:], True) if n else first
    exact, counts = restarted(seen, first), restarted((~gone).astype(np.int64), first)
    given, values = [on_device(key, 1)], on_device(whole.astype("f8"), 3)

    def close(found, expected):
        error = cp.asnumpy(found).astype(np.longdouble) - expected
        assert (np.abs(error) <= np.spacing(np.abs(expected.astype("f8")))).all()

    _, sums = reduce_by_key(SUM, given, values, nulls=described, lower=True)
    close(sums, exact[last])
    _, (number, total, loss) = reduce_by_key(MEAN, given, values, nulls=described)
    same(number, counts[last].astype("f8"))
    close(total + loss, exact[last])
    out, carry = scan_by_key(SUM, given, values, nulls=described)
    close(out, exact)
    if n:
        close(cp.asarray(sum(carry)), exact[-1])
    out, _ = scan_by_key(SUM, given, values, nulls=described, exclusive=True)
    close(out, exact - seen)
    out, _ = scan_by_key(SUM, given, values, nulls=described, reverse=True)
    close(out, restarted(seen[::-1], last[::-1])[::-1])


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("mean", MEAN_RUNS)
@pytest.mark.parametrize("nulls", ["none", "in band", "bits", "bytes"])
def test_sums_by_key(n, mean, nulls):
    rng = np.random.default_rng(n)
    for shift, dtype in ((0, "f4"), (1, "f8"), (2, "i8")):
        key, x = key_of(rng, n, mean), rng.integers(-9, 9, n).astype(dtype)
        gone = rng.random(n) < 0.3
        described = None
        if nulls == "in band" and dtype[0] == "f":
            x[gone] = np.nan
            described = InBand()
        elif nulls == "bits":
            bits = np.packbits(np.concatenate([np.ones(shift, bool), ~gone]), bitorder="little")
            described = bitmap(cp.asarray(bits), shift)
        elif nulls == "bytes":
            described = byte_mask(cp.asarray(gone))
        else:
            gone[:] = False
        add, given, values = BUILT_IN["add"], [on_device(key, shift)], on_device(x, shift)
        seen, first = np.where(gone, 0, x), first_rows(key)
        last = np.append(first[1:], True) if n else first
        kind = np.dtype(dtype)
        expected = restarted(seen.astype("f8"), first)
        starts, sums = reduce_by_key(add, given, values, nulls=described, dtype=kind)
        same(starts, np.flatnonzero(first))
        same(sums, expected[last].astype(kind))
        out, carry = scan_by_key(add, given, values, nulls=described, dtype=kind)
        same(out, expected.astype(kind))
        assert carry == (expected[-1] if n else 0)
        out, _ = scan_by_key(add, given, values, nulls=described, dtype=kind, exclusive=True)
        same(out, (expected - seen).astype(kind))
        out, carry = scan_by_key(
            add, given, values, nulls=described, dtype=kind, carry_in=5, continues=True
        )
        open_run = np.cumsum(first) == 1
        same(out, (expected + 5 * open_run).astype(kind))
        assert carry == (expected[-1] + 5 * open_run[-1] if n else 5)
        out, carry = scan_by_key(add, given, values, nulls=described, dtype=kind, reverse=True)
        backwards = restarted(seen[::-1].astype("f8"), last[::-1])[::-1]
        same(out, backwards.astype(kind))
        assert carry == (backwards[0] if n else 0)


@pytest.mark.parametrize("n", [1, 8193, 300_007])
@pytest.mark.parametrize("mean", [2, 500])
def test_other_operators_by_key(n, mean):
    rng = np.random.default_rng(n)
    key, x = key_of(rng, n, mean), rng.normal(size=n)
    first = first_rows(key)
    at = np.flatnonzero(first)
    lengths = np.diff(at, append=n)
    given, values = [cp.asarray(key)], cp.asarray(x)
    _, (found, there) = reduce_by_key(BUILT_IN["first"], given, values, starts=False)
    same(found, x[at])
    assert there.all()
    _, found = reduce_by_key(BUILT_IN["last"], given, values, lower=True)
    same(found, x[at + lengths - 1])
    _, found = reduce_by_key(BUILT_IN["maximum"], given, values)
    same(found, np.maximum.reduceat(x, at))
    _, (count, mean_, _) = reduce_by_key(BUILT_IN["welford"], given, values)
    same(count, lengths.astype("f8"))
    np.testing.assert_allclose(mean_.get(), np.add.reduceat(x, at) / lengths, atol=1e-12)
    ones = cp.ones(n)
    out, _ = scan_by_key(BUILT_IN["affine"], given, (ones, values))
    np.testing.assert_allclose(out.get(), restarted(x, first), atol=1e-9)
    again, _ = scan_by_key(BUILT_IN["affine"], given, (ones, values))
    assert (out.view("i8") == again.view("i8")).all()
    out, _ = scan_by_key(BUILT_IN["maximum"], given, values.astype("f4"), reverse=True)
    expected = [
        np.maximum.accumulate(x[a : a + k][::-1])[::-1] for a, k in zip(at, lengths, strict=True)
    ]
    same(out, np.concatenate(expected).astype("f4"))
    x[::3] = np.nan
    out, _ = scan_by_key(BUILT_IN["add"], given, cp.asarray(x), nulls=InBand(), mark_nulls=True)
    assert (cp.isnan(out) == cp.isnan(cp.asarray(x))).all()


def test_superblocks():
    n = 20_000_003
    rng = np.random.default_rng(0)
    key = key_of(rng, n, 3)
    first = first_rows(key)
    at = np.flatnonzero(first)
    starts, lengths = run_length_encode([cp.asarray(key)])
    same(starts, at)
    same(lengths, np.diff(at, append=n))
    x = rng.integers(-9, 9, n)
    out, _ = scan_by_key(BUILT_IN["add"], [cp.asarray(key)], cp.asarray(x))
    same(out, restarted(x, first))
    for _ in range(20):
        assert (reduce_by_key(BUILT_IN["add"], [cp.asarray(key)], cp.asarray(x))[0] == starts).all()


@pytest.mark.slow
def test_more_than_two_to_the_31(schedule, room):
    n = 2**31 + 17
    room(30 * n)
    x = cp.zeros(n, "i1")
    x[2**30 :: 2**29] = 1
    x[-1] = 1
    wanted = cp.flatnonzero(x[2**31 - 9 :]) + 2**31 - 9
    found, at = select([x], Predicate(lambda x: x != 0, [x]), positions=True)
    assert bool((found == 1).all())
    assert at[-1] == n - 1
    assert bool((at[-len(wanted) :] == wanted).all())
    (found,) = select([x], x == 0)
    assert len(found) == n - len(at)


def test_numbers_that_functions_capture():
    def above(limit):
        return Predicate(lambda x: x > limit, [device])

    def weighted(k):
        return operator(lambda a, b: a + b, lift=lambda x: x * k, identity=0.0)

    x = np.arange(50_000) % 100
    device, keys = cp.asarray(x), cp.asarray(np.arange(50_000) // 1000)
    values = cp.asarray(x.astype("f8"))
    select([device], above(1))
    reduce_by_key(weighted(1.0), keys, values)
    scan_by_key(weighted(1.0), keys, values)
    before = len(build._kernels)
    for k in (7, 50, 98):
        same(select([device], above(k))[0], x[x > k])
        sums = reduce_by_key(weighted(float(k)), keys, values)[1]
        np.testing.assert_array_equal(sums.get(), np.full(50, 49_500.0 * k))
        running = scan_by_key(weighted(float(k)), keys, values)[0]
        expected = np.cumsum(x.reshape(50, 1000) * float(k), axis=1).reshape(-1)
        np.testing.assert_array_equal(running.get(), expected)
    assert len(build._kernels) == before


@pytest.mark.parametrize("n", [1, 8193, 1_500_007])
def test_two_passes_of_one_plan(n):
    """The first writes where runs start, the second gathers the positions of what it wrote."""
    key = key_of(np.random.default_rng(8), n, 7)
    keys, flags, starts = on_device(key), cp.ndarray(n, "?"), cp.ndarray(n, "i8")
    first = visited(ColumnPass(UNIQUE, "runs", (keys.dtype,), (NOWHERE,)), HEAD_FLAGS)
    second = ColumnPass(SELECT, "flags", (flags.dtype,), (NOWHERE,))
    second = gathering(second, (POSITIONS,), (), False, False)
    begun = launch.Launch(launch.current_space(Plan((first, second)), Extent(n)), True)
    run_columns(begun, 0, first, [keys], outs=[flags])
    run_columns(begun, 1, second, [flags], gathered=[None], outs=[starts])
    count = int(begun.read()["selected"][0])
    same(starts[:count], np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]])))
