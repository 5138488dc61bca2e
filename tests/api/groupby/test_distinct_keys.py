"""Keys of every type of Arrow that differ in the last bit, or at the end of their range, are two keys."""

import re
from decimal import Decimal

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dask_gpuscan


def stored(kind, *numbers):
    """Return an array of a type by the integers that it stores."""
    data = b"".join(n.to_bytes(kind.bit_width // 8, "little", signed=True) for n in numbers)
    return pa.Array.from_buffers(kind, len(numbers), [None, pa.py_buffer(data)])


def days(*numbers):
    return pa.array([pa.MonthDayNano(n) for n in numbers])


PAIRS = {
    **{str(kind): stored(kind, 86_399, 86_398) for kind in (pa.time32("s"), pa.time32("ms"))},
    **{str(kind): stored(kind, 0, 1) for kind in (pa.time64("us"), pa.time64("ns"))},
    **{str(kind): stored(kind, 2**62 + 1, 2**62) for kind in map(pa.duration, ("s", "ns"))},
    **{str(kind): stored(kind, 2**62 + 1, 2**62) for kind in map(pa.timestamp, ("s", "us", "ns"))},
    "UTC": stored(pa.timestamp("ns", "UTC"), 2**62, 2**62 + 1),
    "years of UTC": stored(pa.timestamp("s", "UTC"), 2**62, 2**62 + 1),
    "date32": stored(pa.date32(), 2**31 - 1, 2**31 - 2),
    "date64": stored(pa.date64(), 86_400_000, 0),
    "month_day_nano": days([1, 30, 1], [1, 30, 0]),
    "months and days": days([1, 0, 0], [0, 30, 0]),
    "int64": stored(pa.int64(), 2**63 - 1, 2**63 - 2),
    "uint64": pa.array([2**64 - 1, 2**64 - 2], pa.uint64()),
    "half": pa.array(np.array([1, 1.001], np.float16)),
    "float": pa.array(np.array([1, np.nextafter(1, 2, dtype=np.float32)], np.float32)),
    "double": pa.array([1, np.nextafter(1, 2)]),
    "decimal128": pa.array([Decimal(10**38 - 1), Decimal(10**38 - 2)]),
    "decimal256": pa.array([Decimal(10**76 - 1), Decimal(10**76 - 2)]),
    "string": pa.array(["a\0", "a"]),
    "large_binary": pa.array([b"a\0", b"a"], pa.large_binary()),
    "fixed_size_binary": pa.array([b"aa", b"ab"], pa.binary(2)),
    "dictionary": pa.DictionaryArray.from_arrays([0, 1], stored(pa.time64("ns"), 0, 1)),
    "dictionary of decimals": pa.array([Decimal(1), Decimal(10**38 - 1)]).dictionary_encode(),
}
if hasattr(pa, "decimal64"):  # pyarrow 19
    PAIRS["decimal32"] = pa.array([Decimal(999_999_999), Decimal(1)], pa.decimal32(9))
    PAIRS["decimal64"] = pa.array([Decimal(10**18 - 1), Decimal(10**18 - 2)], pa.decimal64(18))

V = [1, 2, 4, 8, 16, 32, 64]


def table(kind):
    """Return rows whose keys are the first of a pair, that again, the second, two nulls, the second and the first."""
    pair = PAIRS[kind]
    parts = [pair[:1], pair[:1], pair[1:], pa.nulls(2, pair.type), pair[1:], pair[:1]]
    chunked = pa.chunked_array(parts)
    if pa.types.is_dictionary(pair.type):
        chunked = chunked.unify_dictionaries()
    return pa.table({"k": chunked.combine_chunks(), "v": V, "o": [1] * len(V)})


def of_pandas(rows, cut):
    keys = pd.arrays.ArrowExtensionArray(rows["k"])
    frame = pd.DataFrame({"k": keys, "v": V[: len(rows)], "o": 1})
    if cut is None:
        return frame
    starts = range(0, len(frame), cut)
    return dd.from_map(lambda i: frame.iloc[i : i + cut], starts, meta=frame.iloc[:0])


METHODS = {
    "rle": lambda g: g.rle("k")["run_length"],
    "sums of runs": lambda g: g.groupby("k", clustered=True, dropna=False)["v"].sum(),
    "scans of runs": lambda g: g.groupby("k", clustered=True, dropna=False)["v"].cumsum(),
    "unique_consecutive": lambda g: g.unique_consecutive("k")["v"],
    "sums": lambda g: g.groupby("k", dropna=False, sort=False)["v"].sum(),
    "sums of two keys": lambda g: g.groupby(["o", "k"], dropna=False, sort=False)["v"].sum(),
    "scans": lambda g: g.groupby("k", dropna=False)["v"].cumsum(),
    "drop_duplicates": lambda g: g.drop_duplicates("k")["v"],
}
FOUND = {
    "rle": [2, 1, 2, 1, 1],
    "sums of runs": [3, 4, 24, 32, 64],
    "scans of runs": [1, 3, 4, 8, 24, 32, 64],
    "unique_consecutive": [1, 4, 8, 32, 64],
    "sums": [67, 36, 24],
    "sums of two keys": [67, 36, 24],
    "scans": [1, 3, 4, 8, 24, 36, 67],
    "drop_duplicates": [1, 4, 8],
}


def numbers(answer):
    answer = answer.compute() if isinstance(answer, (dd.Series, dask_gpuscan.Stream)) else answer
    if isinstance(answer, pa.RecordBatch | pa.Table):
        answer = answer.column(answer.schema.names[-1])
    return answer.to_pylist() if isinstance(answer, (pa.Array, pa.ChunkedArray)) else list(answer)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", PAIRS)
@pytest.mark.parametrize("cut", [None, 1, 3])
def test_frames(kind, cut):
    rows = of_pandas(table(kind), cut)
    assert {name: numbers(ask(rows.gpuscan)) for name, ask in METHODS.items()} == FOUND


@pytest.mark.parametrize("kind", PAIRS)
@pytest.mark.parametrize("cut", [None, 1])
def test_columns(kind, cut):
    rows = of_pandas(table(kind), cut)
    assert numbers(rows.gpuscan.groupby("o")["k"].nunique()) == [2]
    keys = rows["k"].gpuscan
    assert sorted(numbers(keys.value_counts(dropna=False))) == [2, 2, 3]
    try:
        ranks = numbers(keys.rank(method="dense").astype("float64"))
    except TypeError as error:
        assert re.search("pandas has no rank for dtype (month|half|dict)", str(error))  # noqa: PT017
    else:
        first, second = ranks[0], ranks[2]
        assert {first, second} == {1, 2}
        assert [ranks[i] for i in (1, 5, 6)] == [first, second, first]


@pytest.mark.parametrize("kind", PAIRS)
def test_streams_and_their_states(kind, tmp_path):
    rows = table(kind)
    assert {name: numbers(ask(dask_gpuscan.on(rows))) for name, ask in METHODS.items()} == FOUND
    for name in ("rle", "sums"):
        batches = rows.to_batches(max_chunksize=1)
        assert numbers(METHODS[name](dask_gpuscan.stream(batches).gpuscan)) == FOUND[name]
    for name in ("scans of runs", "scans"):
        first = METHODS[name](dask_gpuscan.stream(rows.slice(0, 2).to_batches()).gpuscan)
        before = numbers(first)
        first.state.save(tmp_path / "state")
        state = dask_gpuscan.load_state(tmp_path / "state")
        rest = dask_gpuscan.stream(rows.slice(2).to_batches(max_chunksize=2), state=state)
        assert before + numbers(METHODS[name](rest.gpuscan)) == FOUND[name]


@pytest.mark.parametrize("kind", ["time64[ns]", "timestamp[s]", "month_day_nano"])
@pytest.mark.parametrize("cut", [None, 1])
def test_a_key_that_comes_back_is_named_with_all_its_digits(kind, cut):
    rows = of_pandas(table(kind).slice(0, 6), cut)
    shown = {
        "time64[ns]": "'00:00:00.000000001'",
        "timestamp[s]": f"'.*{2**62}>'",
        "month_day_nano": r"MonthDayNano\(months=1, days=30, nanoseconds=0\)",
    }
    with pytest.raises(ValueError, match=f"key {shown[kind]} of 'k' comes back"):
        numbers(rows.gpuscan.groupby("k", clustered="check", dropna=False)["v"].cumsum())


def test_times_of_polars():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"k": [0, 0, 1, 1, 0], "v": [1, 2, 4, 8, 16]})
    frame = frame.with_columns(pl.col("k").cast(pl.Time))
    for rows in (frame, dask_gpuscan.stream([frame[i : i + 1] for i in range(5)])):
        runs = rows.gpuscan.rle("k")
        runs = runs if isinstance(runs, pl.DataFrame) else runs.compute()
        assert runs["run_length"].to_list() == [2, 2, 1]


@pytest.mark.parametrize("cut", [None, 1])
def test_intervals_match_intervals_alone(cut):
    left = of_pandas(table("months and days"), cut)
    right = of_pandas(table("months and days").slice(1, 2), cut)[["k", "v"]]
    left, right = left.assign(t=left["v"] * 0), right.assign(t=right["v"] * 0)
    found = dask_gpuscan.merge_asof(left, right, on="t", by="k", suffixes=("", "_of"))["v_of"]
    found = found.compute() if cut else found
    assert [None if pd.isna(v) else v for v in found] == [1, 1, 2, None, None, 2, 1]
    with pytest.raises(pd.errors.MergeError, match="must be the same type"):
        dask_gpuscan.merge_asof(left, right.assign(k=right["v"]), on="t", by="k")


@pytest.mark.parametrize("cut", [None, 1])
def test_intervals_are_in_the_order_of_their_fields(cut):
    keys = days([0, 1, 0], [-1, 0, 5], [0, 0, -1], [0, 1, 0])
    frame = pd.DataFrame({"k": pd.arrays.ArrowExtensionArray(pa.chunked_array([keys])), "j": 1})
    frame["v"] = [1, 2, 4, 8]
    rows = frame
    if cut is not None:
        rows = dd.from_map(lambda i: frame.iloc[i : i + 1], range(4), meta=frame.iloc[:0])
    for by in ("k", ["k", "j"]):
        assert numbers(rows.gpuscan.groupby(by)["v"].sum()) == [2, 4, 9]
        assert numbers(rows.gpuscan.groupby(by)["v"].median()) == [2, 4, 4.5]
    with pytest.raises(TypeError, match=r"column 'k' .* has values without an order"):
        rows.gpuscan.sort_values("k")
