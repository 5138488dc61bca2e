"""Intervals, runs of neighbouring items of an array given by counts: repeated, gathered, scattered or moved.

All are one walk over the items; a load-balancing search finds where each thread begins, for intervals of any length.
The search is merge path (Green, McColl, Bader, *GPU Merge Path*, ICS 2012), the functions are those of Baxter's *Modern
GPU*.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .arrays import (
    Array,
    check_columns,
    check_integer,
    check_memory,
    check_one_length,
    is_array,
    is_int128,
)
from .backends import backend_of
from .messages import shown

WIDTHS = (1, 2, 4, 8, 16)
"""Bytes of an item that can be copied."""


def run_length_decode(lengths: Array, arrays: Sequence[Array], *, beside: int = 0) -> list[Any]:
    """Repeat each entry of arrays as often as `lengths` says: the inverse of run-length encoding.

    Parameters
    ----------
    lengths : array of int64
        Not negative.
    arrays : sequence of arrays
        1-d, as long as `lengths`, of any fixed-width dtypes.
    beside : int, default 0
        Bytes of each row that the caller needs for its own results; they must fit the memory, too.

    Returns
    -------
    list of arrays

    Raises
    ------
    MemoryError
        If the answer is larger than the available memory, before any of it is made.
    TypeError
        If lengths are not an int64 array, or an array is not of a fixed width.
    ValueError
        If a length is negative, or the arrays are not of one length.

    See Also
    --------
    run_length_encode : The inverse.
    interval_move : Intervals of an array rather than equal items.

    Notes
    -----
    Algorithm: Baxter, *Modern GPU*, IntervalExpand.

    Examples
    --------
    >>> run_length_decode(np.array([2, 0, 3]), [np.array([7, 8, 9])])
    [array([7, 7, 9, 9, 9])]
    """
    check_integer("beside", beside)
    if beside < 0:
        raise ValueError(f"beside must not be negative, found {beside}")
    _check_words("lengths", lengths)
    for array in arrays:
        _check_items("values", array)
    check_one_length("lengths and values", [lengths, *arrays])
    backend = backend_of([lengths, *arrays])
    intervals = backend.intervals(lengths, None, None, (0, 0))
    if intervals.total < 0:
        _refuse_counts("lengths", lengths)
    width = beside + sum(array.dtype.itemsize for array in arrays)
    check_memory(intervals.total, width, backend.available)
    return [backend.copy_intervals(intervals, array, None, repeats=True) for array in arrays]


def interval_move(
    counts: Array,
    source: Array,
    *,
    gather: Array | None = None,
    scatter: Array | None = None,
    out: Array | None = None,
) -> Any:
    """Copy intervals of an array to a new array, or to intervals of another.

    With `gather` alone, intervals are joined: ``source[offset : offset + count]`` for each offset and its count. With
    `scatter` alone, the source is cut into intervals.

    Parameters
    ----------
    counts : array of int64
        1-d, not negative: how many items each interval has. Offsets of empty intervals are ignored.
    source : array
        1-d, of any fixed-width dtype. Without `gather`, of ``counts.sum()`` items.
    gather : array of int64, optional
        1-d, as long as `counts`: where each interval begins in `source`. Intervals may overlap. By default each begins
        where the one before ends.
    scatter : array of int64, optional
        1-d, as long as `counts`: where each interval begins in `out`. Where intervals overlap there, any of their items
        may be the last written. By default the answer is a new array, in which each begins where the one before ends.
    out : array, optional
        Needed with `scatter`: 1-d, contiguous, of the dtype of `source`. Items in no interval stay as they are.

    Returns
    -------
    array
        `out`, or without `scatter` a new array of ``counts.sum()`` items.

    Raises
    ------
    TypeError
        For other arrays, and unless `scatter` and `out` are given together.
    ValueError
        If a count is negative, an interval is not within `source` or `out`, `source` is not as long as the sum of the
        counts, offsets and counts are not of one length, or `out` is read-only or shares memory with another array.
    MemoryError
        If there are more items than fit the available memory, before any memory is taken for them.

    See Also
    --------
    run_length_decode : Equal items rather than intervals of an array.

    Notes
    -----
    Algorithm: Baxter, *Modern GPU*, IntervalMove.

    Examples
    --------
    >>> import numpy as np
    >>> interval_move(np.array([2, 3]), np.arange(10, 20), gather=np.array([4, 0]))
    array([14, 15, 10, 11, 12])
    >>> starts, out = np.array([3, 0]), np.zeros(5, int)
    >>> interval_move(np.array([2, 3]), np.arange(10, 15), scatter=starts, out=out)
    array([12, 13, 14, 10, 11])
    """
    words = {"counts": counts}
    words |= {name: x for name, x in (("gather", gather), ("scatter", scatter)) if x is not None}
    for name, array in words.items():
        _check_words(name, array)
    check_one_length("offsets and counts", [*words.values()])
    _check_items("source", source)
    arrays, length = [source, *words.values()], 0
    if scatter is not None:
        _check_items("out", out)
        assert out is not None
        backend, length = backend_of([*arrays, out]), len(out)
        _check_out(out, arrays)
    elif out is not None:
        raise TypeError("out is written to where scatter says; give both")
    else:
        backend = backend_of(arrays)
    intervals = backend.intervals(counts, gather, scatter, (len(source), length))
    if intervals.total < 0:
        _refuse_counts("counts", counts)
        if gather is not None:
            _refuse_offsets("gather", gather, counts, len(source), "source")
        if scatter is not None:
            _refuse_offsets("scatter", scatter, counts, length, "out")
    if gather is None and intervals.total != len(source):
        raise ValueError(
            f"source must have as many items as counts add up to, {intervals.total}, found {len(source)}"
        )
    taken = source.dtype.itemsize if scatter is None else 0
    check_memory(intervals.total, taken, backend.available)
    return backend.copy_intervals(intervals, source, out, repeats=False)


def _check_words(name: str, array: Any) -> None:
    if not is_array(array) or array.dtype != np.int64:
        found = f"an array of {array.dtype}" if is_array(array) else shown(array)
        raise TypeError(f"{name} must be an array of int64, found {found}")
    check_one_length(name, [array])


def _check_items(name: str, array: Any) -> None:
    """Check that an array can be copied item by item."""
    if is_array(array) and is_int128(array.dtype):
        check_one_length(name, [array])
        return
    check_columns(name, [array])
    if array.dtype.itemsize not in WIDTHS:
        raise TypeError(f"{name}: items must have {WIDTHS} bytes, found dtype {array.dtype}")


def _check_out(out: Any, read: Sequence[Array]) -> None:
    """Check that items can be written to `out` while others are read."""
    if out.dtype != read[0].dtype:
        raise TypeError(f"out must have the dtype of source, {read[0].dtype}, found {out.dtype}")
    if not out.flags.c_contiguous:
        raise ValueError("out must be contiguous")
    if isinstance(out, np.ndarray) and not out.flags.writeable:
        raise ValueError("out is read-only")
    for array in read:
        if np.may_share_memory(out, array):
            raise ValueError("out must share no memory with the other arrays")


def _refuse_counts(name: str, counts: Any) -> None:
    """Raise an error if a count is negative."""
    least = int(counts.min())
    if least < 0:
        raise ValueError(f"{name} must not be negative, found {least}")


def _refuse_offsets(name: str, offsets: Any, counts: Any, length: int, within: str) -> None:
    """Raise an error for the first interval that is not within `length` items, if there is one."""
    wrong = (counts > 0) & ((offsets < 0) | (offsets > length - counts))
    if not wrong.any():
        return
    i = int(wrong.argmax())
    raise ValueError(
        f"{name}: interval {i} has {int(counts[i])} items from {int(offsets[i])} on, "
        f"which are not within the {length} of {within}"
    )
