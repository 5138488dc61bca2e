"""What calls share: operations that are made once for plain arguments, and their plans for columns of some dtypes."""

import math
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from dask.tokenize import tokenize

from dask_gpuscan.api.arguments import cumulative
from dask_gpuscan.kernels import BUILT_IN
from dask_gpuscan.ops.core.columnwise import ColumnCarry
from dask_gpuscan.ops.core.plans import MADE, made_once
from dask_gpuscan.ops.predicates.text import Expression
from dask_gpuscan.ops.windows.expanding import ExpandingPick, ExpandingStatistic
from dask_gpuscan.ops.windows.rolling import RollingColumns, RollingStatistic, RowShape
from dask_gpuscan.ops.windows.shift import Shift
from dask_gpuscan.ops.windows.surroundings import ColumnOverlap

PLAIN = [0, 0.0, -0.0, False, None, "0", "", 1, 1.0, True, math.nan, 10**30]


def made(*given):
    return list(given)


@pytest.mark.parametrize("one", PLAIN)
def test_the_same_plain_arguments_have_one_object(one):
    found = made_once(made, one, "x")
    assert found[1] == "x"
    assert repr(found[0]) == repr(one)
    assert made_once(made, one, "x") is found
    others = [made_once(made, other, "x") for other in PLAIN if other is not one]
    assert not any(other is found for other in others)


@pytest.mark.parametrize(
    "one",
    [np.float64(1), [1], (1,), {"a": 1}, np.arange(3), made, 10**5000, 10**4000, "a" * 1020],
    ids=type,
)
def test_other_arguments_are_not_kept(one):
    before = len(MADE)
    assert made_once(made, one) is not made_once(made, one)
    assert len(MADE) == before


def test_what_is_refused_is_refused_each_time():
    frame = pd.DataFrame({"x": [1, 2], "o": [{}, []]})
    for call in (
        lambda: frame.gpuscan.cumsum(exclusive=2),
        lambda: frame.gpuscan.cumsum(),
        lambda: frame[["x"]].gpuscan.cumsum(dtype="no dtype"),
        lambda: frame[["x"]].gpuscan.cumsum(initial="a"),
        lambda: frame.gpuscan.groupby("x").cumsum(lower=2, upper=1),
        lambda: frame.gpuscan.rolling(0),
        lambda: frame.gpuscan.rolling(2, min_periods=3),
        lambda: frame.gpuscan.rolling(2).sum(),
        lambda: frame.gpuscan.expanding().mean(),
        lambda: frame.gpuscan.ewm(span=2).var(),
        lambda: frame.gpuscan.groupby("x").rolling(1).max(),
        lambda: frame.gpuscan.diff(),
        lambda: frame[["x"]].gpuscan.shift(fill_value="a"),
        lambda: frame.gpuscan.filter("x >"),
        lambda: frame.gpuscan.filter("o > 1"),
        lambda: frame.gpuscan.groupby("x").mean(),
    ):
        texts = []
        for _ in range(3):
            with pytest.raises((TypeError, ValueError)) as error:
                call()
            texts.append((error.type, str(error.value), error.value.__cause__ is None))
        assert len(set(texts)) == 1


@pytest.mark.parametrize("first", [0.0, -0.0, 1, True, 1.0])
def test_initial_values_that_are_equal_are_told_apart(first):
    x = pd.Series([-0.0, -0.0])
    for initial in (0.0, -0.0, first):
        found = x.gpuscan.cumsum(initial=initial)
        assert math.copysign(1, found[0]) == math.copysign(1, initial + -0.0)


def test_initial_values_by_column_are_checked_for_each():
    frame = pd.DataFrame({"a": [1, 2], "b": [3, 4]})
    assert frame.gpuscan.cumsum(initial={"a": 1, "b": 2})["b"].tolist() == [5, 9]
    assert frame.gpuscan.cumsum(initial={"a": 1})["b"].tolist() == [3, 7]
    with pytest.raises(TypeError, match="'b'"):
        frame.gpuscan.cumsum(initial={"a": 1, "b": "text"})


@pytest.mark.parametrize("first", [1, 1.0, True])
def test_fills_that_are_equal_are_told_apart(first):
    x = pd.Series([1, 2], dtype=object)
    for fill in (first, 1, 1.0, True):
        found = x.gpuscan.shift(fill_value=fill).tolist()
        assert repr(found) == repr([fill, 1])


def test_options_are_told_apart():
    assert made_once(dict, a=1) is made_once(dict, a=1)
    assert made_once(dict, a=1) is not made_once(dict, a=True)
    x = pd.Series([1.0, 2.0, 4.0])
    for _ in range(2):
        for ddof in (0, 1):
            rolled, expanded = x.gpuscan.rolling(2), x.gpuscan.expanding()
            pd.testing.assert_series_equal(rolled.var(ddof=ddof), x.rolling(2).var(ddof=ddof))
            pd.testing.assert_series_equal(expanded.var(ddof=ddof), x.expanding().var(ddof=ddof))


DTYPES = ["int8", "int64", "uint16", "float32", "float64", "bool", "Int64", "Float32", "boolean"]


def test_one_scan_of_columns_of_many_dtypes():
    scan = made_once(cumulative, "cummax", False, False, False, False)
    assert made_once(cumulative, "cummax", False, False, False, False) is scan
    for _ in range(2):
        for dtype in DTYPES:
            x = pd.Series([1, 0, 1], dtype=dtype)
            pd.testing.assert_series_equal(x.gpuscan.cummax(), x.cummax())
            both = pd.DataFrame({"x": x, "y": [3, 1, 4]})
            pd.testing.assert_frame_equal(both.gpuscan.cummax(), both.cummax())


def test_one_window_of_columns_of_many_dtypes():
    for _ in range(2):
        for dtype in [*DTYPES, "datetime64[ns]", "timedelta64[ns]"]:
            x = pd.Series([1, 0, 1, 1], dtype="int64").astype(dtype)
            for found, wanted in (
                (x.gpuscan.rolling(2, 1).max(), [1, 1, 1, 1]),
                (x.gpuscan.expanding().min(), [1, 0, 0, 0]),
                (x.gpuscan.shift(-1, fill_value=x[0]), [0, 1, 1, 1]),
            ):
                assert found.astype("int64").tolist() == wanted


CARRIES = {
    "scan": ColumnCarry(cumulative("cumsum", False, False, False, False)),
    "expanding": ColumnCarry(
        ExpandingPick("max", ExpandingStatistic("max", BUILT_IN["maximum"], 1))
    ),
    "rolling": RollingColumns(RollingStatistic("sum", RowShape(1), 1)),
    "shift": ColumnOverlap(Shift(1)),
}


@pytest.mark.parametrize("kind", CARRIES)
def test_plans_are_in_no_token_or_pickle(kind):
    carry = CARRIES[kind]
    before = tokenize(carry), pickle.dumps(carry)
    frame = pd.DataFrame({"x": [1, 2], "y": [0.5, None]})
    found = carry.whole(frame)
    assert carry.operation.plans
    assert (tokenize(carry), pickle.dumps(carry)) == before
    again = pickle.loads(before[1])
    assert again == carry
    pd.testing.assert_frame_equal(again.whole(frame), found)


@pytest.mark.skipif(pd.__version__ < "3", reason="pandas 2 has no running maximum of categories")
def test_categories_are_not_kept():
    scan = cumulative("cummax", False, False, False, False)
    values = pd.Categorical(["b", "a", "c"], ["a", "b", "c"], ordered=True)
    found = ColumnCarry(scan).whole(pd.DataFrame({"x": values}))
    assert found["x"].tolist() == ["b", "b", "c"]
    assert not scan.plans


# --- labels of columns --------------------------------------------------------------------------------


def test_labels_are_of_the_kind_that_options_ask_for():
    x = pd.Series([1, 1, 2])
    usual = x.gpuscan.rle().columns
    with warnings.catch_warnings(), pd.option_context("mode.string_storage", "python"):
        warnings.simplefilter("ignore")
        found, wanted = x.gpuscan.rle().columns, pd.Index(list(usual))
        assert repr(found.dtype) == repr(wanted.dtype)
        assert found.equals(wanted)
        with pd.option_context("future.infer_string", False):
            assert x.gpuscan.rle().columns.dtype == pd.Index(list(usual)).dtype
    assert repr(x.gpuscan.rle().columns.dtype) == repr(usual.dtype)


def test_labels_of_an_answer_are_its_own():
    frame = pd.DataFrame({"k": [1, 1], "x": [1, 2]})
    for call in (lambda: frame["x"].gpuscan.rle(), lambda: frame.gpuscan.groupby("k").cumsum()):
        call().columns.name = "changed"
        assert call().columns.name is None
    named = frame.rename_axis(columns="names")
    assert named.gpuscan.groupby("k").cumsum().columns.name == "names"
    assert frame.gpuscan.groupby("k").cumsum().columns.name is None


def test_a_predicate_keeps_no_columns():
    text = "x > 0.5"
    small, large = pd.DataFrame({"x": [0.0, 1.0]}), pd.DataFrame({"x": [3, 0, 2]})
    predicate = made_once(Expression, text)
    before = tokenize(predicate), pickle.dumps(predicate)
    for _ in range(2):
        assert small.gpuscan.filter(text)["x"].tolist() == [1.0]
        assert large.gpuscan.filter(text)["x"].tolist() == [3, 2]
    assert predicate.plans
    assert (tokenize(predicate), pickle.dumps(predicate)) == before
