"""Windows of times and decimals: sums, means and picked values, exact because they are computed with integers.

Windows of any kind combine integers of 64 bits by an operator, with a function of the caller (`Combine`). Decimals are
taken as digits of base 2 ** 32, whose sums are digits of the sum, and by their ranks if one is picked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import kernels
from ...frames.messages import column_title, first_line
from ...frames.registry import library_of, stored_numbers, view_of
from ...frames.types import Array, Column, DType, Values
from ...kernels import BUILT_IN, Operator
from ...kernels.late_dataclass import dataclass
from ...kernels.windows import Windows
from ..core.groups import INT64
from ..groupby.decimals import rounded_means
from ..scan.operator_traits import traits_of
from ..statistics.groups import SUM_OF_TIMES, mean_of_times
from ..statistics.inputs import cast_to_answer
from ..statistics.table import WINDOWS

_ADD = BUILT_IN["add"]

Combine = Callable[..., Any]
"""``combine(op, values, nulls=None, dtype=None)`` returns the elements of each window, combined."""


def holds_times(column: Column) -> bool:
    """Return whether a column holds dates or durations of fixed width."""
    return column.dtype.kind in "mM" and library_of(column).moved_layout(column.dtype) is not None


def holds_decimals(column: Column) -> bool:
    """Return whether a column holds decimals that are computed as Python's integers."""
    host = library_of(column).host_values
    return host is not None and host.holds_decimals(column.dtype)


def exact_window(name: str, column: Column) -> ExactMean | DecimalWindow | None:
    """Return the exact computation of a statistic of times or decimals; None for other columns and statistics."""
    if name == "mean" and holds_times(column):
        return ExactMean()
    picks = name in WINDOWS and WINDOWS[name].picks is not None
    if holds_decimals(column) and (picks or name in ("sum", "mean")):
        return DecimalWindow(name)
    return None


def exact_operator(op: Operator, column: Column) -> DecimalWindow | None:
    """Return the exact combination of decimals by an operator; None for other columns and operators."""
    name = traits_of(op).statistic
    return DecimalWindow(name) if name is not None and holds_decimals(column) else None


@dataclass(frozen=True)
class ExactMean:
    """Means of times, rounded towards zero; those of dates are times."""

    def dtype(self, column: Column) -> DType:
        """Return the dtype of the answer."""
        return library_of(column).group_dtype("mean", column.dtype)

    def answer(self, column: Column, combine: Combine, least: int) -> Array:
        """Return the means of windows, null where one has fewer values than `least`."""
        column = cast_to_answer("mean", column)
        view = view_of(column)
        states = combine(SUM_OF_TIMES, view.values, nulls=view.nulls)
        return mean_array(column, states, least)


def mean_array(column: Column, states: tuple[Values, ...], least: int) -> Array:
    """Return the means of a column of times or dates, given the states of their sums."""
    library = library_of(column)
    dtype = library.group_dtype("mean", column.dtype)
    layout = library.layout(dtype)
    assert layout is not None
    values, _ = mean_of_times(library.xp, states)
    values = values.astype(layout.storage(dtype), copy=False)
    return layout.wrap(values, states[0] < max(least, 1), dtype)


@dataclass(frozen=True)
class DecimalWindow:
    """A sum or a mean of decimals, or a picked one."""

    name: str

    def dtype(self, column: Column) -> DType:
        """Return the dtype of the answer."""
        host = library_of(column).host_values
        assert host is not None
        return host.dtype("cumsum", column.dtype) if self.name == "sum" else column.dtype

    def answer(self, column: Column, combine: Combine, least: int) -> Array:
        """Return the answers of windows, null where one has fewer values than `least`.

        Raises
        ------
        OverflowError
            For a sum that has more digits than its dtype.
        """
        library = library_of(column)
        host, valid, array = library.host_values, library.valid(column), library.array(column)
        assert host is not None
        counts = combine(_ADD, valid.astype(INT64), dtype=INT64)
        if self.name in ("sum", "mean"):
            sums = host.whole([combine(_ADD, x, dtype=INT64) for x in host.limbs(array)])
            return decimal_answers(self, column, sums, counts, least)
        picks = WINDOWS[self.name].picks
        found, ranks = np.unique(host.values(array), return_inverse=True)
        nulls = None if valid.all() else kernels.byte_mask(~valid)
        at = combine(picks, ranks.astype(INT64), nulls=nulls, dtype=INT64)
        some = counts >= max(least, 1)
        values = found[np.where(some, at, 0)] if len(found) else np.zeros(len(some), object)
        return host.array(values, some, column.dtype)


def decimal_answers(
    window: DecimalWindow, column: Column, sums: np.ndarray, counts: np.ndarray, least: int
) -> Array:
    """Return sums of decimals, or means, in which halves in the last digit are rounded away from zero."""
    host = library_of(column).host_values
    assert host is not None
    if window.name == "mean":
        least = max(least, 1)
        sums = rounded_means(sums, counts)
    try:
        return host.array(sums, counts >= least, window.dtype(column))
    except OverflowError as error:
        raise OverflowError(
            f"{window.name} of {column_title(column)} in a window: {first_line(error)}"
        ) from error


def median_of_times(column: Column, windows: Windows, least: int) -> Array:
    """Return the medians of times in windows; between the two in the middle, rounded towards zero."""
    # cuDF has means of durations, and no medians
    library, column = (
        library_of(column),
        cast_to_answer("median", column, ExactMean().dtype(column)),
    )
    layout, xp, valid = library.layout(column.dtype), library.xp, library.valid(column)
    assert layout is not None
    stored = stored_numbers(column)
    found, ranks = xp.unique(stored[valid], return_inverse=True)
    values = xp.full(len(stored), np.nan)
    values[valid] = ranks
    ends = []
    for interpolation in ("lower", "higher"):
        statistic = kernels.Quantile(0.5, interpolation)
        at = kernels.order_statistics(statistic, values, windows, least=max(least, 1))
        missing = xp.isnan(at)
        at[missing] = 0
        ends.append(found[at.astype(INT64)] if len(found) else xp.zeros(len(at), INT64))
    low, high = (end.astype(INT64) for end in ends)
    apart = (high - low).view(np.uint64)  # may need 64 unsigned bits
    middle = low + (apart >> np.uint64(1)).view(np.int64)
    middle += (middle < 0) & (apart & np.uint64(1)).astype(np.bool_)
    values = middle.astype(stored.dtype, copy=False)
    return layout.wrap(values, missing, column.dtype)
