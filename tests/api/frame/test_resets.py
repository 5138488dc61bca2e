"""reset= of scans, fills and counts: the rows from one reset to the next against groups of pandas."""

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dask_gpuscan
from helpers.backends import same
from helpers.strategies import columns, cuts, partitioned, two_thirds

FLAGS = st.lists(st.sampled_from([False, False, True, None]), min_size=24, max_size=24)
FEW = ("int64", "float64", "Int64", "double[pyarrow]")


def segments(flags):
    """Return the number of each row's segment by pandas."""
    return flags.fillna(False).astype("int64").cumsum().shift(fill_value=0)


def rows(x, flags):
    return pd.DataFrame({"x": x, "r": pd.array(flags[: len(x)], "boolean")})


def computed(backend, frame, at, ask):
    """Return what is asked of a frame, and of its partitions."""
    found = [ask(backend.frame(frame)), ask(partitioned(backend.frame(frame), at))]
    return [backend.to_pandas(each) for each in dask.compute(*found)]


def agree(found, expected):
    """Assert that values are equal, whatever the dtypes that groups of a library have."""
    assert found.index.equals(expected.index)
    pairs = zip(found.tolist(), expected.tolist(), strict=True)
    assert all((pd.isna(a) and pd.isna(b)) or a == b for a, b in pairs), (found, expected)


@two_thirds
@given(
    x=columns(FEW),
    flags=FLAGS,
    at=cuts(),
    method=st.sampled_from(["cumsum", "cumprod", "cummax", "cummin", "ffill", "bfill"]),
)
def test_scans_and_fills_as_groups_of_pandas(backend, x, flags, at, method):
    frame = rows(x, flags)
    expected = getattr(frame.groupby(segments(frame.r))["x"], method)()
    for ask in (
        lambda d: getattr(d.gpuscan, method)(reset="r")["x"],
        lambda d: getattr(d["x"].gpuscan, method)(reset=d["r"]),
        lambda d: getattr(d["x"].gpuscan, method)(reset=d["r"].fillna(False)),
    ):
        for found in computed(backend, frame, at, ask):
            agree(found, expected)
            assert found.name == "x"


@given(x=columns(FEW), flags=FLAGS, at=cuts())
def test_counts_as_groups_of_pandas(backend, x, flags, at):
    frame = rows(x, flags)
    groups = frame.groupby(segments(frame.r))
    for ask, expected in (
        (lambda d: d.gpuscan.row_number(reset="r"), groups.cumcount().rename("row_number")),
        (lambda d: d.gpuscan.cumcount(reset="r"), groups.cumcount()),
        (lambda d: d.gpuscan.cumcount(False, reset="r"), groups.cumcount(ascending=False)),
        (lambda d: d["x"].gpuscan.row_number(reset=d["r"]), groups.cumcount()),
    ):
        for found in computed(backend, frame, at, ask):
            assert found.tolist() == expected.tolist()
            assert found.dtype == "int64" or backend.name == "cuda"


@two_thirds
@given(
    x=columns(("float64", "Int64")),
    flags=FLAGS,
    at=cuts(),
    options=st.fixed_dictionaries(
        {"exclusive": st.booleans(), "reverse": st.booleans()},
        optional={"initial": st.integers(0, 9), "upper": st.just(4), "skipna": st.booleans()},
    ),
)
def test_each_segment_is_scanned_by_itself(backend, x, flags, at, options):
    frame = rows(x, flags)
    pieces = [piece.x.gpuscan.cumsum(**options) for _, piece in frame.groupby(segments(frame.r))]
    expected = pd.concat(pieces) if pieces else x.gpuscan.cumsum(**options)
    for found in computed(
        backend, frame, at, lambda d: d.gpuscan.cumsum(reset="r", **options)["x"]
    ):
        agree(found, expected)


@two_thirds
@given(
    x=columns(("int64", "float64")),
    keys=st.lists(st.sampled_from([1, 2, None]), min_size=24, max_size=24),
    flags=FLAGS,
    at=cuts(),
    clustered=st.booleans(),
    method=st.sampled_from(["cumsum", "cummax", "ffill", "row_number", "cumcount"]),
)
def test_groups_have_segments_of_their_own(backend, x, keys, flags, at, clustered, method):
    frame = rows(x, flags).assign(k=pd.array(keys[: len(x)], "Int64"))
    if clustered:
        frame = frame.sort_values("k", kind="stable", ignore_index=True)
    theirs = "cumcount" if method == "row_number" else method
    expected = pd.Series(np.nan, frame.index)
    for _, some in frame.groupby("k"):
        asked = some.groupby(segments(some.r))["x"]
        expected[some.index] = getattr(asked, theirs)().astype("float64")

    def ask(d):
        return getattr(d.gpuscan.groupby("k", clustered=clustered)["x"], method)(reset="r")

    for found in computed(backend, frame, at, ask):
        agree(found, expected)


LATEST = dask_gpuscan.operator(
    lambda a, b: b if b[0] >= a[0] else a,
    identity=(-1.0, -1),
    lift=lambda x, i: (x, i),
    lower=lambda s: s[1],
)


@given(flags=FLAGS, at=cuts())
def test_scans_by_operators(backend, flags, at):
    frame = rows(pd.Series(range(24)), flags)
    numbers = segments(frame.r)
    sums = frame.x.groupby(numbers).cumsum()
    squares = (frame.x**2).where(frame.x % 2 == 0).groupby(numbers).cumsum()
    for ask, expected in (
        (lambda d: d["x"].gpuscan.scan(dask_gpuscan.add, reset=d["r"]), sums),
        (lambda d: d["x"].gpuscan.scan(LATEST, positions=True, reset=d["r"]), frame.x),
        (
            lambda d: d.gpuscan.scan(
                {"a": (dask_gpuscan.add, "x * x")}, reset="r", where="x % 2 == 0"
            )["a"],
            squares,
        ),
        (
            lambda d: d.gpuscan.scan(
                {"a": (dask_gpuscan.add, "x")}, reset="x == @last", by="x", local_dict={"last": 24}
            )["a"],
            frame.x,
        ),
    ):
        for found in computed(backend, frame, at, ask):
            agree(found, expected)


def test_texts_and_functions(backend):
    x = pd.Series([1, 5, 2, 6, 3], name="x")
    most = 4
    for reset in ("x > @most", lambda x: x > 4):
        for series in (x, partitioned(x, [0.3, 0.7])):
            (found,) = dask.compute(series.gpuscan.cumsum(reset=reset))
            assert found.tolist() == [1, 6, 2, 8, 3]
    assert most == 4
    unnamed = x.rename(None)
    for series in (unnamed, partitioned(unnamed, [0.5])):
        for found in dask.compute(
            series.gpuscan.cumsum(reset=lambda x: x > 4), series.gpuscan.cumsum(reset=series > 4)
        ):
            same(found, pd.Series([1, 6, 2, 8, 3]))
    flags = pd.Series([0, 1, 0, 0, 1, 0], dtype="boolean")
    assert flags.gpuscan.cumany(reset=flags).tolist() == [False, True, False, False, True, False]
    assert flags.gpuscan.cumall(reset=~flags).tolist() == [False, True, False, False, True, False]


def test_odd_frames():
    frame = pd.DataFrame({"segment": [1, 2, 3], "reset": [True, False, False], "s": list("abc")})
    expected = pd.DataFrame({"segment": [1, 2, 5], "reset": [1, 0, 0], "s": ["a", "b", "bc"]})
    expected.index = frame.index = pd.Index([7, 7, 8], name="row")
    for d in (frame, partitioned(frame, [0.4])):
        for found in dask.compute(
            d.gpuscan.cumsum(reset="reset"), d.gpuscan.cumsum(reset=d["reset"])
        ):
            same(found.astype({"s": frame.s.dtype}), expected)
    stream = dask_gpuscan.stream([frame[:2], frame[2:2], frame[2:]])
    same(stream.gpuscan.cumsum(reset="reset").compute(), expected)
    same(stream["segment"].gpuscan.cumsum(reset=stream["reset"]).compute(), expected.segment)
    levels = frame[["segment", "reset"]].set_axis(
        pd.MultiIndex.from_tuples([("a", 1), ("b", 1)]), axis=1
    )
    found = levels.gpuscan.cumsum(reset=("b", 1))
    assert found.columns.tolist() == levels.columns.tolist()
    assert found.to_numpy().tolist() == expected[["segment", "reset"]].to_numpy().tolist()


@pytest.mark.parametrize(
    ("reset", "error", "message"),
    [
        ("x", TypeError, "reset: must be boolean, found dtype int64"),
        ("z", KeyError, r"reset: .*'z' is not a column"),
        (3, KeyError, "reset: column 3 is not a column"),
        ("x + 1", TypeError, "reset: must be boolean"),
        ("1 == 1", ValueError, r"reset: .*names no column"),
        ([True, False], TypeError, "reset: it must be a column, a text or a function"),
        (lambda: True, (ValueError, TypeError), "reset: must take columns by name"),
        (lambda y: y > 1, ValueError, "'y' is not a column"),
        (pd.Series([1, 2]), TypeError, "reset: must be"),
        (pd.Series([True]), (ValueError, TypeError), "reset: must"),
    ],
)
def test_wrong_resets(reset, error, message):
    frame = pd.DataFrame({"k": [1, 1], "x": [1, 2]})
    for d in (frame, dd.from_pandas(frame, npartitions=2)):
        for ask in (
            lambda d: d.gpuscan.cumsum(reset=reset),
            lambda d: d.gpuscan.ffill(reset=reset),
            lambda d: d.gpuscan.row_number(reset=reset),
            lambda d: d.gpuscan.groupby("k").cumsum(reset=reset),
            lambda d: d.gpuscan.groupby("k").cumcount(reset=reset),
        ):
            with pytest.raises(error, match=message):
                ask(d)
