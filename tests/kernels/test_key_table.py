"""Numbers of keys that go on from one array to the next, against a dictionary."""

import numpy as np
import pytest

from dask_gpuscan.kernels.keys import KeyTable
from helpers.backends import has_cuda


def texts_of(keys):
    offsets = np.cumsum([0, *map(len, keys)], dtype=np.int32)
    return offsets, np.frombuffer(b"".join(keys), np.uint8)


@pytest.mark.parametrize("kind", ["words", "texts"])
@pytest.mark.parametrize("rows", [1, 3_000, 200_000])
def test_many_keys(kind, rows):
    """Where tables are enlarged, and by all threads."""
    table, rng, numbers = KeyTable(), np.random.default_rng(rows), {}
    for most in (100, 5_000, 90_000, 40):
        keys = (rng.integers(0, most, rows) * 2**32).tolist()
        if kind == "texts":
            keys = [b"%x" % key for key in keys]
        codes, first_rows = (
            table.number_words(np.array(keys, np.uint64))
            if kind == "words"
            else table.number_texts(*texts_of(keys))
        )
        assert (np.diff(first_rows) > 0).all()
        for row in first_rows.tolist():
            assert numbers.setdefault(keys[row], len(numbers)) == codes[row]
        assert codes.tolist() == [numbers[key] for key in keys]
    assert len(table) == len(numbers)


@pytest.mark.parametrize("kind", ["words", "texts"])
def test_many_different_keys_are_numbered_as_they_are_met(kind):
    keys = np.random.default_rng(1).permutation(700_000).astype(np.uint64)
    table, found = KeyTable(), []
    for part in (keys[:650_000], keys):
        if kind == "words":
            found = table.number_words(part)
        else:
            found = table.number_texts(np.arange(len(part) + 1) * 8, part.view(np.uint8))
        assert found[0].tolist() == list(range(len(part)))
    assert found[1].tolist() == list(range(650_000, 700_000))


def test_offsets_may_begin_anywhere():
    table, data = KeyTable(), np.frombuffer(b"xxabcab", np.uint8)
    codes, first = table.number_texts(np.array([2, 4, 5, 7]), data)
    assert (codes.tolist(), first.tolist()) == ([0, 1, 0], [0, 1])
    codes, first = table.number_texts(np.array([4, 5, 7]), data)
    assert (codes.tolist(), first.tolist()) == ([1, 0], [])


def test_a_table_of_words_takes_no_texts():
    table = KeyTable()
    table.number_words(np.array([1], np.uint64))
    with pytest.raises(ValueError, match="this table is of words, found texts"):
        table.number_texts(np.array([0, 1]), np.zeros(1, np.uint8))


@pytest.mark.gpu
def test_arrays_of_gpus_are_refused():
    if not has_cuda():
        pytest.skip("needs a GPU")
    import cupy

    with pytest.raises(TypeError, match="key tables take NumPy arrays"):
        KeyTable().number_words(cupy.zeros(3, np.uint64))
