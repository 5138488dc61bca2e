"""A stream has the bits of the Dask collection that is cut likewise, also if states are saved between batches."""

from collections.abc import Callable
from copy import copy
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import dask
import dask.dataframe as dd
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dask_gpuscan
from helpers.backends import Cuda, has_cuda
from helpers.stream_rows import MEAN, rows_of
from helpers.versions import STRING

ROWS = 60
FRAME = rows_of(ROWS, seed=5)

Method = Callable[[Any], Any]
ANSWERS: dict[str, Method] = {
    "cumsum": lambda d: d[["x", "n", "i"]].gpuscan.cumsum(),
    "cumprod": lambda d: (d[["x"]] / 1e3).gpuscan.cumprod(),
    "cumsum of strings": lambda d: d["s"].gpuscan.cumsum(),
    "cummax": lambda d: d[["x", "n", "s", "t"]].gpuscan.cummax(exclusive=False),
    "cummin exclusive": lambda d: d["x"].gpuscan.cummin(exclusive=True),
    "cumsum reproducible": lambda d: d["x"].gpuscan.cumsum(reproducible=True),
    "cumsum clamped": lambda d: d[["x", "n", "i"]].gpuscan.cumsum(lower=-9, upper=9),
    "cumsum reset": lambda d: d[["x", "n"]].gpuscan.cumsum(reset="n > 5"),
    "ffill reset of groups": lambda d: d.gpuscan.groupby("k")[["x", "s"]].ffill(reset="n > 5"),
    "scan": lambda d: d["x"].gpuscan.scan(MEAN),
    "fused": lambda d: d.gpuscan.scan(
        {"a": (dask_gpuscan.add, "x * n"), "b": (dask_gpuscan.maximum, "n", "exclusive")},
        where="n > 0",
    ),
    "ffill": lambda d: d[["x", "s", "i"]].gpuscan.ffill(),
    "ffill limit": lambda d: d[["x", "s"]].gpuscan.ffill(limit=2),
    "shift": lambda d: d[["x", "n", "s"]].gpuscan.shift(3),
    "diff": lambda d: d[["x", "n"]].gpuscan.diff(2),
    "pct_change": lambda d: d["x"].gpuscan.pct_change(),
    "row_number": lambda d: d.gpuscan.row_number(),
    "run_number": lambda d: d.gpuscan.run_number("c"),
    "run_length": lambda d: d.gpuscan.run_length("c"),
    "duplicated": lambda d: d.gpuscan.duplicated("c"),
    "cumcount": lambda d: d.gpuscan.cumcount(),
    "reset_index": lambda d: d.gpuscan.reset_index(drop=True),
    "rolling": lambda d: d[["x", "n"]].gpuscan.rolling(5, min_periods=2).mean(),
    "rolling median": lambda d: d["x"].gpuscan.rolling(5, min_periods=2).median(),
    "rolling time": lambda d: d[["x", "t"]].gpuscan.rolling("3h", on="t").sum(),
    "rolling scan": lambda d: d["n"].gpuscan.rolling(4).scan(dask_gpuscan.bitwise_or),
    "expanding": lambda d: d[["x", "n"]].gpuscan.expanding().std(),
    "expanding median": lambda d: d["x"].gpuscan.expanding().median(),
    "ewm": lambda d: d[["x", "n"]].gpuscan.ewm(alpha=0.3).mean(),
    "ewm var": lambda d: d["x"].gpuscan.ewm(span=4, min_periods=3).var(),
    "ewm times": lambda d: d[["x", "t"]].gpuscan.ewm(halflife="2h", times="t").mean(),
    "ewm corr": lambda d: d["x"].gpuscan.ewm(span=4).corr(d["n"]),
    "rolling corr": lambda d: d["x"].gpuscan.rolling(6).corr(d["n"]),
    "filter": lambda d: d.gpuscan.filter("x > 0 and s == 'p'"),
    "filter function": lambda d: d[["n", "x"]].gpuscan.filter(lambda n: n % 2 == 0),
    "filter by rows": lambda d: d.gpuscan.filter(d["n"].gpuscan.cumsum() > 0),
    "partition": lambda d: d.gpuscan.partition("x > 0")[1],
    "unique_consecutive": lambda d: d.gpuscan.unique_consecutive("c"),
    "rle": lambda d: d.gpuscan.rle("c"),
    "rle strings": lambda d: d[["s"]].gpuscan.rle(),
    "rle agg": lambda d: d.gpuscan.rle("c", agg={"total": ("x", "sum"), "end": ("t", "last")}),
    "rle_decode": lambda d: dask_gpuscan.rle_decode(d.gpuscan.rle("c")),
    "drop_duplicates": lambda d: d.gpuscan.drop_duplicates(["k", "n"]),
    "sessionize": lambda d: d.gpuscan.sessionize("t", by="k", gap="2h"),
    "sessionize all": lambda d: d.gpuscan.sessionize("t", gap="1h"),
    "sessions": lambda d: d.gpuscan.sessions("t", gap="1h", total=("x", "sum")),
    "groups cumsum": lambda d: d.gpuscan.groupby("k")[["x", "n"]].cumsum(),
    "groups cummax": lambda d: d.gpuscan.groupby(["k", "s"])["n"].cummax(),
    "groups ffill": lambda d: d.gpuscan.groupby("k")[["x", "s"]].ffill(limit=2),
    "groups shift": lambda d: d.gpuscan.groupby("k")[["x", "s"]].shift(2),
    "groups diff": lambda d: d.gpuscan.groupby("k")["x"].diff(),
    "groups rolling": lambda d: d.gpuscan.groupby("k")[["x"]].rolling(3, min_periods=1).mean(),
    "groups rolling time": lambda d: d.gpuscan.groupby("k")[["x"]].rolling("4h", on="t").sum(),
    "groups expanding": lambda d: d.gpuscan.groupby("k")["x"].expanding().var(),
    "groups ewm": lambda d: d.gpuscan.groupby("k")["x"].ewm(alpha=0.3).mean(),
    "groups cumcount": lambda d: d.gpuscan.groupby("k").cumcount(),
    "groups head": lambda d: d.gpuscan.groupby("k").head(3),
    "groups scan": lambda d: d.gpuscan.groupby("k")["x"].scan(MEAN),
    "groups fused": lambda d: d.gpuscan.groupby("k").scan(
        {"a": (dask_gpuscan.add, "x"), "b": (dask_gpuscan.maximum, "n", "exclusive")}
    ),
    "clustered cumsum": lambda d: d.gpuscan.groupby("c", clustered=True)[["x"]].cumsum(),
    "clustered checked": lambda d: d.gpuscan.groupby("c", clustered="check")["n"].cummin(),
    "clustered sum": lambda d: d.gpuscan.groupby("c", clustered=True)[["x", "n"]].sum(),
    "clustered agg": lambda d: d.gpuscan.groupby("c", clustered=True).agg(
        a=("x", "std"), b=("s", "last"), n=("n", "size")
    ),
    "clustered median": lambda d: d.gpuscan.groupby("c", clustered=True)["x"].median(),
    "clustered shift": lambda d: d.gpuscan.groupby("c", clustered=True)["s"].shift(),
    "resample": lambda d: d[["x", "t"]].gpuscan.resample("2h", on="t").mean(),
    "resample ffill": lambda d: d[["x", "t"]].gpuscan.resample("2h", on="t")["x"].ffill(),
    "resample ohlc": lambda d: d[["x", "t"]].gpuscan.resample("5h", on="t")["x"].ohlc(),
    "shift ahead": lambda d: d[["x", "n", "s"]].gpuscan.shift(-3),
    "diff ahead": lambda d: d[["n", "x"]].gpuscan.diff(-2),
    "bfill limit": lambda d: d[["x", "s"]].gpuscan.bfill(limit=2),
    "rolling centred": lambda d: d["n"].gpuscan.rolling(5, min_periods=1, center=True).max(),
    "rolling centred time": lambda d: d[["n", "t"]].gpuscan.rolling("3h", on="t", center=True).min(),
    "steps": lambda d: d.assign(a=d["n"].gpuscan.shift(-2), b=d["x"].gpuscan.bfill(limit=1))
    .assign(c=d["n"].gpuscan.cumsum()).gpuscan.filter("a > 0"),
    "merge_asof": lambda d: dask_gpuscan.merge_asof(
        d[["t", "n"]], FRAME[["t", "n"]][::7].rename(columns={"n": "m"}), on="t"
    ),
    "chain": lambda d: d.assign(total=d["x"].gpuscan.cumsum(), last=d["s"].gpuscan.ffill()).gpuscan.filter(
        "total > 0"
    ).gpuscan.groupby("last").cumsum(numeric_only=True),
}  # fmt: skip

REDUCTIONS: dict[str, Method] = {
    "groups sum": lambda d: d.gpuscan.groupby("k")[["x", "n"]].sum(),
    "groups agg": lambda d: d.gpuscan.groupby(["k", "s"]).agg(
        a=("x", "var"), b=("i", "max"), c=("t", "first")
    ),
    "groups reduce": lambda d: d.gpuscan.groupby("k")["x"].reduce(MEAN),
    "value_counts": lambda d: d["k"].gpuscan.value_counts(),
    "nlargest": lambda d: d.gpuscan.nlargest(4, "x"),
    "groups nlargest": lambda d: d.gpuscan.groupby("k")["x"].nlargest(2),
    "monotonic": lambda d: d["c"].gpuscan.is_monotonic_increasing,
}


def pieces(cuts: list[int]) -> list[pd.DataFrame]:
    """Cut the frame behind these rows."""
    bounds = [0, *sorted(cuts), ROWS]
    return [FRAME.iloc[a:b] for a, b in pairwise(bounds)]


def collection(parts: list[pd.DataFrame]) -> Any:
    """Return a collection with these partitions."""
    with dask.config.set({"dataframe.convert-string": False}):
        return dd.from_map(lambda part: part, parts, meta=FRAME.iloc[:0])


def same(found: Any, expected: Any, name: str) -> None:
    """Check that answers have the same bits, rows, labels and dtypes."""
    if not hasattr(expected, "index"):
        assert found == expected, name
        return
    equal = pd.testing.assert_frame_equal if expected.ndim == 2 else pd.testing.assert_series_equal
    equal(found, expected, check_exact=True, check_freq=False, check_index_type=False, obj=name)
    frames = [f.to_frame("x") if f.ndim == 1 else f for f in (found, expected)]
    for column in range(frames[0].shape[1]):
        one, other = (f.iloc[:, column].to_numpy() for f in frames)
        if one.dtype.kind == "f":
            assert one.tobytes() == other.tobytes(), f"{name}: other bits"


def similar(found: Any, expected: Any, name: str) -> None:
    """Check that answers of groups in any order are the same but for rounding, and all others have the same bits."""
    if not name.startswith("groups "):
        same(found, expected, name)
    elif expected.ndim == 2:
        pd.testing.assert_frame_equal(found, expected, rtol=1e-12, atol=1e-9, obj=name)
    else:
        pd.testing.assert_series_equal(found, expected, rtol=1e-12, atol=1e-9, obj=name)


def resumed(method: Method, parts: list[pd.DataFrame], path: Path) -> Any:
    """Return what streams of one batch answer that each go on from the file of the one before."""
    answers, state = [], None
    for number, part in enumerate(parts):
        ends = number == len(parts) - 1
        out = method(dask_gpuscan.stream([part], state=state, ends=ends))
        answers.append(out.compute())
        out.state.save(path)
        state = dask_gpuscan.load_state(path)
    assert state is not None
    assert state.rows == ROWS
    return pd.concat(answers)


def check(name: str, cuts: list[int], path: Path) -> None:
    """Check one method for one way to cut the rows."""
    parts, method = pieces(cuts), ANSWERS[name]
    answer = method(collection(parts)).compute(scheduler="sync")
    same(method(dask_gpuscan.stream(parts)).compute(), answer, name)
    same(resumed(method, parts, path), answer, name)


@pytest.mark.parametrize("name", ["cumsum", "ffill", "rolling", "ewm", "rle", "filter by rows", "drop_duplicates",
    "groups cumsum", "groups shift", "clustered sum", "sessions", "resample", "merge_asof", "chain"])  # fmt: skip
def test_a_collection_goes_on_from_a_state(name: str) -> None:
    parts, method = pieces([20, 41, 41]), ANSWERS[name]
    whole = dask_gpuscan.stream(parts)
    answer = method(whole).compute()
    first = method(dask_gpuscan.stream(parts[:1], ends=False))
    before = first.compute()
    rows = collection(parts[1:]).gpuscan.resume(first.state)
    rest = method(rows).to_dask().compute(scheduler="sync")
    same(pd.concat([before, rest]), answer, name)
    frame = pd.concat(parts[1:]).gpuscan.resume(first.state)
    assert len(before) + len(method(frame).compute()) == len(answer)


CUTS = st.lists(st.integers(0, ROWS), min_size=1, max_size=6)


@pytest.mark.sampled(10)
@pytest.mark.parametrize("name", ANSWERS)
def test_bits_are_those_of_the_collection(name: str, tmp_path: Path) -> None:
    check(name, [3, 3, 20, 41], tmp_path / "state")


@pytest.mark.gpu
@pytest.mark.parametrize("name", ANSWERS)
def test_frames_of_cudf(name: str) -> None:
    """A stream of cuDF frames answers as the collection of these, but for rounding, or refuses what it refuses."""
    if not has_cuda():
        pytest.skip("needs a GPU")
    backend = Cuda()
    parts, method = [backend.frame(part) for part in pieces([3, 20, 41])], ANSWERS[name]
    ddf = dd.from_map(lambda part: part, parts, meta=parts[0].iloc[:0])
    try:
        answer = method(ddf).compute(scheduler="sync")
    except (TypeError, ValueError, NotImplementedError) as error:
        with pytest.raises(type(error)):
            method(dask_gpuscan.stream(parts)).compute()
        return
    found = method(dask_gpuscan.stream(parts)).compute()
    assert type(found) is type(answer)
    similar(backend.to_pandas(found), backend.to_pandas(answer), name)


COMPUTED_OTHERWISE = (
    "fused", "groups fused", "rle agg", "clustered sum", "sessions", "ffill reset of groups",
)  # fmt: skip
"""Methods of which libraries keep different states."""


@pytest.mark.gpu
@pytest.mark.parametrize("sides", ["gpu gpu", "gpu cpu", "cpu gpu"])
@pytest.mark.parametrize("name", ANSWERS)
def test_states_go_on_on_either_side(name: str, sides: str, tmp_path: Path) -> None:
    """A state of cuDF is saved, and goes on with frames of pandas or cuDF; one of pandas with frames of cuDF."""
    if not has_cuda():
        pytest.skip("needs a GPU")
    backend, method = Cuda(), ANSWERS[name]
    both = FRAME.assign(i=FRAME["n"]).astype({"s": STRING})  # dtypes that both sides have
    one, other = (backend.frame if side == "gpu" else copy for side in sides.split())
    try:
        whole = method(dask_gpuscan.stream([other(both[:25]), other(both[25:])])).compute()
        first = method(dask_gpuscan.stream([one(both[:25])], ends=False))
        first.compute()
    except (TypeError, ValueError, NotImplementedError) as error:
        pytest.skip(f"refused: {error}")
    first.state.save(tmp_path / "state")
    for state in (first.state, dask_gpuscan.load_state(tmp_path / "state")):
        rows = method(dask_gpuscan.stream([other(both[25:])], state=state))
        if name in COMPUTED_OTHERWISE and sides != "gpu gpu":
            with pytest.raises(ValueError, match=r"has other options|partitions do not match"):
                rows.compute()
            continue
        to_pandas = backend.to_pandas if sides.endswith("gpu") else copy
        found, expected = to_pandas(rows.compute()), to_pandas(whole)
        check = pd.testing.assert_frame_equal if found.ndim == 2 else pd.testing.assert_series_equal
        behind = expected[len(expected) - len(found) :]
        check(found, behind, check_dtype=False, rtol=1e-12, atol=1e-9, obj=name)


@settings(max_examples=10, deadline=None)
@given(st.sampled_from(sorted(ANSWERS)), CUTS)
def test_bits_are_those_of_the_collection_for_any_cut(name: str, cuts: list[int]) -> None:
    with TemporaryDirectory() as folder:
        check(name, cuts, Path(folder, "state"))


@settings(max_examples=3, deadline=None)
@given(CUTS)
def test_reductions_have_the_bits_of_the_collection(cuts: list[int]) -> None:
    parts = pieces(cuts)
    ddf = collection(parts)
    expected = dask.compute([f(ddf) for f in REDUCTIONS.values()], scheduler="sync")[0]
    for (name, method), answer in zip(REDUCTIONS.items(), expected, strict=True):
        same(method(dask_gpuscan.stream(parts)), answer, name)


def test_reductions_of_many_batches_are_merged_in_the_order_of_a_tree() -> None:
    parts, sums = [FRAME.iloc[i : i + 1] for i in range(ROWS)] * 5, REDUCTIONS["groups sum"]
    answer = sums(collection(parts)).compute(scheduler="sync")
    same(sums(dask_gpuscan.stream(parts)), answer, "groups sum")


@pytest.mark.parametrize("name", ["cumsum", "ewm", "expanding", "groups cumsum", "rolling"])
def test_many_batches_have_the_bits_of_windows_of_partitions(name: str) -> None:
    parts = [FRAME.iloc[i : i + 1] for i in range(ROWS)]
    answer = ANSWERS[name](collection(parts)).compute(scheduler="sync")
    same(ANSWERS[name](dask_gpuscan.stream(parts)).compute(), answer, name)
