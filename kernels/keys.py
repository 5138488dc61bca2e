"""Keys as words of 8 bytes or as texts: their codes, their order, and texts by position."""

from typing import Any

import numpy as np

from . import cpu
from .arrays import Array, brief, check_one_length, is_array
from .backends import backend_of
from .scalars import is_integer
from .sort import check_offsets


def hash_codes(words: Array) -> tuple[Any, int]:
    """Return codes that are equal if words are equal, and a number above all codes.

    Parameters
    ----------
    words : array of uint64

    Returns
    -------
    codes : array of int32 or int64
        They may have gaps.
    groups : int

    Raises
    ------
    TypeError
        For other arrays, also those of CuPy.

    See Also
    --------
    kernels.factorize : Codes without gaps.
    factorize_words : Codes without gaps, for CuPy's arrays, too.
    hash_texts : The same for texts.

    Notes
    -----
    Threads partition the rows by the hashes of their words, and make a table of each part. Codes depend on the number
    of threads, but which rows have equal codes does not.

    Examples
    --------
    >>> hash_codes(np.array([7, 3, 7], np.uint64))
    (array([0, 1, 0], dtype=int32), 2)
    """
    _check_words(words)
    return backend_of([words]).hash_codes(words)


def factorize_words(words: Array) -> tuple[Any, Any]:
    """Return codes without gaps that are equal if words are equal, and the first row of each.

    Parameters
    ----------
    words : array of uint32 or uint64

    Returns
    -------
    codes : array of int32 or int64
    first_rows : array of int32 or int64

    Raises
    ------
    TypeError
        For other arrays.

    See Also
    --------
    kernels.factorize : The same for codes.
    hash_codes : Codes that may have gaps.

    Notes
    -----
    On CPUs codes come from hash tables, in no order. On GPUs words are sorted and numbered in order: a hash table that
    is larger than the cache would wait for memory at each row.

    Examples
    --------
    >>> factorize_words(np.array([7, 3, 7], np.uint64))
    (array([0, 1, 0], dtype=int32), array([0, 1]))
    """
    if not is_array(words) or words.dtype not in (np.uint32, np.uint64) or words.ndim != 1:
        raise TypeError(f"words must be a 1-d array of uint32 or uint64, found {brief(words)}")
    return backend_of([words]).factorize_words(words)


def hash_texts(offsets: Array, data: Array) -> tuple[Any, int]:
    """Return codes that are equal if texts are equal, and a number above all of them.

    Parameters
    ----------
    offsets : array of int32 or int64, of n + 1 items
        Where each of `n` texts begins in `data`, and where the last one ends, as in Arrow.
    data : array of uint8

    Returns
    -------
    codes : array of int32 or int64, of n items
        They may have gaps.
    groups : int

    Raises
    ------
    TypeError
        For other arrays, also those of CuPy.
    ValueError
        For offsets that decrease or go beyond `data`, or without an item.

    See Also
    --------
    hash_codes : The same for words.

    Notes
    -----
    Hashes of 64 bits go through the tables of `hash_codes`, and the bytes of texts with equal hashes are compared. Each
    process chooses a random seed for the hashes.

    Examples
    --------
    >>> hash_texts(np.array([0, 2, 4, 6]), np.frombuffer(b"abcdab", np.uint8))[0]
    array([0, 1, 0], dtype=int32)
    """
    _check_texts(offsets, data)
    return backend_of([offsets, data]).hash_texts(offsets, data)


class KeyTable:
    """Distinct words or texts of several arrays, numbered as they are met.

    A table is for words or for texts, not for both, and for one thread at a time.

    See Also
    --------
    hash_codes, hash_texts : Numbers in one array.

    Notes
    -----
    All threads look words up in one hash table. New words are numbered as in one array, and one thread adds them. A
    table takes 40 to 80 bytes for each word, and the bytes of texts.

    Examples
    --------
    >>> table = KeyTable()
    >>> table.number_words(np.array([7, 3, 7], np.uint64))
    (array([0, 1, 0], dtype=int32), array([0, 1]))
    >>> table.number_words(np.array([3, 9], np.uint64))
    (array([1, 2], dtype=int32), array([1]))
    """

    def __init__(self) -> None:
        self._table, self._kind = cpu.KeyTable(), ""

    def __len__(self) -> int:
        return self._table.known

    def number_words(self, words: Array) -> tuple[Any, Any]:
        """Return the number of each word.

        Parameters
        ----------
        words : array of uint64

        Returns
        -------
        codes : array of int32
        first_rows : array of int64
            The first row of each new word, in the order of their numbers.

        Raises
        ------
        TypeError
            For other arrays, also those of CuPy.
        ValueError
            If the table has texts.
        """
        _check_words(words)
        self._check_kind("words")
        return self._table.number_words(_on_host(words))

    def number_texts(self, offsets: Array, data: Array) -> tuple[Any, Any]:
        """Return the number of each text.

        Parameters
        ----------
        offsets, data : array
            As for `hash_texts`.

        Returns
        -------
        codes, first_rows : array
            As of `number_words`.

        Raises
        ------
        TypeError, ValueError
            As `hash_texts`; if the table has words.
        """
        _check_texts(offsets, data)
        self._check_kind("texts")
        return self._table.number_texts(_on_host(offsets), _on_host(data))

    def _check_kind(self, kind: str) -> None:
        if self._kind not in ("", kind):
            raise ValueError(f"this table is of {self._kind}, found {kind}; make another one")
        self._kind = kind


def _on_host(array: Array) -> np.ndarray:
    if not isinstance(array, np.ndarray):
        raise TypeError(f"key tables take NumPy arrays, found {brief(array)}")
    return array


def count_distinct(words: Array, offsets: Array, missing: Array | None = None) -> Any:
    """Return how many distinct words each segment has.

    Parameters
    ----------
    words : array of uint64 or float64
        All NaN are one, and zeros of two signs.
    offsets : array of int64
        Where segments start, from 0 on and not decreasing; the last item is the end of the last one.
    missing : array of bool, optional
        Which words are not counted.

    Returns
    -------
    array of int64

    Raises
    ------
    TypeError
        For other arrays, also those of CuPy.
    ValueError
        For offsets of other rows, and another number of flags than of words.

    See Also
    --------
    kernels.sort_pairs : The words of each segment in order.

    Examples
    --------
    >>> count_distinct(np.array([7, 3, 7, 7], np.uint64), np.array([0, 3, 4]))
    array([2, 1])
    """
    are_floats = is_array(words) and words.dtype == np.float64
    _check_words(words.view(np.uint64) if are_floats else words)
    check_offsets(offsets, len(words))
    if missing is not None:
        check_one_length("words and missing", [words, missing])
    given = [words, offsets] if missing is None else [words, offsets, missing]
    return backend_of(given).count_distinct(words, offsets, missing)


def text_words(offsets: Array, data: Array, count: int) -> Any:
    r"""Return the first bytes of texts as words, which are in the order of the texts.

    Parameters
    ----------
    offsets, data : array
        As for `hash_texts`.
    count : int
        The number of words for each text: its first ``8 * count`` bytes.

    Returns
    -------
    array of uint64, of shape (count, n)
        The most significant word first. Zeros follow the last byte of a text.

    Raises
    ------
    TypeError, ValueError
        As `hash_texts`; for another `count`.

    See Also
    --------
    kernels.argsort : The order of several keys. With the lengths of texts as the last key, it is the order of texts.

    Examples
    --------
    >>> words = text_words(np.array([0, 2, 3]), np.frombuffer(b"abc", np.uint8), 1)
    >>> [word.item().to_bytes(8, "big") for word in words[0]]
    [b'ab\x00\x00\x00\x00\x00\x00', b'c\x00\x00\x00\x00\x00\x00\x00']
    """
    _check_texts(offsets, data)
    if not is_integer(count) or count < 1:
        raise ValueError(f"count must be a positive integer, found {count!r}")
    return backend_of([offsets, data]).text_words(offsets, data, count)


def take_texts(offsets: Array, data: Array, rows: Array) -> tuple[Any, Any]:
    """Return the texts of some rows.

    Parameters
    ----------
    offsets, data : array
        As for `hash_texts`.
    rows : array of int64
        Which texts; a negative row is an empty text.

    Returns
    -------
    offsets : array of int64, of an item more than there are rows
    data : array of uint8

    Raises
    ------
    TypeError, ValueError
        As `hash_texts`; for rows of another dtype.
    IndexError
        For a row beyond the texts, or a text that is not within `data`.

    See Also
    --------
    kernels.take : Elements of fixed width.
    kernels.interval_move : Intervals of any items.

    Examples
    --------
    >>> offsets, data = take_texts(
    ...     np.array([0, 2, 3]), np.frombuffer(b"abc", np.uint8), np.array([1, -1, 0])
    ... )
    >>> offsets, bytes(data)
    (array([0, 1, 1, 3]), b'cab')
    """
    _check_texts(offsets, data)
    if not is_array(rows) or rows.dtype != np.int64 or rows.ndim != 1:
        raise TypeError(f"rows must be a 1-d array of int64, found {brief(rows)}")
    return backend_of([offsets, data, rows]).take_texts(offsets, data, rows)


def _check_words(words: Any) -> None:
    if not is_array(words) or words.dtype != np.uint64 or words.ndim != 1:
        raise TypeError(f"words must be a 1-d array of uint64, found {brief(words)}")


def _check_texts(offsets: Any, data: Any) -> None:
    for name, array, kinds in (("offsets", offsets, "i4 i8"), ("data", data, "u1")):
        dtypes = list(map(np.dtype, kinds.split()))
        if not is_array(array) or array.dtype not in dtypes or array.ndim != 1:
            wanted = " or ".join(map(str, dtypes))
            raise TypeError(f"{name} must be a 1-d array of {wanted}, found {brief(array)}")
    if not len(offsets):
        raise ValueError("offsets must have an item more than there are texts, found none")
