"""Reductions of runs of equal keys: a table of operators, and how their states become a column of answers.

A reduction knows one column (or the columns that an operator takes together) and the runs in one partition; what
was open before comes as a host state. This module must never know which partition it works on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from . import kernels
from .columns import Library, is_number, layout_of, library_of, title
from .kernels import BUILT_IN, Operator
from .keys import Keys
from .runs import INT64, Runs
from .scans import IGNORING_NAN, plan

States = tuple[Any, ...]
"""One item a field of an operator's state: scalars of one run, or arrays of one item a run."""


# --- operators ---------------------------------------------------------------------------------------


def _seen_first(dtype: np.dtype) -> Any:
    return (dtype.type(0), False)


def _with_flag(x: Any) -> Any:
    return (x, True)


@lru_cache(maxsize=16)
def _seeing(extreme: Operator) -> Operator:
    """The operator that also knows whether there was a value: state (value, seen)."""
    choose = extreme.combine

    def combine(a: Any, b: Any) -> Any:
        if not a[1]:
            return b
        if not b[1]:
            return a
        return (choose(a[0], b[0]), True)

    return Operator(combine, _seen_first, _with_flag, name=f"seen-{extreme.name}", inputs=1)


def _changes(a: Any, b: Any) -> Any:
    if a[0] == 0:
        return b
    if b[0] == 0:
        return a
    return (a[0] + b[0] - (a[2] == b[1]), a[1], b[2])


def _no_changes(dtype: np.dtype) -> Any:
    return (0, dtype.type(0), dtype.type(0))


def _one(x: Any) -> Any:
    return (1, x, x)


CHANGES = Operator(_changes, _no_changes, _one, name="changes", inputs=1)
"""State: (runs of equal values, first value, last value)."""


# --- what states answer: values, and where they are null ---------------------------------------------


def _moments(a: Any, b: Any) -> Any:
    return (a[0] + b[0], a[1] + b[1])


def _moment(x: Any) -> Any:
    return (1.0, x * 1.0)


_MEAN = Operator(_moments, (0.0, 0.0), _moment, name="mean")
"""State: (number of values, their sum)."""


def _itself(numbers: Any, s: States) -> Any:
    return s[0], None


def _if_seen(numbers: Any, s: States) -> Any:
    return s[0], ~s[1]


def _mean(numbers: Any, s: States) -> Any:
    none = s[0] == 0
    return s[1] / numbers.where(none, 1.0, s[0]), none


def _spread(ddof: int, root: bool) -> Callable[[Any, States], Any]:
    def answer(numbers: Any, s: States) -> Any:
        few = s[0] <= ddof
        spread = s[2] / numbers.where(few, 1.0, s[0] - ddof)
        return numbers.sqrt(spread) if root else spread, few

    return answer


@dataclass(frozen=True)
class Reduction:
    """A named reduction.

    Parameters
    ----------
    name : str
        Also the library's, which is asked for the dtype of the answer.
    op : Operator
    finish : callable
        ``finish(numbers, states) -> (values, missing)``.
    of : {"values", "numbers", "valid", "rows"}
        What is reduced: values of any fixed width, numbers and bool alone, whether there is a value, or rows.
    wide : bool
        Whether floating-point states are float64 whatever the column.
    """

    name: str
    op: Operator
    finish: Callable[[Any, States], Any]
    of: str = "values"
    wide: bool = False


def _add(a: Any, b: Any) -> Any:
    return a + b


_COUNT = Operator(_add, 0, name="count", inputs=1)

REDUCTIONS: dict[str, Reduction] = {
    r.name: r
    for r in (
        Reduction("sum", BUILT_IN["add"], _itself, wide=True),
        Reduction("prod", BUILT_IN["multiply"], _itself, wide=True),
        Reduction("min", BUILT_IN["minimum"], _if_seen),
        Reduction("max", BUILT_IN["maximum"], _if_seen),
        Reduction("any", BUILT_IN["logical_any"], _itself),
        Reduction("all", BUILT_IN["logical_all"], _itself),
        Reduction("count", _COUNT, _itself, "valid"),
        Reduction("size", _COUNT, _itself, "rows"),
        Reduction("mean", _MEAN, _mean, "numbers"),
        Reduction("first", BUILT_IN["first"], _if_seen),
        Reduction("last", BUILT_IN["last"], _if_seen),
        Reduction("nunique_consecutive", CHANGES, _itself),
    )
}
"""The reductions that take no argument."""


def spread(name: str, ddof: int) -> Reduction:
    """Return the reduction to the variance (``var``) or the standard deviation (``std``)."""
    return Reduction(name, BUILT_IN["welford"], _spread(ddof, name == "std"), "numbers")


# --- a reduction of one column -----------------------------------------------------------------------


@dataclass(frozen=True)
class ReduceColumn:
    """A reduction of columns of fixed width: one, or the inputs of one operator."""

    reduction: Reduction
    user: bool = False
    """Whether the operator is a user's, which lowers its own states."""

    @property
    def name(self) -> str:
        """Name of the reduction."""
        return self.reduction.name

    def dtype(self, columns: Sequence[Any]) -> Any:
        """Dtype of the answer; raises a TypeError that names the column and the way out."""
        try:
            return self._dtype(library_of(columns[0]), tuple(c.dtype for c in columns))
        except (TypeError, ValueError) as error:
            names = ", ".join(title(c) for c in columns)
            raise type(error)(f"{self.reduction.name} of {names}: {error}") from error

    def _dtype(self, library: Library, dtypes: tuple[Any, ...]) -> Any:
        reduction = self.reduction
        if self.user:
            return plan(library, reduction.op, dtypes, None).dtype
        if reduction.of == "rows" or reduction.name == "nunique_consecutive":
            answer = np.dtype(np.int64)
        else:
            answer = library.grouped(reduction.name, dtypes[0])
        if reduction.of in ("values", "numbers"):
            fits = is_number(library, dtypes[0]) and dtypes[0].kind != "c"
            if not fits and (reduction.of == "numbers" or layout_of(library, dtypes[0]) is None):
                raise TypeError(
                    f"dtype {dtypes[0]} cannot be reduced so; leave it out with numeric_only=True or by "
                    f"choosing columns, or cast it with astype"
                )
        return answer

    def _inputs(self, columns: Sequence[Any]) -> tuple[Operator, Any, kernels.Nulls, Any]:
        """Operator, values, nulls and the dtype of the state."""
        column, library, reduction = columns[0], library_of(columns[0]), self.reduction
        if reduction.of == "rows":
            return reduction.op, library.numbers.ones(len(column), INT64), None, INT64
        if reduction.of == "valid":
            return reduction.op, library.valid(column).astype(INT64), None, INT64
        if self.user:
            views = [_view(library, c) for c in columns]
            return reduction.op, tuple(v.values for v in views), joint_nulls(views), None
        view = _view(library, column)
        layout = layout_of(library, column.dtype)
        assert layout is not None
        op, dtype = reduction.op, None
        if op in IGNORING_NAN:
            op = _seeing(IGNORING_NAN[op] if layout.passes_over_nan else op)
        elif op in (BUILT_IN["add"], BUILT_IN["multiply"]):
            answer = self._dtype(library, (column.dtype,))
            found = layout_of(library, answer)
            assert found is not None
            dtype = found.storage(answer)
            if reduction.wide and dtype.kind == "f":
                dtype = np.dtype(np.float64)
        return op, view.values, view.nulls, dtype

    def runs(self, columns: Sequence[Any], keys: Keys, starts: bool) -> tuple[Any, States]:
        """Reduce each run; also return where the runs start, if wanted."""
        op, values, nulls, dtype = self._inputs(columns)
        options = {"key_nulls": keys.nulls, "nulls": nulls, "dtype": dtype, "starts": starts}
        first, states = kernels.reduce_by_key(op, keys.arrays, values, **options)
        return first, states if isinstance(states, tuple) else (states,)

    def state(self, columns: Sequence[Any]) -> tuple[Operator, States]:
        """Reduce rows of one run."""
        op, values, nulls, dtype = self._inputs(columns)
        state = kernels.reduce(op, values, nulls=nulls, dtype=dtype)
        return op, state if isinstance(state, tuple) else (state,)

    def join(self, states: Sequence[tuple[Operator, States]]) -> tuple[Operator, States]:
        """Reduce neighbouring parts of one run."""
        op = states[0][0]
        parts = [s if len(s) > 1 else s[0] for _, s in states]
        state = kernels.fold(op, parts)
        return op, state if isinstance(state, tuple) else (state,)

    def close(self, columns: Sequence[Any], states: States, runs: Runs, carried: Any) -> Any:
        """Return the answers of runs as an array, given the state of the one that was open before."""
        library = library_of(columns[0])
        if runs.carried is not None:
            if runs.joined:
                own = tuple(s.dtype.type(s[0].item()) for s in states)
                carried = self.join([carried, (carried[0], own)])
                states = tuple(s[1:] for s in states)
            numbers = library.numbers
            pairs = zip(carried[1], states, strict=True)
            states = tuple(
                numbers.concatenate([numbers.asarray([head], dtype=s.dtype), s])
                for head, s in pairs
            )
        return self.answer(columns, states)

    def merge(self, library: Library, states: States, keys: Keys) -> States:
        """Reduce states of equal keys to one."""
        op = self.reduction.op
        return merged(_seeing(op) if op in IGNORING_NAN and not self.user else op, states, keys)

    def answer(self, columns: Sequence[Any], states: States) -> Any:
        """Make states a column of answers."""
        library = library_of(columns[0])
        dtype = self._dtype(library, tuple(c.dtype for c in columns))
        layout = layout_of(library, dtype)
        assert layout is not None
        if self.user:
            values, missing = lowered(library, self.reduction.op, states), None
        else:
            values, missing = self.reduction.finish(library.numbers, states)
        if missing is not None and not bool(missing.any()):
            missing = None
        values = values.astype(layout.storage(dtype))  # a copy: states may be used again
        return layout.wrap(values, missing, dtype)


def merged(op: Operator, states: States, keys: Keys) -> States:
    """Reduce each run of states to one."""
    values = states if len(states) > 1 else states[0]
    _, out = kernels.reduce_by_key(on_states(op, states), keys.arrays, values, starts=False)
    return out if isinstance(out, tuple) else (out,)


def lowered(library: Library, op: Operator, states: States) -> Any:
    """Return an operator's answers for states, one by one."""
    if op.lower is None:
        return states[0]
    rows = library.numbers.arange(len(states[0]), dtype=INT64)
    values = states if len(states) > 1 else states[0]
    _, out = kernels.reduce_by_key(on_states(op, states), [rows], values, starts=False, lower=True)
    return out


def on_states(op: Operator, states: States) -> Operator:
    """Return the operator whose elements are states of another."""
    return _on_states(op, tuple(s.dtype for s in states))


@lru_cache(maxsize=256)
def _on_states(op: Operator, dtypes: tuple[np.dtype, ...]) -> Operator:
    if len(dtypes) == 1:
        return Operator(op.combine, op.identity, None, op.lower, op.name, 1)
    # identities that depend on the dtype are those of operators whose state starts with the element
    identity = op.identity_for(*[dtypes[0]] * op.inputs)
    return Operator(op.combine, identity, None, op.lower, op.name)


def _view(library: Library, column: Any) -> Any:
    layout = layout_of(library, column.dtype)
    assert layout is not None
    return layout.view(library.array(column)).settled()


def joint_nulls(views: list[Any]) -> kernels.Nulls:
    """Return where any of the columns is null, for a kernel."""
    if len(views) == 1:
        return views[0].nulls  # type: ignore[no-any-return]
    missing = views[0].missing()
    for view in views[1:]:
        missing = missing | view.missing()
    return kernels.byte_mask(missing)


# --- first and last of columns of any dtype ----------------------------------------------------------


@dataclass(frozen=True)
class PickColumn:
    """The first or last value of each run, of a column of any dtype: its row is gathered."""

    name: str

    def dtype(self, columns: Sequence[Any]) -> Any:
        """Dtype of the answer."""
        return columns[0].dtype

    def runs(self, columns: Sequence[Any], keys: Keys, starts: bool) -> tuple[Any, States]:
        """Return the value of each run, and where the runs start."""
        library = library_of(columns[0])
        rows = library.numbers.arange(len(columns[0]), dtype=INT64)
        nulls = kernels.byte_mask(~library.valid(columns[0]))
        first, (at, seen) = kernels.reduce_by_key(
            BUILT_IN[self.name],
            keys.arrays,
            rows,
            key_nulls=keys.nulls,
            nulls=nulls,
            starts=starts,
        )
        positions = library.numbers.where(seen, at, -1)
        return first, (library.take(library.array(columns[0]), positions),)

    def state(self, columns: Sequence[Any]) -> Any:
        """Return the value of one run as a host value, or None."""
        library = library_of(columns[0])
        at = library.first_valid(columns[0], from_end=self.name == "last")
        return None if at is None else library.keep(columns[0], at)

    def join(self, states: Sequence[Any]) -> Any:
        """Return the value of neighbouring parts of one run."""
        found = [s for s in states if s is not None]
        return None if not found else found[0 if self.name == "first" else -1]

    def close(self, columns: Sequence[Any], states: States, runs: Runs, carried: Any) -> Any:
        """Return the values of runs as an array."""
        array = states[0]
        if runs.carried is None:
            return array
        library = library_of(columns[0])
        if runs.joined:
            own = self.state([library.series(library.part(array, 0, 1), None)])
            carried = self.join([carried, own])
            array = library.part(array, 1, len(array))
        if carried is None:
            head = library.take(library.array(columns[0].iloc[:0]), library.numbers.asarray([-1]))
        else:
            head = library.repeat(carried, 1, columns[0].dtype)
        return library.concatenate([head, array])

    def merge(self, library: Library, states: States, keys: Keys) -> States:
        """Return one value for those of equal keys."""
        return self.runs([library.series(states[0], None)], keys, False)[1]

    def answer(self, columns: Sequence[Any], states: States) -> Any:
        """Return the values as they are."""
        return states[0]
