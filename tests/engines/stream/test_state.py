"""States: files that can be read by anyone, and errors that name what does not match."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dask_gpuscan

FRAME = pd.DataFrame({"k": list("aabba"), "x": [1.5, np.nan, 2.5, 4.0, 0.1], "n": [3, 1, 2, 0, 5]})


def totals(rows: Any) -> Any:
    return rows.gpuscan.groupby("k").cumsum()


def state_of(method: Any = totals, frame: Any = FRAME) -> Any:
    out = method(dask_gpuscan.stream([frame]))
    out.compute()
    return out.state


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


def test_what_is_no_state(tmp_path: Path) -> None:
    path, state = tmp_path / "state", state_of()
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
    path.write_bytes(whole.replace(b'"version": 1', b'"version": 7'))
    with pytest.raises(ValueError, match="is of version 7 of states, and 1 is read"):
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


def test_what_a_file_cannot_hold_is_named(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": pd.Series(["a", 1, None], dtype=object)})
    state = state_of(lambda d: d["x"].gpuscan.ffill(), frame)
    with pytest.raises(
        TypeError, match="state of ffill cannot be written: it holds Python objects"
    ):
        state.save(tmp_path / "state")
    with pytest.raises(TypeError, match="state must be a State or None"):
        dask_gpuscan.stream([frame], state="yesterday")


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
