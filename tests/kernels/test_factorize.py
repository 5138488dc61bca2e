"""Codes of groups on one thread and on several: of codes, of words by their hashes, and walks that threads share."""

import numpy as np
import pytest

from dask_gpuscan import kernels
from dask_gpuscan.kernels import BUILT_IN
from dask_gpuscan.kernels.cpu.columns import factorize, hashes
from dask_gpuscan.kernels.cpu.core import launch, shares
from dask_gpuscan.kernels.factorize import (
    first_met,
    flags_at,
    occurring,
    value_range,
)
from dask_gpuscan.kernels.keys import (
    factorize_words,
    hash_codes,
    hash_texts,
    take_texts,
    text_words,
)
from dask_gpuscan.kernels.windows_by_code import rows_before

RNG = np.random.default_rng(11)
ROWS = 5000
ADD, FIRST = BUILT_IN["add"], BUILT_IN["first"]


@pytest.fixture(params=[1, 2, 4, 7])
def threads(request, monkeypatch) -> int:
    """Run small inputs as large ones, on so many threads."""
    for module in (launch, shares, factorize, hashes):
        monkeypatch.setattr(module, "helpers_for", lambda _: request.param - 1)
    for module in (launch, shares, factorize):
        monkeypatch.setattr(module, "PARALLEL", 1)
    monkeypatch.setattr(shares, "CHUNK", 512)
    monkeypatch.setattr(shares, "TABLE", 16)
    monkeypatch.setattr(shares, "FAR", 64)
    monkeypatch.setattr(factorize, "SLICE", 512)
    return request.param


def _codes(groups: int, dtype: str) -> np.ndarray:
    found = RNG.integers(0, groups, ROWS)
    found[found == groups // 2] = 0  # a number without rows
    return found.astype(dtype)


@pytest.mark.parametrize("dtype", ["i4", "i8"])
@pytest.mark.parametrize("groups", [1, 3, 16, 700, 20_000])
def test_codes_without_gaps(threads, groups, dtype):
    codes = _codes(groups, dtype)
    found, first_rows = kernels.factorize(codes, groups)
    _, rows, numbers = np.unique(codes, return_index=True, return_inverse=True)
    assert found.dtype == codes.dtype
    assert found.tolist() == numbers.tolist()
    assert first_rows.tolist() == rows.tolist()
    assert kernels.factorize(codes, groups, check=False)[0].tolist() == numbers.tolist()
    assert np.flatnonzero(first_met(codes, groups)).tolist() == sorted(rows.tolist())
    assert flags_at(codes, groups).tolist() == np.isin(np.arange(groups), codes).tolist()
    assert occurring(codes, groups).tolist() == np.unique(codes).tolist()


@pytest.mark.parametrize("count", [0, 1, 2, ROWS])
@pytest.mark.parametrize("distinct", [1, 2, 900, ROWS])
def test_hash_codes(threads, distinct, count):
    known = RNG.integers(0, 2**64, distinct, np.uint64)
    known[: distinct // 2] = np.arange(distinct // 2)  # many zeros in front, and the word 0
    words = known[RNG.integers(0, distinct, count)]
    codes, groups = hash_codes(words)
    assert len(codes) == count
    assert not count or 0 <= codes.min() <= codes.max() < groups
    pairs = {(int(w), int(c)) for w, c in zip(words, codes, strict=True)}
    assert len(pairs) == len({w for w, _ in pairs}) == len({c for _, c in pairs})
    for dtype in ("u4", "u8"):
        codes, rows = factorize_words(words.astype(dtype))
        assert _numbers(codes) == _numbers(words.astype(dtype))
        assert rows.tolist() == np.unique(codes, return_index=True)[1].tolist()


def test_words_of_one_hash_have_their_own_codes(threads, monkeypatch):
    """A table is searched on from a slot that another word has; here all words begin with few slots."""
    monkeypatch.setattr(hashes, "SPACE", 1)
    words = np.arange(ROWS, dtype=np.uint64)
    codes, _ = hash_codes(words)
    assert len(set(codes.tolist())) == ROWS


@pytest.mark.parametrize("sample", [16, 256, 1 << 14])
@pytest.mark.parametrize("distinct", [1, 40, 200, ROWS])
def test_words_that_the_sample_has_not(threads, distinct, sample, monkeypatch):
    """Few words are looked up in the table of a sample, and the rest inserted; clustered ones are many."""
    monkeypatch.setattr(hashes, "SAMPLE", sample)
    monkeypatch.setattr(hashes, "PART", 1)
    for words in (RNG.zipf(1.3, ROWS) % distinct, np.arange(ROWS) * distinct // ROWS):
        codes, groups = hash_codes(words.astype(np.uint64))
        assert 0 <= codes.min() <= codes.max() < groups
        assert _numbers(codes) == _numbers(words)


def _numbers(keys) -> list[int]:
    """Return the numbers of keys in the order in which they appear."""
    met: dict = {}
    return [met.setdefault(key, len(met)) for key in (k.item() for k in keys)]


# --- texts ------------------------------------------------------------------------------------------


def _texts(count: int, distinct: int, longest: int, offset: str):
    """Return random texts, as bytes and as Arrow keeps them, of which many are equal but for a byte."""
    letters = RNG.integers(0, 3, (distinct, longest), np.uint8)
    lengths = RNG.integers(0, longest + 1, distinct)
    known = [bytes(text[:length]) for text, length in zip(letters, lengths, strict=True)]
    found = [b"before", *(known[i] for i in RNG.integers(0, distinct, count))]
    ends = np.cumsum([0, *map(len, found)]).astype(offset)
    return found[1:], ends[1:], np.frombuffer(b"".join(found), np.uint8)


@pytest.mark.parametrize("offset", ["i4", "i8"])
@pytest.mark.parametrize("longest", [0, 3, 8, 9, 40])
@pytest.mark.parametrize(("count", "distinct"), [(0, 1), (1, 1), (ROWS, 30), (ROWS, 3000)])
def test_hash_texts(threads, count, distinct, longest, offset, monkeypatch):
    monkeypatch.setattr(hashes, "SAMPLE", 256)
    found, offsets, data = _texts(count, distinct, longest, offset)
    codes, groups = hash_texts(offsets, data)
    assert len(codes) == count
    assert not count or 0 <= codes.min() <= codes.max() < groups
    assert (
        len({*zip(found, codes.tolist(), strict=True)}) == len({*found}) == len({*codes.tolist()})
    )


def test_texts_of_one_hash_have_their_own_codes(threads, monkeypatch):
    found, offsets, data = _texts(ROWS, 300, 20, "i4")
    monkeypatch.setattr(hashes, "hashes_of", lambda texts, size: np.zeros(ROWS, np.uint64))
    codes, _ = hash_texts(offsets, data)
    assert (
        len({*zip(found, codes.tolist(), strict=True)}) == len({*found}) == len({*codes.tolist()})
    )


@pytest.mark.parametrize("longest", [0, 7, 8, 25])
def test_words_are_in_the_order_of_texts(threads, longest):
    found, offsets, data = _texts(ROWS, 3000, longest, "i8")
    words = text_words(offsets, data, 4)
    order = kernels.argsort([*words, np.diff(offsets)])
    assert order.tolist() == sorted(range(ROWS), key=lambda row: found[row])


@pytest.mark.parametrize("offset", ["i4", "i8"])
@pytest.mark.parametrize("longest", [0, 3, 8, 9, 40])
def test_rows_of_texts(threads, longest, offset):
    found, offsets, data = _texts(ROWS, 3000, longest, offset)
    for rows in (RNG.integers(-1, ROWS, 2 * ROWS), np.empty(0, np.int64), np.array([-5, ROWS - 1])):
        ends, taken = take_texts(offsets, data, rows)
        expected = [found[row] if row >= 0 else b"" for row in rows]
        assert ends.tolist() == np.cumsum([0, *map(len, expected)]).tolist()
        assert bytes(taken) == b"".join(expected)


def test_bytes_of_any_stride():
    offsets, data = np.array([0, 2, 4]), np.frombuffer(b"a.b.a.b.", np.uint8)[::2]
    codes, _ = hash_texts(offsets[:], data)
    assert codes.tolist() == [0, 0]
    words = text_words(offsets, data, 1)
    assert words.tolist() == [[int.from_bytes(b"ab".ljust(8, bytes(1)))] * 2]


# --- walks ------------------------------------------------------------------------------------------


def test_no_groups(threads):
    codes = np.zeros(ROWS, np.int32)
    with pytest.raises(ValueError, match="codes must be from 0 to -1, found 0"):
        kernels.scan_by_code(ADD, codes, np.ones(ROWS), groups=0)
    with pytest.raises(ValueError, match="codes must be from 0 to -1, found 0"):
        rows_before(codes, 0, 1)


@pytest.mark.parametrize("groups", [1, 3, 16, 700, 20_000])
@pytest.mark.parametrize("op", [ADD, FIRST, BUILT_IN["maximum"]], ids=lambda op: op.name)
def test_walks_have_the_bits_of_one_thread(threads, op, groups, monkeypatch):
    codes, x = _codes(groups, "i4"), RNG.standard_normal(ROWS)
    x[RNG.random(ROWS) < 0.1] = np.nan

    def answers() -> list[np.ndarray]:
        out, states = kernels.scan_by_code(op, codes, x, groups, nulls=kernels.InBand())
        reduced = kernels.reduce_by_code(op, codes, x, groups, nulls=kernels.InBand())
        going_on, _ = kernels.scan_by_code(op, codes, x, groups, carry_in=states)
        fields = [*_fields(states), *_fields(reduced)]
        return [out, going_on, *fields]

    found = answers()
    for module in (launch, shares, factorize, hashes):
        monkeypatch.setattr(module, "helpers_for", lambda _: 0)
    for ours, alone in zip(found, answers(), strict=True):
        assert ours.tobytes() == alone.tobytes()
    reduced = _fields(kernels.reduce_by_code(op, codes, x, groups, nulls=kernels.InBand()))[0]
    for code in np.unique(codes)[:5]:
        _, state = kernels.scan(op, x[codes == code], nulls=kernels.InBand())
        assert np.allclose(reduced[code], _fields(state)[0], equal_nan=True)


def _fields(state: object) -> tuple[np.ndarray, ...]:
    return state if isinstance(state, tuple) else (state,)


def test_sums_of_a_product_in_order_have_no_chunks(threads):
    """What must be combined element by element is."""
    codes, x = _codes(3, "i4"), RNG.standard_normal(ROWS)
    states = kernels.reduce_by_code(BUILT_IN["multiply"], codes, x, 3)
    for code in (0, 2):
        expected = 1.0
        for value in x[codes == code]:
            expected *= value
        assert states[code] == expected


@pytest.mark.parametrize("periods", [1, 3, -2])
@pytest.mark.parametrize("groups", [1, 5, 900])
def test_rows_before(threads, groups, periods):
    codes = _codes(groups, "i8")
    found = rows_before(codes, groups, periods)
    for code in np.unique(codes)[:7]:
        rows = np.flatnonzero(codes == code)
        expected = np.full(len(rows), -1)
        if periods > 0:
            expected[periods:] = rows[:-periods]
        else:
            expected[:periods] = rows[-periods:]
        assert found[rows].tolist() == expected.tolist()


@pytest.mark.parametrize("bad", [-1, 9])
@pytest.mark.parametrize("at", [0, 77, ROWS - 1])
def test_codes_of_no_group_are_refused(threads, at, bad):
    codes = RNG.integers(0, 9, ROWS)
    codes[at] = bad
    for call in (
        lambda: kernels.factorize(codes, 9),
        lambda: kernels.scan_by_code(ADD, codes, np.ones(ROWS), 9),
        lambda: kernels.reduce_by_code(ADD, codes, np.ones(ROWS), 9),
        lambda: rows_before(codes, 9, 1),
    ):
        with pytest.raises(ValueError, match=f"codes must be from 0 to 8, found {bad}"):
            call()


@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "i8"])
def test_value_range(threads, dtype):
    x = (
        RNG.integers(0, 2, ROWS).astype(dtype)
        if dtype == "?"
        else RNG.integers(
            np.iinfo(dtype).min, np.iinfo(dtype).max, ROWS, np.dtype(dtype), endpoint=True
        )
    )
    assert value_range(x) == (int(x.min()), int(x.max()))
    assert value_range(x[::-7]) == (int(x[::-7].min()), int(x[::-7].max()))


@pytest.mark.parametrize("dtype", ["?", "i2", "f4", "f8", "c16"])
def test_put_and_take_are_inverse(threads, dtype):
    x, positions = RNG.integers(0, 100, ROWS).astype(dtype), RNG.permutation(ROWS)
    assert kernels.put(kernels.take(x, positions), positions).tolist() == x.tolist()
