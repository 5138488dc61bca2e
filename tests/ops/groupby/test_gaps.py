"""Many groups whose keys are integers of no wide range: numbers of groups are those of keys, and some have no rows."""

import gc
from itertools import pairwise

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dask_gpuscan
from dask_gpuscan.kernels.keys import KeyTable
from dask_gpuscan.ops.groupby import by_key, hashed_scan
from helpers.backends import Backend, same

RNG = np.random.default_rng(8)
ROWS, GROUPS = 20_000, 9_000
FRAME = pd.DataFrame(
    {
        "x": np.where(RNG.random(ROWS) < 0.2, np.nan, RNG.normal(0, 1e6, ROWS)),
        "n": RNG.integers(-9, 9, ROWS),
    }
)
KEYS = {
    "int64 from 0": lambda k: k.astype(np.int64),
    "int64 at its least": lambda k: k + np.iinfo(np.int64).min,
    "int64 at its greatest": lambda k: np.iinfo(np.int64).max - k,
    "int32 around 0": lambda k: (k - GROUPS // 2).astype(np.int32),
    "int16 at its edges": lambda k: (k * 7 - 32_768).astype(np.int16),
    "uint16 at its greatest": lambda k: (65_535 - k).astype(np.uint16),
    "uint64 at its greatest": lambda k: np.uint64(2**64 - 1) - k.astype(np.uint64),
    "Int64": lambda k: pd.array(k - 5, "Int64"),
    "int64[pyarrow]": lambda k: pd.array(k + 10**12, "int64[pyarrow]"),
    "Int64 with nulls": lambda k: pd.array(np.where(k % 10, k, None), "Int64"),
    "with words between": lambda k: k * 3,
    "a wide range": lambda k: k * 10**9,
    "floats with NaN": lambda k: np.where(k % 10, np.where(k % 7, k / 3, -0.0), np.nan),
    "float32": lambda k: (k / 8).astype(np.float32),
    "times with NaT": lambda k: pd.to_datetime(np.where(k % 10, k * 10**15, None)),
    "texts": lambda k: pd.array([f"{'a' * (i % 13)}{i}" for i in k], "str"),
    "string[pyarrow] with nulls": lambda k: pd.array(
        [f"{i}" if i % 10 else None for i in k], "string[pyarrow]"
    ),
    "bytes of Arrow": lambda k: pd.array([b"%d" % i for i in k], pd.ArrowDtype(pa.binary())),
    "categories": lambda k: pd.Categorical(k % 5_000),
    "objects": lambda k: pd.array(k, dtype=object),
}


@pytest.fixture(params=KEYS)
def frame(request) -> pd.DataFrame:
    return FRAME.assign(k=KEYS[request.param](RNG.integers(0, GROUPS, ROWS)))


def _close(ours, theirs):
    pd.testing.assert_index_equal(ours.index, theirs.index, exact=False)
    pd.testing.assert_frame_equal(
        ours, theirs, check_dtype=False, rtol=1e-9, check_index_type=False
    )


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dropna", [True, False])
def test_reductions_of_many_groups(frame, dropna):
    names = {"x": ["sum", "mean", "var", "first", "max"], "n": ["sum", "count", "last", "min"]}
    theirs = frame.groupby("k", dropna=dropna).agg(names)
    _close(frame.gpuscan.groupby("k", dropna=dropna).agg(names), theirs)
    parts = dd.from_pandas(frame, npartitions=3, sort=False)
    _close(parts.gpuscan.groupby("k", dropna=dropna).agg(names).compute(), theirs)


def test_by_two_keys():
    frame = FRAME.assign(k=RNG.integers(-50, 50, ROWS), b=RNG.random(ROWS) < 0.5)
    theirs = frame.assign(c=frame["n"] * 3).groupby(["k", "b", "c"])[["x"]].sum()
    _close(frame.assign(c=frame["n"] * 3).gpuscan.groupby(["k", "b", "c"])[["x"]].sum(), theirs)


METHODS = ["cumsum", "cummax", "cumprod", "ffill", "ffill(limit=1)", "cumcount", "row_number"]
FEW = ["cumsum", "ffill(limit=1)", "cumcount"]
"""One that adds, one that counts up to a limit, and one of no column."""


def _method(groups, method):
    return groups.ffill(limit=1) if method == "ffill(limit=1)" else getattr(groups, method)()


def _same(backend, frame, bounds, method, by="k"):
    """Compare a stream with the collection of its batches: to the last bit, or on GPUs but for rounding."""

    def answer(rows):
        groups = rows.gpuscan.groupby(by)
        return _method(
            groups if method in ("cumcount", "row_number") else groups[["x", "n"]], method
        )

    if backend.name != "cpu" and "binary[pyarrow]" in map(str, frame.dtypes):
        pytest.skip("cuDF has no columns of bytes")
    batches = [backend.frame(frame.iloc[a:b]) for a, b in pairwise(bounds)]
    parts = [batch for batch in batches if len(batch)]
    cut = dd.from_map(lambda part: part, parts, meta=batches[0].iloc[:0])
    with dask.config.set(scheduler="synchronous"):
        expected = backend.to_pandas(answer(cut).compute())
    found = backend.to_pandas(answer(dask_gpuscan.stream(batches)).compute())
    if backend.name != "cpu":
        same(found, expected)
        return
    for ours, theirs in zip(_arrays(found), _arrays(expected), strict=True):
        assert ours.tobytes() == theirs.tobytes()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("method", FEW)
def test_a_stream_has_the_bits_of_partitions(backend, frame, method):
    _same(backend, frame, [0, 6_500, 6_500, 13_000, 13_001, ROWS], method)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("least", [0, -3_000])
@pytest.mark.parametrize("groups", [5_000, 1_500])
def test_a_stream_that_has_met_all_keys(backend, method, least, groups):
    keys = np.concatenate([RNG.permutation(groups), RNG.integers(0, groups, ROWS - groups)])
    _same(backend, FRAME.assign(k=keys + least), [0, groups, 12_000, ROWS], method)


WIDE = {
    "words": lambda k: k * 10**12 + 7,
    "texts": lambda k: pd.array([f"key {i}" for i in k], "str"),
}


@pytest.mark.parametrize("method", FEW)
@pytest.mark.parametrize("kind", WIDE)
@pytest.mark.parametrize("few", [1, 4_096, 4_097])
def test_batches_of_few_of_many_keys(backend, method, kind, few):
    keys = np.concatenate([RNG.permutation(6_000), RNG.integers(0, few, ROWS - 6_000)])
    bounds = [0, 3_000, 6_000, 12_000, 12_000, ROWS]
    _same(backend, FRAME.assign(k=WIDE[kind](keys)), bounds, method)


@pytest.mark.parametrize("method", FEW)
@pytest.mark.parametrize("kinds", [("words", "texts"), ("texts", "words", "words")])
def test_keys_of_several_columns(method, kinds):
    columns = [
        pd.Series(WIDE[kind](RNG.integers(0, 300 // len(kinds) ** 2, ROWS))) for kind in kinds
    ]
    frame = FRAME.assign(**{f"k{i}": column for i, column in enumerate(columns)})
    names = [f"k{i}" for i in range(len(kinds))]
    _same(Backend(), frame, [0, 9_000, 9_500, 9_500, 15_000, ROWS], method, names)


def test_keys_are_numbered_only_if_all_can_be(monkeypatch):
    tables = []
    monkeypatch.setattr(by_key, "KeyTable", lambda: tables.append(1) or KeyTable())
    frame = FRAME.assign(
        k=RNG.permutation(ROWS) * 10**12, s=pd.Categorical(["a", "b"] * (ROWS // 2))
    )
    batches = [frame.iloc[:9_000], frame.iloc[9_000:]]
    for by in (["k", "s"], ["s", "k"]):
        dask_gpuscan.stream(batches).gpuscan.groupby(by)["n"].cumsum().compute()
        assert not tables
    frame["i"] = pd.array(frame["k"], "Int64")
    for by in ("k", "i", ["i", "k"]):
        batches = [frame.iloc[:9_000], frame.iloc[9_000:]]
        found = dask_gpuscan.stream(batches).gpuscan.groupby(by)["n"].cumsum().compute()
        assert found.tolist() == frame["n"].tolist()
        assert tables
        tables.clear()


def test_keys_that_all_threads_number():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {"n": rng.integers(-9, 9, 900_000), "a": rng.integers(0, 900, 900_000) * 10**12}
    )
    frame["b"] = rng.integers(0, 900, 900_000) * 10**12
    batches = [frame.iloc[:600_000], frame.iloc[600_000:]]
    for by in ("a", ["a", "b"], ["b", "a"]):
        found = dask_gpuscan.stream(batches).gpuscan.groupby(by)["n"].cumsum().compute()
        assert found.tolist() == frame.groupby(by)["n"].cumsum().tolist()


@pytest.mark.parametrize("kind", WIDE)
def test_a_state_goes_on_more_than_once(kind, tmp_path):
    frame = FRAME.assign(k=WIDE[kind](RNG.integers(0, GROUPS, ROWS)))
    batches = [frame.iloc[a : a + 2_000] for a in range(0, ROWS, 2_000)]
    passing = dask_gpuscan.stream(batches[:6]).gpuscan.groupby("k")["n"].cumsum()
    passing.compute()
    state = passing.state
    state.save(tmp_path / "state")
    expected = frame.groupby("k")["n"].cumsum().iloc[12_000:].tolist()
    for given in (state, dask_gpuscan.load_state(tmp_path / "state"), state):
        again = dask_gpuscan.stream(batches[6:], state=given).gpuscan.groupby("k")["n"].cumsum()
        found = [again_rows for batch in again for again_rows in batch.tolist()]
        assert found == expected
    first, second = (
        iter(dask_gpuscan.stream(batches[6:], state=state).gpuscan.groupby("k")["n"].cumsum())
        for _ in range(2)
    )
    found = [[*a, *b] for a, b in zip(first, second, strict=True)]  # in turns
    assert [n for batch in found for n in batch[: len(batch) // 2]] == expected
    assert [n for batch in found for n in batch[len(batch) // 2 :]] == expected
    lazy = dd.from_map(lambda part: part, batches[6:], meta=frame.iloc[:0])
    resumed = lazy.gpuscan.resume(state).gpuscan.groupby("k")["n"].cumsum()
    assert resumed.compute().tolist() == expected


def test_tables_of_keys_are_dropped_with_their_states():
    gc.freeze()  # what earlier tests left, among which looking for garbage takes seconds
    earlier = len(hashed_scan.NUMBERS)
    frame = FRAME.assign(k=WIDE["words"](RNG.integers(0, GROUPS, ROWS)))
    passing = dask_gpuscan.stream([frame, frame]).gpuscan.groupby("k")["n"].cumsum()
    passing.compute()
    (table,) = [one.seen for one in passing.state.operations if one.seen is not None]
    assert len(hashed_scan.NUMBERS) == earlier + 1
    assert len(hashed_scan.NUMBERS[table]) == len(table.keys[0])
    del table, passing
    gc.collect()
    assert len(hashed_scan.NUMBERS) == earlier


@pytest.mark.parametrize("method", FEW)
@pytest.mark.parametrize("step", [1, 3])
def test_a_stream_that_meets_few_keys_by_and_by(backend, method, step):
    keys = RNG.integers(0, np.linspace(1, 600, ROWS).astype(int)) * step
    _same(backend, FRAME.assign(k=keys), [0, 1, 700, 700, 9_000, ROWS], method)


def _arrays(answer) -> list[np.ndarray]:
    columns = [answer[name] for name in answer] if answer.ndim == 2 else [answer]
    return [column.to_numpy() for column in columns]


@pytest.mark.parametrize(
    ("rows", "groups", "step"),
    [
        *((ROWS, groups, step) for groups in (4_000, 4_096, 4_097, 4_500) for step in (1, 2)),
        *((600_000, groups, 1) for groups in (4_096, 4_097)),
    ],
)
def test_the_bits_are_those_of_partitions_where_groups_are_neither_few_nor_many(step, groups, rows):
    rng = np.random.default_rng(groups)
    keys = np.concatenate([np.arange(groups), rng.integers(0, groups, rows - groups)]) * step
    frame = pd.DataFrame({"k": keys, "x": rng.normal(0, 1e6, rows)})
    batches = [frame, frame.iloc[::-1], frame]
    cut = dd.concat([dd.from_pandas(batch, npartitions=1, sort=False) for batch in batches])
    with dask.config.set(scheduler="synchronous"):
        expected = cut.gpuscan.groupby("k")["x"].cumsum().compute()
    found = dask_gpuscan.stream(batches).gpuscan.groupby("k")["x"].cumsum().compute()
    assert found.to_numpy().tobytes() == expected.to_numpy().tobytes()


def test_states_go_on_by_numbers_that_both_sides_have(monkeypatch):
    frame = FRAME.assign(k=RNG.integers(0, GROUPS, ROWS))
    monkeypatch.delattr(hashed_scan, "_by_group")
    batches = [frame.iloc[: ROWS // 2], frame.iloc[ROWS // 2 :]]
    passing = dask_gpuscan.stream(batches).gpuscan.groupby("k")["n"].cumsum()
    found = passing.compute()
    assert found.tolist() == frame.groupby("k")["n"].cumsum().tolist()
    (table,) = [one.seen for one in passing.state.operations if one.seen is not None]
    assert sorted(table.keys[0]) == sorted(frame["k"].unique())
