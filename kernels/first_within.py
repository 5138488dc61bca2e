"""How far back rows lie whose values are near: the bounds of windows of time."""

from typing import Any

import numpy as np

from .arrays import Array, brief, check_integer, check_one_length, is_array
from .backends import backend_of


def first_within(values: Array, reach: int, *, starts: Array | None = None) -> Any:
    """Return, for each row, the first row whose value is at most `reach` less.

    Parameters
    ----------
    values : array of int64
        1-d; they do not decrease (within a group), which is not checked.
    reach : int
        Not negative.
    starts : array of int64, optional
        The first row of the group of each row, which is not behind it: not checked. By default all rows are one group.

    Returns
    -------
    array of int64
        Not behind the row itself.

    Raises
    ------
    TypeError
        For other arrays.
    ValueError
        For a negative `reach`, and arrays that are not of one length.

    See Also
    --------
    rolling : Combine the elements of windows.

    Examples
    --------
    >>> first_within(np.array([1, 2, 5, 6, 9]), 3)
    array([0, 0, 1, 2, 3])
    """
    arrays = [values] if starts is None else [values, starts]
    for array in arrays:
        if not is_array(array) or array.dtype != np.int64 or array.ndim != 1:
            found = brief(array) if is_array(array) else type(array).__name__
            raise TypeError(f"values and starts must be 1-d arrays of int64, found {found}")
    check_one_length("values and starts", arrays)
    check_integer("reach", reach)
    if reach < 0:
        raise ValueError(f"reach must not be negative, found {reach}")
    return backend_of(arrays).first_within(values, min(int(reach), 2**64 - 1), starts)
