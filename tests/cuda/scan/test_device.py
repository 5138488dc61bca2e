"""What only a GPU can get wrong: schedules, streams, carries without waiting, alignment, and sizes."""

import gc
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import cupy as cp
import numpy as np
import pytest

from dask_gpuscan import operator, segmented
from dask_gpuscan.kernels import BUILT_IN, INT128, InBand, bitmap, byte_mask, reduce, scan
from dask_gpuscan.kernels.cuda.core import build, launch
from dask_gpuscan.kernels.cuda.scan.tuning import tile_for
from dask_gpuscan.kernels.scan import aggregating, fold
from dask_gpuscan.ops.statistics.table import window_operator

pytestmark = pytest.mark.gpu

LENGTHS = [1, 31, 8191, 8192, 8193, 33 * 8192 + 5, 1100 * 2048 + 7]


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


@pytest.mark.parametrize("rows", [1, 513, 2047, 2048, 2049, 8193, 33 * 2048 + 5, 300_007])
@pytest.mark.parametrize(
    ("dtype", "width"),
    [("f4", 2), ("f4", 7), ("f4", 8), ("f4", 9), ("f8", 3), ("f8", 4), ("i1", 3)],
)
def test_narrow_tables(schedule, dtype, width, rows):
    x = numbers(rows * width + 1, dtype)[1:].reshape(rows, width)
    memory = cp.asarray(np.append(x.ravel(), x.ravel()[:1]))
    misaligned = cp.empty(x.size + 1, dtype)[1:]
    misaligned[:] = memory[:-1]
    sums = np.cumsum(x, axis=0, dtype=dtype)
    start = numbers(width, dtype, 1)
    for table in (memory[:-1].reshape(rows, width), misaligned.reshape(rows, width)):
        out, end = scan(BUILT_IN["add"], table, axis=0, dtype=dtype, carry_in=start)
        np.testing.assert_array_equal(out.get(), sums + start)
        np.testing.assert_array_equal(end, sums[-1] + start)
        options = {"axis": 0, "dtype": dtype, "reverse": True, "exclusive": True}
        back, end = scan(BUILT_IN["add"], table, **options)
        np.testing.assert_array_equal(back.get(), sums[-1] - sums)
        np.testing.assert_array_equal(reduce(BUILT_IN["add"], table, axis=0, dtype=dtype), sums[-1])
    starts = numbers(x.size, "i4", 2).reshape(x.shape) > 4
    slopes = np.where(starts, 0, 1).astype("f4")  # lines restart at different rows
    values = x.astype("f4")
    out, _ = scan(BUILT_IN["affine"], (cp.asarray(slopes), cp.asarray(values)), axis=0)
    total = np.cumsum(values.astype("f8"), axis=0)
    last = np.maximum.accumulate(np.where(starts, np.arange(rows)[:, None], -1), axis=0)
    earlier = np.take_along_axis(total - values, np.maximum(last, 0), axis=0)
    np.testing.assert_array_equal(out.get(), total - np.where(last < 0, 0, earlier))


def test_many_short_tables(schedule):
    x = numbers(3000 * 40 * 5, "f8").reshape(3000, 40, 5)
    out, end = scan(BUILT_IN["add"], cp.asarray(x), axis=1)
    np.testing.assert_array_equal(out.get(), np.cumsum(x, axis=1))
    np.testing.assert_array_equal(end, x.sum(axis=1))


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
    for op, y in (("add", x), ("welford", x), ("add", x[:-1].reshape(-1, 4))):
        found = []
        for schedule in ["classic", "pipelined"] * 3:
            monkeypatch.setattr(launch, "SCHEDULE", schedule)
            out, carry = scan(BUILT_IN[op], y, axis=0)
            total = reduce(BUILT_IN[op], y, axis=0)
            found.append((out.get().tobytes(), *(np.array(s).tobytes() for s in (carry, total))))
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


def test_outputs_are_written_everywhere(schedule):
    pool = cp.cuda.MemoryPool()

    def poisoned(size):
        memory = pool.malloc(size)
        memory.memset_async(0xCC, size)
        return memory

    inputs = [cp.ones(n, "i8") for n in LENGTHS]
    with cp.cuda.using_allocator(poisoned):
        outs = [scan(BUILT_IN["add"], x)[0] for x in inputs]
    for n, out in zip(LENGTHS, outs, strict=True):
        assert bool((out == cp.arange(1, n + 1)).all())


@pytest.mark.parametrize(
    "shape",
    [
        (70, 9000),
        (3, 100_001),
        (9000, 70),
        (5000, 33),
        (2, 300, 40),
        (5000, 3, 5),
        (1, 5000, 2),
        (200_001, 3),
        (100, 600),
    ],
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


@pytest.mark.parametrize("shape", [(64 * 32 * 3, 1, 7), (100_001, 8), (4000, 2100)])
@pytest.mark.parametrize("exclusive", [False, True])
def test_an_operator_that_does_not_commute_in_lines_side_by_side(shape, exclusive):
    a, b = (np.random.default_rng(k).integers(-9, 9, shape) for k in (1, 2))
    options = {"axis": 0, "exclusive": exclusive, "carry_in": (2, 3)}
    expected = scan(BUILT_IN["affine"], (a, b), **options)
    out, carry = scan(BUILT_IN["affine"], (cp.asarray(a), cp.asarray(b)), **options)
    np.testing.assert_array_equal(out.get(), expected[0])
    for ours, theirs in zip(carry, expected[1], strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("dtype", ["i1", "i4", "f8"])
@pytest.mark.parametrize("offset", [0, 1, 3])
def test_lengths_about_a_tile(schedule, dtype, offset):
    form = (np.dtype(dtype),)
    tile = tile_for(form, form, form).items
    for n in (0, 1, tile - 1, tile, tile + 1, 32 * tile, 32 * tile + 1, 300 * tile - 1):
        x = cp.asarray(numbers(n + offset, dtype))[offset:]
        out, carry = scan(BUILT_IN["add"], x, dtype=dtype)
        expected = np.cumsum(x.get(), dtype=dtype)
        np.testing.assert_array_equal(out.get(), expected)
        assert carry == (expected[-1] if n else 0)
        assert carry == reduce(BUILT_IN["add"], x, dtype=dtype)


@pytest.mark.parametrize("dtype", ["i1", "u1"])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("exclusive", [False, True])
def test_bytes_of_their_whole_range(schedule, dtype, reverse, exclusive):
    form = (np.dtype(dtype),)
    tile = tile_for(form, form, form).items
    rng = np.random.default_rng(3)
    for n, shift in ((tile - 1, 0), (tile, 16), (tile + 1, 1), (33 * tile + 5, 0), (9 * tile, 4)):
        host = rng.integers(0, 256, n + shift, dtype="u1").view(dtype)
        x = cp.asarray(host)[shift:]
        given = host[shift:][::-1] if reverse else host[shift:]
        after = np.cumsum(given, dtype=dtype) + np.array(100, dtype)
        expected = after - given if exclusive else after
        options = {"dtype": dtype, "carry_in": 100, "reverse": reverse, "exclusive": exclusive}
        found, carry = scan(BUILT_IN["add"], x, **options)
        np.testing.assert_array_equal(found.get()[::-1] if reverse else found.get(), expected)
        assert carry == after[-1]


def as_int128(values):
    found = np.zeros(len(values), INT128)
    found["low"] = [v & (2**64 - 1) for v in values]
    found["high"] = [v >> 64 for v in values]
    return found


def integers(array):
    host = array.get()
    pairs = zip(host["low"].tolist(), host["high"].tolist(), strict=True)
    return [low + (high << 64) for low, high in pairs]


WIDE = {
    "add": lambda a, b: (a + b + 2**127) % 2**128 - 2**127,
    "minimum": min,
    "maximum": max,
    "first": lambda a, b: a,
    "last": lambda a, b: b,
}


@pytest.mark.parametrize("name", WIDE)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("n", [1, 1000, 600_001])
def test_128_bit_integers(schedule, name, reverse, n):
    rng = np.random.default_rng(5)
    halves = rng.integers(-(2**62), 2**62, (2, n)).tolist()
    values = [(high << 64) + low for high, low in zip(*halves, strict=True)]
    valid = rng.random(n) < 0.8
    bits = bitmap(cp.asarray(np.packbits(valid, bitorder="little")))
    x = cp.asarray(as_int128(values))
    order = range(n - 1, -1, -1) if reverse else range(n)
    start = 2**100 if name not in ("first", "last") else (2**100, True)
    for exclusive in (False, True):
        out, carry = scan(
            BUILT_IN[name], x, nulls=bits, reverse=reverse, exclusive=exclusive, carry_in=start
        )
        running, expected = 2**100, [0] * n
        for i in order:
            before = running
            if valid[i]:
                running = WIDE[name](running, values[i])
            expected[i] = before if exclusive else running
        assert out.dtype == INT128
        assert integers(out) == expected
        assert carry == (running if name not in ("first", "last") else (running, True))
    assert reduce(BUILT_IN[name], x, nulls=bits, reverse=reverse, carry_in=start) == carry
    assert scan(BUILT_IN[name], x[:0])[1] == reduce(BUILT_IN[name], x[:0])


def test_128_bit_integers_between_pieces_and_in_lines(schedule):
    values = [(-1) ** i * 3**i % 2**127 for i in range(3000)]
    x = cp.asarray(as_int128(values))
    add = BUILT_IN["add"]
    pieces = [aggregating(add, piece)[1]() for piece in (x[:1001], x[1001:1002], x[1002:])]
    assert fold(add, pieces) == reduce(add, x)
    out, carry = scan(add, x[1001:], carry_in=pieces[0])
    assert integers(out) == integers(scan(add, x)[0])[1001:]
    for axis in (0, 1):
        lines = x.reshape(30, 100)
        out, carry = scan(add, lines, axis=axis)
        one = lines[3] if axis else lines[:, 3]
        assert integers(out[3] if axis else out[:, 3]) == integers(scan(add, one)[0])
        assert int(carry[3]["low"]) == reduce(add, one) % 2**64


def test_one_byte_off_is_copied():
    raw = cp.zeros(16 * 100 + 4, "u1")
    raw[4:] = cp.asarray(as_int128(range(100)).view("u1"))
    x = cp.ndarray((100,), INT128, raw[4:].data)
    assert integers(scan(BUILT_IN["add"], x)[0])[-1] == sum(range(100))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("segments", [False, True])
def test_products_end_as_a_walk_in_order_does(schedule, dtype, segments):
    limits = np.finfo(dtype)
    far = float(limits.max) ** 0.75
    rng = np.random.default_rng(6)
    pieces = {
        "zero, then far": [far, 1 / far, 0.0, *[far] * 9],
        "tiny for good": [1 / far, 1 / far, *[2.0] * 100],
        "tiny for good, then far": [1 / far, 1 / far, *[far] * 9],
        "infinite for good": [-far, far, *[0.5] * 100],
        "back and forth": [far, 1 / far] * 50,
        "never far": [*np.exp(rng.normal(size=9000) * 0.1), *[far, 1 / far] * 5000],
        "not a number": [far, far, 0.0, 1.0],
        "near the end for long": [2.0 ** (limits.maxexp - 2), *[1.0] * 9000, 0.5, *[1.0] * 9000],
        "near the other end": [2.0**limits.minexp, *[1.0] * 9000, 2.0, *[1.0] * 9000],
        "infinity, then tiny": [np.inf, *[1 / far] * 9],
        "infinity, then zero": [np.inf, 0.0, 1.0],
        "zero, then infinity": [0.0, np.inf, 2.0],
        "subnormal": [limits.smallest_subnormal * 4, 0.5, 2.0**20],
        "minus zero": [-0.0, 5.0, far, far, -1.0],
    }
    op = segmented(BUILT_IN["multiply"]) if segments else BUILT_IN["multiply"]
    for piece in pieces.values():
        # so that it lies in whole tiles
        x = np.concatenate([np.ones(100_000), piece, np.ones(20_000)]).astype(dtype)
        head = np.zeros(len(x), bool)
        head[100] = segments
        with np.errstate(all="ignore"):
            expected = np.cumprod(x)  # element by element
        values = (cp.asarray(head), cp.asarray(x)) if segments else cp.asarray(x)
        for options in ({}, {"carry_in": (False, -2.0) if segments else -2.0}):
            out, carry = scan(op, values, **options)
            assert out.dtype == dtype
            wanted = expected * (-2.0 if options and not segments else 1.0)
            if options and segments:
                wanted[:100] *= -2.0
            rounding = 1e-5 if dtype == "f8" else 2e-2
            np.testing.assert_allclose(out.get(), wanted, rtol=rounding)
            np.testing.assert_allclose(carry[1] if segments else carry, wanted[-1], rtol=rounding)
            again = reduce(op, values, **options)
            np.testing.assert_array_equal(again, carry)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("options", [{}, {"exclusive": True}, {"reverse": True}])
def test_moments_with_lanes_that_have_few_items_or_none(schedule, dtype, options):
    rng = np.random.default_rng(8)
    x = (3 + rng.normal(size=60_000)).astype(dtype)
    x[:9000] = np.nan  # lanes without any, and then few before a lane
    x[9000:9030:7] = 1
    x[20_000:20_100] = np.nan
    x[rng.random(len(x)) < 0.1] = np.nan
    x[30_000] = 1e6  # far from all before it
    op = window_operator("var")
    found, carry = scan(op, cp.asarray(x), **options)
    expected, wanted = scan(op, x, **options)
    np.testing.assert_allclose(found.get(), expected, rtol=1e-9)
    np.testing.assert_allclose(carry, wanted, rtol=1e-9)
    np.testing.assert_allclose(reduce(op, cp.asarray(x)), reduce(op, x), rtol=1e-9)


PROCESS = """
import cupy as cp
from dask_gpuscan.kernels import BUILT_IN, scan
x = cp.ones(1 << 24, "i4")
for _ in range(30):
    out, carry = scan(BUILT_IN["add"], x, dtype="i4")
    assert int(carry) == 1 << 24 and int(out[-1]) == 1 << 24
print("same")
"""


def test_another_process_on_the_same_gpu(schedule):
    environment = os.environ | {"DASK_GPUSCAN_SCHEDULE": schedule}
    others = [
        subprocess.Popen(
            [sys.executable, "-c", PROCESS], stdout=subprocess.PIPE, text=True, env=environment
        )
        for _ in range(2)
    ]
    x = cp.ones(1 << 24, "i4")
    while any(other.poll() is None for other in others):
        out, carry = scan(BUILT_IN["add"], x, dtype="i4")
        assert int(carry) == 1 << 24
        assert int(out[-1]) == 1 << 24
    assert [other.communicate()[0] for other in others] == ["same\n"] * 2


def test_memory_that_is_not_there():
    pool = cp.cuda.MemoryPool()
    pool.set_limit(size=1 << 20)
    x = cp.ones(1 << 20)
    with cp.cuda.using_allocator(pool.malloc):
        with pytest.raises(MemoryError) as caught:
            scan(BUILT_IN["add"], x)
        assert f"{x.nbytes} bytes" in caught.value.__notes__[0]
        assert scan(BUILT_IN["add"], x[:1000])[1] == 1000  # the context is as good as before


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
    assert max(taken) >= x.nbytes


def test_a_mask_on_the_host_is_refused():
    with pytest.raises(TypeError, match="must be a CuPy array"):
        scan(BUILT_IN["add"], cp.ones(3), nulls=bitmap(np.array([7], "u1")))


@pytest.mark.slow
def test_more_than_two_to_the_31(schedule, room):
    n = 2**31 + 17
    room(5 * n)
    x = cp.ones(n, "i1")
    out, carry = scan(BUILT_IN["add"], x, dtype="i1")
    assert int(carry) == np.array(n).astype("i1")
    at = cp.asarray([0, 5, 2**31 - 1, 2**31, n - 1])
    np.testing.assert_array_equal(out[at].get(), (at.get() + 1).astype("i1"))
    assert int(reduce(BUILT_IN["add"], x)) == n


def test_tiles_do_not_depend_on_the_device():
    form = (np.dtype("f4"),)
    assert tile_for(form, form, form).items == 8192


def test_memory_of_what_nobody_reads_is_not_used_before_it_is_written():
    x = cp.ones(1 << 26)
    aggregating(BUILT_IN["add"], x)[1]()  # compiled
    for _ in range(20):
        x *= 1  # so that the sum is late
        aggregating(BUILT_IN["add"], x)
        memory = cp.cuda.alloc_pinned_memory(8)
        found = np.frombuffer(memory, "i8", 1)
        found[:] = 7
        cp.cuda.Device().synchronize()
        assert found.tolist() == [7]


def test_memory_is_given_back_at_once(schedule):
    pool = cp.cuda.MemoryPool()
    with cp.cuda.using_allocator(pool.malloc):
        x = cp.ones(100_000)
        before = pool.used_bytes()
        gc.disable()
        try:
            for options in ({}, {"carry_out": False}, {"axis": 0, "carry_in": 2.0}):
                scan(BUILT_IN["add"], x, **options)
                reduce(BUILT_IN["add"], x)
                assert pool.used_bytes() == before
        finally:
            gc.enable()


@pytest.mark.parametrize("shape", [(100_003,), (40, 5_000), (5_000, 40), (3_000, 20)])
def test_numbers_of_an_operator_on_two_streams(schedule, shape):
    def made(k, m):
        return operator(
            lambda a, b: a + b, lift=lambda x: x * k, lower=lambda s: s + m, identity=0.0
        )

    x = np.random.default_rng(3).integers(0, 9, shape).astype("f8")
    device = cp.asarray(x)
    scan(made(1.0, 1), device)
    before = len(build._kernels)
    streams = [cp.cuda.Stream(non_blocking=True) for _ in range(2)]
    cp.cuda.Device().synchronize()
    found = []
    for i in range(20):
        with streams[i % 2]:
            found.append(scan(made(2.0 + i % 2, i), device)[0])
    cp.cuda.Device().synchronize()
    assert len(build._kernels) == before
    for i, out in enumerate(found):
        np.testing.assert_array_equal(out.get(), np.cumsum(x * (2.0 + i % 2), axis=-1) + i)
    for k in (2.0, 5.0):
        assert reduce(made(k, 0), cp.asarray(x.reshape(-1))) == x.sum() * k
