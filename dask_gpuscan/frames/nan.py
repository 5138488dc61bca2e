"""NaN that a library counts lazily: work begins as if there were none, and the answer tells whether that was right.

cuDF takes NaN for null, and looks for it in a pass of its own over a column, once. Many answers show whether a NaN was
among the elements; then that pass is spared, and the column is marked as having none.
"""

from __future__ import annotations

from collections.abc import Callable

from .protocol import T, View


def resolved(views: list[View]) -> list[View]:
    """Return views whose nulls are all known."""
    return [view.resolved() for view in views]


def in_band(views: list[View]) -> list[View]:
    """Return views in which a kernel takes unchecked NaN for null."""
    return [view.in_band() for view in views]


def assume_no_nan(
    views: list[View],
    run: Callable[[list[View]], T],
    saw_nan: Callable[[T], bool],
    resolve: Callable[[list[View]], list[View]] | None = None,
) -> Callable[[], T]:
    """Begin `run` as if no NaN were unchecked, and run it again if its answer shows that there was one.

    Parameters
    ----------
    views : sequence of View
        The inputs; NaN may be unchecked in some.
    run : callable
        Takes views and returns an answer, which a GPU may still be at work on. It takes unchecked NaN for numbers.
    saw_nan : callable
        Takes what `run` has returned; tells whether a NaN was among the numbers. It may wait for a GPU, and is called
        only if a NaN was unchecked.
    resolve : callable, optional
        Makes the views of the second run, by default `resolved`.

    Returns
    -------
    callable
        Returns the answer, after `saw_nan` has been asked. If there was no NaN, the columns are marked so.
    """
    found = run(views)
    unchecked = [view.unchecked_nan for view in views if view.unchecked_nan is not None]

    def settle() -> T:
        if not unchecked:
            return found
        if saw_nan(found):
            return run((resolve or resolved)(views))
        for one in unchecked:
            one.mark_no_nan()
        return found

    return settle
