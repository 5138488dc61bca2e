"""Frames, methods and partitionings at random: answers are those of pandas on the whole, or differ as declared."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

import dask_gpuscan  # noqa: F401 (registers .gpuscan)
from helpers.backends import same
from helpers.strategies import partitioned_at

from . import drawn
from .choices import Choices
from .differences import DIFFERENCES, refusal_for
from .fuzzer import Fuzzer
from .methods import METHODS, Method

KEYS = (
    "int64",
    "float64",
    "Int64",
    "str",
    "category",
    "int8",
    "string[pyarrow]",
    "bool",
    "datetime64[ns]",
    "object",
)
CLOSED = ("right", "left", "both", "neither")
ERRORS = (TypeError, ValueError, NotImplementedError, ArithmeticError)
"""What a refusal is: pandas and Arrow raise some of the others."""

Ask = Callable[[Any], Any]


@dataclass(frozen=True)
class On:
    """What a method is called on: how it is got from a frame of ours, and from one of pandas."""

    frame: Any
    ours: Ask
    theirs: Ask
    shown: str
    clustered: bool | None = None
    dropna: bool = True
    by: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    """Those that are asked, or by which rows are sorted; by default all that are no keys."""


@dataclass(frozen=True)
class FrameCase:
    """A method on a frame that is cut."""

    method: Method
    on: On
    kind: str
    given: dict[str, Any]
    cuts: list[int]

    @property
    def label(self) -> str:
        """The method and the dtype of its values."""
        return f"{self.kind}.{self.method.name} {self.values[0]}"

    @property
    def values(self) -> list[Any]:
        """The dtypes of the columns that are asked."""
        frame = self.on.frame
        if frame.ndim == 1:
            return [frame.dtype]
        names = self.on.columns or [n for n in frame if n not in self.on.by]
        return [frame[name].dtype for name in names]

    def __repr__(self) -> str:
        given = ", ".join(f"{n}={v!r}" for n, v in self.given.items())
        return f"x = {drawn.shown(self.on.frame)}\nx{self.on.shown}.{self.method.name}({given})\ncut at {self.cuts}"

    def check(self) -> str:
        """Compare the answers for the whole frame and for its partitions with those of pandas."""
        whole = self.on.frame
        expected = self._told(lambda: self.method.by_pandas(self.on.theirs(whole), self.given))
        found = self._told(lambda: self._ours(whole))
        lazy = self._told(lambda: self._ours(partitioned_at(whole, self.cuts)))
        if isinstance(expected, Exception):
            if isinstance(found, Exception) or isinstance(lazy, Exception):
                return "refused by both"
            return "pandas refuses"
        for is_lazy, answer in ((False, found), (True, lazy)):
            if isinstance(answer, Exception):
                why = refusal_for(self, answer)
                if why is None:
                    raise answer
                return why
            wanted = expected
            for difference in DIFFERENCES:
                if difference.holds(self, is_lazy):
                    wanted = difference.instead(wanted, self, answer)
            same(answer, wanted, rtol=1e-6)
        return "as pandas"

    def _ours(self, frame: Any) -> Any:
        lazy = getattr(self.on.ours(frame.gpuscan), self.method.name)(**self.given)
        if not hasattr(lazy, "compute"):
            return lazy
        found = lazy.compute()
        assert _dtypes(found) == _dtypes(lazy._meta), f"of {_dtypes(lazy._meta)}: {_dtypes(found)}"
        return found

    @staticmethod
    def _told(ask: Callable[[], Any]) -> Any:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                return ask()
            except ERRORS as error:
                return error


def _dtypes(frame: Any) -> list[str]:
    return [str(frame.dtype)] if frame.ndim == 1 else [str(dtype) for dtype in frame.dtypes]


# --- what methods are called on ---------------------------------------------------------------------


def _series(choices: Choices, method: Method) -> On:
    count = drawn.length(choices)
    array = drawn.column(choices, choices.pick(method.dtypes), count, method.wild)
    series = pd.Series(array, drawn.labels(choices, count), name=choices.pick((None, "x")))
    return On(series, _itself, _itself, ".gpuscan")


def _columns(choices: Choices, method: Method, count: int, most: int = 3) -> dict[str, Any]:
    number = choices.between(1, most)
    dtypes = [choices.pick(method.dtypes) for _ in range(number)]
    return {
        name: drawn.column(choices, dtype, count, method.wild)
        for name, dtype in zip("xyz", dtypes, strict=False)
    }


def _frame(choices: Choices, method: Method) -> On:
    count = drawn.length(choices)
    frame = pd.DataFrame(_columns(choices, method, count), drawn.labels(choices, count))
    return On(frame, _itself, _itself, ".gpuscan")


def _by_columns(choices: Choices, method: Method) -> On:
    on = _frame(choices, method)
    names = list(on.frame)[: choices.between(1, on.frame.shape[1])]
    by = names[::-1] if choices.flag() else names

    class Bound:
        def __init__(self, it: Any) -> None:
            self.it = it

        def sort_values(self, **given: Any) -> Any:
            return self.it.sort_values(by, **given)

    return On(on.frame, Bound, Bound, f".gpuscan (by {by})", columns=tuple(by))


def _keyed(
    choices: Choices, method: Method, most: int
) -> tuple[pd.DataFrame, list[str], bool | None]:
    count = drawn.length(choices)
    by = ["k", "j"][: 2 if choices.one_in(4) else 1]
    keys = {name: drawn.column(choices, choices.pick(KEYS), count) for name in by}
    values = _columns(choices, method, count, most)
    frame = pd.DataFrame({**keys, **values}, drawn.labels(choices, count))
    clustered = choices.pick((None, True, False))
    if clustered:
        groups = frame.groupby(by, sort=False, dropna=False, observed=True).ngroup()
        frame = frame.iloc[np.argsort(groups.to_numpy(), kind="stable")]
    return frame, by, clustered


def _groups(choices: Choices, method: Method) -> On:
    frame, by, clustered = _keyed(choices, method, 2)
    dropna = not choices.flag()
    names = [name for name in frame if name not in by]
    names, columns = (["x"], "x") if choices.flag() else (names, names)
    sort = not clustered
    key: Any = by if len(by) > 1 else by[0]
    return On(
        frame,
        lambda it: it.groupby(by, clustered=clustered, dropna=dropna)[columns],
        lambda it: it.groupby(key, sort=sort, dropna=dropna, observed=True)[columns],
        f".gpuscan.groupby({by}, clustered={clustered}, dropna={dropna})[{columns!r}]",
        clustered,
        dropna,
        tuple(by),
        tuple(names),
    )


def _row_windows(choices: Choices) -> tuple[Ask, str]:
    """Draw windows of rows, or of all rows so far."""
    if choices.one_in(4):
        periods = choices.between(0, 4)
        return lambda it: it.expanding(min_periods=periods), f".expanding(min_periods={periods})"
    window = choices.between(1, 9)
    given = {"window": window, "min_periods": choices.pick((None, 0, 1, window))}
    given |= drawn.options(choices, {"center": (False, True), "closed": CLOSED})
    return lambda it: it.rolling(**given), f".rolling(**{given})"


def _windows(choices: Choices, method: Method) -> On:
    if choices.flag():
        ask, shown = _row_windows(choices)
        return _windowed(choices, method, ask, f".gpuscan{shown}")
    given = {
        "window": choices.pick(("1s", "2s", "4s", "90s")),
        "min_periods": choices.pick((None, 0, 1, 3)),
    }
    given |= drawn.options(choices, {"center": (False, True), "closed": CLOSED})
    return _windowed(
        choices, method, lambda it: it.rolling(**given), f".gpuscan.rolling(**{given})", times=True
    )


class Apart:
    """Windows of each group by pandas, in the order of rows and null in no group."""

    def __init__(self, frame: pd.DataFrame, by: list[str], dropna: bool, ask: Ask) -> None:
        self._frame, self._by, self._dropna, self._ask = frame, by, dropna, ask

    def __getattr__(self, name: str) -> Any:
        def method(**given: Any) -> Any:
            frame = self._frame
            numbers = frame.groupby(self._by, sort=False, dropna=False, observed=True).ngroup()
            groups = [group["x"] for _, group in frame.groupby(numbers.to_numpy())] or [frame["x"]]
            apart = [getattr(self._ask(x), name)(**given).set_axis(x.index) for x in groups]
            found = pd.concat(apart).sort_index()
            kept = frame[self._by].notna().all(axis=1)
            return found.where(kept) if self._dropna and not kept.all() else found

        return method


def _group_windows(choices: Choices, method: Method) -> On:
    frame, by, clustered = _keyed(choices, method, 1)
    frame = frame.reset_index(drop=True)
    dropna = not choices.flag()
    ask, shown = _row_windows(choices)
    return On(
        frame,
        lambda it: ask(it.groupby(by, clustered=clustered, dropna=dropna)["x"]),
        lambda it: Apart(it, by, dropna, ask),
        f".gpuscan.groupby({by}, clustered={clustered}, dropna={dropna})['x']{shown}",
        clustered,
        dropna,
        tuple(by),
    )


def _windowed(choices: Choices, method: Method, ask: Ask, shown: str, times: bool = False) -> On:
    on = _series(choices, method) if choices.flag() else _frame(choices, method)
    if times:
        on.frame.index = _times(choices, len(on.frame))
    return On(on.frame, ask, ask, shown)


def _times(choices: Choices, count: int) -> pd.DatetimeIndex:
    steps = [choices.pick((0, 1, 2, 5, 59, 3600)) for _ in range(count)]
    start = pd.Timestamp(choices.pick(("2026-01-01", "2026-03-28 23:30", "1969-12-31 23:59:58")))
    times = pd.DatetimeIndex(
        start + pd.to_timedelta(np.cumsum(np.array(steps, "i8")), unit="s"), name="t"
    )
    times = times.as_unit(choices.pick(("ns", "s", "ms", "us")))
    zone = choices.pick((None, None, "UTC", "Europe/Berlin"))
    return times if zone is None else times.tz_localize("UTC").tz_convert(zone)


def _ewm(choices: Choices, method: Method) -> On:
    given = {"alpha": choices.pick((0.5, 0.1, 1.0)), "min_periods": choices.between(0, 3)}
    given |= drawn.options(choices, {"adjust": (True, False), "ignore_na": (False, True)})
    return _windowed(choices, method, lambda it: it.ewm(**given), f".gpuscan.ewm({given})")


def _buckets(choices: Choices, method: Method) -> On:
    on = _series(choices, method)
    on.frame.index = _times(choices, len(on.frame))
    given = {"rule": choices.pick(("15min", "1h", "7s", "D", "36h", "W", "MS"))}
    given |= drawn.options(choices, {"closed": ("left", "right"), "label": ("left", "right")})
    ask: Ask = lambda it: it.resample(**given)  # noqa: E731
    return On(on.frame, ask, ask, f".gpuscan.resample({given})")


def _itself(frame: Any) -> Any:
    return frame


KINDS: dict[str, Callable[[Choices, Method], On]] = {
    "series": _series,
    "frame": _frame,
    "by columns": _by_columns,
    "groups": _groups,
    "windows": _windows,
    "group windows": _group_windows,
    "ewm": _ewm,
    "buckets": _buckets,
}


def draw(choices: Choices) -> FrameCase:
    """Draw a frame, a method and its arguments, and a partitioning."""
    method = choices.pick(METHODS)
    kind = choices.pick(method.on)
    on = KINDS[kind](choices, method)
    given = drawn.options(choices, method.arguments)
    given |= {name: choices.pick(values) for name, values in method.required.items()}
    return FrameCase(method, on, kind, given, drawn.cuts(choices, len(on.frame)))


FRAMES = Fuzzer("frames", draw)
