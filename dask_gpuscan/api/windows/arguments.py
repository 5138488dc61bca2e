"""The arguments of windows, checked before anything is computed."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ...engines.run import engine_of, meta_of
from ...frames.messages import ColumnError
from ...frames.registry import library_of, names_of
from ...kernels.late_dataclass import dataclass
from ...kernels.messages import not_among, shown
from ...kernels.scalars import is_integer, is_number
from ...ops.core.plans import Planned
from ...ops.statistics.ewm import Decay
from ..arguments import check_choice_of_columns, check_duration, check_flags
from .windows import Rows, without

DURATION = (str, datetime.timedelta, np.timedelta64)

ACCEPTED: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "com": ("at least 0", lambda x: x >= 0),
    "span": ("at least 1", lambda x: x >= 1),
    "halflife": ("above 0", lambda x: x > 0),
    "alpha": ("above 0 and at most 1", lambda x: 0 < x <= 1),
}
"""The numbers that are accepted for each argument of decay."""

MOST_ROWS = 2**62
"""More rows than any collection has; kernels count in 64 bits."""


def check_periods(min_periods: Any) -> int:
    """Return a number of observations as an int; 0 for None."""
    if min_periods is None:
        return 0
    if not is_integer(min_periods) or min_periods < 0:
        raise ValueError(f"min_periods must be an integer >= 0, found {shown(min_periods)}")
    return min(int(min_periods), MOST_ROWS)


UNITS = ("ns", "us", "ms", "s", "min", "h", "D", "W", "MS", "ME")
"""Units of durations and rules that pandas reads without a warning."""


def is_usual(text: Any) -> bool:
    """Return whether what is made of a duration or rule may be kept: the warnings for others must come each time."""
    return isinstance(text, str) and text.lstrip("0123456789") in UNITS


def check_quantile(q: Any) -> float:
    """Return a quantile as a float."""
    if not is_number(q) or not 0.0 <= float(q) <= 1.0:
        raise ValueError(f"q must be a number from 0 to 1, found {shown(q)}")
    return float(q)


@dataclass(frozen=True)
class Weights(Planned):
    """How weights decay: the arguments of ``ewm``; see there."""

    com: float | None
    span: float | None
    halflife: Any
    alpha: float | None
    adjust: bool
    ignore_na: bool

    def __post_init__(self) -> None:
        check_flags(adjust=self.adjust, ignore_na=self.ignore_na)
        for name, given in self.given.items():
            if name == "halflife" and isinstance(given, DURATION):
                continue
            if not is_number(given):
                raise TypeError(f"{name} must be a number, found {shown(given)}")
            if not math.isfinite(given):
                raise ValueError(f"{name} must be finite, found {shown(given)}")
            if not ACCEPTED[name][1](given):
                raise ValueError(f"{name} must be {ACCEPTED[name][0]}, found {shown(given)}")

    @property
    def given(self) -> dict[str, Any]:
        """The arguments that say how fast weights decay."""
        names = ("com", "span", "halflife", "alpha")
        return {n: getattr(self, n) for n in names if getattr(self, n) is not None}

    def of_rows(self, as_pandas: bool) -> Decay:
        """Return the decay of rows that are evenly spaced; see `Decay` for how pandas weighs."""
        found: Decay = self.plans.get(as_pandas) or self.plans.store(
            as_pandas, self._of_rows(as_pandas)
        )
        return found

    def _of_rows(self, as_pandas: bool) -> Decay:
        if isinstance(self.halflife, DURATION):
            raise ValueError(
                f"halflife must be a number of rows, found {shown(self.halflife)}; a duration needs times"
            )
        alpha, adjust, ignore_na = (
            self._alpha(self.halflife),
            bool(self.adjust),
            bool(self.ignore_na),
        )
        return Decay(alpha, adjust, ignore_na, as_pandas=as_pandas)

    def of_times(self, unit: str) -> Decay:
        """Return the decay over times in a unit."""
        if not isinstance(self.halflife, DURATION):
            raise ValueError(
                f"halflife must be a duration where times are given, found {shown(self.halflife)}"
            )
        accepted = "a positive duration such as '30min'"
        halflife = check_duration("halflife", self.halflife, accepted, pd.Timedelta(1, "ns"))
        if self.ignore_na:
            raise NotImplementedError(
                "ewm takes ignore_na=True without times only; leave one of them out"
            )
        alpha = 0.5
        if set(self.given) != {"halflife"}:
            if not self.adjust:
                raise NotImplementedError(
                    "none of com, span and alpha can be given with times and adjust=False"
                )
            alpha = self._alpha(None)
        return Decay(alpha, bool(self.adjust), False, halflife / pd.Timedelta(1, unit))

    def _alpha(self, halflife: float | None) -> float:
        given = [n for n in self.given if n != "halflife" or halflife is not None]
        if len(given) != 1:
            found = " and ".join(given) or "none"
            raise ValueError(f"one of com, span, halflife and alpha must be given, found {found}")
        if self.com is not None:
            return 1.0 / (1.0 + self.com)
        if self.span is not None:
            return 2.0 / (self.span + 1.0)
        if halflife is not None:
            return -math.expm1(-math.log(2.0) / halflife)
        assert self.alpha is not None
        return float(self.alpha)


@dataclass(frozen=True)
class Times:
    """Rows, and the column of their times."""

    rows: Rows
    column: Hashable
    unit: str
    of_frame: bool
    """Whether it is one of the frame's own columns."""

    @classmethod
    def of(cls, rows: Rows, times: Any) -> Times:
        """Return the times that are given by a name, or as one date a row."""
        meta = meta_of(rows.obj)
        library = library_of(meta)
        of_frame = isinstance(times, (str, tuple, int))
        if of_frame:
            if meta.ndim == 1 or times not in names_of(meta):
                known = names_of(meta) if meta.ndim == 2 else []
                raise ColumnError(f"times={not_among(times, known)}")
            column, dtype = times, meta[times].dtype
        else:
            times = _as_series(meta, times)
            dtype = getattr(times, "dtype", None)
        if getattr(dtype, "kind", None) != "M":
            raise TypeError(f"times must be dates, found dtype {dtype}")
        if not of_frame:
            rows, _, (column,) = rows.align_columns(rows.names(), [times], "times", False)
        return cls(rows, column, library.time_unit(dtype), of_frame)

    def choose(self, columns: Any) -> Times:
        """Return the same times with some of the columns, by a name or a list of names."""
        names = columns if isinstance(columns, list) else [columns]
        if self.of_frame:
            check_choice_of_columns(names, without(self.rows.names(), self.column))
        return replace(self, rows=self.rows.choose([*names, self.column]))

    def pairs(self, names: list[Hashable]) -> list[tuple[Hashable, tuple[Hashable, Hashable]]]:
        """Return the name of each column of the answer, and the two columns that it is made of."""
        if self.of_frame:
            return [(n, (n, self.column)) for n in names if n != self.column]
        own = [n for n in self.rows.names() if n != self.column]
        if len(names) == 1 and names[0] not in own:  # a series, which has another name in a frame
            return [(names[0], (own[0], self.column))]
        return [(n, (n, self.column)) for n in names]


def _as_series(meta: Any, times: Any) -> Any:
    """Return dates as a series of the library of a frame."""
    try:
        return engine_of(times).as_series(meta, times)
    except (TypeError, ValueError):
        raise TypeError(
            f"times must be the name of a column or dates, found {shown(times)}"
        ) from None
