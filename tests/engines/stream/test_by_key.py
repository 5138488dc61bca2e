"""States of many keys, which are updated in place: the answers are those of all rows at once, whatever the batches."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dask_gpuscan
from dask_gpuscan.ops.groupby import by_key

ROWS = 60
TEXTS = "str", "object", "string[pyarrow]", "string[python]", pd.ArrowDtype(pa.large_string())
NUMBERS = "int64", "Int64", "float64", pd.ArrowDtype(pa.int32()), "boolean", "datetime64[ns]"

METHODS = {
    "cumsum": lambda g: g["x"].cumsum(),
    "cumcount": lambda g: g.cumcount(),
    "ffill": lambda g: g[["x", "s"]].ffill(),
    "ewm": lambda g: g["x"].ewm(alpha=0.5).mean(),
    "expanding": lambda g: g["x"].expanding().var(),
    "head": lambda g: g.head(2),
    "shift": lambda g: g[["x", "s"]].shift(2),
    "diff": lambda g: g["x"].diff(),
    "pct_change": lambda g: g["x"].pct_change(),
    "rolling": lambda g: g["x"].rolling(3, min_periods=1).sum(),
    "rolling of time": lambda g: g.rolling("3s", on="t")["x"].max(),
}
"""Of groups; those of pandas that give the same are in `PEERS`."""

PEERS = "cumsum", "cumcount", "ffill", "head", "shift", "diff", "pct_change"


@pytest.fixture(autouse=True)
def in_place(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Update all states in place; returns, for each batch, whether its keys could be numbered."""
    numbered, follow = list[bool](), by_key.ByKey.follow

    def followed(*given: Any) -> Any:
        found = follow(*given)
        numbered.append(found is not None)
        return found

    monkeypatch.setattr(by_key, "MANY", 0)
    monkeypatch.setattr(by_key, "MANY_KEYS", 0)
    monkeypatch.setattr(by_key.ByKey, "follow", followed)
    return numbered


def frame_of(dtype: Any, numbers: Any, seed: int = 0) -> pd.DataFrame:
    """Return rows with keys of a dtype, null for the number 0."""
    rng, count = np.random.default_rng(seed), len(numbers)
    if dtype in TEXTS:
        keys: list[Any] = [None if i == 0 else "" if i == 1 else f"é{i}" for i in numbers]
    elif dtype == "boolean":
        keys = [None if i == 0 else bool(i % 2) for i in numbers]
    elif dtype == "datetime64[ns]":
        keys = [None if i == 0 else pd.Timestamp(2026, 1, int(i)) for i in numbers]
    else:
        keys = [None if i == 0 and dtype != "int64" else int(i) for i in numbers]
    return pd.DataFrame(
        {
            "k": pd.Series(keys, dtype=dtype),
            "j": rng.integers(0, 2, count),
            "x": np.where(rng.random(count) < 0.2, np.nan, rng.normal(size=count)),
            "s": pd.array(rng.choice(["a", "bc", None], count), "str"),
            "t": pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(count), unit="s"),
        }
    )


def batches_of(frame: pd.DataFrame, cuts: list[int]) -> list[pd.DataFrame]:
    return [frame.iloc[a:b] for a, b in pairwise([0, *sorted(cuts), len(frame)])]


def check(found: Any, expected: Any, **options: Any) -> None:
    same = pd.testing.assert_series_equal if found.ndim == 1 else pd.testing.assert_frame_equal
    same(found, expected, **options)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("dropna", [True, False])
@pytest.mark.parametrize("dtype", [*TEXTS, *NUMBERS], ids=str)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    numbers=st.lists(st.integers(0, 5), min_size=1, max_size=30),
    cuts=st.lists(st.integers(0, 30), max_size=5),
    method=st.sampled_from(list(METHODS)),
    by=st.sampled_from(["k", ["k", "j"], ["j", "k"]]),
)
def test_any_batches_give_the_answer_of_all_rows(
    in_place: list[bool], dtype: Any, dropna: bool, numbers: list[int], cuts: list[int], method: str, by: Any
) -> None:  # fmt: skip
    in_place.clear()
    frame = frame_of(dtype, numbers)
    batches = batches_of(frame, [min(cut, len(frame)) for cut in cuts])
    rows = dask_gpuscan.stream(batches)
    found = METHODS[method](rows.gpuscan.groupby(by, dropna=dropna)).compute()
    check(found, METHODS[method](frame.gpuscan.groupby(by, dropna=dropna)), check_dtype=False)
    assert all(in_place)
    if method in PEERS:
        theirs = METHODS[method](frame.groupby(by, dropna=dropna))
        check(found, theirs, check_dtype=False)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("dtype", ["int64", "str"])
@pytest.mark.parametrize("method", [*METHODS, "sessionize"])
def test_a_state_goes_on_from_a_file_between_batches(
    dtype: str, method: str, tmp_path: Path
) -> None:
    frame = frame_of(dtype, np.random.default_rng(1).integers(1, 20, ROWS))

    def ask(rows: Any) -> Any:
        if method == "sessionize":
            return rows.gpuscan.sessionize("t", by="k", gap="4s")
        return METHODS[method](rows.gpuscan.groupby("k"))

    expected, state, found = ask(frame), None, list[Any]()
    for batch in batches_of(frame, [7, 8, 30, 31, 50]):
        rows = ask(dask_gpuscan.stream([batch[:3], batch[3:]], state=state))
        found += list(rows)
        rows.state.save(tmp_path / "state")
        state = dask_gpuscan.load_state(tmp_path / "state")
    check(pd.concat(found), expected, check_dtype=False)  # a stream knows no rows without null keys


def test_a_state_that_was_asked_for_does_not_change() -> None:
    frame = frame_of("int64", np.random.default_rng(2).integers(1, 9, ROWS))
    batches = batches_of(frame, [10, 20, 30, 40])
    rows = dask_gpuscan.stream(batches)
    out = rows.assign(
        total=rows.gpuscan.groupby("k")["x"].cumsum(), last=rows.gpuscan.groupby("k")["x"].shift()
    )
    expected = pd.concat(list(out))
    states = [out.state for _ in out][:-1]
    for number, state in enumerate(states, 1):
        for _ in range(2):
            again = dask_gpuscan.stream(batches[number:], state=state)
            again = again.assign(
                total=again.gpuscan.groupby("k")["x"].cumsum(),
                last=again.gpuscan.groupby("k")["x"].shift(),
            )
            check(again.compute(), expected[sum(map(len, batches[:number])) :])


@pytest.mark.parametrize("method", ["cumsum", "shift", "rolling"])
def test_a_batch_that_fails_leaves_what_was_before(method: str) -> None:
    """A step behind the one that has keys fails, and the same pass is given the batch again."""
    frame = frame_of("str", np.random.default_rng(3).integers(1, 9, ROWS))
    batches = batches_of(frame, [10, 25, 40])
    fails = [False]

    def function(batch: Any) -> Any:
        if fails[0]:
            raise RuntimeError("no")
        return batch

    rows = dask_gpuscan.stream(batches)
    out = METHODS[method](rows.gpuscan.groupby("k")).map_batches(function)
    passing, found = out.begin(), list[Any]()
    for batch in batches:
        fails[0] = True
        for _ in range(2):
            with pytest.raises(RuntimeError, match="no"):
                passing._advance(batch, False)
        fails[0] = False
        found += passing._advance(batch, False)
    check(pd.concat(found), METHODS[method](frame.gpuscan.groupby("k")))


def test_an_interrupted_batch_is_written_again(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = frame_of("int64", np.random.default_rng(4).integers(1, 9, ROWS))
    batches = batches_of(frame, [10, 25, 40])
    out = dask_gpuscan.stream(batches).gpuscan.groupby("k")["x"].shift()
    passing, found, put = out.begin(), list[Any](), by_key.Store.put

    def interrupted(*given: Any) -> None:
        put(*given)
        monkeypatch.setattr(by_key.Store, "put", put)
        raise KeyboardInterrupt

    for number, batch in enumerate(batches):
        if number > 1:
            monkeypatch.setattr(by_key.Store, "put", interrupted)
            with pytest.raises(KeyboardInterrupt):
                passing._advance(batch, False)
        found += passing._advance(batch, False)
    check(pd.concat(found), frame.gpuscan.groupby("k")["x"].shift())


def test_keys_that_come_back_after_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """The log is written without old rows meanwhile, and keys of every age have their rows."""
    monkeypatch.setattr(by_key, "SPARE", 0)
    rng = np.random.default_rng(5)
    old = np.arange(1, 400)
    later = [rng.integers(1, 30, 20) + 400 * (i % 2) for i in range(60)]
    frame = frame_of("Int64", np.concatenate([old, *later, old, old]))
    cuts = [len(old), *(len(old) + 20 * i for i in range(1, 61)), len(old) * 2 + 1200]
    for method in ("cumsum", "ffill", "shift", "rolling", "ewm"):
        found = METHODS[method](dask_gpuscan.stream(batches_of(frame, cuts)).gpuscan.groupby("k"))
        check(found.compute(), METHODS[method](frame.gpuscan.groupby("k")))


def test_keys_that_no_table_numbers_go_on_as_well(in_place: list[bool]) -> None:
    for keys in (
        pd.Categorical(["a", "b", None] * 20),
        pd.array([0x9B1D_6F4E_27A3_C58F, 1, None] * 20, "UInt64"),
        np.array([("a", 1), "b", 2] * 20 + [None], object)[:60],
    ):
        frame = frame_of("int64", np.ones(ROWS, int)).assign(k=keys)
        for method in ("cumsum", "shift"):
            found = METHODS[method](
                dask_gpuscan.stream(batches_of(frame, [9, 30])).gpuscan.groupby("k")
            )
            check(found.compute(), METHODS[method](frame.gpuscan.groupby("k")))
    assert not any(in_place)


def test_a_batch_whose_keys_cannot_be_numbered(in_place: list[bool]) -> None:
    keys = pd.array([1, 2, None, 1, 2, None, 0x9B1D_6F4E_27A3_C58F, 1, 2, None], "UInt64")
    frame = frame_of("int64", np.ones(10, int)).assign(k=keys)
    for method in ("cumsum", "shift"):
        in_place.clear()
        found = METHODS[method](
            dask_gpuscan.stream(batches_of(frame, [3, 6, 8])).gpuscan.groupby("k", dropna=False)
        )
        check(found.compute(), METHODS[method](frame.gpuscan.groupby("k", dropna=False)))
        assert in_place == [True, False]
