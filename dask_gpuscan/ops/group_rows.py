"""Which rows of groups are chosen by their place in the group, counted from its first row or from its last."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import and_, or_
from typing import Any

Place = int | slice
"""A row of each group, or a range of rows, as in an index of a list."""

Numbers = Callable[[], Any]
"""Gives the number of each row in its group, as a series: from 0, null in rows that are in no group."""


def chosen(places: Sequence[Place], first: Numbers, last: Numbers) -> Any:
    """Return which rows are at one of these places, as a series of bool; null or False in rows that are in no group.

    Parameters
    ----------
    places : sequence of int and slice
        At least one; steps of slices are positive.
    first, last : callable
        Number rows from the first row of their group, and from the last.
    """
    return reduce(or_, [_flags(place, first, last) for place in places])


def _flags(place: Place, first: Numbers, last: Numbers) -> Any:
    if isinstance(place, int):
        return first() == place if place >= 0 else last() == -1 - place
    start, stop, step = place.start or 0, place.stop, place.step or 1
    flags = []
    if start < 0:
        flags.append(last() < -start)
    elif start or stop is None:
        flags.append(first() >= start)
    if stop is not None:
        flags.append(first() < stop if stop >= 0 else last() >= -stop)
    if step > 1:
        begin: Any = start
        if start < 0:  # the first row, of a group that has fewer
            begin = first() + last() + 1 + start
            begin = begin.where(begin > 0, 0)
        flags.append((first() - begin) % step == 0)
    return reduce(and_, flags)
