"""Begins work as if a column had no NaN, and checks by the answer whether that was right.

cuDF takes NaN for null, and looks for it in a pass of its own over a column, once. Many answers show whether a NaN was
among the elements; if none was, that pass is saved, and the column is marked as without NaN.
"""

from __future__ import annotations

from collections.abc import Callable

from ..types import T, View


def resolved(views: list[View]) -> list[View]:
    """Return views whose nulls are all known."""
    return [view.resolved() for view in views]


def in_band(views: list[View]) -> list[View]:
    """Return views in which a kernel takes unchecked NaN for null."""
    return [view.in_band() for view in views]


def assume_no_nan(
    views: list[View],
    run: Callable[[list[View]], Callable[[], T]],
    saw_nan: Callable[[T], bool],
    resolve: Callable[[list[View]], list[View]] = resolved,
) -> Callable[[], T]:
    """Begin `run` as if no NaN were unchecked, and run it again if its answer shows that there was one.

    Parameters
    ----------
    views : list of View
        The inputs; NaN may be unchecked in some.
    run : callable
        Takes views and begins, with unchecked NaN taken for numbers; what it returns waits and returns the answer.
    saw_nan : callable
        Takes the answer and returns whether a NaN was among the numbers; called only if a NaN was unchecked.
    resolve : callable, optional
        Makes the views of the second run.

    Returns
    -------
    callable
        Waits and returns the answer. If there was no NaN, the columns are marked so.
    """
    wait = run(views)
    unchecked = [view.unchecked_nan for view in views if view.unchecked_nan is not None]
    if not unchecked:
        return wait

    def settle() -> T:
        found = wait()
        if saw_nan(found):
            return run(resolve(views))()
        for one in unchecked:
            one.mark_no_nan()
        return found

    return settle
