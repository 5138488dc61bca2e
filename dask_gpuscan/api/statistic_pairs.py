"""Statistics of two columns: of a column and that of another frame, or of all pairs of columns."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import product
from typing import Any

from ..frames.registry import library_of, names_of
from ..graph.lookback import Collection, by_partition, meta_of
from ..kernels.messages import name_list, shown
from ..ops.operation import ColumnOperation, Part
from ..ops.pair_rows import pair_rows
from .arguments import check_choice_of_columns
from .window_rows import Rows


def of_pairs(
    rows: Rows, operation: ColumnOperation, other: Any, pairwise: bool | None, numeric_only: bool
) -> Any:
    """Return a statistic of each column and another one, or of all pairs."""
    if other is not None and not hasattr(meta_of(other), "iloc"):
        raise TypeError(f"other must be a Series or DataFrame, found {shown(other)}")
    if other is not None and other.ndim == 2:
        theirs = names_of(meta_of(other))
        check_choice_of_columns(theirs, theirs)
    labels = rows.names(numeric_only)
    all_pairs = pairwise is not False if other is None else pairwise and other.ndim == 2
    if all_pairs and not rows.as_series:
        return _of_all_pairs(rows, operation, other, labels)
    pairs = [(n, n) for n in labels]
    as_series = rows.as_series and getattr(other, "ndim", 1) == 1
    if other is not None:
        rows, labels, pairs = _beside(rows, other, labels)
    parts = [Part(to, pair, operation) for to, pair in zip(labels, pairs, strict=True)]
    return rows.parts(operation.label, parts, as_series)


def _of_all_pairs(rows: Rows, operation: ColumnOperation, other: Any, labels: list[Any]) -> Any:
    """Return a statistic of each column and each of those of another frame, or of the frame itself."""
    meta = meta_of(rows.obj)
    library, own = library_of(meta), meta[labels]
    others = own if other is None else meta_of(other)
    library.index_of_pairs(library.index(meta), others)  # raises before anything is computed
    second = labels
    if other is not None:
        series = [other[name] for name in names_of(others)]
        rows, labels, second = rows.beside(labels, series, "other", True)
    numbers: dict[tuple[Hashable, Hashable], int] = {}
    for x, y in product(labels, second):
        if (y, x) not in numbers:  # which is the same
            numbers[x, y] = len(numbers)
    parts = [Part(number, pair, operation) for pair, number in numbers.items()]
    places = [
        [numbers[pair if pair in numbers else pair[::-1]] for pair in product([x], second)]
        for x in labels
    ]
    answers = rows.parts(operation.label, parts, False)
    given = {"own": own, "others": others, "places": places}
    if not isinstance(answers, Collection):
        return pair_rows(answers, **given)
    found = pair_rows(meta_of(answers), **given)
    return by_partition(answers, pair_rows, **given, meta=found, clear_divisions=True)


def _beside(
    rows: Rows, other: Any, names: list[Hashable]
) -> tuple[Rows, list[Hashable], list[tuple[Hashable, Hashable]]]:
    """Return rows with the columns of another frame, the names of the answers, and the pairs that they are of."""
    if other.ndim == 1:
        more, own, (theirs,) = rows.beside(names, [other], "other", True)
        if rows.as_series:  # as of any arithmetic of two series
            names = [names[0] if other.name == names[0] else None]
        return more, names, [(n, theirs) for n in own]
    known = names_of(meta_of(other))
    if rows.as_series:
        more, (one,), found = rows.beside(names, [other[n] for n in known], "other", True)
        return more, known, [(one, n) for n in found]
    if set(known) != set(names):
        raise ValueError(
            f"other must have the columns {name_list(names)}, found {name_list(known)}; choose them first"
        )
    more, own, found = rows.beside(names, [other[n] for n in names], "other", True)
    return more, names, list(zip(own, found, strict=True))
