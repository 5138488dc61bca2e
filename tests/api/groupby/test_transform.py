"""Answers of groups at their rows, labels of extremes, and all statistics at once: as pandas has them."""

import dask
import numpy as np
import pandas as pd
import pytest

import dask_gpuscan
from helpers.asked import NULL_KEYS, computed, null_keys
from helpers.backends import same
from helpers.strategies import partitioned_at

FRAME = pd.DataFrame(
    {
        "k": [2, 1, 2, 3, 1, 1, 3, 2],
        "j": [7, 7, 8, 7, 7, 8, 7, 7],
        "x": [1.0, 2.5, 3.0, 9.0, np.nan, 0.5, 9.0, -1.0],
        "y": [1, 2, 3, 4, 5, 6, 7, 1],
    },
    index=pd.Index([20, 10, 21, 30, 11, 12, 40, 5], name="row"),
)
PARTITIONS = ([], [0, 1, 1, 5, 8], [2, 4, 4, 6])
"""Where rows are cut: partitions may have one row or none."""


def agree(backend, frame, ask, clustered=False):
    """Assert that frames and partitions answer what pandas does; of clustered keys, in order of appearance."""
    if clustered:
        frame = frame.sort_values(["k", "j"], ascending=False, kind="stable")
    expected = ask(frame, {"sort": not clustered})
    options = {"clustered": True} if clustered else {}
    whole = backend.frame(frame)
    for each in (whole, *(partitioned_at(whole, list(rows)) for rows in PARTITIONS)):
        same(backend.to_pandas(computed(ask(each.gpuscan, options))), expected)


REDUCTIONS = ("sum", "mean", "std", "count", "size", "first", "median", "nunique", "max")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("by", ["k", ["k", "j"]])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_transform(backend, name, by, clustered):
    agree(backend, FRAME, lambda f, o: f.groupby(by, **o)[["x", "y"]].transform(name), clustered)
    agree(backend, FRAME, lambda f, o: f.groupby(by, **o)["y"].transform(name), clustered)


def test_arguments_of_what_transform_names(backend):
    agree(backend, FRAME, lambda f, o: f.groupby("k", **o)["x"].transform("var", ddof=0))
    agree(backend, FRAME, lambda f, o: f.groupby("k", **o)["x"].transform("quantile", 0.25))
    agree(backend, FRAME, lambda f, o: f.groupby("k", **o)["x"].transform("cumsum"))


FUNCTIONS = {
    np.sum: "sum",
    max: "max",
    np.nanmean: "mean",
    pd.Series.std: "std",
    np.cumsum: "cumsum",
}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions_that_have_a_method(backend, function):
    name = FUNCTIONS[function]
    agree(
        backend,
        FRAME,
        lambda f, o: f.groupby("k")[["x", "y"]].transform(function if f is not FRAME else name),
    )
    if name != "cumsum":
        agree(
            backend,
            FRAME,
            lambda f, o: f.groupby("k")["x"].agg(function if f is not FRAME else name),
        )


def test_functions_among_names(backend):
    expected = FRAME.groupby("k").agg({"x": ["sum", "mean", "size"], "y": "max"})
    expected.columns = pd.MultiIndex.from_tuples(
        [("x", "sum"), ("x", "mean"), ("x", "len"), ("y", "max")]
    )
    for each in (backend.frame(FRAME), partitioned_at(backend.frame(FRAME), [3])):
        groups = each.gpuscan.groupby("k")
        lazy = groups.agg({"x": [np.sum, "mean", len], "y": [max]}), groups.agg(n=("y", len))
        found, rows = dask.compute(*lazy)
        same(backend.to_pandas(found), expected)
        assert backend.to_pandas(rows)["n"].tolist() == [3, 3, 2]
    same(FRAME.gpuscan.groupby("k")["x"].transform(len), FRAME.groupby("k")["x"].transform("size"))


@pytest.mark.parametrize("name", ["x", None])
def test_transform_of_a_series(backend, name):
    series = FRAME.set_index("k")["x"].rename(name)
    agree(backend, series, lambda s, o: s.groupby("k", **o).transform("sum"))
    agree(backend, series.rename_axis(None), lambda s, o: s.groupby(level=0, **o).transform("sum"))


@pytest.mark.parametrize("dropna", [True, False])
@pytest.mark.parametrize("keys", NULL_KEYS)
def test_null_keys(keys, dropna):
    frame = FRAME.assign(k=null_keys(keys, 8).array)
    groups = frame.groupby("k", dropna=dropna, observed=True)
    expected, numbers = groups["x"].transform("sum"), groups.ngroup()
    integers = groups["y"].transform("sum")
    for each in (frame, *(partitioned_at(frame, list(rows)) for rows in PARTITIONS)):
        found = each.gpuscan.groupby("k", dropna=dropna)
        answers = [found["x"].transform("sum"), found["y"].transform("sum")]
        if dropna or keys != "numbers as objects":  # which pandas does not sort beside nulls
            answers.append(found.ngroup())
        for answer, want in zip(
            dask.compute(*answers), (expected, integers, numbers), strict=False
        ):
            same(answer, want)


@pytest.mark.parametrize("ascending", [True, False])
@pytest.mark.parametrize("by", ["k", ["j", "k"], "row"])
def test_ngroup(backend, by, ascending):
    agree(backend, FRAME, lambda f, o: f.groupby(by, **o).ngroup(ascending))
    agree(backend, FRAME, lambda f, o: f.groupby(by, sort=False).ngroup(ascending))


def test_ngroup_of_clustered_groups(backend):
    agree(backend, FRAME, lambda f, o: f.groupby("k", **o).ngroup(), clustered=True)
    frame = backend.frame(pd.DataFrame({"k": [1, 1, 2, 1], "x": [1, 2, 3, 4]}))
    for each in (frame, partitioned_at(frame, [1, 3])):  # a key that comes back is another group
        groups = each.gpuscan.groupby("k", clustered=True)
        numbers, sums = dask.compute(groups.ngroup(), groups["x"].transform("sum"))
        assert backend.to_pandas(numbers).tolist() == [0, 0, 1, 2]
        assert backend.to_pandas(sums).tolist() == [3, 3, 3, 4]


def test_ngroups(backend):
    frame = backend.frame(FRAME)
    assert frame.gpuscan.groupby(["j", "k"]).ngroups == 5
    lazy = partitioned_at(frame, [0, 3]).gpuscan.groupby(["j", "k"], as_index=False)
    assert lazy.ngroups.compute() == 5


def test_pipe():
    groups = FRAME.gpuscan.groupby("k")["y"]
    same(groups.pipe(lambda g, by: g.max() - by, by=1), FRAME.groupby("k")["y"].max() - 1)
    same(groups.pipe((lambda by, g: g.max() - by, "g"), 1), FRAME.groupby("k")["y"].max() - 1)
    with pytest.raises(ValueError, match="'g' is the argument for the groups"):
        groups.pipe((lambda g: g, "g"), g=3)


EXTREMES = FRAME.dropna()


@pytest.mark.parametrize(("method", "clustered"), [("idxmax", False), ("idxmin", True)])
def test_labels_of_extremes(backend, method, clustered):
    def ask(columns, **more):
        return lambda f, o: getattr(f.groupby("k", **o, **more)[columns], method)()

    for columns in ("x", ["x", "y"]):
        agree(backend, EXTREMES, ask(columns), clustered)
        agree(backend, EXTREMES, ask(columns, as_index=False), clustered)
    agree(backend, FRAME, ask("x"), clustered)  # nulls are passed over
    agree(
        backend,
        EXTREMES.assign(y=EXTREMES["y"] > 2),
        lambda f, o: getattr(f.groupby("k", **o)["y"], method)(),
        clustered,
    )


LABELS = {
    "numbers": pd.RangeIndex(3),
    "a name": pd.Index(list("kab"), name="n"),
    "two levels": pd.MultiIndex.from_tuples([("k", ""), ("a", "x"), ("a", "y")], names=["p", "q"]),
}


@pytest.mark.parametrize("labels", LABELS)
def test_extremes_keep_the_labels_of_columns(labels):
    frame = pd.DataFrame([[1, 5.0, 1.0], [1, 4.0, 2.0], [2, 3.0, 3.0]], columns=LABELS[labels])
    by = frame.columns[0]
    for method in ("idxmax", "idxmin"):
        expected = getattr(frame.groupby(by), method)()
        for each in (frame, partitioned_at(frame, [1])):
            lazy = getattr(each.gpuscan.groupby(by), method)()
            pd.testing.assert_frame_equal(computed(lazy), expected)
            pd.testing.assert_index_equal(lazy.columns, expected.columns)


@pytest.mark.parametrize(("as_index", "clustered"), [(True, False), (False, True)])
def test_describe(backend, as_index, clustered):
    def ask(columns, *given):
        return lambda f, o: f.groupby("k", as_index=as_index, **o)[columns].describe(*given)

    agree(backend, FRAME, ask("x"), clustered)
    agree(backend, FRAME, ask(["x", "y"]), clustered)
    agree(backend, FRAME, ask(["x"], [0.5, 0.125, 0.9]), clustered)


def test_describe_of_narrow_floats():
    frame = FRAME.astype({"x": "float32"})  # whose deviations pandas rounds
    same(frame.gpuscan.groupby("k").x.describe(), frame.groupby("k").x.describe(), rtol=1e-6)


def test_describe_leaves_out_what_is_no_number():
    frame = FRAME.assign(s="a", b=True)
    for given in ([], None, [0.1]):
        same(frame.gpuscan.groupby("k").describe(given), frame.groupby("k").describe(given))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("dtype", ["Int64", "double[pyarrow]", "Float32", "float[pyarrow]"])
def test_describe_of_nullable_numbers(dtype):
    series = FRAME["y"].astype(dtype).where(FRAME["k"] != 2)
    frame = FRAME.assign(y=series)
    expected = frame.groupby("k")["y"].describe()
    for each in (frame, partitioned_at(frame, [3])):
        (found,) = dask.compute(each.gpuscan.groupby("k")["y"].describe())
        assert set(map(str, found.dtypes)) == {
            "double[pyarrow]" if "pyarrow" in dtype else "Float64"
        }
        rtol = 1e-6 if dtype in ("Float32", "float[pyarrow]") else 1e-9
        same(found.astype("float64"), expected.astype("float64"), rtol)


WRONG = [
    (lambda f: f.groupby("k").transform(lambda x: x), TypeError, "found the function <lambda>"),
    (lambda f: f.groupby("k").agg(lambda x: x), TypeError, "agg takes the name of a method"),
    (lambda f: f.groupby("k").agg(x=("x", np.ptp)), TypeError, "found the function ptp"),
    (lambda f: f.groupby("k").transform("summ"), ValueError, "did you mean 'sum'"),
    (lambda f: f.groupby("k")["x"].transform("quantile", [0.1]), ValueError, "one quantile"),
    (lambda f: f.groupby("k").ngroup(3), ValueError, "ascending must be True or False"),
    (lambda f: f.groupby("k", sort=False)["x"].idxmax(), ValueError, "leave out sort=False"),
    (lambda f: f.groupby("k")["s"].idxmax(), TypeError, "idxmax of column 's'"),
    (lambda f: f.groupby("k")["s"].describe(), TypeError, "of numbers, found column 's' of dtype"),
    (
        lambda f: f.groupby("k")["x"].describe([2]),
        ValueError,
        "percentiles must be between 0 and 1",
    ),
]


@pytest.mark.parametrize(("ask", "error", "message"), WRONG)
def test_wrong_arguments(ask, error, message):
    frame = FRAME.assign(s="a")
    for each in (frame, partitioned_at(frame, [3])):
        with pytest.raises(error, match=message):
            ask(each.gpuscan)


def test_groups_without_values_have_no_extreme():
    frame = FRAME.assign(x=FRAME["x"].where(FRAME["k"] != 1))
    for each in (frame, partitioned_at(frame, [3])):
        with pytest.raises(ValueError, match="idxmin of column 'x': a group has no values"):
            dask.compute(each.gpuscan.groupby("k")["x"].idxmin())
    levels = FRAME.set_index("j", append=True)
    with pytest.raises(ValueError, match="an index of one level"):
        levels.gpuscan.groupby("k")["x"].idxmax()


def test_streams_have_no_later_rows():
    groups = dask_gpuscan.stream(FRAME).gpuscan.groupby("k")
    with pytest.raises(NotImplementedError, match="transform needs rows that come later"):
        groups["x"].transform("sum")
    with pytest.raises(NotImplementedError, match="ngroup needs rows that come later"):
        groups.ngroup()
