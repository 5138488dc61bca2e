"""Sorting of arrays against NumPy's stable lexsort, for every dtype, direction and kind of nulls."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dask_gpuscan.kernels import (
    INT128,
    InBand,
    argsort,
    bitmap,
    byte_mask,
    put,
    sort,
    sort_pairs,
    take,
)
from dask_gpuscan.kernels.nulls import NAT
from dask_gpuscan.kernels.sorted_values import sorted_quantiles, takes_ranks, tied_ranks

INTEGERS = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "float32", "float64")
TIMES = ("datetime64[ns]", "timedelta64[s]")
DTYPES = (*INTEGERS, *FLOATS, *TIMES)
SPECIAL = [0.0, -0.0, 1.5, -1.5, np.nan, -np.nan, np.inf, -np.inf, 5.9e-8, -5.9e-8]


def values_of(dtype, rng, count, few=False):
    """Random elements of a dtype: of its whole range, its ends too, or of few."""
    dtype = np.dtype(dtype)
    if dtype == INT128:
        out = np.empty(count, INT128)
        out["low"] = values_of("uint64", rng, count, few)
        out["high"] = values_of("int64", rng, count, True)
        return out
    if dtype.kind == "b":
        return rng.random(count) < 0.5
    if dtype.kind == "f":
        some = rng.choice(np.array(SPECIAL, dtype), count)
        return (
            some
            if few
            else np.where(rng.random(count) < 0.3, some, rng.normal(size=count)).astype(dtype)
        )
    whole = np.iinfo(np.int64 if dtype.kind in "mM" else dtype)
    ends = np.array(
        [whole.min, whole.max, whole.max - 1, whole.max // 3],
        dtype.str.replace("M", "i").replace("m", "i")[:3],
    )
    if few:
        return rng.choice(ends, count).view(dtype)
    drawn = rng.integers(whole.min, whole.max, count, ends.dtype, endpoint=True)
    return np.where(rng.random(count) < 0.2, rng.choice(ends, count), drawn).view(dtype)


def ranks(values, null=None, descending=False, nulls_first=False, times=False):
    """Integers in the order of a key, of one key by NumPy's `unique`."""
    if values.dtype == INT128:
        order = np.lexsort([values["low"], values["high"]])
        rank = np.zeros(len(values), np.int64)
        rank[order[1:]] = np.cumsum(values[order[1:]] != values[order[:-1]])
        missing = np.zeros(len(values), bool)
    else:
        if values.dtype.kind in "mM":
            values, times = values.view(np.int64), True
        missing = values == NAT if times else values != values
        rank = np.unique(np.where(missing, values.dtype.type(0), values), return_inverse=True)[1]
    rank = -rank if descending else rank.copy()
    beyond = len(values) + 1
    rank[missing] = beyond
    if null is not None:
        rank[null] = beyond + 1
    if nulls_first:
        rank[rank >= beyond] *= -1
    return rank


def nulls_of(kind, null, backend):
    """Nulls of a kind, and which elements it tells null."""
    if kind == "bytes":
        return byte_mask(backend.array(null))
    if kind == "bits":
        bits = np.packbits(np.concatenate([np.ones(3, bool), ~null]), bitorder="little")
        return bitmap(backend.array(bits), 3)
    return InBand() if kind == "in band" else None


def laid_out(backend, values, layout):
    """The same elements as an array that lies otherwise in memory."""
    if layout == "offset":
        return backend.array(np.concatenate([values[:1], values]))[min(len(values), 1) :]
    if layout == "strided":
        return backend.array(np.repeat(values, 2))[::2]
    if layout == "reversed":
        return backend.array(values[::-1].copy())[::-1]
    array = backend.array(values.copy())
    if isinstance(array, np.ndarray):
        array.flags.writeable = False
    return array


@st.composite
def sort_keys(draw, most=3):
    """Keys with their options, and their ranks."""
    count = draw(st.sampled_from([0, 1, 2, 3, 31, 33, 100, 300]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    keys = []
    for _ in range(draw(st.integers(1, most))):
        dtype = draw(st.sampled_from([*DTYPES, INT128]))
        values = values_of(dtype, rng, count, draw(st.booleans()))
        kind = draw(st.sampled_from(["none", "bytes", "bits", "in band"]))
        null = rng.random(count) < draw(st.sampled_from([0.0, 0.2, 1.0]))
        keys.append((values, kind, null, draw(st.booleans()), draw(st.booleans())))
    return keys, draw(st.sampled_from(["read-only", "offset", "strided", "reversed"]))


def rank_of(key):
    values, kind, null, descending, nulls_first = key
    masked = null if kind in ("bytes", "bits") else None
    times = kind == "in band" and values.dtype == np.int64
    return ranks(values, masked, descending, nulls_first, times)


def arguments(keys, layout, backend):
    if not all(backend.holds(key[0].dtype) for key in keys):
        pytest.skip(f"{backend.name} has no such arrays")
    arrays = [laid_out(backend, key[0], layout) for key in keys]
    return arrays, {
        "nulls": [nulls_of(key[1], key[2], backend) for key in keys],
        "descending": [key[3] for key in keys],
        "nulls_first": [key[4] for key in keys],
    }


def same_bits(found, expected):
    """Assert that arrays are equal, NaN of any bits being one value and -0.0 another than 0.0."""
    assert found.dtype == expected.dtype
    if found.dtype.kind == "f":
        np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
        there = ~np.isnan(expected)
        found, expected = found[there], expected[there]
        np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))
    np.testing.assert_array_equal(found, expected)


@given(drawn=sort_keys())
def test_several_keys_and_values(backend, drawn):
    keys, layout = drawn
    arrays, options = arguments(keys, layout, backend)
    expected = np.lexsort([rank_of(key) for key in keys[::-1]])
    found = backend.to_numpy(argsort(arrays, **options))
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, expected)
    count = len(expected)
    values = [np.arange(count).astype(d) for d in ("uint8", "int16", "float32", "complex128")]
    own, along = sort_pairs(arrays, [backend.array(v) for v in values], positions=True, **options)
    for key, out in zip(keys, own, strict=True):
        same_bits(backend.to_numpy(out), key[0][expected])
    for value, out in zip([*values, np.arange(count)], along, strict=True):
        same_bits(backend.to_numpy(out), value[expected])


@given(drawn=sort_keys(most=1), in_place=st.booleans())
def test_one_array(backend, drawn, in_place):
    (key,), layout = drawn
    arrays, options = arguments([key], "offset" if in_place else layout, backend)
    expected = key[0][np.argsort(rank_of(key), kind="stable")]
    options = {name: given[0] for name, given in options.items()}
    found = sort(arrays[0], in_place=in_place, **options)
    assert (found is arrays[0]) == in_place
    same_bits(backend.to_numpy(found), expected)


@given(drawn=sort_keys(), data=st.data())
def test_segments(backend, drawn, data):
    keys, layout = drawn
    arrays, options = arguments(keys, layout, backend)
    count = len(keys[0][0])
    inner = data.draw(st.lists(st.integers(0, count), max_size=8))
    ends = [0, *sorted(inner), count]
    segment = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
    expected = np.lexsort([*(rank_of(key) for key in keys[::-1]), segment])
    within = [
        {"offsets": backend.array(np.array(ends))},
        {"within": backend.array(segment)},
        {"within": [backend.array(segment // 2), backend.array(segment.astype(np.float32))]},
    ]
    for given_segments in within:
        own, (rows,) = sort_pairs(arrays, positions=True, **given_segments, **options)
        np.testing.assert_array_equal(backend.to_numpy(rows), expected)
        same_bits(backend.to_numpy(own[0]), keys[0][0][expected])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ["int32", "int64", "float64", "uint8", INT128])
@pytest.mark.parametrize("spread", ["whole", "few", "heavy", "ends"])
def test_many_rows(backend, dtype, spread):
    rng, count = np.random.default_rng(5), 400_000
    values = values_of(dtype, rng, count)
    if spread == "few":
        values = values[rng.integers(0, 100, count)]
    elif spread == "heavy":
        values[rng.random(count) < 0.9] = values[0]
    elif spread == "ends":
        values = values_of(dtype, rng, count, few=True)
    expected = np.argsort(ranks(values), kind="stable")
    found = backend.to_numpy(argsort(backend.array(values)))
    np.testing.assert_array_equal(found, expected)
    same_bits(backend.to_numpy(sort(backend.array(values))), values[expected])


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("dtype", "nulls_first"),
    [
        *((dtype, False) for dtype in ("int32", "uint32", "int64", "uint64", "int16")),
        *((dtype, first) for dtype in TIMES for first in (False, True)),
    ],
)
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("step", [1, 1 << 12])
def test_keys_are_told_by_their_codes(backend, dtype, descending, nulls_first, step):
    """Keys of many rows that one word holds are not read a second time."""
    if not backend.holds(np.dtype(dtype)):
        pytest.skip(f"{backend.name} has no arrays of {dtype}")
    rng, count = np.random.default_rng(6), 150_000
    other = rng.integers(0, 3, count).astype(np.int32)
    drawn = rng.integers(-3000, 3000, count) * step
    values = drawn.view(dtype) if dtype in TIMES else drawn.astype(dtype)
    if dtype in TIMES:
        values[rng.random(count) < 0.1] = np.array("NaT", dtype)
    for keys in ([values], [other, values]):
        own, (rows,) = sort_pairs(
            [backend.array(key) for key in keys],
            [],
            descending=[False] * (len(keys) - 1) + [descending],
            nulls_first=nulls_first,
            positions=True,
        )
        places = backend.to_numpy(rows)
        assert len(np.unique(places)) == count
        for key, found in zip(keys, own, strict=True):
            same_bits(backend.to_numpy(found), key[places])


@pytest.mark.parametrize("mean", [1, 20, 1000, 200_000])
def test_many_segments(backend, mean, poisoned):
    rng, count = np.random.default_rng(mean), 500_000
    heads = rng.random(count) < 1 / mean
    segment, values = np.cumsum(heads), rng.integers(0, 2**62, count)
    heavy = np.where(rng.random(count) < 0.5, 7, values)
    for key in (values, heavy):
        expected = np.lexsort([key, segment])
        offsets = np.flatnonzero(np.diff(segment, prepend=-1, append=-1))
        own, (rows,) = sort_pairs(
            backend.array(key), offsets=backend.array(offsets), positions=True
        )
        np.testing.assert_array_equal(backend.to_numpy(rows), expected)
        np.testing.assert_array_equal(backend.to_numpy(own[0]), key[expected])


def test_codes_that_share_their_low_bits(backend):
    days = np.random.default_rng(2).integers(-9, 9, 1000) * 86_400_000_000_000
    other = np.random.default_rng(3).integers(0, 2**63, 1000)
    keys = [backend.array(days), backend.array(other % 3 * 2**61), backend.array(other)]
    found = backend.to_numpy(argsort(keys, descending=[True, False, True]))
    np.testing.assert_array_equal(found, np.lexsort([-other, other % 3, -days]))


def test_values_of_any_order(backend):
    rng = np.random.default_rng(1)
    key = rng.integers(0, 5, 1000).astype(np.int8)
    wide = np.zeros(1000, INT128)
    wide["low"], wide["high"] = np.arange(1000), -np.arange(1000)
    strided = backend.array(np.arange(2000))[::-2]
    (_,), (whole, part) = sort_pairs(backend.array(key), [backend.array(wide), strided])
    expected = np.argsort(key, kind="stable")
    np.testing.assert_array_equal(backend.to_numpy(whole), wide[expected])
    np.testing.assert_array_equal(backend.to_numpy(part), np.arange(2000)[::-2][expected])


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "int64", "complex128", INT128])
def test_rows_by_position(backend, dtype):
    rng, count = np.random.default_rng(4), 1000
    plain = dtype != INT128
    values = rng.integers(0, 100, count).astype(dtype) if plain else values_of(dtype, rng, count)
    order = rng.permutation(count)
    given_values, positions = backend.array(values), backend.array(order)
    for step in (1, -1, 3):
        found = take(given_values[::-1], positions[::step])
        np.testing.assert_array_equal(backend.to_numpy(found), values[::-1][order[::step]])
    back = put(take(given_values, positions), positions)
    np.testing.assert_array_equal(backend.to_numpy(back), values)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "float64"])
@pytest.mark.parametrize("midpoint", [False, True])
def test_quantiles_of_sorted_segments(backend, dtype, midpoint):
    rng = np.random.default_rng(5)
    counts = np.array([3, 0, 1, 700, 2, 0])
    room = counts + np.array([2, 0, 0, 5, 0, 1])  # what does not count is behind
    starts = np.cumsum(room) - room
    values = (rng.standard_normal(room.sum()) * 50).astype(dtype)
    for start, count in zip(starts, counts, strict=True):
        values[start : start + count].sort()
    given_ = [backend.array(array) for array in (values, starts, counts)]
    way = "midpoint" if midpoint else "linear"
    for q in (0, 0.25, 0.5, np.float32(0.9), 1):
        found = backend.to_numpy(sorted_quantiles(*given_, q, midpoint=midpoint))
        for answer, start, count in zip(found, starts, counts, strict=True):
            some = pd.Series(values[start : start + count].astype("float64"))
            assert answer == pytest.approx(some.quantile(q, way), rel=1e-12, nan_ok=True)
    assert not np.signbit(sorted_quantiles(np.array([-0.0]), starts[:1], counts[2:3], 0.5))
    none = [backend.array(np.zeros(0, d)) for d in (dtype, "int64", "int64")]
    assert len(sorted_quantiles(*none, 0.5)) == 0
    empty = sorted_quantiles(none[0], given_[1][:2], given_[2][1:3] * 0, 0.5)
    assert np.isnan(backend.to_numpy(empty)).all()


RANKED = [d for d in DTYPES if takes_ranks(np.dtype(d))]
IN_GROUPS = [("int64", "int64"), ("int32", "float64"), ("uint8", "bool")]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("method", ["average", "min", "max"])
@pytest.mark.parametrize(("group", "dtype"), [*((None, d) for d in RANKED), *IN_GROUPS])
def test_ranks_of_sorted_keys(backend, method, group, dtype):
    rng = np.random.default_rng(3)
    for count in (0, 1, 4095, 4096, 4097, 150_001):
        for many in (1, 3, 200) if group else (1,):
            for distinct in (1, 3, 2 * count + 1):
                groups = np.sort(rng.integers(0, many, count)).astype(group or "int64")
                values = rng.integers(0, distinct, count).astype(dtype)
                keys = values[np.lexsort([values, groups])]
                if keys.dtype.kind == "f":
                    keys[keys == 0] *= rng.choice([-1.0, 1.0], (keys == 0).sum())
                expected = pd.Series(keys).groupby(groups).rank(method=method)
                given_ = {"groups": backend.array(groups)} if group else {}
                found = tied_ranks(backend.array(keys), method, **given_)
                np.testing.assert_array_equal(backend.to_numpy(found), expected)


@pytest.mark.parametrize("bad", [-1, 3, 2**62, -(2**63)])
def test_positions_of_no_row(backend, bad):
    rows, positions = backend.array(np.arange(3.0)), backend.array(np.array([0, bad, 1]))
    for call in (take, put):
        with pytest.raises(ValueError, match=f"positions must be from 0 to 2, found {bad}$"):
            call(rows, positions)
    if bad < 0:
        found = take(rows, positions, fill=7.0)
        assert backend.to_numpy(found).tolist() == [0.0, 7.0, 1.0]
        return
    with pytest.raises(ValueError, match="positions must be from 0 to 2"):
        take(rows, positions, fill=7.0)
