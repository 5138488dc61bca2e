"""What only a GPU can get wrong of groups in any order: rows in parts, pieces of long parts, and codes of words."""

import cupy as cp
import numpy as np
import pytest

from dask_gpuscan import operator
from dask_gpuscan.kernels import BUILT_IN, InBand, bitmap, byte_mask, reduce_by_code, scan_by_code
from dask_gpuscan.kernels.by_code import max_groups
from dask_gpuscan.kernels.cuda.codes import by_code, factorize
from dask_gpuscan.kernels.cuda.sort import partition
from dask_gpuscan.kernels.factorize import flags_at, occurring, sort_by_code
from dask_gpuscan.kernels.keys import factorize_words

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("poison")]

ROWS = (1 << 22) + 4099
KEYS = {
    "even": 1_000_000,
    "wide": 9_000_000,
    "few parts": 2049,
    "one group": 70_000,
    "a power": 1 << 20,
}

AFFINE = operator(
    lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1]),
    identity=(1, 0),
    lift=lambda x: (3, x),
    lower=lambda s: s[1],
)


@pytest.fixture(params=[(1, True), (16, True), (1024, True), (1, False), (16, False)])
def small_parts(request, monkeypatch) -> int:
    """Bring few rows together in parts of so many, by two digits or one, and cut what is longer than some of them."""
    rows, two = request.param
    if two:
        monkeypatch.setattr(by_code, "PART_TABLE", {True: 1, False: 1})
    monkeypatch.setattr(by_code, "PARTED_FROM", 1)
    monkeypatch.setattr(by_code, "_few_groups", lambda: 4)
    monkeypatch.setattr(by_code, "LONG_PART", 4 * rows)
    monkeypatch.setattr(partition, "PART_ROWS", rows)
    return rows


def codes_of(kind: str, groups: int, rows: int, rng: np.random.Generator) -> np.ndarray:
    """Return codes that are spread evenly, or of which one has most."""
    codes = rng.integers(0, groups, rows)
    if kind == "one group":
        codes[rng.random(rows) < 0.9] = groups // 3
    return codes


def same(found, expected) -> None:
    """Check fields of arrays on the GPU against those of NumPy; floats are added in another order."""
    for a, b in zip(*(x if isinstance(x, tuple) else (x,) for x in (found, expected)), strict=True):
        if b.dtype.kind == "f":
            np.testing.assert_allclose(a.get(), b, rtol=1e-9, atol=1e-9)
        else:
            np.testing.assert_array_equal(a.get(), b)


@pytest.mark.parametrize("kind", KEYS)
@pytest.mark.parametrize("name", ["add", "last", "welford"])
def test_many_groups(kind, name):
    rng, groups = np.random.default_rng(), KEYS[kind]
    codes = codes_of(kind, groups, ROWS, rng).astype(np.int32)
    x = rng.integers(-9, 9, ROWS).astype("int16" if name == "last" else "float64")
    missing = rng.random(ROWS) < 0.3
    on_host, on_device = (codes, x), (cp.asarray(codes), cp.asarray(x))
    assert groups <= max_groups(on_device[0])
    for nulls in (lambda xp: None, lambda xp: byte_mask(xp.asarray(missing))):
        expected = scan_by_code(BUILT_IN[name], *on_host, groups, nulls=nulls(np))
        found = scan_by_code(BUILT_IN[name], *on_device, groups, nulls=nulls(cp))
        same(found[0], expected[0])
        same(found[1], expected[1])
        same(reduce_by_code(BUILT_IN[name], *on_device, groups, nulls=nulls(cp)), expected[1])
    some, which = reduce_by_code(BUILT_IN[name], *on_device, groups, occurring=True)
    every = reduce_by_code(BUILT_IN[name], *on_device, groups)
    np.testing.assert_array_equal(which.get(), np.unique(codes))
    fields = [x if isinstance(x, tuple) else (x,) for x in (some, every)]
    same(tuple(fields[0]), tuple(field[which].get() for field in fields[1]))


@pytest.mark.parametrize("length", [1, 2, 31, 32, 33, 6143, 6144, 6145, 40_003])
@pytest.mark.parametrize("groups", [5, 257, 2000])
@pytest.mark.parametrize("dtypes", [("int32", "int8"), ("int64", "float32"), ("int32", "int64")])
def test_parts_of_any_size(small_parts, length, groups, dtypes):
    rng = np.random.default_rng()
    if groups > by_code.max_groups(length):
        pytest.skip("rows are too few for so many groups")
    for kind in ("even", "one group"):
        codes = codes_of(kind, groups, length + 1, rng).astype(dtypes[0])
        x = rng.integers(-2, 3, length + 1).astype(dtypes[1])
        on_device = cp.asarray(codes)[1:], cp.asarray(x)[1:]  # at an odd offset
        for exclusive in (False, True):
            expected = scan_by_code(BUILT_IN["add"], codes[1:], x[1:], groups, exclusive=exclusive)
            found = scan_by_code(BUILT_IN["add"], *on_device, groups, exclusive=exclusive)
            np.testing.assert_array_equal(found[0].get(), expected[0])
            np.testing.assert_array_equal(found[1].get(), expected[1])
        reduced = reduce_by_code(BUILT_IN["add"], *on_device, groups)
        np.testing.assert_array_equal(reduced.get(), expected[1])
        some, which = reduce_by_code(BUILT_IN["add"], *on_device, groups, occurring=True)
        np.testing.assert_array_equal(which.get(), np.unique(codes[1:]))
        np.testing.assert_array_equal(some.get(), expected[1][which.get()])


def test_nulls_carries_and_several_fields(small_parts):
    rng, length, groups = np.random.default_rng(), 20_011, min(1999, by_code.max_groups(20_011))
    codes, x = rng.integers(0, groups, length), rng.integers(-9, 9, length)
    bits = rng.integers(0, 256, length // 8 + 3).astype(np.uint8)
    before = rng.integers(-9, 9, groups // 3)
    which = rng.permutation(groups)[: len(before)]
    options = {"mark_nulls": False, "exclusive": True}
    expected = scan_by_code(
        BUILT_IN["add"], codes, x, groups, nulls=bitmap(bits, 5), carry_in=before,
        carry_codes=which, **options,
    )  # fmt: skip
    found = scan_by_code(
        BUILT_IN["add"], cp.asarray(codes), cp.asarray(x), groups, nulls=bitmap(cp.asarray(bits), 5),
        carry_in=cp.asarray(before), carry_codes=cp.asarray(which), **options,
    )  # fmt: skip
    same(found[0], expected[0])
    same(found[1], expected[1])
    few = codes % 3 * (groups // 3)
    expected = scan_by_code(AFFINE, few, x % 2, groups)
    found = scan_by_code(AFFINE, cp.asarray(few), cp.asarray(x % 2), groups)
    same(found[0], expected[0])
    same(found[1], expected[1])
    y = np.where(x > 0, x, np.nan)
    options = {"nulls": InBand(), "mark_nulls": True}
    expected = scan_by_code(BUILT_IN["maximum"], codes, y, groups, **options)
    found = scan_by_code(BUILT_IN["maximum"], cp.asarray(codes), cp.asarray(y), groups, **options)
    same(found[0], expected[0])


@pytest.mark.parametrize("bad", [-1, 2000, 2**31 - 1])
def test_codes_of_no_group(small_parts, bad):
    groups = min(2000, by_code.max_groups(20_000))
    codes = cp.arange(20_000, dtype=cp.int32) % groups
    codes[777] = bad
    with pytest.raises(ValueError, match=f"codes must be from 0 to {groups - 1}, found {bad}"):
        scan_by_code(BUILT_IN["add"], codes, codes, groups)


def test_one_answer_on_every_run():
    rng = np.random.default_rng(5)
    codes = cp.asarray(codes_of("one group", 300_000, ROWS, rng))
    x = cp.asarray(rng.standard_normal(ROWS))
    first, *others = (scan_by_code(BUILT_IN["add"], codes, x, 300_000) for _ in range(3))
    for other in others:
        for a, b in zip(first, other, strict=True):
            assert bool((a.view(np.uint64) == b.view(np.uint64)).all())


# --- words --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["uint32", "uint64"])
@pytest.mark.parametrize("distinct", [1, 2, 3000, 1 << 40])
@pytest.mark.parametrize("count", [0, 1, 2, 9217, (1 << 22) + 1])
def test_codes_of_words(dtype, distinct, count):
    rng = np.random.default_rng()
    words = rng.integers(0, distinct, count, np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    words = words.astype(dtype)
    codes, first = factorize_words(cp.asarray(words))
    _, rows, expected = np.unique(words, return_index=True, return_inverse=True)
    np.testing.assert_array_equal(codes.get(), expected)
    np.testing.assert_array_equal(first.get(), rows)
    assert codes.dtype == np.int32


def test_first_rows_of_many_groups():
    rng = np.random.default_rng()
    codes = rng.integers(0, 1 << 21, ROWS)
    found, first = factorize.factorize(cp.asarray(codes), 1 << 21, check=True)
    _, rows, numbers = np.unique(codes, return_index=True, return_inverse=True)
    np.testing.assert_array_equal(found.get(), numbers)
    np.testing.assert_array_equal(first.get(), rows)
    np.testing.assert_array_equal(occurring(cp.asarray(codes), 1 << 21).get(), np.unique(codes))


@pytest.mark.parametrize("length", [1, 1000, 9_000_000])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_flags_at_many_rows(length, dtype):
    rows = np.random.default_rng().permutation(length)[: length * 3 // 4].astype(dtype)
    expected = np.zeros(length, bool)
    expected[rows] = True
    np.testing.assert_array_equal(flags_at(cp.asarray(rows), length).get(), expected)


@pytest.mark.parametrize("missing", [[], [0], [3, 99]])
@pytest.mark.parametrize("is_sorted", [False, True])
def test_groups_that_occur_are_found_in_some_rows_or_in_all(monkeypatch, missing, is_sorted):
    monkeypatch.setattr(factorize, "SAMPLED_FROM", 1)
    codes = np.random.default_rng(len(missing)).integers(0, 100, 50_000).astype("i4")
    codes = np.sort(codes) if is_sorted else codes
    codes = codes[~np.isin(codes, missing)]
    found = occurring(cp.asarray(codes), 100)
    np.testing.assert_array_equal(found.get(), np.unique(codes))


@pytest.mark.parametrize("dtype", ["i4", "i8"])
@pytest.mark.parametrize("count", [0, 1, 5000, 300_000])
def test_rows_are_sorted_by_code(count, dtype):
    rng = np.random.default_rng()
    codes, values = rng.integers(0, 70_000, count).astype(dtype), rng.random(count)
    flags = rng.random(count) < 0.5
    arrays = [cp.asarray(values), cp.asarray(flags)]
    found, rows, moved = sort_by_code(cp.asarray(codes), 70_000, arrays)
    order = np.argsort(codes, kind="stable")
    assert found.dtype == codes.dtype
    assert rows.get().tolist() == order.tolist()
    for one, expected in zip((found, *moved), (codes, values, flags), strict=True):
        assert one.get().tolist() == expected[order].tolist()
