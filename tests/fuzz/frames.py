"""Frames, methods and partitionings at random: answers are those of pandas on the whole, or differ as declared."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

import dask_gpuscan  # noqa: F401 (registers .gpuscan)
from helpers.backends import same
from helpers.strategies import partitioned_at

from . import drawn
from .differences import DIFFERENCES, refusal_for
from .methods import METHODS, Method

KEYS = (
    *("int64", "float64", "Int64", "str", "category", "int8", "string[pyarrow]", "bool"),
    *("datetime64[ns]", "object"),
)
CLOSED = ("right", "left", "both", "neither")
ERRORS = (TypeError, ValueError, NotImplementedError, ArithmeticError)
"""What a refusal is: pandas and Arrow raise some of the others."""

Ask = Callable[[Any], Any]
Draw = Callable[[Any, Method], "On"]


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


@dataclass(frozen=True, repr=False)
class FrameCase(drawn.Shown):
    """A method on a frame that is cut."""

    method: Method
    on: On
    kind: str
    given: dict[str, Any]
    cuts: list[int]

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
        frame = drawn.shown(self.on.frame)
        return (
            f"x = {frame}\nx.gpuscan{self.on.shown}.{self.method.name}({given})\ncut at {self.cuts}"
        )

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


def _columns(draw: Any, method: Method, count: int, names: str = "xyz") -> dict[str, Any]:
    names = names[: draw(st.integers(1, len(names)))]
    dtypes = st.sampled_from(method.dtypes)
    return {name: draw(drawn.columns(draw(dtypes), count, method.wild)) for name in names}


def _series(draw: Any, method: Method) -> On:
    frame = pd.DataFrame(_columns(draw, method, draw(drawn.LENGTHS), "x"))
    series = frame["x"].rename(draw(st.sampled_from((None, "x"))))
    return On(series.set_axis(draw(drawn.labels(len(series)))), _itself, _itself, "")


def _frame(draw: Any, method: Method) -> On:
    count = draw(drawn.LENGTHS)
    frame = pd.DataFrame(_columns(draw, method, count), draw(drawn.labels(count)))
    return On(frame, _itself, _itself, "")


def _by_columns(draw: Any, method: Method) -> On:
    on = _frame(draw, method)
    by = list(on.frame)[: draw(st.integers(1, on.frame.shape[1]))]
    return replace(on, columns=tuple(by[::-1] if draw(st.booleans()) else by))


def _keyed(draw: Any, method: Method, names: str) -> tuple[pd.DataFrame, list[str], dict[str, Any]]:
    count = draw(drawn.LENGTHS)
    by = draw(st.sampled_from((["k"], ["k"], ["k"], ["k", "j"])))
    keys = {name: draw(drawn.columns(draw(st.sampled_from(KEYS)), count)) for name in by}
    values = _columns(draw, method, count, names)
    frame = pd.DataFrame({**keys, **values}, draw(drawn.labels(count)))
    given = {"clustered": draw(st.sampled_from((None, True, False))), "dropna": draw(st.booleans())}
    if given["clustered"]:
        groups = frame.groupby(by, sort=False, dropna=False, observed=True).ngroup()
        frame = frame.iloc[np.argsort(groups.to_numpy(), kind="stable")]
    return frame, by, given


def _groups(draw: Any, method: Method) -> On:
    frame, by, given = _keyed(draw, method, "xy")
    names = [name for name in frame if name not in by]
    names, columns = draw(st.sampled_from(((names, names), (["x"], "x"))))
    theirs = {"sort": not given["clustered"], "dropna": given["dropna"], "observed": True}
    key: Any = by if len(by) > 1 else by[0]
    return On(
        frame,
        lambda it: it.groupby(by, **given)[columns],
        lambda it: it.groupby(key, **theirs)[columns],
        f".groupby({by}, **{given})[{columns!r}]",
        **given,
        by=tuple(by),
        columns=tuple(names),
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


Call = tuple[str, dict[str, Any]]
"""What gives windows or buckets: the name of a method, and its arguments."""


def _calls(name: str, must: drawn.Values, may: drawn.Values) -> st.SearchStrategy[Call]:
    return st.tuples(st.just(name), drawn.options(may, must))


ENDS = {"center": (False, True), "closed": CLOSED}
ROLLING = _calls("rolling", {"window": range(1, 10)}, {"min_periods": (0, 1, 3), **ENDS})
EXPANDING = _calls("expanding", {"min_periods": range(5)}, {})
ROW_WINDOWS = drawn.one_of(ROLLING, ROLLING, ROLLING, EXPANDING)
TIME_WINDOWS = _calls(
    "rolling", {"window": ("1s", "2s", "4s", "90s")}, {"min_periods": (0, 1, 3), **ENDS}
)
EWM = _calls(
    "ewm",
    {"alpha": (0.5, 0.1, 1.0), "min_periods": range(4)},
    {"adjust": (True, False), "ignore_na": (False, True)},
)
BUCKETS = _calls(
    "resample",
    {"rule": ("15min", "1h", "7s", "D", "36h", "W", "MS")},
    {"closed": ("left", "right"), "label": ("left", "right")},
)


def _asked(call: Call, of: Any) -> Any:
    name, given = call
    return getattr(of, name)(**given)


def _shown(call: Call) -> str:
    return f".{call[0]}(**{call[1]})"


def _times(draw: Any, count: int) -> pd.DatetimeIndex:
    steps = draw(drawn.lists(st.sampled_from((0, 1, 2, 5, 59, 3600)), count))
    starts = ("2026-01-01", "2026-03-28 23:30", "1969-12-31 23:59:58")
    passed = pd.to_timedelta(np.cumsum(np.array(steps, "i8")), unit="s")
    times = pd.DatetimeIndex(pd.Timestamp(draw(st.sampled_from(starts))) + passed, name="t")
    times = times.as_unit(draw(st.sampled_from(("ns", "s", "ms", "us"))))
    zone = draw(st.sampled_from((None, None, "UTC", "Europe/Berlin")))
    return times if zone is None else times.tz_localize("UTC").tz_convert(zone)


def _windowed(draw: Any, method: Method, calls: st.SearchStrategy[Call], *shapes: Draw) -> On:
    on, call = draw(st.sampled_from(shapes))(draw, method), draw(calls)
    if calls in (TIME_WINDOWS, BUCKETS):
        on.frame.index = _times(draw, len(on.frame))
    ask = partial(_asked, call)
    return On(on.frame, ask, ask, _shown(call))


def _windows(draw: Any, method: Method) -> On:
    calls = draw(st.sampled_from((ROW_WINDOWS, TIME_WINDOWS)))
    return _windowed(draw, method, calls, _series, _frame)


def _group_windows(draw: Any, method: Method) -> On:
    frame, by, given = _keyed(draw, method, "x")
    call = draw(ROW_WINDOWS)
    ask = partial(_asked, call)
    return On(
        frame.reset_index(drop=True),
        lambda it: ask(it.groupby(by, **given)["x"]),
        lambda it: Apart(it, by, given["dropna"], ask),
        f".groupby({by}, **{given})['x']{_shown(call)}",
        **given,
        by=tuple(by),
    )


def _itself(frame: Any) -> Any:
    return frame


KINDS: dict[str, Draw] = {
    "series": _series,
    "frame": _frame,
    "by columns": _by_columns,
    "groups": _groups,
    "windows": _windows,
    "group windows": _group_windows,
    "ewm": lambda draw, method: _windowed(draw, method, EWM, _series, _frame),
    "buckets": lambda draw, method: _windowed(draw, method, BUCKETS, _series),
}


@st.composite
def _cases(draw: Any) -> FrameCase:
    method = draw(st.sampled_from(METHODS))
    kind = draw(st.sampled_from(method.on))
    on = KINDS[kind](draw, method)
    given = draw(drawn.options(method.arguments, method.required))
    if kind == "by columns":
        given["by"] = list(on.columns)
    return FrameCase(method, on, kind, given, draw(drawn.cuts(len(on.frame))))


FRAMES = _cases()
"""A frame, a method and its arguments, and a partitioning."""
