"""Codes of groups of rows: codes without gaps, codes that occur, first rows, and rows arranged by code."""

from typing import Any

from .arrays import Array, brief, check_integer, check_memory
from .backends import BACKENDS, Backend, backend_of
from .by_code import check_codes, check_groups, check_range


def factorize(codes: Array, groups: int, *, check: bool = True) -> tuple[Any, Any]:
    """Return codes without gaps, in the order of the given codes, and the first row of each.

    Parameters
    ----------
    codes : array of int32 or int64
        The group of each row, from 0 to `groups` - 1.
    groups : int
        At most `max_groups` for CuPy arrays.
    check : bool, default True
        As for `scan_by_code`.

    Returns
    -------
    codes : array
        Of the same dtype; the array itself if all codes occur.
    first_rows : array of int64

    Raises
    ------
    TypeError
        For other arrays.
    ValueError
        For codes out of range.

    See Also
    --------
    scan_by_code : Scan within such groups.

    Examples
    --------
    >>> import numpy as np
    >>> factorize(np.array([7, 3, 7, 4]), 8)
    (array([2, 0, 2, 1]), array([1, 3, 0]))
    """
    check_codes(codes)
    backend = BACKENDS[frozenset([type(codes)])]
    check_groups(groups, backend, backend.max_groups(len(codes)))
    return backend.factorize(codes, groups, check=check)


def occurring(codes: Array, groups: int, *, check: bool = True) -> Any:
    """Return the codes that occur, in order.

    Parameters
    ----------
    codes : array of int32 or int64
        From 0 to `groups` - 1.
    groups : int
    check : bool, default True
        As for `scan_by_code`.

    Returns
    -------
    array of int64

    Raises
    ------
    TypeError
        For other arrays.
    ValueError
        For codes out of range.

    See Also
    --------
    kernels.factorize : The code of each row, without gaps.

    Examples
    --------
    >>> import numpy as np
    >>> occurring(np.array([7, 3, 7, 4]), 8)
    array([3, 4, 7])
    """
    check_codes(codes)
    backend = BACKENDS[frozenset([type(codes)])]
    check_groups(groups, backend)
    if check:
        check_range(codes, groups)
    return backend.occurring(codes, groups)


def flags_at(rows: Array, length: int, *, check: bool = True) -> Any:
    """Return whether each of `length` rows is among `rows`.

    Parameters
    ----------
    rows : array of int32 or int64
        Positions, from 0 to `length` - 1.
    length : int
    check : bool, default True
        As for `take`.

    Returns
    -------
    array of bool

    Raises
    ------
    TypeError
        For other arrays.
    ValueError
        For a negative length, and for positions out of range.

    See Also
    --------
    kernels.put : Rows at positions.

    Examples
    --------
    >>> import numpy as np
    >>> flags_at(np.array([2, 0]), 4)
    array([ True, False,  True, False])
    """
    check_codes(rows, "rows")
    check_integer("length", length)
    if length < 0:
        raise ValueError(f"length must not be negative, found {length}")
    backend = BACKENDS[frozenset([type(rows)])]
    check_memory(int(length), 1, backend.available)
    if check:
        check_range(rows, length, "rows")
    return backend.flags_at(rows, length)


def first_met(codes: Array, groups: int, *, check: bool = True) -> Any:
    """Return whether each row is the first one of its code.

    Parameters
    ----------
    codes : array of int32 or int64
        The group of each row, from 0 to `groups` - 1.
    groups : int
    check : bool, default True
        As for `scan_by_code`.

    Returns
    -------
    array of bool

    Raises
    ------
    TypeError
        For other arrays.
    ValueError
        For codes out of range.

    See Also
    --------
    kernels.factorize : The first row of each code.

    Examples
    --------
    >>> import numpy as np
    >>> first_met(np.array([7, 3, 7, 4]), 8)
    array([ True,  True, False,  True])
    """
    check_codes(codes)
    backend = BACKENDS[frozenset([type(codes)])]
    check_groups(groups, backend)
    if check:
        check_range(codes, groups)
    return backend.first_met(codes, groups)


def most_arranged(codes: Array) -> int:
    """Return the most groups that `arrange_by_code` takes for arrays like these codes; 0 for CuPy arrays.

    More groups of NumPy arrays are never reduced in chunks of rows.

    Examples
    --------
    >>> import numpy as np
    >>> most_arranged(np.array([0, 1]))
    4096
    """
    return BACKENDS[frozenset([type(codes)])].most_arranged()


def arrange_by_code(
    codes: Array, groups: int, arrays: list[Any], *, check: bool = True
) -> tuple[Any, list[Any]]:
    """Bring the rows of each group together, in their order within the group.

    Parameters
    ----------
    codes : array of int32 or int64
        The group of each row, from 0 to `groups` - 1.
    groups : int
        `most_arranged` at most.
    arrays : list of arrays
        As long as the codes, of elements of 1, 2, 4 or 8 bytes.
    check : bool, default True
        As for `scan_by_code`.

    Returns
    -------
    starts : array of int64
        Where each group starts.
    arrays : list of arrays

    Raises
    ------
    TypeError, ValueError
        For other arrays, too many groups, and codes out of range.

    See Also
    --------
    kernels.sort_pairs : The same for any number of groups.

    Examples
    --------
    >>> import numpy as np
    >>> arrange_by_code(np.array([1, 0, 1]), 2, [np.array([10, 20, 30])])
    (array([0, 1]), [array([20, 10, 30])])
    """
    backend = _check_arranged(codes, groups, arrays, True, check)
    return backend.arrange(codes, groups, arrays)


def sort_by_code(
    codes: Array, groups: int, arrays: list[Any], *, check: bool = True
) -> tuple[Any, Any, list[Any]]:
    """Return sorted codes, the old positions of their rows, and arrays in the order of the codes.

    Rows of a group stay in their order.

    Parameters
    ----------
    codes : array of int32 or int64
        The group of each row, from 0 to `groups` - 1.
    groups : int
    arrays, check
        As for `arrange_by_code`.

    Returns
    -------
    codes : array
    positions : array of integers
        The old position of each row.
    arrays : list of arrays

    Raises
    ------
    TypeError, ValueError
        As `arrange_by_code`; groups may be many.

    See Also
    --------
    kernels.sort_pairs : The same for any keys.

    Notes
    -----
    On a CPU of few cores rows are moved once for every 12 bits of the greatest code, with all their arrays.
    `sort_pairs` gathers arrays once rows are sorted, from places that are not near each other.

    Examples
    --------
    >>> import numpy as np
    >>> sort_by_code(np.array([7000, 0, 7000]), 7001, [np.array([10, 20, 30])])
    (array([   0, 7000, 7000]), array([1, 0, 2], dtype=int32), [array([20, 10, 30])])
    """
    backend = _check_arranged(codes, groups, arrays, False, check)
    return backend.sort_by_code(codes, groups, arrays)


def _check_arranged(codes: Any, groups: Any, arrays: list[Any], few: bool, check: bool) -> Backend:
    """Check the arguments of `arrange_by_code` and, unless `few`, of `sort_by_code`; return the backend."""
    check_codes(codes)
    backend = backend_of([codes, *arrays])
    check_groups(groups, backend, backend.most_arranged() if few else None)
    for array in arrays:
        if array.shape != codes.shape or array.itemsize not in (1, 2, 4, 8):
            raise ValueError(
                f"arrays must be as long as the codes, of 1 to 8 bytes, found {brief(array)}"
            )
    if check:
        check_range(codes, groups)
    return backend


def value_range(values: Array) -> tuple[int, int]:
    """Return the least and the greatest of some integers.

    Parameters
    ----------
    values : array of integers or bool
        One at least.

    Raises
    ------
    TypeError
        For other arrays, also those of CuPy.

    Examples
    --------
    >>> import numpy as np
    >>> value_range(np.array([7, -3, 7]))
    (-3, 7)
    """
    backend = BACKENDS.get(frozenset([type(values)]))
    if backend is None or values.dtype.kind not in "biu":
        raise TypeError(f"values must be an array of integers, found {brief(values)}")
    return backend.value_range(values)
