"""States of shards whose rows follow each other: together they are the state of one stream over all rows."""

import pickle
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dask_gpuscan
from helpers.stream_rows import MEAN, rows_of

ROWS = 30
FRAME = rows_of(ROWS, seed=11).drop(columns="i")
Method = Callable[[Any], Any]
OF_FILES: dict[str, Method] = {
    "cumsum": lambda d: d[["x", "n", "s"]].gpuscan.cumsum(),
    "cumprod": lambda d: (d[["x"]] / 9).gpuscan.cumprod(),
    "cummax exclusive": lambda d: d[["n", "s", "t"]].gpuscan.cummax(exclusive=True),
    "fills": lambda d: d[["x", "s", "t"]].gpuscan.ffill(),
    "fills with a limit": lambda d: d[["x", "s"]].gpuscan.ffill(limit=2),
    "shift": lambda d: d[["x", "s"]].gpuscan.shift(4),
    "diff": lambda d: d["n"].gpuscan.diff(2),
    "rolling": lambda d: d[["x", "n"]].gpuscan.rolling(6, min_periods=1).max(),
    "rolling time": lambda d: d[["x", "t"]].gpuscan.rolling("3h", on="t").max(),
    "row numbers": lambda d: d.gpuscan.row_number(),
    "sessions": lambda d: d.gpuscan.sessionize("t", gap="45min"),
    "groups": lambda d: d.gpuscan.groupby("k")[["x", "n"]].cumsum(),
    "groups of two keys": lambda d: d.gpuscan.groupby(["k", "s"])["n"].cummin(),
    "groups fill": lambda d: d.gpuscan.groupby("k")[["x", "s", "t"]].ffill(limit=1),
    "groups shift": lambda d: d.gpuscan.groupby("k")[["s", "n"]].shift(2),
    "groups rolling": lambda d: d.gpuscan.groupby("k")[["n"]].rolling("4h", on="t").max(),
    "groups numbers": lambda d: d.gpuscan.groupby("k").cumcount(),
    "groups sessions": lambda d: d.gpuscan.sessionize("t", by="k", gap="90min"),
    "first ones": lambda d: d.gpuscan.drop_duplicates(["k", "s"]),
    "adjacent": lambda d: d.gpuscan.groupby("c", clustered=True)[["n"]].cumsum(),
    "two beside each other": lambda d: d.assign(
        a=d["n"].gpuscan.cumsum(), b=d["x"].gpuscan.ffill()
    ),
}
IN_PROCESS: dict[str, Method] = {
    "scan": lambda d: d["x"].gpuscan.scan(MEAN),
    "ewm": lambda d: d[["x", "n"]].gpuscan.ewm(alpha=0.3).mean(),
    "groups expanding": lambda d: d.gpuscan.groupby("k")["x"].expanding().var(),
    "runs": lambda d: d.gpuscan.rle("c"),
    "adjacent sums": lambda d: d.gpuscan.groupby("c", clustered=True)[["n"]].sum(),
    "fused": lambda d: d.gpuscan.scan(
        {"a": (dask_gpuscan.add, "x * n"), "b": (dask_gpuscan.maximum, "n")}
    ),
}
COMBINED = OF_FILES | IN_PROCESS


def run(
    method: Method, frame: pd.DataFrame, state: Any = None, ends: bool = False
) -> tuple[Any, Any]:
    out = method(dask_gpuscan.stream([frame], state=state, ends=ends))
    return out.compute(), out.state


def read(state: Any, path: Path) -> Any:
    state.save(path / "state")
    return dask_gpuscan.load_state(path / "state")


def check(name: str, first: int, second: int, of_files: bool, folder: Path) -> None:
    """Check that two shards, and the rows behind these, are answered as by one stream."""
    method = COMBINED[name]
    _, one = run(method, FRAME[:first])
    _, later = run(method, FRAME[first:second])
    if of_files:
        one, later = read(one, folder), read(later, folder)
    both = one.combine(later)
    assert both.rows == second
    _, expected_state = run(method, FRAME[:second])
    expected, _ = run(method, FRAME[second:], expected_state, ends=True)
    found, _ = run(method, FRAME[second:], both, ends=True)
    equal = pd.testing.assert_frame_equal if found.ndim == 2 else pd.testing.assert_series_equal
    equal(found, expected, rtol=1e-10, atol=1e-10)


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(sorted(COMBINED)), st.lists(st.integers(0, ROWS), min_size=2, max_size=2))
def test_states_of_shards_are_those_of_one_stream(name: str, cuts: list[int]) -> None:
    first, second = sorted(cuts)
    with TemporaryDirectory() as folder:
        check(name, first, second, name in OF_FILES, Path(folder))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", COMBINED)
def test_states_of_two_shards(name: str, tmp_path: Path) -> None:
    check(name, 11, 21, False, tmp_path)
    if name in OF_FILES:
        check(name, 11, 21, True, tmp_path)


def test_three_shards_in_any_order_of_joining() -> None:
    method = OF_FILES["groups"]
    a, b, c = (run(method, part)[1] for part in (FRAME[:9], FRAME[9:20], FRAME[20:]))
    left, right = a.combine(b).combine(c), a.combine(b.combine(c))
    for one in (left, right):
        found = one.to_pandas()["groupby-cumsum"].set_index("k")["n"].sort_index()
        assert found.to_dict() == FRAME.groupby("k")["n"].sum().to_dict()
        assert one.rows == ROWS


def refused(one: Any, later: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        one.combine(later)


def test_what_differs_is_named() -> None:
    totals = OF_FILES["groups"]
    _, state = run(totals, FRAME)
    _, other = run(lambda d: totals(d[["k", "x", "n"]]), FRAME[["k", "x", "n"]])
    refused(state, other, "state is of the columns k, c, x, n, s, t, and the later one has k, x, n")
    _, other = run(lambda d: d.gpuscan.groupby("k")[["x", "n"]].cummax(), FRAME)
    refused(state, other, "state is of groupby-cumsum where the later one has groupby-cummax")
    _, other = run(lambda d: d.gpuscan.groupby("k")[["x", "n"]].cumsum(exclusive=True), FRAME)
    refused(state, other, "state of groupby-cumsum has other options")


def test_what_cannot_be_joined_is_named() -> None:
    for method, message in (
        (lambda d: d[["x"]].gpuscan.shift(-2), "state of shift cannot be joined .* it waits for rows"),
        (
            lambda d: dask_gpuscan.merge_asof(d, FRAME[["t", "n"]], on="t"),
            "state of merge_asof cannot be joined",
        ),
        (
            lambda d: d.assign(a=d["n"].gpuscan.cumsum()).gpuscan.filter("a > 3").gpuscan.groupby("k")["n"].cumsum(),
            "state of groupby-cumsum is of what depends on rows before",
        ),
    ):  # fmt: skip
        _, one = run(method, FRAME[:15])
        _, later = run(method, FRAME[15:])
        refused(one, later, message)
    _, one = run(IN_PROCESS["runs"], FRAME[:15], ends=True)
    refused(one, one, "state is of rows that ended")


@pytest.mark.parametrize("name", ["scan", "ewm", "runs"])
def test_a_file_that_does_not_say_how_is_joined_by_a_stream(name: str, tmp_path: Path) -> None:
    """The error says what to do."""
    method = IN_PROCESS[name]
    _, one = run(method, FRAME[:15])
    _, later = run(method, FRAME[15:])
    expected = one.combine(later)
    one, later = read(one, tmp_path), read(later, tmp_path)
    refused(one, later, r"compute stream\(\[batch without rows\], state=state, ends=False\)")
    _, one = run(method, FRAME[:0], one)
    found = one.combine(later)
    found.save(tmp_path / "found")
    expected.save(tmp_path / "expected")
    answers = [run(method, FRAME, state, ends=True)[0] for state in (found, expected)]
    equal = (
        pd.testing.assert_frame_equal if answers[0].ndim == 2 else pd.testing.assert_series_equal
    )
    equal(*answers)


def test_a_state_that_is_pickled_lists_its_totals() -> None:
    """Functions of users are not pickled with it."""
    for name in ("groups expanding", "scan"):
        _, state = run(IN_PROCESS[name], FRAME)
        (found,), (expected,) = (
            one.to_pandas().values() for one in (pickle.loads(pickle.dumps(state)), state)
        )
        pd.testing.assert_frame_equal(found, expected)
