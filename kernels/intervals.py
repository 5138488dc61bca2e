"""Intervals: neighbouring items of an array, as many at a time as counts say, repeated, gathered, scattered or moved.

All are one walk over the items, and a load-balancing search finds where each thread begins: it does not matter how long
intervals are. The search is merge path (Green, McColl, Bader, *GPU Merge Path*, ICS 2012), the functions are those of
Baxter's *Modern GPU*.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .arrays import Array, check_columns, check_memory, check_one_length, is_array, is_int128
from .backends import backend_of
from .messages import shown

WIDTHS = (1, 2, 4, 8, 16)
"""Bytes of an item that can be copied."""


def interval_expand(counts: Array, values: Array) -> Any:
    """Repeat each value as often as its count says.

    Parameters
    ----------
    counts : array of int64
        1-d, not negative.
    values : array
        1-d, as long as `counts`, of any fixed-width dtype.

    Returns
    -------
    array
        Of ``counts.sum()`` items.

    Raises
    ------
    TypeError
        For other arrays.
    ValueError
        If a count is negative, or the arrays are not of one length.
    MemoryError
        If there are more items than fit the memory there is, before any memory is taken for them.

    See Also
    --------
    interval_gather : Intervals of an array rather than equal items.
    run_length_decode : The same for several arrays.

    Notes
    -----
    Algorithm: Baxter, *Modern GPU*, IntervalExpand.

    Examples
    --------
    >>> import numpy as np
    >>> interval_expand(np.array([2, 0, 3]), np.array([7, 8, 9]))
    array([7, 7, 9, 9, 9])
    """
    return expanded("counts", counts, [values])[0]


def interval_gather(offsets: Array, counts: Array, source: Array) -> Any:
    """Join intervals of an array: ``source[offset : offset + count]`` for each offset and its count.

    Parameters
    ----------
    offsets : array of int64
        1-d: where each interval begins. Intervals may overlap.
    counts : array of int64
        1-d, as long as `offsets`, not negative: how many items each interval has. The offset of an empty interval is
        not looked at.
    source : array
        1-d, of any fixed-width dtype.

    Returns
    -------
    array
        Of ``counts.sum()`` items.

    Raises
    ------
    TypeError
        For other arrays.
    ValueError
        If a count is negative, an interval is not within `source`, or offsets and counts are not of one length.
    MemoryError
        As `interval_expand`.

    See Also
    --------
    interval_scatter : The inverse.
    interval_move : From intervals to intervals.

    Notes
    -----
    Algorithm: Baxter, *Modern GPU*, IntervalMove.

    Examples
    --------
    >>> import numpy as np
    >>> interval_gather(np.array([4, 0]), np.array([2, 3]), np.arange(10, 20))
    array([14, 15, 10, 11, 12])
    """
    return _moved(counts, source, None, gather=("offsets", offsets))


def interval_scatter(offsets: Array, counts: Array, source: Array, out: Array) -> Any:
    """Cut an array into intervals, and write each to its offset: ``out[offset : offset + count]``.

    Parameters
    ----------
    offsets : array of int64
        1-d: where each interval begins in `out`. Where intervals overlap, any of their items may be the last written.
    counts : array of int64
        1-d, as long as `offsets`, not negative: how many items each interval has. The offset of an empty interval is
        not looked at.
    source : array
        1-d, of ``counts.sum()`` items, of any fixed-width dtype.
    out : array
        1-d, contiguous, of the dtype of `source`. Items in no interval stay as they are.

    Returns
    -------
    array
        `out`.

    Raises
    ------
    TypeError
        For other arrays.
    ValueError
        If a count is negative, an interval is not within `out`, `source` is not as long as the counts add up to,
        offsets and counts are not of one length, or `out` is read-only or shares memory with another array.

    See Also
    --------
    interval_gather : The inverse.
    interval_move : From intervals to intervals.

    Notes
    -----
    Algorithm: Baxter, *Modern GPU*, IntervalMove.

    Examples
    --------
    >>> import numpy as np
    >>> interval_scatter(np.array([3, 0]), np.array([2, 3]), np.arange(10, 15), np.zeros(5, int))
    array([12, 13, 14, 10, 11])
    """
    return _moved(counts, source, out, scatter=("offsets", offsets))


def interval_move(
    gather_offsets: Array, scatter_offsets: Array, counts: Array, source: Array, out: Array
) -> Any:
    """Copy intervals of an array to intervals of another.

    Parameters
    ----------
    gather_offsets : array of int64
        1-d: where each interval begins in `source`.
    scatter_offsets : array of int64
        1-d: where it begins in `out`. Where intervals overlap there, any of their items may be the last written.
    counts : array of int64
        1-d, not negative: how many items each interval has. Offsets of an empty interval are not looked at.
    source : array
        1-d, of any fixed-width dtype.
    out : array
        As for `interval_scatter`.

    Returns
    -------
    array
        `out`.

    Raises
    ------
    TypeError, ValueError
        As `interval_gather` and `interval_scatter`.

    See Also
    --------
    interval_gather, interval_scatter : One side without gaps, in order.

    Notes
    -----
    Algorithm: Baxter, *Modern GPU*, IntervalMove.

    Examples
    --------
    >>> import numpy as np
    >>> gather, scatter, counts = np.array([8, 2]), np.array([0, 1]), np.array([1, 3])
    >>> interval_move(gather, scatter, counts, np.arange(10), np.full(5, -1))
    array([ 8,  2,  3,  4, -1])
    """
    return _moved(
        counts,
        source,
        out,
        gather=("gather_offsets", gather_offsets),
        scatter=("scatter_offsets", scatter_offsets),
    )


def expanded(name: str, counts: Array, arrays: Sequence[Array], beside: int = 0) -> list[Any]:
    """Repeat each entry of arrays as often as `counts`, which are called `name`, say.

    There must be memory for the answer and for so many bytes an item `beside`.
    """
    _check_words(name, counts)
    for array in arrays:
        _check_items("values", array)
    check_one_length(f"{name} and values", [counts, *arrays])
    backend = backend_of([counts, *arrays])
    intervals = backend.intervals(counts, None, None, (0, 0))
    if intervals.total < 0:
        _refuse_counts(name, counts)
    width = beside + sum(array.dtype.itemsize for array in arrays)
    check_memory(intervals.total, width, backend.available)
    return [backend.copy_intervals(intervals, array, None, repeats=True) for array in arrays]


_Named = tuple[str, Any]


def _moved(
    counts: Array,
    source: Array,
    out: Any,
    *,
    gather: _Named | None = None,
    scatter: _Named | None = None,
) -> Any:
    """Copy items from their place in `source`, or intervals of it, to `out`, or intervals of it."""
    sides = [side for side in (gather, scatter) if side is not None]
    for name, offsets in [*sides, ("counts", counts)]:
        _check_words(name, offsets)
    check_one_length("offsets and counts", [*(offsets for _, offsets in sides), counts])
    _check_items("source", source)
    arrays = [source, counts, *(offsets for _, offsets in sides)]
    if scatter is not None:
        _check_items("out", out)
        arrays.append(out)
    backend = backend_of(arrays)
    if scatter is not None:
        _check_out(out, arrays[:-1])
    lengths = len(source), 0 if scatter is None else len(out)
    of, to = (None if side is None else side[1] for side in (gather, scatter))
    intervals = backend.intervals(counts, of, to, lengths)
    if intervals.total < 0:
        _refuse_counts("counts", counts)
        for side, length, within in zip((gather, scatter), lengths, ("source", "out"), strict=True):
            if side is not None:
                _refuse_offsets(side, counts, length, within)
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


def _refuse_offsets(side: _Named, counts: Any, length: int, within: str) -> None:
    """Raise an error for the first interval that is not within so many items, if there is one."""
    name, offsets = side
    wrong = (counts > 0) & ((offsets < 0) | (offsets > length - counts))
    if not wrong.any():
        return
    i = int(wrong.argmax())
    raise ValueError(
        f"{name}: interval {i} has {int(counts[i])} items from {int(offsets[i])} on, "
        f"which are not within the {length} of {within}"
    )
