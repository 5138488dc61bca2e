"""What calls share: operations that are made once for plain arguments, and their plans for columns of some dtypes."""

import math
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from dask.tokenize import tokenize

from dask_gpuscan.api.arguments import cumulative
from dask_gpuscan.frames.pandas.library import PANDAS
from dask_gpuscan.kernels import BUILT_IN
from dask_gpuscan.kernels.bounded_cache import BoundedCache
from dask_gpuscan.ops.core import plans
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


# --- plans of groups ---------------------------------------------------------------------------------

CALLS = {
    "sum": lambda groups: groups.sum(),
    "mean": lambda groups: groups.mean(),
    "max": lambda groups: groups.max(),
    "count": lambda groups: groups.count(),
    "std": lambda groups: groups.std(),
    "first": lambda groups: groups.first(),
    "cumsum": lambda groups: groups.cumsum(),
    "ffill": lambda groups: groups.ffill(),
    "cumcount": lambda groups: groups.cumcount(),
    "shift": lambda groups: groups.shift(),
    "diff": lambda groups: groups.diff(),
}


def frames():
    """Frames of the same labels that differ in values, in dtypes, in nulls of keys, and in the index."""
    x = [1.0, None, 3.0, 4.0]
    yield pd.DataFrame({"k": [2, 1, 2, 1], "x": x})
    yield pd.DataFrame({"k": [7, 7, 7, 7], "x": [0.5, -0.0, -7.0, 1.0]})
    yield pd.DataFrame({"k": [-5, 10**12, -5, 0], "x": x})
    yield pd.DataFrame({"k": [2.0, None, 2.0, 1.0], "x": x})
    yield pd.DataFrame({"k": [2.0, 3.0, 2.0, 1.0], "x": x})
    yield pd.DataFrame({"k": [2, 1, 2, 1], "x": [1, 2, 3, 4]})
    yield pd.DataFrame({"k": [2, 1, 2, 1], "x": pd.array([1, None, 3, 4], "Int64")})
    yield pd.DataFrame({"k": pd.Categorical(list("abab")), "x": x})
    yield pd.DataFrame({"k": pd.Categorical(list("baba"), list("ba")), "x": x})
    yield pd.DataFrame({"k": list("abab"), "x": x}, index=list("wxyz"))
    yield pd.DataFrame({"k": pd.array(list("abab"), pd.ArrowDtype(pa.string())), "x": x})
    yield pd.DataFrame({"k": [True, False, True, True], "x": x})
    yield pd.DataFrame({"k": [], "x": []})
    yield pd.DataFrame({"k": [3], "x": [2.5]})


@pytest.mark.parametrize("name", CALLS)
def test_plans_of_groups_hold_nothing_of_values(name):
    for _ in range(2):
        for frame in frames():
            if name in ("shift", "diff") and isinstance(frame["x"].dtype, pd.Int64Dtype):
                continue  # of pandas' own dtype
            call = CALLS[name]
            found, wanted = (
                call(frame.gpuscan.groupby("k")),
                call(frame.groupby("k", observed=True)),
            )
            if not len(frame):
                assert not len(found)
            elif name == "cumcount":
                nulls = frame["k"].isna()
                assert found[~nulls].tolist() == wanted[~nulls].tolist()
            else:
                pd.testing.assert_frame_equal(
                    found,
                    wanted,
                    check_dtype=name in ("sum", "max", "cumsum"),
                    check_column_type=False,
                )
            one = call(frame.gpuscan.groupby("k")["x"])
            if name != "cumcount" and len(frame):
                pd.testing.assert_series_equal(one, found["x"])


def test_labels_that_are_equal_and_not_the_same_have_plans_of_their_own():
    x = [1.0, 2.0, 4.0]
    for label in (1, 1.0, True, np.int64(1), "1", None):
        frame = pd.DataFrame([[0, 0, 1], x]).T.set_axis(["k", label], axis=1).astype({"k": int})
        found = frame.gpuscan.groupby("k").sum()
        assert list(map(repr, found.columns)) == list(map(repr, frame.columns[1:]))
        assert found.iloc[:, 0].tolist() == [3.0, 4.0]
    numbers = pd.DataFrame({0: [1, 1, 2], 1: x})
    for label in (0, 0.0, np.int64(0)):
        assert numbers.gpuscan.groupby([label]).sum()[1].tolist() == [3.0, 4.0]
    for label in (0.5, "0", None):
        for _ in range(2):
            with pytest.raises(ValueError, match="by"):
                numbers.gpuscan.groupby([label])


def test_columns_of_one_name_are_refused_or_answered_each_time():
    one = pd.DataFrame({"k": [1, 1, 2], "x": [1.0, 2.0, 4.0]})
    twice = pd.concat([one, one[["x"]]], axis=1)
    for frame in (one, twice, one, twice):
        if frame is one:
            assert frame.gpuscan.groupby("k").sum()["x"].tolist() == [3.0, 4.0]
            assert frame.gpuscan.groupby("k").cumsum()["x"].tolist() == [1.0, 3.0, 4.0]
        else:
            with pytest.raises(ValueError, match="twice"):
                frame.gpuscan.groupby("k").cumsum()


def test_sums_of_few_rows_carry_what_rounding_lost():
    x = [1e16, 1.0, -1e16, 1.0, 0.1]
    frame = pd.DataFrame({"k": 1, "x": x, "y": x})
    groups = frame.gpuscan.groupby("k")
    assert groups.sum()["x"].tolist() == [math.fsum(x)]
    assert groups.mean()["y"].tolist() == [math.fsum(x) / 5]
    assert groups.agg(a=("x", "sum"), b=("x", "max"))["a"].tolist() == [math.fsum(x)]


@pytest.mark.parametrize("name", ["sum", "cumsum", "count", "ffill"])
def test_threads_share_plans_of_groups(name):
    def call(seed):
        rng = np.random.default_rng(seed)
        frame = pd.DataFrame({"k": rng.integers(0, 1 + seed, 500), f"x{seed % 3}": rng.random(500)})
        found = CALLS[name](frame.gpuscan.groupby("k"))
        pd.testing.assert_frame_equal(found, CALLS[name](frame.groupby("k")))

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(call, range(64)))


def test_plans_keep_no_labels():
    scan, shift = cumulative("cumsum", False, False, False, False), Shift(1)
    kept = []
    for i in range(3):
        frame = pd.DataFrame(np.ones((2, 3)), columns=[f"{i}{name}" for name in "abc"])
        for operation, carry in ((scan, ColumnCarry), (shift, ColumnOverlap)):
            carry(operation).planned(PANDAS, frame)
        kept.append((len(scan.plans), len(shift.plans)))
    assert len(set(kept)) == 1


def test_initial_values_by_label_are_those_of_the_frame():
    initial = {"a": 1, "b": 10}
    for names in (["a", "b"], ["b", "a"], ["c", "a"]):
        frame = pd.DataFrame([[1, 1], [2, 2]], columns=names)
        found = frame.gpuscan.cumsum(initial={n: v for n, v in initial.items() if n in names})
        start = pd.Series([initial.get(n, 0) for n in names], names)
        pd.testing.assert_frame_equal(found, frame.cumsum() + start)
    scan = cumulative("cumsum", False, False, False, False, initial)
    for names in (["a", "b"], ["b", "a"]):
        frame = pd.DataFrame([[1, 1], [2, 2]], columns=names)
        found, _ = ColumnCarry(scan).planned(PANDAS, frame)
        assert [plan.options.initial for plan, _ in found] == [initial[name] for name in names]


def test_plans_of_frames_with_ever_new_labels_are_dropped(monkeypatch):
    monkeypatch.setattr(plans, "MOST_LABELS", 40)
    monkeypatch.setattr(plans, "SHARED", BoundedCache())
    for i in range(12):
        frame = pd.DataFrame(np.ones((2, 10)), columns=[f"{i}{name}" for name in "abcdefghij"])
        found = frame.gpuscan.groupby(f"{i}a").sum()
        pd.testing.assert_frame_equal(found, frame.groupby(f"{i}a").sum())
        assert 0 < len(plans.SHARED) <= 4
