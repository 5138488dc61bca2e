"""Equal rows wherever they are: pandas' answers on the whole data, in the rows' own order."""

import dask
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from helpers.asked import check, computed
from helpers.backends import same
from helpers.strategies import columns, cuts, frames, partitioned
from helpers.versions import since

moves_columns = pytest.mark.usefixtures("columns_moved")

DTYPES = ("int64", "int8", "float64", "Int64", "str", "category", "datetime64[ns]")
KEEP = st.sampled_from(["first", "last", False])


@moves_columns
@given(df=frames(DTYPES), at=cuts(), keep=KEEP, ignore=st.booleans(), one=st.booleans())
def test_drop_duplicates(backend, df, at, keep, ignore, one):
    options = {"subset": "c0" if one else None, "keep": keep, "ignore_index": ignore}
    df.index = pd.Index(np.arange(len(df)) // 2, name="row")
    ask = lambda it: it.drop_duplicates(**options)  # noqa: E731
    expected = df.drop_duplicates(**options)
    if ignore:  # which pandas does not look at where there are no rows
        expected = expected.reset_index(drop=True)
    check(backend, df, at, ask, expected)


@moves_columns
@given(x=columns(DTYPES), at=cuts(), keep=KEEP, ignore=st.booleans())
def test_drop_duplicates_of_a_series(backend, x, at, keep, ignore):
    options = {"keep": keep, "ignore_index": ignore}
    ask = lambda it: it.drop_duplicates(**options)  # noqa: E731
    check(backend, x, at, ask, x.drop_duplicates(**options))


@moves_columns
@given(df=frames(DTYPES), at=cuts(), keep=KEEP, one=st.booleans())
def test_duplicated(backend, df, at, keep, one):
    subset = "c0" if one else None
    expected = df.duplicated(subset, keep=keep)
    expected.index = df.index  # of no rows pandas 3.0 has none
    check(backend, df, at, lambda it: it.duplicated(subset, keep), expected)
    expected = df["c0"].duplicated(keep=keep)
    check(backend, df["c0"], at, lambda it: it.duplicated(keep=keep), expected)


def test_half_floats_are_told_apart():
    x = pd.Series(np.array([1, 1, 2, np.nan, -0.0, 0.0, np.nan], "float16"), name="x")
    for each in (x, partitioned(x, [0.3, 0.8])):
        same(computed(each.gpuscan.drop_duplicates()), x.drop_duplicates())
        with pytest.raises(TypeError, match="column 'x' of dtype float16 cannot be an index"):
            each.gpuscan.value_counts()


@pytest.mark.parametrize("dtype", ["float64", "Float64", "double[pyarrow]", "float[pyarrow]"])
@pytest.mark.parametrize("keep", ["first", "last", False])
def test_zeros_of_either_sign_are_equal(dtype, keep):
    x = pd.Series([0.0, 1.0, -0.0, None, 0.0, 2.0], dtype=dtype, name="x")
    whole = x.to_frame().assign(y=1)
    for each in (x, x.to_frame(), whole):
        # pandas keeps both zeros of Arrow's beside another column
        expected = each[~x.duplicated(keep=keep)]
        for rows in (each, partitioned(each, [0.1, 0.4, 0.4, 0.6])):
            same(computed(rows.gpuscan.drop_duplicates(keep=keep)), expected)


@since("pyarrow", "26", "Arrow does not number half floats")
def test_zeros_of_half_floats_of_arrow_are_equal():
    halves = pa.array(
        np.array([-0.0, 0.0, 1.0, np.nan, -0.0, np.nan], "float16"), from_pandas=False
    )
    x = pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([halves])), name="x")
    for each in (x, partitioned(x, [0.3, 0.8])):
        found, runs = dask.compute(each.gpuscan.drop_duplicates(), each.gpuscan.rle())
        assert found.dtype == x.dtype
        assert found.index.tolist() == [0, 2, 3]
        assert runs["run_length"].tolist() == [2, 1, 1, 1, 1]


def test_levels_of_the_index_are_no_columns():
    frame = pd.DataFrame({"k": [1, 1, 2], "v": [1, 1, 3]}, pd.Index([1, 1, 2], name="k"))
    for each in (frame, partitioned(frame, [0.3, 0.8])):
        found = dask.compute(
            each.gpuscan.drop_duplicates(),
            each.gpuscan.drop_duplicates(["k"], keep="last"),
            each.gpuscan.unique_consecutive("k"),
            each.gpuscan.nlargest(2, "k"),
            each.gpuscan.value_counts(),
        )
        same(found[0], frame.drop_duplicates())
        same(found[1], frame.drop_duplicates(["k"], keep="last"))
        same(found[2], frame.drop_duplicates())
        same(found[3], frame.nlargest(2, "k"))
        same(found[4], frame.reset_index(drop=True).value_counts())


def test_labels_that_are_numbers_of_numpy():
    frame = pd.DataFrame([[1, 3, 5], [1, 3, 5], [2, 4, 6]], columns=[2, 0, 1])
    for subset in ([frame.columns[0]], list(frame.columns[:2])):
        same(frame.gpuscan.value_counts(subset=subset), frame.value_counts(subset=subset))
    same(frame.gpuscan.value_counts(subset=frame.columns[0]), frame[2].value_counts())


def test_bad_arguments_of_drop_duplicates():
    frame = pd.DataFrame({"x": [1, 1]})
    for each in (frame, partitioned(frame, [])):
        with pytest.raises(ValueError, match="keep must be one of 'first', 'last', False"):
            each.gpuscan.drop_duplicates(keep="any")
        with pytest.raises(ValueError, match="keep must be one of"):
            each.gpuscan.drop_duplicates(keep=0)
        with pytest.raises(ValueError, match="subset='y' is not a column"):
            each.gpuscan.drop_duplicates("y")
        with pytest.raises(ValueError, match="ignore_index must be True or False"):
            each.gpuscan.drop_duplicates(ignore_index=1)


@moves_columns
@given(
    x=columns((*DTYPES, "bool", "int64[pyarrow]", "string[pyarrow]", "object", "boolean")),
    at=cuts(),
    normalize=st.booleans(),
    sort=st.booleans(),
    ascending=st.booleans(),
    dropna=st.booleans(),
)
def test_value_counts(backend, x, at, normalize, sort, ascending, dropna):
    # pandas has nulls of nullable columns last among values that are there as often, and None where ours are NaN
    dropna = dropna or str(x.dtype) in ("Int64", "boolean", "object")
    options = {"normalize": normalize, "sort": sort, "ascending": ascending, "dropna": dropna}
    ask = lambda it: it.value_counts(**options)  # noqa: E731
    expected, theirs = ask(x), backend.answer(x, ask)
    assume(theirs is not None)
    check(backend, x, at, ask, expected.astype(theirs.dtype))


@moves_columns
@pytest.mark.parametrize("rows", [1 << 15, (1 << 15) + 1, 1 << 18])
@pytest.mark.parametrize("ascending", [False, True])
def test_value_counts_of_many_rows(rows, ascending):
    wide = np.random.default_rng(0).integers(0, 3 * rows, rows)
    for numbers in (wide, wide % 1000, np.zeros(rows, "u1"), np.where(wide % 5, wide, np.nan)):
        x = pd.Series(numbers, name="x")
        same(x.gpuscan.value_counts(ascending=ascending), x.value_counts(ascending=ascending))


@since("pandas", "3", "value_counts of frames orders rows by their values")
@given(
    df=frames(("int64", "float64", "str", "Int64", "bool", "datetime64[ns]", "string[pyarrow]")),
    at=cuts(),
    normalize=st.booleans(),
    sort=st.booleans(),
    ascending=st.booleans(),
    dropna=st.booleans(),
    chosen=st.sampled_from(["all", "last", "name"]),
)
def test_value_counts_of_rows(backend, df, at, normalize, sort, ascending, dropna, chosen):
    assume(len(df.columns))
    last = df.columns[-1]
    options = {"normalize": normalize, "sort": sort, "ascending": ascending, "dropna": dropna}
    options["subset"] = {"all": None, "last": [last], "name": last}[chosen]
    ask = lambda it: it.value_counts(**options)  # noqa: E731
    check(backend, df, at, ask, ask(df))


def test_bad_arguments_of_value_counts():
    frame = pd.DataFrame({"x": [1, 1]})
    for each in (frame, partitioned(frame, [])):
        with pytest.raises(ValueError, match="subset='y' is not a column"):
            each.gpuscan.value_counts(subset=["y"])
        with pytest.raises(TypeError, match=r"takes columns as subset=, found \['x'\]"):
            each.gpuscan.value_counts(["x"])
        with pytest.raises(TypeError, match="subset is for DataFrames"):
            each.x.gpuscan.value_counts(subset="x")
        with pytest.raises(TypeError, match="value_counts of column 'x': pairs of categories"):
            each.assign(y=1).astype("category").gpuscan.value_counts()
        with pytest.raises(ValueError, match="sort must be True or False"):
            each.x.gpuscan.value_counts(sort="yes")


@pytest.mark.parametrize(
    "options", [{}, {"dropna": False}, {"normalize": True}, {"ascending": True}]
)
def test_value_counts_of_one_column_of_categories(options):
    kinds = pd.Categorical(["a", "b", "a", None, "a"], categories=["a", "b", "z"])
    frame = pd.DataFrame({"x": kinds, "y": 1})
    for each in (frame, partitioned(frame, [0.4])):
        for lazy in (
            each[["x"]].gpuscan.value_counts(**options),
            each.gpuscan.value_counts(subset=["x"], **options),
        ):
            same(computed(lazy), frame.value_counts(subset=["x"], **options))


def test_value_counts_of_a_column_without_a_name():
    df = pd.DataFrame({None: [1, 1, 2]})
    found = df.gpuscan.value_counts()
    assert isinstance(found.index, pd.MultiIndex)
    same(found, df.value_counts())


@moves_columns
@pytest.mark.parametrize("subset", [np.array(["x", "y"]), pd.Index(["y"]), ("x", "y")])
def test_subset_of_names_in_an_array_or_an_index(subset):
    frame = pd.DataFrame({"x": [1, 1, 2, 1], "y": [3, 3, 3, 4], "z": [5, 6, 7, 8]})
    for each in (frame, partitioned(frame, [0.5])):
        found = dask.compute(each.gpuscan.drop_duplicates(subset=subset))[0]
        same(found, frame.drop_duplicates(subset=subset))


@moves_columns
@pytest.mark.parametrize("keep", ["first", "last", False])
@pytest.mark.parametrize("step", [1, 10**9, 0.25])
def test_many_distinct_values(backend, step, keep):
    rng = np.random.default_rng(9)
    df = pd.DataFrame({"k": rng.integers(-4_000, 5_000, 20_000) * step, "n": range(20_000)})
    expected = df.drop_duplicates("k", keep=keep)
    check(backend, df, [0.1, 0.1, 0.7], lambda it: it.drop_duplicates("k", keep=keep), expected)


@given(
    rows=st.lists(
        st.tuples(st.sampled_from(["a", "b", None]), st.none() | st.integers(0, 4)), max_size=16
    ),
    at=cuts(),
)
def test_the_newest_row_of_each_key(backend, rows, at):
    df = pd.DataFrame(rows, columns=["k", "t"]).astype({"k": "str", "t": "float64"})
    df = df.assign(x=range(len(df)))
    known = df.dropna()
    newest = [own.index[own.t == own.t.max()][-1] for _, own in known.groupby("k")]
    expected = known.loc[sorted(newest)]
    frame = backend.frame(df)
    for one in (frame, partitioned(frame, at)):
        same(backend.to_pandas(computed(one.gpuscan.latest("k", by="t"))), expected)
    with pytest.raises(ValueError, match="by='z' is not a column"):
        frame.gpuscan.latest("k", by="z")
    with pytest.raises(TypeError, match="found a Series"):
        frame["x"].gpuscan.latest("k", by="t")
