"""scan and reduce of arrays against a plain fold, and the algebra between them."""

from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dask_gpuscan import operator, segmented
from dask_gpuscan.kernels import BUILT_IN, InBand, bitmap, byte_mask, reduce, scan
from dask_gpuscan.kernels.cpu.core.engine import TILE
from dask_gpuscan.kernels.cpu.core.launch import PARALLEL
from dask_gpuscan.kernels.operators.built_in import LAST_NUMBER, LAST_TIME
from dask_gpuscan.kernels.options import ScanOptions
from dask_gpuscan.kernels.scan import BoundScan, fold

LENGTHS = [0, 1, 2, 3, 4, 5, 7, 100, TILE - 1, TILE, TILE + 1, 5 * TILE + 3]
DTYPES = ["int8", "int64", "uint16", "float32", "float64", "bool"]


def numbers(n, dtype, seed=0):
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.random(n) < 0.5
    low = 0 if dtype.startswith("u") else -50
    return rng.integers(low, 50, n).astype(dtype)


def plain_scan(combine, identity, values, valid, exclusive, reverse, initial=None):
    """Reference: fold element by element."""
    state = identity if initial is None else initial
    order = range(len(values))[::-1] if reverse else range(len(values))
    out = np.empty(len(values), dtype=np.result_type(values.dtype, np.float64))
    for i in order:
        after = combine(state, values[i]) if valid[i] else state
        out[i] = state if exclusive else after
        state = after
    return out, state


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_sum_at_every_length(poisoned, backend, n, dtype):
    x = numbers(n, dtype)
    out, carry = scan(BUILT_IN["add"], backend.array(x))
    expected = np.cumsum(x)
    assert out.dtype == expected.dtype
    np.testing.assert_array_equal(backend.to_numpy(out), expected)
    assert carry == x.sum(dtype=expected.dtype)
    assert carry == reduce(BUILT_IN["add"], backend.array(x))
    if dtype == "int8":  # the state is wider than an element, unless it is asked not to be
        narrow, _ = scan(BUILT_IN["add"], backend.array(x), dtype=np.int8)
        np.testing.assert_array_equal(backend.to_numpy(narrow), np.cumsum(x, dtype=np.int8))


@pytest.mark.parametrize("dtype", ["int32", "float64"])
@pytest.mark.parametrize("name", ["add", "maximum", "last", "multiply"])
@pytest.mark.parametrize("reverse", [False, True])
def test_a_bound_scan_has_the_bits_of_a_scan(backend, dtype, name, reverse):
    """For short lines and long ones, in any layout, with a carry or without, and for other dtypes later."""
    op, states = BUILT_IN[name], name == "last"
    options = {"reverse": reverse, "exclusive": not states}
    bound = BoundScan(op, ScanOptions(**options))
    for n in (0, 1, 5, TILE + 3, PARALLEL):
        x = numbers(2 * n, dtype, seed=n)
        for values in (x[:n], x[::2], x[:n].astype("f4"), x[: n // 3 * 3].reshape(3, -1)):
            given = backend.array(values)
            out, carry = scan(op, given, **options)
            found, no_carry = bound(given, None, False)
            assert no_carry is None
            for one, other in zip(
                *(a if isinstance(a, tuple) else (a,) for a in (out, found)), strict=True
            ):
                assert one.dtype == other.dtype
                assert backend.to_numpy(one).tobytes() == backend.to_numpy(other).tobytes()
            _, again = bound(given, None, True)
            np.testing.assert_array_equal(np.asarray(again), np.asarray(carry))
    if not states:
        x = backend.array(numbers(7, dtype))
        expected, _ = scan(op, x, carry_in=3, **options)
        found, _ = bound(x, 3, False)
        np.testing.assert_array_equal(backend.to_numpy(found), backend.to_numpy(expected))


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("kind", ["none", "in band", "bytes", "bits"])
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_options_with_nulls(backend, n, kind, exclusive, reverse):
    x = numbers(n, "float64", seed=n)
    valid = np.ones(n, bool) if kind == "none" else np.random.default_rng(n).random(n) < 0.7
    nulls = None
    if kind == "in band":
        x[~valid] = np.nan
        nulls = InBand()
    elif kind == "bytes":
        nulls = byte_mask(backend.array(~valid))
    elif kind == "bits":
        offset = 3
        bits = np.packbits(np.concatenate([np.zeros(offset, bool), valid]), bitorder="little")
        nulls = bitmap(backend.array(bits), offset)
    options = {"nulls": nulls, "exclusive": exclusive, "reverse": reverse, "carry_in": 5.0}
    out, carry = scan(BUILT_IN["add"], backend.array(x), **options)
    expected, last = plain_scan(lambda a, b: a + b, 0.0, x, valid, exclusive, reverse, 5.0)
    np.testing.assert_array_equal(backend.to_numpy(out), expected)
    assert carry == last
    again = reduce(BUILT_IN["add"], backend.array(x), nulls=nulls, reverse=reverse, carry_in=5.0)
    assert again == last
    if kind == "in band":
        marked, _ = scan(BUILT_IN["add"], backend.array(x), **options, mark_nulls=True)
        np.testing.assert_array_equal(backend.to_numpy(marked), np.where(valid, expected, np.nan))


@pytest.mark.parametrize("name", ["maximum", "multiply", "bitwise_xor", "logical_any", "last"])
def test_built_ins_over_tiles(backend, name):
    reference = {
        "maximum": np.maximum.accumulate,
        "multiply": np.multiply.accumulate,
        "bitwise_xor": np.bitwise_xor.accumulate,
        "logical_any": lambda x: np.logical_or.accumulate(x != 0),
        "last": lambda x: x,
    }[name]
    x = numbers(3 * TILE + 17, "int64", seed=3)
    out, _ = scan(BUILT_IN[name], backend.array(x))
    np.testing.assert_array_equal(backend.to_numpy(out), reference(x))


def test_nan_is_contagious_without_nulls(backend):
    x = np.array([1.0, np.nan, 0.0, 5.0])
    for name, ufunc in (("maximum", np.maximum), ("minimum", np.minimum), ("add", np.add)):
        out, _ = scan(BUILT_IN[name], backend.array(x))
        np.testing.assert_array_equal(backend.to_numpy(out), ufunc.accumulate(x))


@pytest.mark.parametrize(
    "shape", [(3, 5), (40, 70), (2, 3 * TILE), (3 * TILE, 3), (4, 5, 6), (0, 4), (4, 0), (600, 33)]
)
@pytest.mark.parametrize("layout", ["C", "F", "sliced"])
def test_any_axis(backend, shape, layout):
    x = numbers(int(np.prod(shape)), "int64").reshape(shape)
    y = {"C": x, "F": np.asfortranarray(x), "sliced": x[::-1, ::2]}[layout]
    for axis in range(-1, y.ndim):
        out, carry = scan(BUILT_IN["add"], backend.array(y), axis=axis)
        np.testing.assert_array_equal(backend.to_numpy(out), np.cumsum(y, axis=axis))
        np.testing.assert_array_equal(backend.to_numpy(carry), y.sum(axis=axis))
        back, _ = scan(BUILT_IN["add"], backend.array(y), axis=axis, reverse=True, carry_in=carry)
        flipped = np.flip(np.cumsum(np.flip(y, axis), axis), axis) + np.expand_dims(
            y.sum(axis), axis
        )
        np.testing.assert_array_equal(backend.to_numpy(back), flipped)
        total = reduce(BUILT_IN["add"], backend.array(y), axis=axis)
        np.testing.assert_array_equal(backend.to_numpy(total), y.sum(axis=axis))


@pytest.mark.parametrize(
    ("width", "dtype"),
    [
        *((width, "float64") for width in (2, 3, 4, 8, 9, 16, 31, 33, 64)),
        *((width, dtype) for width in (3, 8, 33) for dtype in ("int16", "float32")),
    ],
)
@pytest.mark.parametrize("reverse", [False, True])
def test_few_lines_side_by_side(poisoned, backend, width, dtype, reverse):
    x = numbers(9001 * width, dtype).reshape(9001, width)
    y = x[::-1] if reverse else x
    wide = np.dtype("int64" if dtype == "int16" else dtype)
    sums = np.cumsum(y, axis=0, dtype=wide)
    for exclusive in (False, True):
        options = {"axis": 0, "reverse": reverse, "exclusive": exclusive, "dtype": wide}
        out, end = scan(BUILT_IN["add"], backend.array(x), **options)
        found = backend.to_numpy(out)[::-1] if reverse else backend.to_numpy(out)
        expected = np.concatenate([sums[:1] * 0, sums[:-1]]) if exclusive else sums
        np.testing.assert_allclose(found, expected, rtol=1e-5)
        np.testing.assert_allclose(end, sums[-1], rtol=1e-5)
    total = reduce(BUILT_IN["add"], backend.array(x), axis=0, dtype=wide)
    np.testing.assert_allclose(total, sums[-1], rtol=1e-5)


@pytest.mark.parametrize("width", [3, 8, 20])
@pytest.mark.parametrize("reverse", [False, True])
def test_values_before_of_few_lines_side_by_side(poisoned, backend, width, reverse):
    x = numbers(9001 * width, "float64").reshape(9001, width)
    x[numbers(x.size, "bool", 5).reshape(x.shape)] = np.nan
    x[[0, -1]] = 7.0
    out, _ = scan(BUILT_IN["last"], backend.array(x), axis=0, reverse=reverse, nulls=InBand())
    held = pd.DataFrame(x)
    expected = held.bfill() if reverse else held.ffill()
    np.testing.assert_array_equal(backend.to_numpy(out), expected)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("layout", ["C", "F"])
def test_a_mask_counts_positions_in_c_order_whatever_the_layout(backend, layout, axis):
    values, missing = (
        numbers(600, "float64").reshape(20, 30),
        numbers(600, "bool", 1).reshape(20, 30),
    )
    nulls = byte_mask(backend.array(missing.reshape(-1)))
    x = backend.array(np.asarray(values, order=layout))
    out, end = scan(BUILT_IN["add"], x, nulls=nulls, axis=axis)
    expected = np.cumsum(np.where(missing, 0, values), axis=axis)
    np.testing.assert_allclose(backend.to_numpy(out), expected)
    np.testing.assert_allclose(end, np.take(expected, -1, axis=axis))


def test_strided_and_read_only_inputs_are_not_copied_or_written(backend):
    x = numbers(1000, "int64")
    x.flags.writeable = False
    out, _ = scan(BUILT_IN["add"], backend.array(x)[::3])
    np.testing.assert_array_equal(backend.to_numpy(out), np.cumsum(x[::3]))


def test_affine_is_a_linear_recurrence(backend):
    rng = np.random.default_rng(0)
    a, b = rng.random(2 * TILE + 5), rng.random(2 * TILE + 5)
    out, _ = scan(BUILT_IN["affine"], (backend.array(a), backend.array(b)))
    y, expected = 0.0, []
    for slope, offset in zip(a, b, strict=True):
        y = slope * y + offset
        expected.append(y)
    np.testing.assert_allclose(backend.to_numpy(out), expected)


def test_welford_against_numpy(backend):
    x = np.random.default_rng(0).normal(1e6, 1.0, 3 * TILE)
    out, (n, mean, m2) = scan(BUILT_IN["welford"], backend.array(x))
    assert n == len(x)
    assert mean == pytest.approx(x.mean())
    assert m2 / n == pytest.approx(x.var())
    np.testing.assert_allclose(
        backend.to_numpy(out)[[1, 99, -1]], [x[:k].var(ddof=1) for k in (2, 100, len(x))]
    )


@given(
    data=st.lists(st.tuples(st.booleans(), st.integers(-9, 9)), max_size=40),
    name=st.sampled_from(["add", "maximum", "last"]),
)
def test_segmented_restarts(backend, data, name):
    heads = np.array([h for h, _ in data], bool)
    x = np.array([v for _, v in data], np.int64)
    combine = {"add": lambda a, b: a + b, "maximum": max, "last": lambda a, b: b}[name]
    expected: list[int] = []
    for i, (head, value) in enumerate(data):
        expected.append(value if head or i == 0 else combine(expected[-1], value))
    out, _ = scan(segmented(BUILT_IN[name]), (backend.array(heads), backend.array(x)))
    np.testing.assert_array_equal(backend.to_numpy(out), np.array(expected, np.int64))


@given(
    x=st.lists(st.integers(-9, 9), max_size=50),
    cuts=st.lists(st.integers(0, 50), max_size=4),
    name=st.sampled_from(["add", "maximum", "bitwise_xor"]),
    exclusive=st.booleans(),
)
def test_pieces_with_carries_equal_the_whole(backend, x, cuts, name, exclusive):
    op, x = BUILT_IN[name], np.array(x, np.int64)
    whole, carry = scan(op, backend.array(x), exclusive=exclusive)
    state, pieces, states = None, [], [reduce(op, backend.array(x[:0]))]
    for piece in np.split(x, sorted(c for c in cuts if c <= len(x))):
        out, state = scan(op, backend.array(piece), exclusive=exclusive, carry_in=state)
        pieces.append(backend.to_numpy(out))
        states.append(reduce(op, backend.array(piece)))
    np.testing.assert_array_equal(np.concatenate(pieces), backend.to_numpy(whole))
    assert state == carry == fold(op, states)


def missing_of(x, rng):
    """Nothing missing, and a mask; of floats, NaN as well, and zeros of both signs."""
    kinds = [None, byte_mask(rng.random(len(x)) < 0.3)]
    if x.dtype.kind == "f":
        for value in (np.nan, 0.0, -0.0):
            x[rng.random(len(x)) < 0.3] = value
        kinds.append(InBand())
    return kinds


EXACT = [
    *(
        (BUILT_IN[name], d)
        for name in ("add", "maximum", "minimum", "first", "last")
        for d in DTYPES
    ),
    *((BUILT_IN[name], d) for name in ("bitwise_or", "multiply") for d in ("int8", "int64")),
    *((LAST_NUMBER, d) for d in ("float32", "float64")),
    (LAST_TIME, "int64"),
]


@pytest.mark.sampled(10)
@pytest.mark.parametrize(("op", "dtype"), EXACT, ids=lambda one: getattr(one, "name", one))
def test_one_walk_and_tiles_have_the_same_bits(monkeypatch, op, dtype):
    module = import_module("dask_gpuscan.kernels.cpu.scan.scan")
    rng = np.random.default_rng(5)
    for n in (0, 100, TILE + 1, 3 * TILE + 3):
        x = numbers(n, dtype)
        for nulls in missing_of(x, rng):
            _, carry_in = scan(op, x[:7], dtype=x.dtype)
            for options in (
                {"exclusive": True},
                {"reverse": True, "carry_in": carry_in},
                {"reverse": True, "exclusive": True},
            ):
                options = {"nulls": nulls, "dtype": x.dtype, **options}
                once, carry = scan(op, x, **options)
                with monkeypatch.context() as patch:
                    patch.setattr(module, "PARALLEL", 0)
                    patch.setattr(module, "is_alone", lambda elements: False)
                    tiles, other = scan(op, x, **options)
                assert once.tobytes() == tiles.tobytes()
                for mine, theirs in zip(np.atleast_1d(carry), np.atleast_1d(other), strict=True):
                    assert mine.tobytes() == theirs.tobytes()


def test_fold_of_line_states():
    states = [np.array([1, 2]), np.array([3, 4]), np.array([5, 6])]
    np.testing.assert_array_equal(fold(BUILT_IN["add"], states), [9, 12])
    tuples = [(np.float64(0.5), np.float64(1.0)), (np.float64(0.5), np.float64(2.0))]
    assert fold(BUILT_IN["affine"], tuples) == (0.25, 2.5)


@pytest.mark.parametrize("carry", [[], [1.0, 2.0], [[1.0]]])
def test_carries_of_another_shape(backend, carry):
    x = backend.array(np.arange(6.0))
    for carry_in in (carry, np.array(carry)):
        for call in (scan, reduce):
            with pytest.raises(ValueError, match="carry_in must be one state, found the shape"):
                call(BUILT_IN["add"], x, carry_in=carry_in)
    for each in (x.reshape(2, 3), x.reshape(3, 2).T):
        with pytest.raises(ValueError, match=r"or states of the shape \(2,\) of lines, found"):
            scan(BUILT_IN["add"], each, carry_in=np.zeros(3))
        out, _ = scan(BUILT_IN["add"], each, carry_in=np.array([10.0, 20.0]))
        assert backend.to_numpy(out[:, 0] - each[:, 0]).tolist() == [10.0, 20.0]


def test_an_operator_that_raises_in_a_helper_thread_stops_the_scan():
    def bounded(a, b):
        if a > 1000:
            raise ValueError("too large")
        return a + b

    with pytest.raises(ValueError, match="too large"):
        scan(operator(bounded, identity=0), np.ones(100 * TILE, np.int64))
