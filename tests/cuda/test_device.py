"""What only a GPU can get wrong: schedules, streams, carries without waiting, alignment, and sizes."""

from concurrent.futures import ThreadPoolExecutor

import cupy as cp
import numpy as np
import pytest
from dask_gpuscan.kernels import (
    BUILT_IN,
    InBand,
    bitmap,
    byte_mask,
    operator,
    reduce,
    scan,
    segmented,
)
from dask_gpuscan.kernels.cuda import launch
from dask_gpuscan.kernels.cuda.tuning import tile_for

pytestmark = pytest.mark.gpu

SCHEDULES = ["classic", "pipelined"]
LENGTHS = [1, 31, 8191, 8192, 8193, 33 * 8192 + 5, 1100 * 2048 + 7]


@pytest.fixture(params=SCHEDULES)
def schedule(request, monkeypatch):
    major = cp.cuda.Device().compute_capability
    if request.param == "pipelined" and int(major) < 90:
        pytest.skip("needs compute capability 9.0")
    monkeypatch.setattr(launch, "SCHEDULE", request.param)
    return request.param


def numbers(n, dtype, seed=0):
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "c":
        return (rng.integers(-3, 3, n) + 1j * rng.integers(-3, 3, n)).astype(dtype)
    low = 0 if np.dtype(dtype).kind in "ub" else -9
    return rng.integers(low, 9, n).astype(dtype)


@pytest.mark.parametrize("dtype", "? i1 u1 i2 u2 i4 u4 i8 u8 f4 f8 c8 c16".split())
@pytest.mark.parametrize("n", LENGTHS)
def test_sums_of_every_type(schedule, dtype, n):
    x = numbers(n, dtype)
    for kept in (None, np.dtype(dtype) if dtype != "?" else None):
        expected = np.cumsum(x, dtype=kept)
        for reverse in (False, True):
            y = x[::-1] if reverse else x
            out, carry = scan(BUILT_IN["add"], cp.asarray(y), dtype=kept, reverse=reverse)
            out = out.get()[::-1] if reverse else out.get()
            assert out.dtype == expected.dtype
            np.testing.assert_array_equal(out, expected)
            assert carry == expected[-1]
            assert carry == reduce(BUILT_IN["add"], cp.asarray(y), dtype=kept, reverse=reverse)


@pytest.mark.parametrize("nulls", ["none", "in band", "bits", "bytes"])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i8"])
def test_nulls_and_options(schedule, nulls, reverse, exclusive, dtype):
    rng = np.random.default_rng(1)
    for n in LENGTHS[2:]:
        for shift in (0, 1, 5):
            x = numbers(n + shift, dtype)[shift:]
            valid = rng.random(n) < 0.7
            mark = False
            device = cp.asarray(np.concatenate([np.zeros(shift, dtype), x]))[shift:]
            described = None
            if nulls == "in band":
                mark = True
                x = x.copy()
                x[~valid] = np.nan if dtype[0] == "f" else np.iinfo(np.int64).min
                device[...] = cp.asarray(x)
                described = InBand()
            elif nulls == "bits":
                bits = np.packbits(np.concatenate([np.ones(shift, bool), valid]), bitorder="little")
                described = bitmap(cp.asarray(bits), shift)
            elif nulls == "bytes":
                described = byte_mask(cp.asarray(~valid))
            else:
                valid[:] = True
            options = {"nulls": described, "reverse": reverse, "exclusive": exclusive}
            out, carry = scan(BUILT_IN["add"], device, carry_in=3, mark_nulls=mark, **options)
            seen = np.where(valid, x, 0).astype("f8")
            seen = seen[::-1] if reverse else seen
            after = 3 + np.cumsum(seen)
            expected = after - seen if exclusive else after
            expected = expected[::-1] if reverse else expected
            if mark:
                missing = np.nan if dtype[0] == "f" else float(np.iinfo(np.int64).min)
                expected = np.where(valid, expected, missing)
            np.testing.assert_array_equal(out.get().astype("f8"), expected)
            assert carry == after[-1]


@pytest.mark.parametrize("n", LENGTHS)
def test_operators_that_do_not_commute(schedule, n):
    rng = np.random.default_rng(2)
    a, b = rng.integers(0, 2, n), rng.integers(-5, 5, n)
    last = np.maximum.accumulate(np.where(a == 1, np.arange(n), -1))
    total = np.cumsum(b)
    before = np.where(last >= 0, total[last] - b[last], 0)
    out, _ = scan(segmented(BUILT_IN["add"]), (cp.asarray(a == 1), cp.asarray(b)))
    np.testing.assert_array_equal(out.get(), total - before)
    x = np.where(a == 1, b.astype("f8"), np.nan)
    filled, _ = scan(BUILT_IN["last"], cp.asarray(x), nulls=InBand())
    expected = np.where(last >= 0, b[last], 0)
    np.testing.assert_array_equal(filled.get(), expected)
    slopes = np.where(a == 1, 0.0, 1.0)  # restarts at b
    out, (_, offset) = scan(BUILT_IN["affine"], (cp.asarray(slopes), cp.asarray(b.astype("f8"))))
    np.testing.assert_array_equal(out.get(), total - before)
    assert offset == (total - before)[-1]


def test_a_python_operator(schedule):
    argmax = operator(
        lambda a, b: b if b[0] > a[0] else a,
        identity=(-np.inf, -1),
        lift=lambda x, i: (x, i),
        lower=lambda s: s[1],
    )
    x = np.random.default_rng(3).normal(size=100_000)
    out, (best, at) = scan(argmax, (cp.asarray(x), cp.arange(len(x))))
    np.testing.assert_array_equal(x[out.get()], np.maximum.accumulate(x))
    assert (best, at) == (x.max(), x.argmax())


def test_schedules_give_the_same_bits(monkeypatch):
    if int(cp.cuda.Device().compute_capability) < 90:
        pytest.skip("needs compute capability 9.0")
    x = cp.asarray(np.random.default_rng(0).normal(size=9_000_017))  # several superblocks of tiles
    for op in ("add", "welford"):
        found = []
        for schedule in SCHEDULES * 3:
            monkeypatch.setattr(launch, "SCHEDULE", schedule)
            out, carry = scan(BUILT_IN[op], x)
            found.append((out.get().tobytes(), carry, reduce(BUILT_IN[op], x)))
        assert all(f[0] == found[0][0] for f in found)
        assert all(f[1] == f[2] == found[0][1] for f in found)


def test_the_same_bits_a_hundred_times(schedule):
    x = cp.asarray(np.random.default_rng(0).normal(size=2_000_003).astype("f4"))
    first, carry = scan(BUILT_IN["add"], x)
    for _ in range(100):
        out, again = scan(BUILT_IN["add"], x)
        assert bool((out.view("i4") == first.view("i4")).all())
        assert again == carry


def test_two_streams_at_once(schedule):
    n = 1 << 22
    streams = [cp.cuda.Stream(non_blocking=True) for _ in range(2)]
    x = cp.ones(n, "i4")
    cp.cuda.Device().synchronize()
    outs = [[], []]
    for _ in range(50):
        for i, stream in enumerate(streams):
            with stream:
                outs[i].append(scan(BUILT_IN["add"], x, dtype="i4", carry_out=False)[0][-1:])
    cp.cuda.Device().synchronize()
    assert all(int(o[0]) == n for several in outs for o in several)


def test_host_threads(schedule):
    x = cp.arange(100_000)

    def job(k):
        with cp.cuda.Stream(non_blocking=True):
            out, carry = scan(BUILT_IN["add"], x, carry_in=k)
            return int(carry), int(out[-1])

    cp.cuda.Device().synchronize()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(job, range(64)))
    assert found == [(int(x.sum()) + k,) * 2 for k in range(64)]


def test_outputs_are_written_everywhere(schedule, monkeypatch):
    empty = cp.empty

    def poisoned(shape, dtype=float, **options):
        out = empty(shape, dtype, **options)
        out.view("u1").fill(0xCC)
        return out

    monkeypatch.setattr(cp, "empty", poisoned)
    for n in LENGTHS:
        out, _ = scan(BUILT_IN["add"], cp.ones(n, "i8"))
        assert bool((out == cp.arange(1, n + 1)).all())


@pytest.mark.parametrize(
    "shape",
    [(70, 9000), (3, 100_001), (9000, 70), (5000, 33), (2, 300, 40), (5000, 3, 5), (1, 5000, 2)],
)
@pytest.mark.parametrize("reverse", [False, True])
def test_lines(shape, reverse):
    x = numbers(int(np.prod(shape)), "i4").reshape(shape)
    valid = np.random.default_rng(1).random(shape) < 0.8
    bits = cp.asarray(np.packbits(valid.reshape(-1), bitorder="little"))
    for axis in range(x.ndim):
        seen = np.flip(np.where(valid, x, 0), axis) if reverse else np.where(valid, x, 0)
        expected = 2 + np.cumsum(seen, axis=axis)
        total = 2 + seen.sum(axis)
        expected = np.flip(expected, axis) if reverse else expected
        for carry_in in (2, np.full(total.shape, 2)):
            out, carry = scan(
                BUILT_IN["add"],
                cp.asarray(x),
                axis=axis,
                nulls=bitmap(bits),
                reverse=reverse,
                carry_in=carry_in,
            )
            np.testing.assert_array_equal(out.get(), expected)
            np.testing.assert_array_equal(carry, total)


def test_no_carry_out_is_none():
    out, carry = scan(BUILT_IN["add"], cp.ones(10), carry_out=False)
    assert carry is None
    assert float(out[-1]) == 10


def test_the_current_allocator_is_used():
    taken = []
    pool = cp.cuda.MemoryPool()

    def allocate(size):
        taken.append(size)
        return pool.malloc(size)

    x = cp.ones(100_000)
    with cp.cuda.using_allocator(allocate):
        scan(BUILT_IN["add"], x)
    assert x.nbytes in taken


def test_a_mask_on_the_host_is_refused():
    with pytest.raises(TypeError, match="must be a CuPy array"):
        scan(BUILT_IN["add"], cp.ones(3), nulls=bitmap(np.array([7], "u1")))


@pytest.mark.slow
def test_more_than_two_to_the_31(schedule):
    n = 2**31 + 17
    if cp.cuda.runtime.memGetInfo()[0] < 5 * n:
        pytest.skip("needs 11 GB of free memory")
    x = cp.ones(n, "i1")
    out, carry = scan(BUILT_IN["add"], x, dtype="i1")
    assert int(carry) == np.array(n).astype("i1")
    at = cp.asarray([0, 5, 2**31 - 1, 2**31, n - 1])
    np.testing.assert_array_equal(out[at].get(), (at.get() + 1).astype("i1"))
    assert int(reduce(BUILT_IN["add"], x)) == n


def test_tiles_do_not_depend_on_the_device():
    form = (np.dtype("f4"),)
    assert tile_for(form, form, form).items == 8192
