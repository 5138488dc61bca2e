"""Reductions and scans by key against a fold run by run, and the algebra between them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dask_gpuscan.kernels import (
    BUILT_IN,
    InBand,
    Mask,
    Segments,
    bitmap,
    byte_mask,
    head_flags,
    reduce,
    reduce_by_key,
    scan,
    scan_by_key,
)
from dask_gpuscan.kernels.cpu.core.engine import TILE
from dask_gpuscan.kernels.nulls import NAT
from dask_gpuscan.kernels.operators.compensated import MEAN, SUM

LENGTHS = [0, 1, 5, TILE - 1, TILE, TILE + 1, 5 * TILE + 3]


def keys_and_values(n, mean, dtype="int64", seed=0):
    rng = np.random.default_rng(seed)
    key = np.cumsum(rng.random(n) < 1 / mean)
    return key, rng.integers(-9, 9, n).astype(dtype)


def runs(key):
    starts = np.flatnonzero(head_flags([key]))
    return starts, np.append(starts[1:], len(key))[: len(starts)]


def piece(nulls, start):
    """The nulls of an array's tail."""
    if isinstance(nulls, Mask):
        return Mask(nulls.buffer, nulls.offset + int(start), nulls.shift, nulls.null)
    return nulls


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("mean", [1, 2, 500, 40_000])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("exclusive", [False, True])
def test_sums(backend, n, mean, reverse, exclusive):
    key, x = keys_and_values(n, mean)
    k, y = backend.array(key), backend.array(x)
    starts, ends = runs(key)
    found, sums = reduce_by_key(BUILT_IN["add"], [k], y)
    np.testing.assert_array_equal(backend.to_numpy(found), starts)
    total = np.append(0, np.cumsum(x))
    np.testing.assert_array_equal(backend.to_numpy(sums), total[ends] - total[starts])
    out, carry = scan_by_key(BUILT_IN["add"], [k], y, reverse=reverse, exclusive=exclusive)
    lengths = ends - starts
    if reverse:
        expected = np.repeat(total[ends], lengths) - (total[1:] if exclusive else total[:-1])
    else:
        expected = (total[:-1] if exclusive else total[1:]) - np.repeat(total[starts], lengths)
    np.testing.assert_array_equal(backend.to_numpy(out), expected)
    if n:
        assert carry == backend.to_numpy(sums)[0 if reverse else -1]


@pytest.mark.parametrize("n", [0, 1, TILE, 5 * TILE + 3])
@pytest.mark.parametrize("offset", ["int32", "int64"])
@pytest.mark.parametrize("reverse", [False, True])
def test_segments_are_runs_whose_starts_are_known(backend, n, offset, reverse):
    key, x = keys_and_values(n, 3)
    starts, _ = runs(key)
    bounds = np.concatenate(
        [starts, [0, n], starts[1::7]]
    )  # every seventh after a segment without rows
    offsets = backend.array(np.sort(bounds).astype(offset))
    segments, k, y = Segments(offsets, n), backend.array(key), backend.array(x)
    out, carry = scan_by_key(BUILT_IN["add"], segments, y, reverse=reverse)
    expected, expected_carry = scan_by_key(BUILT_IN["add"], [k], y, reverse=reverse)
    np.testing.assert_array_equal(backend.to_numpy(out), backend.to_numpy(expected))
    assert carry == expected_carry
    for found, wanted in zip(
        reduce_by_key(BUILT_IN["add"], segments, y),
        reduce_by_key(BUILT_IN["add"], [k], y),
        strict=True,
    ):
        np.testing.assert_array_equal(backend.to_numpy(found), backend.to_numpy(wanted))


def test_segments_that_do_not_fit(backend):
    x, offsets = backend.array(np.arange(4)), np.array([0, 2, 4])
    for wrong in ([0, 2, 4], offsets.astype("f8"), offsets[None]):
        with pytest.raises(TypeError, match="offsets must be a 1-d array of int32 or int64, found"):
            Segments(wrong, 4)
    for wrong in ([0, 3, 2], [0, 5], [-1, 4], [0, -(2**31), 4]):
        with pytest.raises(ValueError, match="offsets must not decrease, and be from 0 to 4"):
            Segments(backend.array(np.array(wrong)), 4)
    with pytest.raises(ValueError, match="offsets must have at least one entry"):
        Segments(offsets[:0], 4)
    with pytest.raises(TypeError, match=r"length must be an integer, found 4\.0"):
        Segments(offsets, 4.0)
    segments = Segments(backend.array(offsets // 2 + offsets % 2), 3)
    with pytest.raises(ValueError, match="segments have 3 rows, found 4 values"):
        scan_by_key(BUILT_IN["add"], segments, x)
    with pytest.raises(ValueError, match="segments do not go on"):
        scan_by_key(BUILT_IN["add"], Segments(segments.offsets, 4), x, continues=True)


def test_carries_of_another_shape(backend):
    key, x = backend.array(np.zeros(4, np.int64)), backend.array(np.arange(4.0))
    for carry in (np.array([]), np.array([1.0, 2.0])):
        with pytest.raises(ValueError, match="carry_in must be one state, found the shape"):
            scan_by_key(BUILT_IN["add"], [key], x, carry_in=carry, continues=True)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("kind", "name"),
    [("in band", "welford"), ("bytes", "multiply"), ("bits", "last")],
)
def test_nulls_against_a_scan_of_each_run(backend, kind, name):
    op, n = BUILT_IN[name], 2 * TILE + 77
    key, x = keys_and_values(n, 900, "float64", seed=3)
    valid = np.random.default_rng(4).random(n) < 0.5
    valid[key == 3] = False
    if kind == "in band":
        x[~valid] = np.nan
        nulls = InBand()
    elif kind == "bytes":
        nulls = byte_mask(backend.array(~valid))
    else:
        bits = np.packbits(np.concatenate([np.zeros(3, bool), valid]), bitorder="little")
        nulls = bitmap(backend.array(bits), 3)
    k, y = backend.array(key), backend.array(x)
    _, states = reduce_by_key(op, [k], y, nulls=nulls)
    _, answers = reduce_by_key(op, [k], y, nulls=nulls, starts=False, lower=True)
    out, _ = scan_by_key(op, [k], y, nulls=nulls)
    fields = [backend.to_numpy(f) for f in (states if isinstance(states, tuple) else (states,))]
    for i, (start, end) in enumerate(zip(*runs(key), strict=True)):
        part = {"nulls": piece(nulls, start)}
        expected = reduce(op, y[start:end], **part)
        expected = expected if isinstance(expected, tuple) else (expected,)
        np.testing.assert_allclose([f[i] for f in fields], expected, rtol=1e-9, atol=1e-9)
        scanned = backend.to_numpy(scan(op, y[start:end], **part)[0])
        np.testing.assert_allclose(backend.to_numpy(out)[start:end], scanned, 1e-9, 1e-9)
        np.testing.assert_allclose(backend.to_numpy(answers)[i], scanned[-1], 1e-9, 1e-9)


@given(
    rows=st.lists(st.tuples(st.integers(0, 2), st.booleans(), st.integers(-9, 9)), max_size=50),
    cut=st.integers(0, 50),
    name=st.sampled_from(["add", "first", "last"]),
    reverse=st.booleans(),
)
def test_pieces_with_carries_equal_the_whole(backend, rows, cut, name, reverse):
    op = BUILT_IN[name]
    key, null, x = (np.array([r[i] for r in rows], d) for i, d in enumerate(("i8", "?", "i8")))
    k, mask, y = backend.array(key), backend.array(null), backend.array(x)

    def part(rows, **options):
        return scan_by_key(
            op, [k[rows]], y[rows], key_nulls=[byte_mask(mask[rows])], reverse=reverse, **options
        )

    whole, carry = part(slice(None))
    cut = min(cut, len(x))
    pieces = [slice(0, cut), slice(cut, None)]
    if reverse:
        pieces.reverse()
    one, state = part(pieces[0])
    open_run = 0 < cut < len(x) and (
        (null[cut] and null[cut - 1])
        or (not null[cut] and not null[cut - 1] and key[cut] == key[cut - 1])
    )
    other, last = part(pieces[1], carry_in=state, continues=bool(open_run))
    joined = [other, one] if reverse else [one, other]
    joined = np.concatenate([backend.to_numpy(j) for j in joined])
    np.testing.assert_array_equal(joined, backend.to_numpy(whole))
    if 0 < cut < len(x):
        assert last == carry


def test_the_last_of_a_scanned_run_is_its_reduction(backend):
    key, x = keys_and_values(7 * TILE, 300, "float64")
    k, y = backend.array(key), backend.array(x)
    for name in ("add", "multiply"):
        _, states = reduce_by_key(BUILT_IN[name], [k], y)
        out, _ = scan_by_key(BUILT_IN[name], [k], y)
        last = backend.to_numpy(out)[runs(key)[1] - 1]
        np.testing.assert_allclose(backend.to_numpy(states), last)


def test_products_meet_no_infinity_that_a_walk_would_not(backend):
    """A run that is zero from its first row on, over tiles that overflow by themselves."""
    x = np.full(3 * TILE, 1e10)
    x[0] = 0.0
    key = np.zeros(3 * TILE, np.int64)
    k, y = backend.array(key), backend.array(x)
    _, states = reduce_by_key(BUILT_IN["multiply"], [k], y)
    out, carry = scan_by_key(BUILT_IN["multiply"], [k], y)
    assert backend.to_numpy(states) == [0.0]
    assert carry == 0.0
    assert not backend.to_numpy(out).any()


def test_operators_of_two_inputs(backend):
    key, a = keys_and_values(TILE + 5, 100, "float64")
    a, b = a / 10, a[::-1].copy()
    out, _ = scan_by_key(
        BUILT_IN["affine"], [backend.array(key)], (backend.array(a), backend.array(b))
    )
    y, expected = 0.0, []
    for i, (slope, offset) in enumerate(zip(a, b, strict=True)):
        y = slope * (0.0 if i == 0 or key[i] != key[i - 1] else y) + offset
        expected.append(y)
    np.testing.assert_allclose(backend.to_numpy(out), expected, atol=1e-9)


def test_types(backend):
    key, x = keys_and_values(100, 10, "int8")
    k, y = backend.array(key), backend.array(x)
    assert reduce_by_key(BUILT_IN["add"], [k], y)[1].dtype == np.int64
    assert reduce_by_key(BUILT_IN["add"], [k], y, dtype="int8")[1].dtype == np.int8
    starts, found = reduce_by_key(BUILT_IN["maximum"], [k], y, starts=False)
    assert starts is None
    assert found.dtype == np.int8
    out, _ = scan_by_key(BUILT_IN["add"], [k], y, dtype="float64", nulls=None, mark_nulls=True)
    assert out.dtype == np.float64


@pytest.mark.sampled(2)
@pytest.mark.parametrize("mean", [1, 20, 90, 500, 40_000])
@pytest.mark.parametrize("kind", ["none", "in band", "bytes", "bits"])
@pytest.mark.parametrize("op", [SUM, MEAN], ids=["sum", "mean"])
def test_sums_keep_what_rounding_takes(backend, mean, kind, op):
    n = 3 * TILE + 77
    key, small = keys_and_values(n, mean, seed=5)
    rng = np.random.default_rng(6)
    whole = np.where(rng.random(n) < 0.5, small, rng.choice([-(2**60), 2**60], n))
    valid = (rng.random(n) < 0.7) | (kind == "none")
    x = np.where(valid, whole, np.nan if kind == "in band" else 1e300)
    bits = np.packbits(np.concatenate([np.zeros(3, bool), valid]), bitorder="little")
    nulls = {
        "none": None,
        "in band": InBand(),
        "bytes": byte_mask(backend.array(~valid)),
        "bits": bitmap(backend.array(bits), 3),
    }[kind]
    _, states = reduce_by_key(op, [backend.array(key)], backend.array(x), nulls=nulls)
    *counts, totals, losses = (backend.to_numpy(field) for field in states)
    for i, (start, end) in enumerate(zip(*runs(key), strict=True)):
        seen = valid[start:end]
        expected = sum(whole[start:end][seen].tolist())  # of Python's integers
        assert int(totals[i]) + int(losses[i]) == expected
        assert [count[i] for count in counts] in ([], [seen.sum()])


def test_an_infinite_sum_has_no_loss(backend):
    key = np.repeat(np.arange(4), 300)
    x = np.ones(len(key))
    x[[40, 340, 350, 640]] = np.inf, -np.inf, np.inf, np.nan
    _, sums = reduce_by_key(SUM, [backend.array(key)], backend.array(x), starts=True, lower=True)
    np.testing.assert_array_equal(backend.to_numpy(sums), [np.inf, np.nan, np.nan, 300.0])
    out, _ = scan_by_key(SUM, [backend.array(key)], backend.array(x))
    np.testing.assert_array_equal(backend.to_numpy(out)[299::300], [np.inf, np.nan, np.nan, 300.0])


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
@pytest.mark.parametrize("reverse", [False, True])
def test_scans_tell_whether_they_met_a_null(backend, dtype, reverse):
    key, x = keys_and_values(2 * TILE + 5, 700, dtype)
    k = backend.array(key)
    for at in [None, 0, TILE, len(x) - 1]:
        y, met = x.copy(), backend.array(np.zeros(1, bool))
        if at is not None:
            y[at] = NAT if dtype == "int64" else np.nan
        options = {"nulls": InBand(), "reverse": reverse}
        out, _ = scan_by_key(BUILT_IN["add"], [k], backend.array(y), saw_null=met, **options)
        assert bool(met[0]) == (at is not None)
        plain, _ = scan_by_key(BUILT_IN["add"], [k], backend.array(y), **options)
        np.testing.assert_array_equal(backend.to_numpy(out), backend.to_numpy(plain))
