"""Answers for all pairs of columns, one a column, as rows: a row for each of the columns that the others go with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..frames.registry import each, library_of


def pair_rows(frame: Any, own: Any, others: Any, places: Sequence[Sequence[int]]) -> Any:
    """Return the answers for pairs with one column for each own column, and each row as many times as there are others.

    Parameters
    ----------
    frame : frame
        The answers, of float64: a column a pair, in any order.
    own, others : frame
        Whose columns the pairs are of; their rows do not matter.
    places : sequence of sequences of int
        For each own column and each other one, which column of `frame` has the answers for both.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"aa": [1.0, 2.0], "ab": [3.0, 4.0], "bb": [5.0, 6.0]}, index=["x", "y"])
    >>> own = pd.DataFrame(columns=["a", "b"])
    >>> pair_rows(frame, own, own, [[0, 1], [1, 2]])
           a    b
    x a  1.0  3.0
      b  3.0  5.0
    y a  2.0  4.0
      b  4.0  6.0
    """
    library = library_of(frame)
    answers = [library.floats(column) for column in each(frame)]
    rows = [library.xp.stack([answers[k] for k in some], axis=1).reshape(-1) for some in places]
    arrays = [library.from_floats(values) for values in rows]
    index = library.index_of_pairs(library.index(frame), others)
    return library.frame(arrays, library.names(own), index, own)
