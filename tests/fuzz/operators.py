"""Operators at random in everything that takes one, against a loop in Python: arrays and frames, on each backend."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import dask.array as da
import numpy as np
import pandas as pd
from hypothesis import strategies as st

import dask_gpuscan
from dask_gpuscan.kernels import (
    RowWindows,
    bitmap,
    byte_mask,
    reduce,
    reduce_by_code,
    reduce_by_key,
    rolling,
    scan,
    scan_by_code,
    scan_by_key,
)
from helpers.backends import Backend, Cuda, has_cuda
from helpers.strategies import partitioned_at

from .drawn import Shown, cuts, lists, one_in
from .monoids import FAMILIES, Monoid, scanned

DTYPES = ("int64", "int32", "int8")
BORDERS = (1023, 1024, 2048, 16_383, 16_384, 16_385, 33_000)
"""Lengths around those of tiles."""


@dataclass(frozen=True)
class Task:
    """What is combined: elements of which some are null, in groups or runs, and how."""

    backend: Backend
    monoid: Monoid
    items: np.ndarray
    valid: np.ndarray
    keys: np.ndarray
    cuts: list[int]
    exclusive: bool
    reverse: bool
    nulls: str
    carry: Any

    @property
    def given(self) -> Any:
        """The elements where the backend has them."""
        return self.backend.array(self.items)

    @property
    def missing(self) -> Any:
        """The nulls where the backend has them."""
        if self.nulls == "none":
            return None
        if self.nulls == "bytes":
            return byte_mask(self.backend.array(~self.valid))
        packed = np.packbits(np.concatenate([np.ones(5, bool), self.valid]), bitorder="little")
        return bitmap(self.backend.array(packed), 5)

    def loop(self, rows: Any = slice(None), **changed: Any) -> tuple[list[int], Any]:
        """Return what a loop over some rows comes to."""
        given = {
            "exclusive": self.exclusive,
            "reverse": self.reverse,
            "state": self.monoid.identity,
        }
        return scanned(self.monoid, self.items[rows], self.valid[rows], **(given | changed))  # type: ignore[arg-type]

    def groups(self) -> dict[int, np.ndarray]:
        """Return the rows of each key."""
        return {int(k): np.flatnonzero(self.keys == k) for k in np.unique(self.keys)}

    def runs(self) -> list[np.ndarray]:
        """Return the rows of each run of equal keys."""
        changes = np.flatnonzero(np.diff(self.keys)) + 1
        return np.split(np.arange(len(self.keys)), changes) if len(self.keys) else []

    def pieces(self, rows: Sequence[np.ndarray]) -> list[int]:
        """Return what loops over each of several pieces write, in the order of rows."""
        out = np.zeros(len(self.items), np.int64)
        for piece in rows:
            out[piece] = self.loop(piece)[0]
        return out.tolist()

    def listed(self, array: Any) -> list[int]:
        """Return an array of the backend as a list."""
        return self.backend.to_numpy(array).tolist()


def same_states(monoid: Monoid, found: Any, expected: Any) -> None:
    """Assert that two states are equal."""
    state = tuple(map(int, found)) if isinstance(found, tuple) else int(found)
    assert state == expected, f"state {state}, and {expected} by a loop"


def same_lists(found: Sequence[int | None], expected: Sequence[int | None]) -> None:
    """Assert that two lists are equal; of long ones tell the first difference."""
    if found != expected:
        first = next(
            (i for i, (a, b) in enumerate(zip(found, expected, strict=False)) if a != b), -1
        )
        raise AssertionError(
            f"[{first}] {found[first : first + 3]}, and {expected[first : first + 3]} by a loop"
        )


# --- what takes an operator --------------------------------------------------------------------------


def _scan(task: Task) -> None:
    options = {"exclusive": task.exclusive, "reverse": task.reverse, "carry_in": task.carry}
    out, state = scan(task.monoid.operator, task.given, nulls=task.missing, **options)
    expected, last = task.loop(state=task.carry)
    same_lists(task.listed(out), expected)
    same_states(task.monoid, state, last)


def _reduce(task: Task) -> None:
    options = {"reverse": task.reverse, "carry_in": task.carry}
    state = reduce(task.monoid.operator, task.given, nulls=task.missing, **options)
    same_states(task.monoid, state, task.loop(state=task.carry)[1])


def _scan_axis(task: Task) -> None:
    width = 3
    shape = (len(task.items) // width, width)
    array = task.items[: shape[0] * width].reshape(shape)
    for axis in (0, 1):
        out, _ = scan(
            task.monoid.operator, task.backend.array(array), axis=axis, reverse=task.reverse
        )
        found = np.moveaxis(task.backend.to_numpy(out), axis, -1)
        for line, items in zip(found, np.moveaxis(array, axis, -1), strict=True):
            valid = np.ones(len(items), bool)
            same_lists(
                line.tolist(),
                scanned(task.monoid, items, valid, False, task.reverse, task.monoid.identity)[0],
            )


def _scan_by_key(task: Task) -> None:
    keys = [task.backend.array(task.keys)]
    options = {"exclusive": task.exclusive, "reverse": task.reverse}
    out, _ = scan_by_key(task.monoid.operator, keys, task.given, nulls=task.missing, **options)
    same_lists(task.listed(out), task.pieces(task.runs()))


def _reduce_by_key(task: Task) -> None:
    keys, op = [task.backend.array(task.keys)], task.monoid.operator
    starts, answers = reduce_by_key(op, keys, task.given, nulls=task.missing, lower=True)
    runs = task.runs()
    same_lists(task.listed(starts), [int(rows[0]) for rows in runs])
    same_lists(
        task.listed(answers), [task.monoid.lower(task.loop(r, reverse=False)[1]) for r in runs]
    )


def _by_code(task: Task) -> None:
    count = int(task.keys.max()) + 1 if len(task.keys) else 1
    codes, op = task.backend.array(task.keys), task.monoid.operator
    out, states = scan_by_code(
        op, codes, task.given, count, nulls=task.missing, exclusive=task.exclusive
    )
    forward = {"reverse": False}
    expected = np.zeros(len(task.items), np.int64)
    for rows in task.groups().values():
        expected[rows] = task.loop(rows, **forward)[0]
    same_lists(task.listed(out), expected.tolist())
    alone = reduce_by_code(op, codes, task.given, count, nulls=task.missing)
    for found in (states, alone):
        parts = found if isinstance(found, tuple) else (found,)
        listed = list(zip(*map(task.listed, parts), strict=True))
        for key in range(count):
            last = task.loop(task.groups().get(key, []), **forward)[1]
            assert listed[key] == (last if isinstance(last, tuple) else (last,)), f"group {key}"


def _rolling(task: Task) -> None:
    before, after = len(task.cuts), int(task.exclusive)
    out = rolling(task.monoid.operator, task.given, RowWindows(before, after), nulls=task.missing)
    state, length = task.monoid.identity, len(task.items)
    expected = []
    for i in range(length):
        window = slice(max(i - before, 0), min(i + after + 1, length))
        last = task.loop(window, reverse=False, state=state)[1]
        expected.append(task.monoid.lower(last))
    same_lists(task.listed(out), expected)


def _series(task: Task) -> Any:
    return pd.Series(pd.array(task.items, f"I{str(task.items.dtype)[1:]}")).where(task.valid)


def _rows_of(series: Any) -> list[int | None]:
    """Return the integers of a series of pandas or cuDF, whose own pandas would make floats of them."""
    if hasattr(series, "to_arrow"):
        return list(series.to_arrow().to_pylist())
    return [None if pd.isna(x) else int(x) for x in series]


def _partitions(task: Task) -> None:
    lazy = partitioned_at(task.backend.frame(_series(task)), task.cuts).gpuscan
    found = lazy.scan(task.monoid.operator, exclusive=task.exclusive, reverse=task.reverse)
    loop = task.loop()[0]
    expected = [x if valid else None for x, valid in zip(loop, task.valid, strict=True)]
    same_lists(_rows_of(found.compute()), expected)


def _partitioned_groups(task: Task) -> None:
    frame = pd.DataFrame({"k": task.keys, "x": _series(task)})
    lazy = partitioned_at(task.backend.frame(frame), task.cuts).gpuscan.groupby("k")["x"]
    found = lazy.scan(task.monoid.operator, exclusive=task.exclusive).compute()
    expected: list[int | None] = [None] * len(task.items)
    for rows in task.groups().values():
        loop = task.loop(rows, reverse=False)[0]
        for row, x in zip(rows, loop, strict=True):
            expected[row] = x if task.valid[row] else None
    same_lists(_rows_of(found), expected)
    reduced = lazy.reduce(task.monoid.operator).compute()
    keys = task.backend.to_pandas(reduced).index.tolist()
    answers = dict(zip(keys, _rows_of(reduced), strict=True))
    for key, rows in task.groups().items():
        if task.valid[rows].any():
            wanted = task.monoid.lower(task.loop(rows, reverse=False)[1])
            assert answers[key] == wanted, f"group {key}: {answers[key]}, and {wanted} by a loop"


def _chunks(task: Task) -> None:
    bounds = [0, *task.cuts, len(task.items)]
    sizes = tuple(np.diff(bounds).tolist())
    array = da.from_array(task.items, chunks=(sizes,)).map_blocks(
        task.backend.array, meta=task.given[:0]
    )
    options = {"exclusive": task.exclusive, "reverse": task.reverse, "initial": task.carry}
    out = dask_gpuscan.scan(array, task.monoid.operator, **options).compute()
    everything = np.ones(len(task.items), bool)
    expected = scanned(
        task.monoid, task.items, everything, task.exclusive, task.reverse, task.carry
    )
    same_lists(task.listed(out), expected[0])


ENTRIES: dict[str, Callable[[Task], None]] = {
    "scan": _scan,
    "reduce": _reduce,
    "scan_axis": _scan_axis,
    "scan_by_key": _scan_by_key,
    "reduce_by_key": _reduce_by_key,
    "by_code": _by_code,
    "rolling": _rolling,
    "partitions": _partitions,
    "partitioned_groups": _partitioned_groups,
    "chunks": _chunks,
}
"""Everything that takes an operator."""


# --- cases -------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class OperatorCase(Shown):
    """A task for one of the entries."""

    entry: str
    task: Task

    def __repr__(self) -> str:
        task = self.task
        many = len(task.items) > 50
        items = f"{len(task.items)} of {task.items.dtype}" if many else repr(task.items)
        nulls = np.flatnonzero(~task.valid)[:20].tolist()
        keys = "" if many else f", keys {task.keys.tolist()}"
        return (
            f"{self.entry} by {task.monoid.name}(**{task.monoid.parameters}) of {items}{keys}, null ({task.nulls}) at "
            f"{nulls}, cut at {task.cuts[:20]}, exclusive={task.exclusive}, reverse={task.reverse}, from {task.carry}"
        )

    def check(self) -> str:
        """Compare with a loop."""
        ENTRIES[self.entry](self.task)
        return self.entry


def backends() -> list[Backend]:
    """Return the backends that are there."""
    return [Backend(), Cuda()] if has_cuda() else [Backend()]


@st.composite
def cases_of(
    draw: Any, families: Sequence[str] = tuple(FAMILIES), dtypes: Sequence[str] = DTYPES
) -> OperatorCase:
    """Draw an operator, elements, and what is done with them."""
    entry = draw(st.sampled_from([*ENTRIES]))
    monoid = draw(FAMILIES[draw(st.sampled_from(families))])
    dtype = draw(st.sampled_from(dtypes))
    nulls = draw(st.sampled_from(("none", "bytes", "bits")))
    if not draw(one_in(10)):
        count = draw(st.sampled_from((3, 8, 40)).flatmap(lambda most: st.integers(0, most - 1)))
        items = np.array(draw(lists(st.sampled_from((0, 1, 2, 3, -1, 5, 8)), count)), dtype)
        valid = np.array(draw(lists(st.sampled_from((True, True, True, False)), count)), bool)
        keys = np.array(draw(lists(st.integers(0, 2), count)), np.int64)
        at = draw(cuts(count))
    else:  # as many draws would take long
        count = draw(st.sampled_from(BORDERS))
        rng = np.random.default_rng(draw(st.integers(0, 999)))
        items = rng.integers(-4, 9, count).astype(dtype)
        valid, keys = rng.random(count) < 0.8, np.repeat(np.arange(count), 7)[:count] // 3 % 11
        at = [count // 3, count // 3, count - 1]
    if nulls == "none" and not entry.startswith("partition"):
        valid = np.ones(count, bool)
    first = st.integers(0, 8).map(lambda x: monoid.combine(monoid.identity, monoid.lift(x)))
    return OperatorCase(
        entry,
        Task(
            draw(st.sampled_from(backends())),
            monoid,
            items,
            valid,
            keys,
            at,
            draw(st.booleans()),
            draw(st.booleans()),
            nulls,
            draw(st.just(monoid.identity) | first),
        ),
    )


OPERATORS = cases_of()
