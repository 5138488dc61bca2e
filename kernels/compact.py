"""Compaction: keep rows, split rows in two, keep one row of each run, and return runs as starts and lengths.

Each function is one pass of the engine with a count (of kept rows or runs) as its state: a tile writes behind the rows
of earlier tiles. After Merrill and Garland, *Single-pass Parallel Prefix Scan with Decoupled Look-back* (NVR-2016-002),
section 5.2, and in place section 4.4.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .arrays import Array, is_array
from .backends import BACKENDS
from .messages import shown
from .nulls import Nulls
from .selection import Predicate, Selection, check_keep, runs


def select(
    arrays: Sequence[Array], keep: Selection, *, positions: bool = False, in_place: bool = False
) -> list[Any]:
    """Keep the rows of arrays where `keep` is true, in their order.

    Parameters
    ----------
    arrays : sequence of arrays
        1-d, of one length and any fixed-width dtypes.
    keep : array of bool or Predicate
        Of the same length.
    positions : bool, default False
        Return the positions of the kept rows as well.
    in_place : bool, default False
        Write over the arrays and return views of their heads. What follows the heads is then undefined.

    Returns
    -------
    list of arrays
        The kept rows of each array; with `positions`, an int64 array last.

    Raises
    ------
    TypeError
        For other objects than arrays, dtypes that are not of a fixed width, a `keep` that is not bool.
    ValueError
        If lengths differ; in place, if an array is read-only or shares a part of another's memory.

    See Also
    --------
    partition : The other rows too.
    flags : Which rows, without moving them.

    Notes
    -----
    One pass, in which a predicate is evaluated once for each row.

    Examples
    --------
    >>> x = np.array([3, 1, 4, 1, 5])
    >>> select([x], x > 2)
    [array([3, 4, 5])]
    >>> select([x], Predicate(lambda x: x > 2, [x]), positions=True)
    [array([3, 4, 5]), array([0, 2, 4])]
    """
    kept, _ = BACKENDS[frozenset(map(type, check_keep(keep, arrays)))].compact(
        list(arrays), keep, False, positions, in_place
    )
    return kept


def partition(
    arrays: Sequence[Array], keep: Selection, *, positions: bool = False, in_place: bool = False
) -> tuple[list[Any], list[Any]]:
    """Split the rows of arrays into those where `keep` is true and the rest, both in their order.

    Parameters
    ----------
    arrays, keep, positions
        As for `select`.
    in_place : bool, default False
        Write over the arrays: the kept rows become their heads and the rest their tails; needs a buffer for the rest.

    Returns
    -------
    kept, rest : list of arrays
        Each as `select` returns it.

    Raises
    ------
    TypeError, ValueError
        As `select`.

    See Also
    --------
    select : Only the rows that are kept.

    Examples
    --------
    >>> x = np.array([3, 1, 4, 1, 5])
    >>> partition([x], x > 2)
    ([array([3, 4, 5])], [array([1, 1])])
    """
    backend = BACKENDS[frozenset(map(type, check_keep(keep, arrays)))]
    kept, rest = backend.compact(list(arrays), keep, True, positions, in_place)
    assert rest is not None
    return kept, rest


def head_flags(keys: Array | Sequence[Array], *, nulls: Sequence[Nulls] | None = None) -> Any:
    """Return where runs of equal keys start.

    Parameters
    ----------
    keys : sequence of arrays
        1-d, of one length and any fixed-width dtypes. Rows are equal if all their keys are; NaN equals NaN,
        and a null equals a null.
    nulls : sequence of InBand, Mask or None, optional
        Which elements of each key are null.

    Returns
    -------
    array of bool
        True in the first row and wherever a row differs from the one before.

    Raises
    ------
    TypeError, ValueError
        For keys that are not such arrays.

    Examples
    --------
    >>> head_flags([np.array([1.0, 1.0, np.nan, np.nan, 2.0])])
    array([ True, False,  True, False,  True])
    """
    found = runs(keys, nulls)
    return BACKENDS[frozenset(map(type, found.keys))].head_flags(found)


def flags(keep: Predicate, *, out: Array | None = None) -> Any:
    """Return for which rows a predicate is true.

    Parameters
    ----------
    keep : Predicate
    out : array of bool, optional
        The array to write to: contiguous, as long as the predicate's inputs. By default a new one.

    Returns
    -------
    array of bool

    Raises
    ------
    ValueError
        If `out` does not fit, is of another kind than the inputs, or is read-only.

    Examples
    --------
    >>> x = np.array([3, 1, 4, 1, 5])
    >>> flags(Predicate(lambda before, after: after > before, [x[:-1], x[1:]]))
    array([False,  True, False,  True])
    """
    length = len(keep.arrays[0])
    if out is not None and not is_array(out):
        raise TypeError(f"out must be an array, found {type(out).__name__}")
    if out is not None and not (
        out.dtype == np.bool_ and out.shape == (length,) and out.flags.c_contiguous
    ):
        raise ValueError(
            f"out must be a contiguous array of {length} bool, found {out.dtype} of shape {out.shape}"
        )
    if isinstance(out, np.ndarray) and not out.flags.writeable:
        raise ValueError("out is read-only")
    every = keep.arrays if out is None else [*keep.arrays, out]
    return BACKENDS[frozenset(map(type, every))].head_flags(keep, out)


def unique(
    keys: Array | Sequence[Array],
    arrays: Sequence[Array] = (),
    *,
    nulls: Sequence[Nulls] | None = None,
    keep: str = "first",
    positions: bool = True,
    in_place: bool = False,
) -> tuple[Any, list[Any]]:
    """Keep one row of each run of equal keys.

    Parameters
    ----------
    keys, nulls
        As for `head_flags`.
    arrays : sequence of arrays, optional
        Arrays to compact; the keys may be among them.
    keep : {"first", "last"}, default "first"
        Which row of a run.
    positions : bool, default True
        Return the positions of the kept rows.
    in_place : bool, default False
        As for `select`.

    Returns
    -------
    positions : array of int64
        Of the kept rows. None without `positions`.
    compacted : list of arrays

    Raises
    ------
    TypeError, ValueError
        As `head_flags` and `select`; for another `keep`.

    See Also
    --------
    run_length_encode : Lengths of runs too.

    Examples
    --------
    >>> key = np.array([7, 7, 8, 7])
    >>> unique([key], [key])
    (array([0, 2, 3]), [array([7, 8, 7])])
    >>> unique([key], keep="last")
    (array([1, 2, 3]), [])
    """
    if keep not in ("first", "last"):
        raise ValueError(f"keep must be 'first' or 'last', found {shown(keep)}")
    found = runs(keys, nulls, last=keep == "last")
    backend = BACKENDS[frozenset(map(type, check_keep(found, arrays)))]
    kept, _ = backend.compact(list(arrays), found, False, positions, in_place)
    return (kept[-1], kept[:-1]) if positions else (None, kept)


def run_length_encode(
    keys: Array | Sequence[Array],
    *,
    nulls: Sequence[Nulls] | None = None,
    dtype: Any = np.int64,
) -> tuple[Any, Any]:
    """Return where each run of equal keys starts and how long it is.

    Parameters
    ----------
    keys, nulls
        As for `head_flags`.
    dtype : {int64, int32}, default int64
        Of the answers; int32 for fewer than 2**31 rows.

    Returns
    -------
    starts, lengths : array
        One entry a run; ``key[starts]`` are the keys of the runs.

    Raises
    ------
    TypeError, ValueError
        As `head_flags`; for another dtype, or one that does not hold the number of rows.

    See Also
    --------
    run_length_decode : The inverse.
    reduce_by_key : Reduce each run.

    Examples
    --------
    >>> run_length_encode([np.array([7, 7, 8, 7])])
    (array([0, 2, 3]), array([2, 1, 1]))
    """
    dtype, found = np.dtype(dtype), runs(keys, nulls)
    rows = len(found.keys[0])
    if dtype not in (np.int32, np.int64):
        raise TypeError(f"dtype must be int64 or int32, found {dtype}")
    if rows > np.iinfo(dtype).max:
        raise ValueError(f"dtype must hold the number of rows, {rows}, found {dtype}")
    return BACKENDS[frozenset(map(type, found.keys))].run_lengths(found, dtype)
