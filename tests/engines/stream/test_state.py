"""States: files that can be read by anyone, and errors that name what does not match."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dask_gpuscan
from dask_gpuscan.engines.stream.states.state_files import signed

FRAME = pd.DataFrame({"k": list("aabba"), "x": [1.5, np.nan, 2.5, 4.0, 0.1], "n": [3, 1, 2, 0, 5]})


def totals(rows: Any) -> Any:
    return rows.gpuscan.groupby("k").cumsum()


def state_of(method: Any = totals, frame: Any = FRAME) -> Any:
    out = method(dask_gpuscan.stream([frame]))
    out.compute()
    return out.state


@pytest.mark.parametrize(
    ("method", "dtype"),
    [
        *((method, "float64") for method in ("cumsum", "cummax", "ffill", "shift", "cumcount")),
        *(
            (method, dtype)
            for method in ("cummin", "ffill")
            for dtype in ("Float64", "double[pyarrow]")
        ),
    ],
)
@pytest.mark.parametrize("clustered", [False, True])
def test_what_is_listed_changes_no_state(method: str, dtype: str, clustered: bool) -> None:
    frame = pd.DataFrame({"k": [0, 1, 1, 1, 2], "x": [4.0, np.nan, 8.0, np.nan, 1.0]})
    frame = frame.astype({"x": dtype})

    def of(rows: pd.DataFrame, state: Any = None) -> Any:
        stream = dask_gpuscan.stream([rows], ends=False, state=state)
        return getattr(stream.gpuscan.groupby("k", clustered=clustered), method)()

    for cut in range(1, len(frame)):
        first = of(frame[:cut])
        first.compute()
        state = first.state
        expected = of(frame[cut:], state).compute()
        state.keys()
        for table in state.to_pandas().values():
            for i in range(table.shape[1] if len(table) else 0):
                table.iloc[0, i] = 5
        state.to_arrow()
        pd.testing.assert_series_equal(*_as_series(of(frame[cut:], state).compute(), expected))


def _as_series(*answers: Any) -> list[pd.Series]:
    return [one.iloc[:, 0] if one.ndim > 1 else one for one in answers]


def test_a_file_is_read_by_pyarrow(tmp_path: Path) -> None:
    state = state_of()
    state.save(tmp_path / "state.arrow")
    with pa.ipc.open_file(tmp_path / "state.arrow") as reader:
        arrays = reader.read_all().to_pydict()
    assert [["a", "b"]] in arrays.values()
    assert [[9, 2]] in arrays.values()
    assert state.nbytes < 200
    assert repr(state) == "<State of groupby-cumsum after 5 rows>"
    assert [path.name for path in tmp_path.iterdir()] == ["state.arrow"]


def shorter(seen: Any) -> Any:
    """What an earlier version kept: a number less of each operation, as before there were losses."""
    if hasattr(seen, "open"):
        return replace(seen, open=shorter(seen.open))
    if hasattr(seen, "states"):
        return replace(seen, states=shorter(seen.states))
    return type(seen)(fields[:-1] for fields in seen)


FUSED = {"total": (dask_gpuscan.add, "x"), "most": (dask_gpuscan.maximum, "x")}
WITH_LOSSES: dict[str, Callable[[Any], Any]] = {
    "fused": lambda rows: rows.gpuscan.groupby("k").scan(FUSED),
    "fused of runs": lambda rows: rows.gpuscan.groupby("k", clustered=True).scan(FUSED),
    "fused without groups": lambda rows: rows.gpuscan.scan(FUSED),
    "of two columns": lambda rows: rows.gpuscan.groupby("k").scan(
        FUSED | {"low": (dask_gpuscan.minimum, "y")}
    ),
    "means": lambda rows: rows.gpuscan.groupby("k").expanding().mean(),
    "means of runs": lambda rows: rows.gpuscan.groupby("k", clustered=True).mean(),
    "means of buckets": lambda rows: rows.gpuscan.resample("2s", on="t")["x"].mean(),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("method", WITH_LOSSES)
def test_states_of_other_code_are_refused(tmp_path: Path, method: str) -> None:
    ask = WITH_LOSSES[method]
    times = pd.to_datetime([1, 2, 3, 4], unit="s")
    frame = pd.DataFrame(
        {"k": [1, 1, 2, 2], "x": [1.0, 0.1, 0.2, 3], "y": [4.0, 3, 2, 1], "t": times}
    )
    stream = ask(dask_gpuscan.stream([frame[:3]], ends=False))
    stream.compute()
    operations = [
        one
        if not one.name.startswith(("groupby", "scan", "resample-mean")) or one.seen is None
        else replace(one, seen=shorter(one.seen), carry=None)
        for one in stream.state.operations
    ]
    replace(stream.state, operations=tuple(operations)).save(tmp_path / "state")
    state = dask_gpuscan.load_state(tmp_path / "state")
    with pytest.raises(ValueError, match=r"state of \S+ is not one of this version .*Begin anew"):
        ask(dask_gpuscan.stream([frame[3:]], state=state)).compute()


def test_a_state_is_not_said_to_be_of_another_version_where_the_compiler_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out = totals(dask_gpuscan.stream([FRAME], state=state_of()))

    def missing(*_: Any) -> Any:
        raise ImportError("no compiler")

    for method in ("follow", "try_prefix"):
        monkeypatch.setattr(type(out._step.carry), method, missing)
    with pytest.raises(ImportError, match="no compiler"):
        out.compute()


def test_what_is_no_state(tmp_path: Path) -> None:
    path, state = tmp_path / "state", state_of()
    with pytest.raises(ValueError, match=r"folder .* holds no state of a stream: give a file"):
        dask_gpuscan.load_state(tmp_path)
    with pytest.raises(TypeError, match="state must be a State or None"):
        dask_gpuscan.stream([FRAME], state="yesterday")
    path.write_bytes(b"nothing of this kind")
    with pytest.raises(ValueError, match="holds no state of a stream"):
        dask_gpuscan.load_state(path)
    state.save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-60])
    with pytest.raises(ValueError, match="was cut off"):
        dask_gpuscan.load_state(path)
    at = whole.index(np.int64(9).tobytes() + np.int64(2).tobytes())
    path.write_bytes(whole[:at] + b"\x08" + whole[at + 1 :])
    with pytest.raises(ValueError, match="was changed after it was written"):
        dask_gpuscan.load_state(path)
    digest = whole[whole.index(b"dask_gpuscan.digest") :]
    (digest, *_) = re.findall(rb"[0-9a-f]{64}", digest)
    for version in (3, 7):
        other = whole.replace(b'"version": 4', f'"version": {version}'.encode())
        path.write_bytes(signed(other, digest))
        with pytest.raises(
            ValueError, match=f"is of version {version} of .* 4 is read: begin anew"
        ):
            dask_gpuscan.load_state(path)


@pytest.mark.parametrize(
    ("method", "frame", "message"),
    [
        (totals, FRAME[["k", "x"]], "state is of the columns k, x, n, and the source has k, x"),
        (totals, FRAME.astype({"n": "int32"}), "state is of column 'n' with dtype int64.* int32"),
        (lambda d: d.gpuscan.groupby("k").cummax(), FRAME, "state is of groupby-cumsum where .* groupby-cummax"),
        (lambda d: d.gpuscan.groupby("k").cumsum(exclusive=True), FRAME, "exclusive=False.*exclusive=True"),
        (lambda d: totals(d.gpuscan.filter("x > 1")), FRAME, "groupby-cumsum, and the stream has filter, "),
    ],
)  # fmt: skip
def test_mismatches_are_named(method: Any, frame: pd.DataFrame, message: str) -> None:
    rows = dask_gpuscan.stream([frame], state=state_of())
    with pytest.raises(ValueError, match=message):
        method(rows).compute()


def test_numbers_that_operators_take_from_around_them_are_options() -> None:
    state = state_of(lambda d: d["x"].gpuscan.ewm(alpha=0.3).mean())
    rows = dask_gpuscan.stream([FRAME], state=state)
    with pytest.raises(ValueError, match=r"state of ewm-mean has other options: .*0\.7"):
        rows["x"].gpuscan.ewm(alpha=0.4).mean().compute()


def test_a_state_is_that_of_the_last_batch() -> None:
    out = dask_gpuscan.stream([FRAME[:2], FRAME[2:]])["n"].gpuscan.cumsum()
    with pytest.raises(ValueError, match="stream has no state yet"):
        _ = out.state
    batches = iter(out)
    next(batches)
    assert out.state.rows == 2
    rest = dask_gpuscan.stream([FRAME[2:]], state=out.state)["n"].gpuscan.cumsum()
    assert rest.compute().tolist() == [6, 6, 11]


def in_zone(zone: Any) -> pd.DataFrame:
    return pd.DataFrame({"t": pd.to_datetime(["2026-01-01"]).tz_localize(zone)})


UNNAMED = "it holds DatetimeArray of datetime64"
NOT_HELD = {
    "objects": (pd.DataFrame({"x": pd.Series(["a", 1, None], dtype=object)}), "it holds Python objects"),
    "a zone of dateutil": (in_zone("dateutil/Europe/Berlin"), UNNAMED),
    "an offset with a name": (in_zone(timezone(timedelta(hours=1), "one")), UNNAMED),
    "a large name": (pd.DataFrame({2**64: [1]}), "it holds the integer 18446744073709551616"),
}  # fmt: skip


@pytest.mark.parametrize("name", NOT_HELD)
def test_what_a_file_cannot_hold_is_named(name: str, tmp_path: Path) -> None:
    frame, words = NOT_HELD[name]
    state = state_of(lambda d: d.gpuscan.shift(3), frame)
    with pytest.raises(TypeError, match=f"^state of .* cannot be written: {words}"):
        state.save(tmp_path / "state")
    assert not list(tmp_path.iterdir())


DTYPES = {
    "strings of Arrow": lambda s: s.astype(str).astype("string[pyarrow]"),
    "strings of Python": lambda s: s.astype(str).astype("string[python]"),
    "objects": lambda s: s.astype(str).astype(object).where(s != 2, None),
    "decimals": lambda s: s.astype(pd.ArrowDtype(pa.decimal128(30, 3))),
    "Arrow": lambda s: s.astype("int16[pyarrow]"),
    "categories": lambda s: s.astype(str).astype("category"),
    "times": lambda s: pd.to_datetime(s, unit="D"),
    "zones": lambda s: pd.to_datetime(s, unit="D", utc=True).dt.tz_convert("Europe/Rome"),
    "durations": lambda s: pd.to_timedelta(s, unit="h"),
    "periods": lambda s: pd.to_datetime(s, unit="D").dt.to_period("D"),
    "periods of hours": lambda s: pd.to_datetime(s, unit="D").dt.to_period("2h"),
    "weeks": lambda s: pd.to_datetime(s, unit="D").dt.to_period("W-WED"),
    "an offset": lambda s: pd.to_datetime(s, unit="D", utc=True).dt.tz_convert("UTC+01:30"),
    "float16": lambda s: s.astype("float16"),
    "complex": lambda s: s.astype("complex64"),
    "bool": lambda s: s > 2,
    "nullable": lambda s: s.astype("Float32"),
}


@pytest.mark.parametrize("name", DTYPES)
def test_dtypes(name: str, tmp_path: Path) -> None:
    """Keys and values of every dtype come back from a file as they were."""
    values = DTYPES[name](pd.Series([3, 1, 3, 5, 2, 1]))
    frame = pd.DataFrame({"k": values, "x": values, "n": [1, 2, 3, 4, 5, 6]})
    whole = frame.gpuscan.groupby("k")["n"].cumsum(), frame["x"].gpuscan.shift(2)
    methods = (
        lambda d: d.gpuscan.groupby("k")["n"].cumsum(),
        lambda d: d["x"].gpuscan.shift(2),
    )
    for method, answer in zip(methods, whole, strict=True):
        first = method(dask_gpuscan.stream([frame[:3]], ends=False))
        before = first.compute()
        first.state.save(tmp_path / "state")
        state = dask_gpuscan.load_state(tmp_path / "state")
        after = method(dask_gpuscan.stream([frame[3:]], state=state)).compute()
        found = pd.concat([before, after])
        pd.testing.assert_series_equal(found, answer, check_exact=True, check_dtype=False)


ZEROS = pd.DataFrame({"k": ["0" * 64, "b"], "x": [1.0, 2.0], "n": [1, 2]})


def test_data_that_look_like_the_place_of_a_digest_are_saved_as_they_are(tmp_path: Path) -> None:
    state = state_of(totals, ZEROS)
    state.save(tmp_path / "state")
    (keys,) = dask_gpuscan.load_state(tmp_path / "state").keys().values()
    assert keys.tolist() == ZEROS["k"].tolist()
    named = ZEROS.rename(columns={"n": "0" * 64})
    state_of(totals, named).save(tmp_path / "named")
    rows = dask_gpuscan.stream([named], state=dask_gpuscan.load_state(tmp_path / "named"))
    assert totals(rows).compute()["0" * 64].tolist() == [2, 4]


def test_any_byte_that_differs_is_told(tmp_path: Path) -> None:
    path = tmp_path / "state"
    state_of().save(path)
    whole = path.read_bytes()
    for at in range(0, len(whole), 7):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        with pytest.raises(ValueError, match="state"):
            dask_gpuscan.load_state(path)


def test_a_state_that_cannot_have_its_name_leaves_no_file(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    with pytest.raises(OSError, match="state"):
        state_of().save(tmp_path / "state")
    assert [path.name for path in tmp_path.iterdir()] == ["state"]


def test_states_behind_urls() -> None:
    state_of().save("memory://states/totals.arrow")
    state = dask_gpuscan.load_state("memory://states/totals.arrow")
    rows = dask_gpuscan.stream([FRAME], state=state)
    assert totals(rows).compute()["n"].tolist() == [12, 13, 4, 4, 18]
    with pytest.raises(FileNotFoundError):
        dask_gpuscan.load_state("memory://states/none.arrow")
    with pytest.raises(ValueError, match="nothing://a is of no file system"):
        state.save("nothing://a")


def test_names_that_are_nan_are_the_same_after_a_state_is_read(tmp_path: Path) -> None:
    frame = pd.DataFrame({np.nan: [1, 2]})
    state_of(lambda d: d.gpuscan.cumsum(), frame).save(tmp_path / "state")
    rows = dask_gpuscan.stream([frame], state=dask_gpuscan.load_state(tmp_path / "state"))
    assert rows.gpuscan.cumsum().compute().to_numpy().tolist() == [[4], [6]]


def test_long_arrays_are_compared_by_all_their_items() -> None:
    one, other = np.arange(2000), np.arange(2000)
    other[1000] = -1
    state = state_of(lambda d: d["n"].map_batches(pd.Series.isin, one))
    rows = dask_gpuscan.stream([FRAME], state=state)
    rows["n"].map_batches(pd.Series.isin, one.copy()).compute()
    with pytest.raises(ValueError, match="other options"):
        rows["n"].map_batches(pd.Series.isin, other).compute()


EVENTS = pd.DataFrame(
    {
        "k": list("abacba"),
        "j": list("xxyyxx"),
        "t": pd.date_range("2026-01-01", periods=6, freq="20min", tz="Europe/Berlin"),
        "x": np.arange(6.0),
    }
)
AGEING = {
    "sessions": lambda d: d.gpuscan.sessionize("t", by=["k", "j"], gap="30min"),
    "windows": lambda d: d.gpuscan.groupby(["k", "j"]).rolling("30min", on="t")["x"].sum(),
}


@pytest.mark.parametrize("name", AGEING)
def test_old_keys_are_left_out(name: str, tmp_path: Path) -> None:
    method = AGEING[name]
    state_of(method, EVENTS).save(tmp_path / "state")
    state = dask_gpuscan.load_state(tmp_path / "state")
    newer = state.expire(EVENTS["t"][4])
    (keys,), (all_keys,) = newer.keys().values(), state.keys().values()
    assert keys.names == ["k", "j"]
    assert sorted(keys) == [("a", "x"), ("b", "x")]
    assert sorted(all_keys) == [("a", "x"), ("a", "y"), ("b", "x"), ("c", "y")]
    assert newer.nbytes < state.nbytes
    more = EVENTS.assign(t=EVENTS["t"] + pd.Timedelta("130min"))[lambda d: d["j"] == "x"]
    found, expected = (
        method(dask_gpuscan.stream([more], state=each)).compute() for each in (newer, state)
    )
    pd.testing.assert_series_equal(found, expected)


def test_what_does_not_get_old() -> None:
    with pytest.raises(ValueError, match="groupby-cumsum keeps nothing that gets old"):
        state_of().expire(0)
    state = state_of(AGEING["sessions"], EVENTS)
    for before in (7, None, "no time", True):
        with pytest.raises(TypeError, match="before must be a time as datetime64"):
            state.expire(before)


def test_keys_of_several_operations() -> None:
    state = state_of(lambda d: totals(totals(d).assign(k="a")))
    assert list(state.keys()) == ["groupby-cumsum", "groupby-cumsum 2"]
    assert state_of(lambda d: d.gpuscan.cumsum()[["x"]], FRAME[["x"]]).keys() == {}
    running = dask_gpuscan.operator(lambda a, b: a + b, identity=0, name="a running total")

    def twice(d: Any) -> Any:
        scanned = d.gpuscan.groupby("k")[["n"]].scan(running)
        return scanned.assign(k="a").gpuscan.groupby("k")[["n"]].scan(running)

    first, second = state_of(twice).keys()
    assert second == f"{first} 2"
    assert " " in first


@pytest.mark.parametrize("dtype", ["str", "object", "string[pyarrow]"])
@pytest.mark.parametrize("dropna", [True, False])
def test_clustered_buckets_with_null_keys_between(dtype: str, dropna: bool, tmp_path: Path) -> None:
    """Runs of a key are groups of their own, though rows between them are left out; times are before 1970, too."""
    minutes = [0, 1, 3, 3, 3, 4, 4, 4]
    frame = pd.DataFrame(
        {
            "k": pd.Series([None, None, "a", None, "a", "a", "a", "b"], dtype=dtype),
            "t": pd.Timestamp("1969-12-31 23:58") + pd.to_timedelta(minutes, unit="min"),
            "x": range(8),
        }
    )

    def ask(rows: Any) -> Any:
        groups = rows.gpuscan.groupby("k", clustered=True, dropna=dropna)
        return groups.resample("1min", on="t")["x"].sum()

    runs = [0, 1] * (not dropna) + [2] + [3] * (not dropna) + [4, 5 + 6, 7]
    assert ask(frame).tolist() == runs
    for first, second in [(3, 5), (1, 4), (6, 7), (2, 2)]:
        state, found = None, list[Any]()
        for batch in (frame[:first], frame[first:second], frame[second:]):
            rows = ask(dask_gpuscan.stream([batch], state=state, ends=batch.index.stop == 8))
            found.append(rows.compute())
            rows.state.save(tmp_path / "state")
            state = dask_gpuscan.load_state(tmp_path / "state")
        assert pd.concat(found).tolist() == runs
