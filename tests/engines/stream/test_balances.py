"""What a state lists: for each key what was answered last, and the rows that are kept."""

from collections.abc import Callable
from itertools import product
from operator import methodcaller
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import dask_gpuscan
from helpers.stream_rows import MEAN, rows_of

pl = pytest.importorskip("polars")

ROWS = 40
FRAME = rows_of(ROWS, seed=3)
FRAME["n"] = FRAME["n"].abs() % 5 + 1
VALUES = ["x", "n", "s", "i", "t"]
Method = Callable[[Any], Any]
GROUPS: dict[str, Method] = {
    "cumsum": lambda g: g[["x", "n", "i"]].cumsum(),
    "cummax": lambda g: g[VALUES].cummax(),
    "cummin from 3": lambda g: g[["n", "i"]].cummin(initial=3),
    "cumprod": lambda g: g[["x", "n"]].cumprod(),
    "clamped": lambda g: g[["n", "i"]].cumsum(lower=2, upper=9),
    "ffill": lambda g: g[VALUES].ffill(),
    "scan": lambda g: g[["x"]].scan(MEAN),
    "expanding": lambda g: g[["x", "n"]].expanding().std(),
    "expanding max": lambda g: g[["x", "n"]].expanding(min_periods=2).max(),
    "ewm": lambda g: g[["x"]].ewm(alpha=0.4).mean(),
    "cumcount": lambda g: g.cumcount().to_frame("value") if hasattr(g, "obj") else g.cumcount(),
}


def ended(method: Method, frame: Any = FRAME) -> tuple[Any, Any]:
    """Return what a stream of several batches answers, and its state."""
    cuts = [frame[:7], frame[7:7], frame[7:30], frame[30:]]
    out = method(dask_gpuscan.stream(cuts, ends=False))
    return out.compute(), out.state


def read(state: Any, path: Path) -> Any:
    state.save(path / "state")
    return dask_gpuscan.load_state(path / "state")


def as_frame(answer: Any) -> pd.DataFrame:
    return (
        answer.to_frame("value" if answer.name is None else answer.name)
        if answer.ndim == 1
        else answer
    )


def last_of(answers: pd.DataFrame, keys: list[pd.Series]) -> pd.DataFrame:
    """Return the last answer that is not null for each key, with the keys first."""
    found = answers.groupby(keys, dropna=True, sort=True, observed=True).last()
    return found.reset_index()


def of_values(found: pd.DataFrame, expected: pd.DataFrame) -> pd.DataFrame:
    """Return what is listed where an answer is expected: what no value was added to has none, and a sum of 0."""
    return found.where(expected.notna())


def same(found: pd.DataFrame, expected: pd.DataFrame) -> None:
    # a state has the integers of its groups, where answers of rows, which may be in none, are floats
    integers = {n: d for n, d in found.dtypes.items() if d in ("int64", "bool")}
    expected = expected.astype({n: d for n, d in integers.items() if n in expected})
    pd.testing.assert_frame_equal(found, expected, check_column_type=False, rtol=1e-12)


@pytest.mark.sampled(8)
@pytest.mark.parametrize(
    ("name", "by"),
    [*((name, ["k"]) for name in GROUPS), *((name, ["k", "c"]) for name in ("cumsum", "ffill"))],
)
def test_totals_of_groups_are_the_last_answers(name: str, by: list[str], tmp_path: Path) -> None:
    answers, state = ended(lambda d: GROUPS[name](d.gpuscan.groupby(by)))
    expected = last_of(as_frame(answers), [FRAME[key] for key in by])
    for one in (state, read(state, tmp_path)):
        (found,) = one.to_pandas().values()
        same(of_values(found.sort_values(by, ignore_index=True), expected), expected)
        (table,) = one.to_arrow().values()
        assert table.column_names == list(found.columns)
        assert table.num_rows == len(found)


ALL: dict[str, Method] = {
    "cumsum": lambda d: d[["x", "n", "i"]].gpuscan.cumsum(),
    "cumsum from 3": lambda d: d["n"].gpuscan.cumsum(initial=3),
    "cummax": lambda d: d[VALUES].gpuscan.cummax(),
    "cumprod": lambda d: d[["x", "n"]].gpuscan.cumprod(),
    "clamped": lambda d: d[["n", "i"]].gpuscan.cumsum(lower=2, upper=9),
    "ffill": lambda d: d[VALUES].gpuscan.ffill(),
    "scan": lambda d: d["x"].gpuscan.scan(MEAN),
    "ewm": lambda d: d[["x", "n"]].gpuscan.ewm(alpha=0.3).mean(),
    "fused": lambda d: d.gpuscan.scan(
        {"a": (dask_gpuscan.add, "n"), "b": (dask_gpuscan.maximum, "n")}
    ),
    "fused nullable": lambda d: d.gpuscan.scan(
        {"a": (dask_gpuscan.add, "i"), "b": (dask_gpuscan.maximum, "i")}
    ),
    "row numbers": lambda d: d.gpuscan.row_number(),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", ALL)
def test_totals_of_all_rows_are_the_last_answers(name: str, tmp_path: Path) -> None:
    answers, state = ended(ALL[name])
    expected = as_frame(answers).ffill().tail(1).reset_index(drop=True)
    for one in (state, read(state, tmp_path)):
        (found,) = one.to_pandas().values()
        same(found, expected)


DTYPES: dict[str, Method] = {
    "float32": lambda s: s.astype("float32"),
    "Float64": lambda s: s.astype("Float64").where(s != 2),
    "uint8": lambda s: s.astype("uint8"),
    "bool": lambda s: s > 2,
    "strings": lambda s: s.astype(str).astype("string[python]"),
    "objects": lambda s: s.astype(str).astype(object).where(s != 2, None),
    "decimals": lambda s: s.astype(pd.ArrowDtype(pa.decimal128(30, 3))),
    "Arrow": lambda s: s.astype("int16[pyarrow]").where(s != 2),
    "times": lambda s: pd.to_datetime(s, unit="D"),
    "zones": lambda s: pd.to_datetime(s, unit="D", utc=True).dt.tz_convert("Europe/Rome"),
    "durations": lambda s: pd.to_timedelta(s, unit="h"),
    "categories": lambda s: s.astype(str).astype(pd.CategoricalDtype(list("12345"), ordered=True)),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", DTYPES)
def test_dtypes_of_keys_and_values(name: str, tmp_path: Path) -> None:
    values = DTYPES[name](FRAME["n"])
    frame = pd.DataFrame({"k": values, "c": FRAME["c"], "x": values})
    for method, by in product(
        ("ffill",) if name == "decimals" else ("cummax", "ffill"), ("k", "c")
    ):
        answers, state = ended(lambda d: methodcaller(method)(d.gpuscan.groupby(by)[["x"]]), frame)  # noqa: B023
        expected = last_of(answers, [frame[by]])
        for one in (state, read(state, tmp_path)):
            (found,) = one.to_pandas().values()
            found = found.sort_values(by, ignore_index=True).astype({by: expected[by].dtype})
            same(of_values(found, expected), expected)
            assert one.to_arrow()[f"groupby-{method}"].num_rows == len(found)


NONE_YET = ["maximum", "minimum", "first", "last", "welford"]
"""Operators that have no answer before the first value."""


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        *((name, "float64") for name in NONE_YET),
        *(("last", dtype) for dtype in ("float32", "Int64", "Float64", "int64[pyarrow]")),
        *((name, "Int64") for name in ("welford", "fused")),
    ],
)
def test_groups_without_values_have_no_answer(dtype: str, name: str, tmp_path: Path) -> None:
    def scan(d: Any) -> Any:
        groups = d.gpuscan.groupby("k")
        if name == "fused":
            return groups.scan({each: (getattr(dask_gpuscan, each), "x") for each in NONE_YET})
        return groups[["x"]].scan(getattr(dask_gpuscan, name))

    values = pd.array([3, None, 0, None, 1, 0], "Int64").astype(dtype)
    frame = pd.DataFrame({"k": [0, 1, 2, 1, 0, 2], "x": values})
    answers, state = ended(scan, frame)
    expected = last_of(answers, [frame["k"]])
    for one in (state, read(state, tmp_path)):
        (found,) = one.to_pandas().values()
        same(found.sort_values("k", ignore_index=True), expected)


def test_sessions_have_their_last_time(tmp_path: Path) -> None:
    answers, state = ended(lambda d: d.gpuscan.sessionize("t", by="k", gap="2h"))
    expected = last_of(FRAME[["t"]].assign(session=answers)[["session", "t"]], [FRAME["k"]])
    for one in (state, read(state, tmp_path)):
        (found,) = one.to_pandas().values()
        same(found.sort_values("k", ignore_index=True), expected)
    answers, state = ended(lambda d: d.gpuscan.sessionize("t", gap="1h"))
    (found,) = read(state, tmp_path).to_pandas().values()
    assert found.to_dict("list") == {"session": [answers.iloc[-1]], "t": [FRAME["t"].iloc[-1]]}


def test_rows_that_are_kept(tmp_path: Path) -> None:
    kept: dict[str, tuple[Method, pd.DataFrame]] = {
        "shift": (lambda d: d[VALUES].gpuscan.shift(3), FRAME[VALUES].tail(3)),
        "groupby-shift": (
            lambda d: d.gpuscan.groupby("k")[["x", "s"]].shift(2, fill_value=None),
            FRAME.groupby("k").tail(2)[["k", "x", "s"]],
        ),
        "groupby-rolling-sum": (
            lambda d: d.gpuscan.groupby("k").rolling("2h", on="t")[["x"]].sum(),
            FRAME[FRAME["t"] >= FRAME.groupby("k")["t"].transform("last") - pd.Timedelta("2h")][["k", "x", "t"]],
        ),
        "rolling-scan": (
            lambda d: d["x"].gpuscan.rolling(4).scan(MEAN), FRAME[["x"]].tail(3)
        ),
    }  # fmt: skip
    for title, (method, expected) in kept.items():
        _, state = ended(method)
        for one in (state, read(state, tmp_path)):
            (found,) = one.to_pandas().values()
            assert len(found) == len(expected), title
            if title != "groupby-rolling-sum":
                same(found, expected.reset_index(drop=True))
            assert list(found.columns) == list(expected.columns)


def test_titles_are_those_of_keys() -> None:
    def twice(d: Any) -> Any:
        totals = d.gpuscan.groupby("k")[["n"]].cumsum()
        return totals.assign(c=d["c"]).gpuscan.groupby("c")[["n"]].cumsum()

    _, state = ended(twice)
    assert list(state.to_pandas()) == list(state.keys()) == ["groupby-cumsum", "groupby-cumsum 2"]


def test_what_has_no_table_is_left_out() -> None:
    for method in (
        lambda d: d.gpuscan.rle("c"),
        lambda d: d[["x", "t"]].gpuscan.resample("2h", on="t").ffill(),
        lambda d: d[["x"]].gpuscan.shift(-2),
        lambda d: d.gpuscan.filter("x > 0"),
        lambda d: d.gpuscan.reset_index(drop=True),
    ):
        _, state = ended(method)
        assert state.to_pandas() == {}


@pytest.mark.parametrize("kind", ["polars", "Arrow"])
def test_tables_of_other_libraries(kind: str, tmp_path: Path) -> None:
    frame = pl.DataFrame({"k": ["a", "b", "a"], "x": [1.5, None, 2.0], "n": [1, 2, 3]})
    source = frame if kind == "polars" else frame.to_arrow()
    out = dask_gpuscan.stream(source).gpuscan.groupby("k").cumsum()
    out.compute()
    expected = pa.table({"k": ["a", "b"], "x": [3.5, 0.0], "n": [4, 2]})
    for state in (out.state, read(out.state, tmp_path)):
        found = state.to_arrow()["groupby-cumsum"].cast(expected.schema)
        assert found.to_pydict() == expected.to_pydict()
        assert isinstance(state.to_pandas()["groupby-cumsum"], pd.DataFrame)
