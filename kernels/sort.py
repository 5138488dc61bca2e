"""Sorting: the stable order of rows by one or several keys, and arrays in this order.

Keys become unsigned integers of the same order, which are sorted by their digits (radix sort): floats, negative
numbers, nulls, descending order and several keys take more bits, but no more comparisons. After Merrill and Grimshaw,
*Revisiting sorting for GPGPU stream architectures* (UVA CS2010-03).
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .arrays import Array, brief, check_columns, check_one_length, is_array, is_int128
from .backends import BACKENDS
from .compact import run_length_encode
from .messages import shown
from .nulls import InBand, Mask, Nulls
from .options import Kth, Positions, SortKey
from .scalars import FLAG
from .selection import runs

SORTED_KINDS = "biufmM"
"""The kinds of dtypes that can be sorted; 128-bit integers can be sorted, too."""


def sort_keys(
    keys: Array | Sequence[Array],
    nulls: Sequence[Nulls] | None,
    descending: bool | Sequence[bool],
    nulls_first: bool | Sequence[bool],
) -> list[SortKey]:
    """Return the checked keys of `argsort`."""
    single = not isinstance(keys, (list, tuple)) and is_array(keys)
    every: list[Any] = (
        [keys] if single else listed("keys", "an array or a sequence of arrays", keys)
    )
    if not every:
        raise ValueError("keys must be at least one array")
    for key in every:
        check_sortable(key)
    check_one_length("keys", every)
    descends = _one_a_key("descending", descending, len(every))
    first = _one_a_key("nulls_first", nulls_first, len(every))
    each = [None] * len(every)
    if nulls is not None:
        each = listed("nulls", "a sequence of InBand, Mask or None, one a key", nulls)
    if len(each) != len(every):
        raise ValueError(f"nulls must have one entry a key, found {len(each)}")
    for null in each:
        if null is not None and not isinstance(null, (InBand, Mask)):
            raise TypeError(f"nulls must be InBand, Mask or None, found {shown(null)}")
        if isinstance(null, Mask):
            null.check_length("a key", len(every[0]))
    return list(map(SortKey, every, each, descends, first))


def check_sortable(key: Any) -> None:
    """Check that an object is an array that can be sorted."""
    if not isinstance(key, np.ndarray) and not is_array(key):
        raise TypeError(
            f"keys must be arrays (numpy.ndarray, cupy.ndarray), found {type(key).__name__}"
        )
    dtype = key.dtype
    known = dtype.kind in SORTED_KINDS and dtype.isnative and dtype.itemsize <= 8
    if not (known or is_int128(dtype)):
        raise TypeError(f"keys: the kernels do not sort arrays of dtype {dtype}")


def _one_a_key(name: str, given: Any, count: int) -> list[bool]:
    if isinstance(given, FLAG):
        return [bool(given)] * count
    flags = listed(name, "bool or a sequence of bool", given)
    if len(flags) != count:
        raise ValueError(f"{name} must have one entry a key, found {len(flags)} for {count} keys")
    if not set(FLAG).issuperset(map(type, flags)):
        raise TypeError(f"{name} must be bool, found {shown(given)}")
    return list(map(bool, flags))


def listed(name: str, accepted: str, given: Any) -> list[Any]:
    """Return the items of an argument that must be iterable."""
    if not isinstance(given, Iterable):
        raise TypeError(f"{name} must be {accepted}, found {shown(given)}")
    return list(given)


def argsort(
    keys: Array | Sequence[Array],
    *,
    nulls: Sequence[Nulls] | None = None,
    descending: bool | Sequence[bool] = False,
    nulls_first: bool | Sequence[bool] = False,
) -> Any:
    """Return the positions of rows in the order of their keys; rows of equal keys keep their order.

    Parameters
    ----------
    keys : array or sequence of arrays
        1-d, of one length, the most significant first: bool, integers, floats of 16 to 64 bits, `INT128`,
        datetime64 or timedelta64. -0.0 equals 0.0, and NaN equals NaN.
    nulls : sequence of InBand, Mask or None, optional
        Which elements of each key are null; a null equals a null. NaN and NaT are found without it; with `InBand`, the
        least int64 is NaT.
    descending : bool or sequence of bool, default False
        For all keys, or for each key. Rows of equal keys keep their order in either case.
    nulls_first : bool or sequence of bool, default False
        Whether nulls, NaN and NaT come first rather than last, in either direction: for all keys, or for each key. NaN
        and NaT are nearer to the values than nulls of a mask.

    Returns
    -------
    array of int64

    Raises
    ------
    TypeError
        For keys that are not such arrays, and options of other types.
    ValueError
        If there is no key, keys are not 1-d or differ in length, or an option does not have an entry for each key.

    Notes
    -----
    A code has as many bits as the range of the values needs, and the codes of several keys are joined. A CPU first
    sorts as many bits as fit into 64 together with the number of the row; only rows that are equal in these are sorted
    further.

    See Also
    --------
    sort : One array in order.
    sort_pairs : Arrays in the order of keys.

    Examples
    --------
    >>> argsort(np.array([3.0, np.nan, -1.0, 3.0]))
    array([2, 0, 3, 1])
    >>> argsort([np.array([1, 0, 1]), np.array([5, 6, 7])], descending=[False, True])
    array([1, 2, 0])
    """
    by = sort_keys(keys, nulls, descending, nulls_first)
    return _sorted(by, [], positions=True)[-1]


def sort(
    array: Array,
    *,
    nulls: Nulls = None,
    descending: bool = False,
    nulls_first: bool = False,
    in_place: bool = False,
) -> Any:
    """Return an array in order.

    Parameters
    ----------
    array : array
        As a key of `argsort`.
    nulls : InBand, Mask or None, optional
        Which elements are null. The values under nulls of a mask are lost; the answer has as many nulls as the array,
        at the end or, with `nulls_first`, at the beginning.
    descending, nulls_first : bool, default False
    in_place : bool, default False
        Write over the array, and return it.

    Returns
    -------
    array
        Of the same dtype. NaN need not keep its bits.

    Raises
    ------
    TypeError
        As `argsort`.
    ValueError
        In place, for an array that is read-only.

    Notes
    -----
    The least significant digit comes first; digits in which all keys agree are skipped. On a GPU a digit takes one
    pass, which reads and writes each row once: its tiles look back for the counts of digits in earlier tiles. After
    Adinets and Merrill, *Onesweep: a faster least significant digit radix sort for GPUs* (arXiv 2206.01784). On a CPU
    NumPy sorts a piece on each core, and the pieces are merged.

    See Also
    --------
    argsort : The positions of elements in order.
    sort_pairs : Several keys, together with other arrays, and within segments.

    Examples
    --------
    >>> sort(np.array([3, -1, 2]), descending=True)
    array([ 3,  2, -1])
    """
    (key,) = sort_keys([array], [nulls], descending, nulls_first)
    if in_place and isinstance(array, np.ndarray) and not array.flags.writeable:
        raise ValueError("array is read-only")
    found = _sorted([key], [array])[0]
    if in_place:
        array[...] = found  # type: ignore[index]
        return array
    return found


def sort_pairs(
    keys: Array | Sequence[Array],
    values: Array | Sequence[Array] = (),
    *,
    nulls: Sequence[Nulls] | None = None,
    descending: bool | Sequence[bool] = False,
    nulls_first: bool | Sequence[bool] = False,
    positions: Positions = False,
    offsets: Array | None = None,
    within: Array | Sequence[Array] | None = None,
    kth: Kth | None = None,
    check: bool = True,
) -> tuple[list[Any], list[Any]]:
    """Return keys in order, and arrays in the order of the keys; of all rows, or within segments of them.

    Parameters
    ----------
    keys, nulls, descending, nulls_first
        As for `argsort`.
    values : array or sequence of arrays, optional
        1-d, as long as the keys, of any fixed-width dtypes.
    positions : bool or "narrow", default False
        Return the positions of the rows as well: as int64, or in the dtype that costs least.
    offsets : array of int64, optional
        The starts of segments, from 0 on and not decreasing, and the end of the last one. By default there is one
        segment.
    within : array or sequence of arrays, optional
        Instead of offsets, keys whose runs are the segments, as for `head_flags`.
    kth : pair of an array of int64 and a sequence of floats, optional
        The number of values of each segment that count, and quantiles from 0 to 1. Only the values at the places on
        both sides of these must be as in a sort, with nothing greater before and nothing less after them, as in
        `numpy.partition`; zeros may have either sign. Each segment must have a row.
    check : bool, default True
        Check offsets, which waits for a GPU. If False, each segment must have a row.

    Returns
    -------
    keys, values : list of arrays
        With `positions`, they are the last of the values.

    Raises
    ------
    TypeError, ValueError
        As `argsort`; if both `offsets` and `within` are given, and for offsets of another type.

    Examples
    --------
    >>> sort_pairs(np.array([2, 1, 2]), np.array([10.0, 20.0, 30.0]))
    ([array([1, 2, 2])], [array([20., 10., 30.])])
    >>> sort_pairs(np.array([2, 1, 4, 3]), offsets=np.array([0, 2, 4]))
    ([array([1, 2, 3, 4])], [])
    >>> sort_pairs(np.array([2, 1, 4, 3]), within=np.array([7, 7, 7, 8]))
    ([array([1, 2, 4, 3])], [])
    """
    by = sort_keys(keys, nulls, descending, nulls_first)
    arrays = check_values(by, values)
    own, starts = [key.values for key in by], None
    if within is not None:
        if offsets is not None:
            raise ValueError("give either offsets or within")
        check_one_length("keys and within", [own[0], *runs(within).keys])
        starts, _ = run_length_encode(within)
    elif offsets is not None:
        starts = _starts(offsets, len(own[0])) if check else offsets[:-1]
    found = _sorted(by, [*own, *arrays], starts, positions=positions, kth=kth)
    return found[: len(own)], found[len(own) :]


def check_values(keys: Sequence[SortKey], values: Any) -> list[Any]:
    """Return values, one array or several, as a list; raise unless they are of fixed width and as long as the keys."""
    accepted = "an array or a sequence of arrays"
    arrays = [values] if is_array(values) else listed("values", accepted, values)
    for array in arrays:
        if not is_array(array) or not is_int128(array.dtype):
            check_columns("values", [array])
    check_one_length("keys and values", [keys[0].values, *arrays])
    return arrays


def _starts(offsets: Any, length: int) -> Any:
    """Return the starts of segments that have rows."""
    lengths = check_offsets(offsets, length)
    return offsets[:-1][lengths > 0]


def check_offsets(offsets: Any, length: int) -> Any:
    """Return the lengths of segments; raise a TypeError or ValueError for offsets that do not fit `length` rows."""
    if not is_array(offsets) or offsets.dtype != np.int64 or offsets.ndim != 1:
        found = brief(offsets) if is_array(offsets) else type(offsets).__name__
        raise TypeError(f"offsets must be a 1-d array of int64, found {found}")
    if not len(offsets) or int(offsets[0]) or int(offsets[-1]) != length:
        raise ValueError(f"offsets must begin with 0 and end with the number of rows, {length}")
    lengths = offsets[1:] - offsets[:-1]
    if bool((lengths < 0).any()):
        raise ValueError("offsets must not decrease")
    return lengths


def _sorted(
    by: list[SortKey],
    arrays: list[Any],
    starts: Any = None,
    *,
    positions: Positions = False,
    kth: Kth | None = None,
) -> list[Any]:
    backend = BACKENDS[frozenset(map(type, [*[key.values for key in by], *arrays]))]
    return backend.sort(by, arrays, starts, positions=positions, kth=kth)
