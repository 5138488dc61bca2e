"""merge_asof: the answer of pandas on the whole data, whatever the cuts of both sides."""

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dask_gpuscan
from helpers.asked import refusals
from helpers.backends import same, same_schema
from helpers.strategies import columns, cuts, partitioned
from helpers.widened import can_be_null

ORDERED = (
    "int64",
    "int8",
    "uint32",
    "float64",
    "float32",
    "datetime64[ns]",
    "datetime64[us, Europe/Berlin]",
    "timedelta64[s]",
    "Int64",
    "int64[pyarrow]",
    "timestamp[us][pyarrow]",
    "period[D]",
)
KEYS = ("int64", "str", "object", "category", "float64", "Int64", "string[pyarrow]")
VALUES = (
    "int64",
    "bool",
    "float64",
    "datetime64[ns]",
    "str",
    "category",
    "Int64",
    "boolean",
    "int64[pyarrow]",
)
DIRECTIONS = ("backward", "forward", "nearest")
WAYS = (None, "tasks", "disk")


def ordered(numbers, dtype):
    """Values of a dtype that do not decrease."""
    values = pd.Series(sorted(numbers), dtype="int64")
    if "period" in dtype:
        return pd.Series(pd.PeriodIndex.from_ordinals(values, freq="D"))
    if "timedelta" in dtype:
        return pd.to_timedelta(values, unit="h").astype(dtype)
    if "stamp" in dtype or "date" in dtype:
        times = pd.Timestamp("2026-03-28") + pd.to_timedelta(values, unit="h")
        return (times.dt.tz_localize("UTC") if "Berlin" in dtype else times).astype(dtype)
    return values.astype(dtype)


@st.composite
def sides(draw, dtypes=ORDERED):
    """Two frames that can be merged: columns of order, of keys with nulls, and others that have one name."""
    dtype, key = draw(st.sampled_from(dtypes)), draw(st.sampled_from(KEYS))
    low = 0 if dtype.startswith("u") else -8
    found = []
    for _ in range(2):
        by, x = draw(columns((key,), 14)), draw(columns(VALUES, 14))
        count = min(len(by), len(x))
        on = draw(st.lists(st.integers(low, 8), min_size=count, max_size=count))
        frame = pd.DataFrame({"on": ordered(on, dtype), "by": by[:count], "x": x[:count]})
        frame.index = pd.Index(np.arange(count) * 2 + 10, name="row")
        found.append(frame)
    return found


@st.composite
def options(draw, left):
    """How rows are matched."""
    tolerance = draw(st.sampled_from([None, None, 0, 2, 5]))
    if left["on"].dtype == "period[D]":  # of which pandas compares days with nanoseconds
        tolerance = None
    if tolerance is not None and left["on"].dtype.kind in "mM":
        tolerance = pd.Timedelta(hours=tolerance)
    return {
        "tolerance": tolerance,
        "allow_exact_matches": draw(st.booleans()),
        "direction": draw(st.sampled_from(DIRECTIONS)),
    }


def as_found(found, expected, lazy=False):
    """The answer of pandas, of partitions in dtypes that hold nulls, though all rows may have a match."""
    held = {
        name: dtype
        for name, dtype in found.dtypes.items()
        if lazy and dtype in ("float64", "object") and not can_be_null(expected[name].dtype)
    }
    return expected.astype(held)


def check(backend, left, right, at, **options):
    """Compare with pandas, of frames and of collections of which one side or both are partitioned."""
    expected = pd.merge_asof(left, right, **options)
    if not len(left):  # which pandas gives the index of the right side
        expected.index = expected.index[:0] if not options.get("right_index") else left.index
    expected = backend.held(expected)
    frames = [backend.frame(side) for side in (left, right)]
    found = backend.to_pandas(dask_gpuscan.merge_asof(*frames, **options))
    same(found, as_found(found, expected))
    for own in ((True, True), (True, False), (False, True)):
        parts = [
            partitioned(frame, cut) if lazy else frame
            for frame, cut, lazy in zip(frames, at, own, strict=True)
        ]
        lazy = dask_gpuscan.merge_asof(*parts, **options)
        found = lazy.compute()
        same_schema(found, lazy._meta)
        found = backend.to_pandas(found)
        same(found, expected.astype(found.dtypes.to_dict()))
        assert lazy.npartitions == (len(at[0]) + 1 if own[0] else 1)


@given(data=st.data(), frames=sides(), at=st.tuples(cuts(), cuts()), way=st.sampled_from(WAYS))
def test_by_order_alone(backend, data, frames, at, way):
    left, right = (frame.drop(columns="by") for frame in frames)
    with dask.config.set({"dataframe.shuffle.method": way}):
        check(backend, left, right, at, on="on", **data.draw(options(left)))


@given(data=st.data(), frames=sides(), at=st.tuples(cuts(), cuts()))
def test_by_keys(backend, data, frames, at):
    left, right = frames
    check(backend, left, right, at, on="on", by="by", **data.draw(options(left)))


@given(data=st.data(), frames=sides(), at=st.tuples(cuts(), cuts()))
def test_by_several_keys_of_other_names(backend, data, frames, at):
    left, right = frames
    left, right = left.assign(more=left["x"].isna()), right.assign(other=right["x"].isna())
    right = right.rename(columns={"on": "time", "by": "key"})
    names = {
        "left_on": "on",
        "right_on": "time",
        "left_by": ["by", "more"],
        "right_by": ["key", "other"],
    }
    suffixes = data.draw(st.sampled_from([("_x", "_y"), (None, "_right"), ("", "_")]))
    check(backend, left, right, at, suffixes=suffixes, **names, **data.draw(options(left)))


# an index of no rows has no narrow dtype in pandas
LABELS = tuple(dtype for dtype in ORDERED if dtype not in ("int8", "uint32", "float32"))


@given(data=st.data(), frames=sides(LABELS), at=st.tuples(cuts(), cuts()), keyed=st.booleans())
def test_by_the_index(backend, data, frames, at, keyed):
    left, _ = frames
    how = data.draw(options(left)) | ({"by": "by"} if keyed else {})
    both = [frame.set_index("on") for frame in frames]
    check(backend, *both, at, left_index=True, right_index=True, **how)
    check(backend, left, both[1], at, left_on="on", right_index=True, **how)


def test_no_rows_of_categories_at_times(backend):
    times = pd.DatetimeIndex([], name="on")
    left, right = (pd.DataFrame({n: pd.Categorical([], ["a"])}, index=times) for n in "xy")
    check(backend, left, right, ([], [0.0]), left_index=True, right_index=True)


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("direction", ["backward", "forward", "nearest"])
@pytest.mark.parametrize("times", [[1, 5, 9], [5], [1, 5], [5, 9], [5, 5, 5]])
def test_rows_without_a_match_in_the_middle(backend, times, direction, exact):
    left = pd.DataFrame({"t": times})
    right = pd.DataFrame({"t": [5], "x": [1.5], "s": ["a"]})
    options = {"on": "t", "direction": direction, "allow_exact_matches": exact}
    found = dask_gpuscan.merge_asof(backend.frame(left), backend.frame(right), **options)
    expected = pd.merge_asof(left, right, **options)
    same(backend.to_pandas(found), as_found(backend.to_pandas(found), expected))


# --- what columns the answer has ----------------------------------------------------------------------

few = pd.DataFrame({"a": [1, 2, 3], "k": [1, 1, 2], "x": list("pqr")}, index=[1, 5, 9])
many = pd.DataFrame({"t": [2, 5, 6], "k": [1, 1, 1], "b": [10, 20, 30], "x": list("uvw")})


@pytest.mark.parametrize("name", [None, "t", "x", "b", "u"])
@pytest.mark.parametrize("by", [{}, {"by": "k"}, {"left_by": "a", "right_by": "k"}])
@pytest.mark.parametrize("direction", ["backward", "nearest"])
def test_the_left_index_and_a_right_column(backend, name, by, direction):
    left = few.rename_axis(name)
    options = {"left_index": True, "right_on": "t", "direction": direction, **by}
    expected = pd.merge_asof(left, many, **options)
    frames = [backend.frame(side) for side in (left, many)]
    found = backend.to_pandas(dask_gpuscan.merge_asof(*frames, **options))
    same(found, as_found(found, expected))
    lazy = dask_gpuscan.merge_asof(*(partitioned(f, [0.4]) for f in frames), **options)
    # as if a row had no match: pandas' answer to one that is farther away than any other
    more = pd.concat([left.head(1).set_axis([-9]).rename_axis(name).assign(k=-1, a=-1), left])
    expected = pd.merge_asof(more, many, tolerance=4, **options).iloc[1:]
    found = backend.to_pandas(lazy.compute())
    expected = as_found(found, expected, lazy=True)
    same(found.astype(expected.dtypes.to_dict()), expected)


@pytest.mark.parametrize(
    ("left", "right", "options"),
    [
        (few.rename(columns={"a": "t"}), many, {}),
        (
            few.rename(columns={"a": 0}),
            many.rename(columns={"t": 1}),
            {"left_on": 0, "right_on": 1},
        ),
        (
            few.rename(columns={"a": 0}),
            many.rename(columns={"t": 1, "b": 0}),
            {"left_on": 0, "right_on": 1},
        ),
        (few, many.assign(a=1), {"left_on": "a", "right_on": "t"}),
        (few, many.set_index("t").assign(a=1), {"left_on": "a", "right_index": True}),
        (few["a"], many["t"], {"left_on": "a", "right_on": "t"}),
        (few[["a"]], many[["t"]].rename(columns={"t": "a"}), {}),
    ],
    ids=range(7),
)
def test_names_of_columns(backend, left, right, options):
    if not options:
        shared = [name for name in left.columns if name in right.columns]
        right = right.drop(columns=[name for name in shared if name not in ("t", "a")])
    expected = pd.merge_asof(left, right, **options)
    frames = [backend.frame(side) for side in (left, right)]
    found = backend.to_pandas(dask_gpuscan.merge_asof(*frames, **options))
    expected = as_found(found, expected)
    same(found, expected)
    lazy = dask_gpuscan.merge_asof(*(partitioned(f, [0.4]) for f in frames), **options)
    same(backend.to_pandas(lazy.compute()).astype(expected.dtypes.to_dict()), expected)


def test_only_what_is_asked_for_is_read(backend):
    left, right = backend.frame(few), backend.frame(many)
    options = {"left_on": "a", "right_on": "t", "direction": "nearest"}
    whole = backend.to_pandas(dask_gpuscan.merge_asof(left, right, **options))
    lazy = dask_gpuscan.merge_asof(partitioned(left, [0.5]), partitioned(right, [0.5]), **options)
    for chosen in ("x_y", ["b"], ["x_x", "k_y"], ["t", "a"], "k_x"):
        expected = whole[chosen]
        found = backend.to_pandas(lazy[chosen].compute())
        same(
            found.astype(expected.dtypes.to_dict() if found.ndim == 2 else expected.dtype), expected
        )
    narrow = lazy["b"].optimize(fuse=False).expr
    (merge,) = [e for e in lazy["b"].simplify().expr.walk() if type(e).__name__ == "AsOfMerge"]
    assert [list(side.columns) for side in (merge.left, merge.right)] == [["a"], ["t", "b"]]
    assert narrow._name == lazy["b"].optimize(fuse=False).expr._name


def test_writes_to_the_answer_leave_the_sides_alone(backend):
    left, right = backend.frame(few), backend.frame(many)
    merged = dask_gpuscan.merge_asof(left, right, left_on="a", right_on="t")
    merged["a"] += 1
    merged.iloc[0, 0] = 99
    same(backend.to_pandas(left), few)


def test_divisions_of_the_left_index_are_kept():
    left = dd.from_pandas(few, npartitions=2)
    lazy = dask_gpuscan.merge_asof(left, many, left_index=True, right_on="t")
    assert lazy.divisions == left.divisions
    plain = dask_gpuscan.merge_asof(left, many, left_on="a", right_on="t")
    assert not plain.known_divisions
    assert plain.compute().index.tolist() == [0, 1, 2]
    assert plain.persist().compute().equals(plain.compute())


def test_strings_that_dask_converts(backend):
    left, right = backend.frame(few), backend.frame(many.drop(columns="k").assign(x=list("ppq")))
    options = {"left_on": "a", "right_on": "t", "by": "x", "direction": "forward"}
    with dask.config.set({"dataframe.convert-string": True}):
        for sides in (
            (dd.from_pandas(left, npartitions=2), right),
            (left, dd.from_pandas(right, npartitions=2)),
        ):
            found = backend.to_pandas(dask_gpuscan.merge_asof(*sides, **options).compute())
            assert found["b"].fillna(-1).tolist() == [10.0, 30.0, -1.0]


def test_many_rows(backend):
    """So many that all cores work: each starts from what comes before its part."""
    rng = np.random.default_rng(0)
    sizes = {"left": 1_200_000, "right": 400_000}
    made = {
        side: pd.DataFrame(
            {
                "t": np.sort(rng.integers(0, 10**6, size)),
                "k": rng.integers(0, 50, size),
                side: rng.integers(0, 2**40, size),
                f"at_{side}": pd.to_datetime(rng.integers(0, 2**60, size)),
            }
        )
        for side, size in sizes.items()
    }
    frames = [backend.frame(frame) for frame in made.values()]
    for direction in DIRECTIONS:
        for how in ({}, {"by": "k"}, {"by": "k", "tolerance": 20, "allow_exact_matches": False}):
            sides = [f if "by" in how else f.drop(columns="k") for f in made.values()]
            ours = [f if "by" in how else f.drop(columns="k") for f in frames]
            expected = pd.merge_asof(*sides, on="t", direction=direction, **how)
            found = dask_gpuscan.merge_asof(*ours, on="t", direction=direction, **how)
            found = backend.to_pandas(found)
            same(found, as_found(found, expected))


def test_a_match_may_be_many_partitions_away(backend):
    left = pd.DataFrame({"t": np.arange(100, 200), "k": np.arange(100) % 5})
    right = pd.DataFrame({"t": [1, 2, 3, 4, 300], "k": [0, 1, 1, 2, 4], "b": range(5)})
    at = list(np.linspace(0, 1, 41))
    for direction in DIRECTIONS:
        check(backend, left, right, (at, [0.2, 0.9]), on="t", by="k", direction=direction)


# --- what is refused ----------------------------------------------------------------------------------


REFUSED = {
    ValueError: {
        "on='z' is not a column; columns are 'a'": [{"on": "z"}],
        "right_on='z' is not a column; columns are 't'": [{"left_on": "a", "right_on": "z"}],
        "by='z' is not a column": [{"left_on": "a", "right_on": "t", "by": "z"}],
        "can only asof on a key": [{"left_on": ["a", "k"], "right_on": ["t", "k"]}],
        'Can only pass argument "on" OR': [{"on": "k", "left_on": "a"}],
        'Must pass "right_on"': [{"left_on": "a"}],
        "can only asof on a key for left": [{}],
        "must be the same type": [
            {"left_on": "a", "right_on": "f"},
            {"left_index": True, "right_on": "f"},
        ],
        "missing right_by": [{"left_on": "a", "right_on": "t", "left_by": "k"}],
        "same type": [{"left_on": "a", "right_on": "t", "left_by": "k", "right_by": "x"}],
        "tolerance must be": [{"left_on": "a", "right_on": "t", "tolerance": -1}],
        "incompatible tolerance": [{"left_on": "a", "right_on": "t", "tolerance": 1.5}],
        "tolerance must be a number": [{"left_on": "a", "right_on": "t", "tolerance": np.nan}],
        "direction must be one of": [{"left_on": "a", "right_on": "t", "direction": "up"}],
        "allow_exact_matches": [{"left_on": "a", "right_on": "t", "allow_exact_matches": 1}],
        "by must name at least one column": [{"left_on": "a", "right_on": "t", "by": []}],
        "left_index must be True or False, found None": [{"left_index": None, "right_on": "t"}],
        "allow_exact_matches must be True or False, found a pandas": [
            {"left_on": "a", "right_on": "t", "allow_exact_matches": few}
        ],
        "direction must be one of .*; did you mean 'forward'": [
            {"left_on": "a", "right_on": "t", "direction": "foward"}
        ],
        "direction must be one of .*, found a pandas Series": [
            {"left_on": "a", "right_on": "t", "direction": few["x"]}
        ],
        "columns overlap": [{"left_on": "a", "right_on": "t", "suffixes": ("", "")}],
        "suffixes must be a pair of str, found 'xy'": [{"on": "t", "suffixes": "xy"}],
        "suffixes must be a pair of str": [{"on": "t", "suffixes": ("x",)}],
        "not a combination of both": [{"on": "k", "left_on": "x"}],
    },
    TypeError: {
        "right_on must be the name of a column": [{"left_on": "a", "right_on": np.arange(3)}],
        r"tolerance must be a number or a duration, found \[1\]": [
            {"left_on": "a", "right_on": "t", "tolerance": [1]}
        ],
        "by must be the name of a column or a list of names, found a": [
            {"left_on": "a", "right_on": "t", "by": partitioned(few, [])["k"]}
        ],
        "column 'x' of dtype (str|object) has no order": [{"left_on": "x", "right_on": "x"}],
    },
}


@pytest.mark.parametrize(("error", "message", "options"), refusals(REFUSED))
def test_bad_arguments(backend, options, error, message):
    left, right = backend.frame(few), backend.frame(many.assign(f=1.5))
    for frames in ((left, right), (partitioned(left, [0.5]), partitioned(right, [0.5]))):
        with pytest.raises(error, match=message):
            dask_gpuscan.merge_asof(*frames, **options)


def test_a_tolerance_that_has_no_unit():
    days = pd.DataFrame({"t": pd.period_range("2026", periods=3, freq="D")})
    dates = days.astype({"t": "datetime64[ns]"}).astype({"t": "date32[day][pyarrow]"})
    for frame in (days, dates):
        with pytest.raises(TypeError, match="tolerance is for numbers, datetimes and timedeltas"):
            dask_gpuscan.merge_asof(frame, frame, on="t", tolerance=pd.Timedelta("1D"))
        same(dask_gpuscan.merge_asof(frame, frame, on="t"), frame)


def test_sides_that_are_no_frames():
    with pytest.raises(TypeError, match="left must be a DataFrame or a named Series"):
        dask_gpuscan.merge_asof({"a": [1]}, many, on="t")
    with pytest.raises(ValueError, match="right is a Series without a name"):
        dask_gpuscan.merge_asof(few, pd.Series([1]), left_on="a", right_on="b")


@pytest.mark.parametrize("dtype", ["int64", "float64", "Int64", "datetime64[ns]"])
@pytest.mark.parametrize("side", ["left", "right"])
def test_keys_out_of_order_and_null(backend, side, dtype):
    good = pd.DataFrame({"t": pd.Series(range(8), dtype="int64").astype(dtype)})
    bad = good.iloc[[0, 1, 2, 4, 3, 5, 6, 7]].reset_index(drop=True)
    wrong = [(bad, rf"{side} keys must be sorted", "partition 1")]
    if dtype != "int64":
        null = good.assign(t=good["t"].where(good.index != 5))
        wrong.append((null, f"contain null values on {side} side", "partition 2"))
    for frame, message, place in wrong:
        frames = [backend.frame(frame if name == side else good) for name in ("left", "right")]
        with pytest.raises(ValueError, match=message):
            dask_gpuscan.merge_asof(*frames, on="t")
        lazy = [partitioned(f, [0.25, 0.625, 0.75]) for f in frames]
        with pytest.raises(ValueError, match=f"{message}.*{place}"):
            dask_gpuscan.merge_asof(*lazy, on="t").compute()
    swapped = backend.frame(good.iloc[[4, 5, 6, 7, 0, 1, 2, 3]])
    frames = [
        partitioned(swapped if name == side else backend.frame(good), [0.5])
        for name in ("left", "right")
    ]
    with pytest.raises(
        ValueError, match=f"{side} keys must be sorted: partition 1 begins before partition 0 ends"
    ):
        dask_gpuscan.merge_asof(*frames, on="t").compute()


@pytest.mark.parametrize("names", [("n", "n"), ("n", None), ("n", "m")])
def test_labels_of_columns_have_the_name_of_both_sides(names):
    frames = [
        pd.DataFrame({"t": [1, 2, 3], column: [1.0, 2.0, 3.0]}).rename_axis(columns=name)
        for column, name in zip("xy", names, strict=True)
    ]
    expected = pd.merge_asof(*frames, on="t").columns
    pd.testing.assert_index_equal(dask_gpuscan.merge_asof(*frames, on="t").columns, expected)
    lazy = dask_gpuscan.merge_asof(*(partitioned(f, [0.5]) for f in frames), on="t")
    pd.testing.assert_index_equal(lazy._meta.columns, expected)
    pd.testing.assert_index_equal(lazy.compute().columns, expected)


@pytest.mark.parametrize("dtype", ["int64", "M8[ns]"])
def test_distances_of_integers_are_exact(dtype):
    far, near = -(2**53) - 1, 2**53
    left = pd.DataFrame({"t": np.array([0]).astype(dtype)})
    right = pd.DataFrame({"t": np.array([far, near]).astype(dtype), "v": ["far", "near"]})
    tolerance = 2**53 if dtype == "int64" else pd.Timedelta(2**53, "ns")
    for one in (left, partitioned(left, [])):
        for other in (right, partitioned(right, [0.5])):
            (found,) = dask.compute(
                dask_gpuscan.merge_asof(one, other, on="t", direction="nearest")
            )
            assert found["v"].tolist() == ["near"]
            (found,) = dask.compute(
                dask_gpuscan.merge_asof(one, other, on="t", tolerance=tolerance)
            )
            assert found["v"].isna().all()


def test_integers_at_both_ends_of_their_range():
    ends = np.array([-(2**63), 2**63 - 1])
    assert dask_gpuscan.kernels.asof(np.array([0, 5]), ends, direction="nearest").tolist() == [1, 1]


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.list_(pa.int64()), [[1], [2]]),
        (pa.list_(pa.int8(), 1), [[1], [2]]),
        (pa.struct([("a", pa.int64())]), [{"a": 1}, {"a": 2}]),
        (pa.map_(pa.int64(), pa.int64()), [[(1, 2)], [(2, 3)]]),
        (object, [[1], [2]]),
    ],
    ids=str,
)
def test_keys_that_cannot_be_hashed(kind, values):
    dtype = kind if kind is object else pd.ArrowDtype(kind)
    right = pd.DataFrame({"t": [1, 2], "k": pd.Series(values, dtype=dtype), "v": [3, 4]})
    left = right[["t", "k"]]
    pairs = [(left, right), (partitioned(left, [0.5]), partitioned(right, [0.5]))]
    if kind is not object:
        tables = [pa.Table.from_pandas(side, preserve_index=False) for side in (left, right)]
        pairs += [tuple(tables), tuple(dask_gpuscan.stream([table]) for table in tables)]
    for sides in pairs:
        with pytest.raises(TypeError, match=r"column 'k' of dtype .* cannot be hashed"):
            dask.compute(dask_gpuscan.merge_asof(*sides, on="t", by="k"))


def test_keys_of_other_categories_say_what_to_do():
    left = pd.DataFrame({"t": [1, 2], "k": pd.Categorical(["a", "a"])})
    right = pd.DataFrame({"t": [0, 1], "k": pd.Categorical(["b", "a"]), "v": [1, 2]})
    with pytest.raises(pd.errors.MergeError, match="cast the keys of both sides to texts"):
        dask_gpuscan.merge_asof(left, right, on="t", by="k")
    both = [side.astype({"k": "str"}) for side in (left, right)]
    assert dask_gpuscan.merge_asof(*both, on="t", by="k")["v"].tolist() == [2, 2]


def test_labels_that_are_equal_but_of_another_type():
    left, right = pd.DataFrame([[1, 2, 3]]), pd.DataFrame([[1, 5, 6]])
    pairs = [("a", 1), ("b", 2), ("c", 3)], [("a", 1), ("d", 2), ("e", 3)]
    flat = [pd.Index(names, tupleize_cols=False) for names in pairs]
    levels = [pd.MultiIndex.from_tuples(names) for names in pairs]
    numbers = ([[0, one, 2]] * 2 for one in (1, True, 1.0))
    floats = [pd.Index([0, 1, 2], dtype="float64")] * 2
    for own, other in (*numbers, floats, flat, levels, flat):
        sides = left.set_axis(own, axis=1), right.set_axis(other, axis=1)
        on = [sides[0].columns[0]]
        expected, found = pd.merge_asof(*sides, on=on), dask_gpuscan.merge_asof(*sides, on=on)
        same(found, expected)
        assert list(map(type, found.columns)) == list(map(type, expected.columns))
    with pytest.raises(ValueError, match="different levels"):
        dask_gpuscan.merge_asof(
            left.set_axis(levels[0], axis=1), right.set_axis(flat[1], axis=1), on=[("a", 1)]
        )
