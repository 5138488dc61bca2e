"""As-of merges of two streams: the answers of the whole frames, for any cuts of both, and with states in between."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dask_gpuscan
from dask_gpuscan import stream


def side(draw: Any, name: str) -> list[pd.DataFrame]:
    """Return a side that is in order, cut anywhere."""
    times = sorted(draw(st.lists(st.integers(0, 12), max_size=16)))
    keys = draw(st.lists(st.integers(0, 2), min_size=len(times), max_size=len(times)))
    frame = pd.DataFrame({"t": times, "k": keys, name: np.arange(float(len(times)))})
    frame = frame.astype({"t": "int64", "k": "int64"})
    return cut(frame, sorted(draw(st.lists(st.integers(0, len(times)), max_size=4))))


def cut(frame: pd.DataFrame, edges: list[int]) -> list[pd.DataFrame]:
    pairs = zip([0, *edges], [*edges, len(frame)], strict=True)
    return [frame[a:b].reset_index(drop=True) for a, b in pairs]


def whole(parts: list[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat(parts, ignore_index=True)


OPTIONS = [
    {},
    {"by": "k"},
    {"by": "k", "allow_exact_matches": False},
    {"allow_exact_matches": False, "tolerance": 3},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@given(data=st.data())
def test_merges_of_streams_are_those_of_the_whole(options: Any, data: Any) -> None:
    left, right = side(data.draw, "x"), side(data.draw, "y")
    expected = pd.merge_asof(whole(left), whole(right), on="t", **options)
    found = dask_gpuscan.merge_asof(stream(left), stream(right), on="t", **options).compute()
    pd.testing.assert_frame_equal(found, expected, check_dtype=False)


TRADES = pd.DataFrame({"t": [2, 3, 5, 5, 8, 9], "k": list("abaaba"), "price": [1.0, 2, 3, 4, 5, 6]})
QUOTES = pd.DataFrame({"t": [1, 2, 3, 4, 5, 7, 9, 9], "k": list("abbaabba"), "bid": np.arange(8.0)})


def merged(left: Any, right: Any) -> Any:
    return dask_gpuscan.merge_asof(left, right, on="t", by="k")


EXPECTED = pd.merge_asof(TRADES, QUOTES, on="t", by="k")


@pytest.mark.parametrize("ahead", [0, 1, 3, 8])
@pytest.mark.parametrize("day", [1, 3, 4, 6])
def test_a_state_goes_on_with_the_rows_of_the_next_day(
    day: int, ahead: int, tmp_path: Path
) -> None:
    """Today's quotes may reach behind today's last trade: no trade has met them, and tomorrow's do."""
    at = min(int((QUOTES["t"] <= TRADES["t"][day - 1]).sum()) + ahead, len(QUOTES))
    today = merged(stream(cut(TRADES[:day], [1])), stream(cut(QUOTES[:at], [*range(1, at)])))
    found = [today.compute()]
    today.state.save(tmp_path / "state")
    state = dask_gpuscan.load_state(tmp_path / "state")
    rest = cut(TRADES[day:].reset_index(drop=True), [])
    quotes = [QUOTES[at:].reset_index(drop=True)]
    for going_on in (state, today.state):
        answer = merged(stream(rest, state=going_on), stream(quotes)).compute()
        both = whole([*found, answer])
        pd.testing.assert_frame_equal(both, EXPECTED[: len(both)])


def test_quotes_of_a_day_without_trades_are_met_on_the_next() -> None:
    today = merged(stream([TRADES[:0]]), stream([QUOTES[:3], QUOTES[3:5]]))
    today.compute()
    found = merged(stream([TRADES], state=today.state), stream([QUOTES[5:]])).compute()
    pd.testing.assert_frame_equal(found, EXPECTED)


def test_a_directory_goes_on_behind_what_was_read(tmp_path: Path) -> None:
    def batches(fails: bool) -> Iterator[pd.DataFrame]:
        for number, part in enumerate(cut(TRADES, [1, 2, 4])):
            if fails and number == 2:
                raise OSError("no more")
            yield part

    def run(fails: bool) -> None:
        rows = merged(stream(batches(fails)), stream(cut(QUOTES, [1, 2, 5, 6])))
        rows.to_parquet(tmp_path / "days", state=tmp_path / "state", rows_per_file=1)

    with pytest.raises(OSError, match="no more"):
        run(fails=True)
    run(fails=False)
    found = pd.read_parquet(tmp_path / "days").reset_index(drop=True)
    pd.testing.assert_frame_equal(found, EXPECTED)


def test_the_right_side_is_read_as_far_as_the_left_one_reaches() -> None:
    read = []

    def quotes() -> Iterator[pd.DataFrame]:
        for part in cut(QUOTES, list(range(1, len(QUOTES)))):
            read.append(len(part))
            yield part

    rows = iter(merged(stream(cut(TRADES, [2])), stream(quotes())))
    assert len(next(rows)) == 2
    assert sum(read) == 4  # the first row behind 3
    assert len(next(rows)) == 4
    assert sum(read) == 8


def test_what_is_out_of_order_or_looks_ahead_is_refused() -> None:
    backwards = cut(TRADES, [3])[::-1]
    with pytest.raises(ValueError, match="left keys must be sorted: a batch begins before"):
        merged(stream(backwards), stream([QUOTES])).compute()
    with pytest.raises(ValueError, match="right keys must be sorted: a batch begins before"):
        merged(stream([TRADES]), stream(cut(QUOTES, [3])[::-1])).compute()
    with pytest.raises(ValueError, match="left keys must be sorted"):
        merged(stream([TRADES[::-1]]), stream([QUOTES])).compute()
    for direction in ("forward", "nearest"):
        with pytest.raises(NotImplementedError, match=f"direction='{direction}'"):
            dask_gpuscan.merge_asof(
                stream([TRADES]), stream([QUOTES]), on="t", by="k", direction=direction
            )
    with pytest.raises(NotImplementedError, match="looks rows of a stream up"):
        merged(TRADES, stream([QUOTES]))


def test_keys_that_decrease_from_batch_to_batch_are_refused_beside_a_frame():
    left, right = pd.DataFrame({"t": [1, 3, 2]}), pd.DataFrame({"t": [2], "z": [5]})
    rows = dask_gpuscan.stream([left[:2], left[:0], left[2:]])
    with pytest.raises(ValueError, match="left keys must be sorted: a batch begins before"):
        dask_gpuscan.merge_asof(rows, right, on="t").compute()


def test_keys_beside_a_frame_go_on_from_a_state(tmp_path):
    left = pd.DataFrame({"t": [1, 3, 4]})
    right = pd.DataFrame({"t": [2, 4], "z": [5, 6]})
    first = dask_gpuscan.merge_asof(dask_gpuscan.stream([left[:2]]), right, on="t")
    assert first.compute()["z"].fillna(-1).tolist() == [-1, 5]
    first.state.save(tmp_path / "state")
    state = dask_gpuscan.load_state(tmp_path / "state")
    later = dask_gpuscan.merge_asof(dask_gpuscan.stream([left[2:]], state=state), right, on="t")
    assert later.compute()["z"].tolist() == [6]
    early = dask_gpuscan.merge_asof(dask_gpuscan.stream([left[:1]], state=state), right, on="t")
    with pytest.raises(ValueError, match="must be sorted"):
        early.compute()


TIMES = pd.DataFrame({"t": pd.date_range("2026-01-01", periods=7, freq="25min"), "x": np.arange(7)})
EDGES = {
    "ffill": lambda d: d.gpuscan.resample("1h", on="t").ffill(),
    "ffill of totals": lambda d: EDGES["ffill"](d.assign(total=d["x"].gpuscan.cumsum())),
    "asfreq of totals": lambda d: (
        d.assign(total=d["x"].gpuscan.cumsum()).gpuscan.resample("50min", on="t").asfreq()
    ),
    "ffill of rows ahead": lambda d: EDGES["ffill"](d.assign(total=d["x"].gpuscan.shift(-2))),
    "ffill of edges": lambda d: EDGES["ffill"](EDGES["ffill"](d).gpuscan.reset_index()),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", EDGES)
@pytest.mark.parametrize(("size", "rows"), [(1, 4), (2, 7)])
def test_rows_at_edges_of_buckets_go_on(name: str, size: int, rows: int, tmp_path: Path) -> None:
    """The rows that edges are met with are computed of the same source, by operations with states of their own."""
    method, parts = EDGES[name], cut(TIMES[:rows], [*range(size, rows, size)])
    expected = method(stream(parts)).compute()
    for stop in range(1, len(parts)):
        whole, first = method(stream(parts)), method(stream(parts[:stop], ends=False))
        batches = iter(whole)
        of_batches = [next(batches) for _ in range(stop)], whole
        for before, out in (of_batches, ([first.compute()], first)):
            out.state.save(tmp_path / "state")
            state = dask_gpuscan.load_state(tmp_path / "state")
            after = method(stream(parts[stop:], state=state)).compute()
            pd.testing.assert_frame_equal(pd.concat([*before, after]), expected, check_freq=False)


def totals(trades: Any, quotes: Any, method: str = "cumsum") -> Any:
    """Return a merge whose right side is computed by an operation with a state."""
    found = getattr(quotes["bid"].gpuscan, method)()
    return merged(trades, quotes.assign(bid=found))


def test_totals_of_the_right_side_go_on_from_the_state_of_the_merge() -> None:
    today = totals(stream([TRADES[:3]]), stream([QUOTES[:5]]))
    found = [today.compute()]
    found.append(totals(stream([TRADES[3:]], state=today.state), stream([QUOTES[5:]])).compute())
    expected = totals(stream([TRADES]), stream([QUOTES])).compute()
    pd.testing.assert_frame_equal(whole(found), expected)
    other = totals(stream([TRADES[3:]], state=today.state), stream([QUOTES[5:]]), "cummax")
    with pytest.raises(ValueError, match="state is of cumsum where the stream has cummax"):
        other.compute()
