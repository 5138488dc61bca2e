"""filter and partition: pandas' boolean indexing on the whole data, whatever the cuts and the kind of predicate."""

import datetime
import os
from types import ModuleType

import cloudpickle
import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.asked import computed
from helpers.backends import same
from helpers.strategies import FLOATS, INTEGERS, OTHERS, TIMES, columns, cuts, frames, partitioned
from helpers.versions import STRING

moves_columns = pytest.mark.usefixtures("columns_moved")

EVERY = (*INTEGERS, *FLOATS, *TIMES, *OTHERS)


@st.composite
def flags(draw, index, dtype="bool"):
    """A boolean series for an index, with nulls where the dtype has them."""
    one = st.booleans() if dtype == "bool" else st.booleans() | st.none()
    items = draw(st.lists(one, min_size=len(index), max_size=len(index)))
    return pd.Series(items, dtype=dtype, index=index)


@moves_columns
@given(
    data=st.data(),
    df=frames(EVERY),
    at=cuts(),
    dtype=st.sampled_from(["bool", "boolean", "bool[pyarrow]"]),
)
def test_a_boolean_series(backend, data, df, at, dtype):
    mask = data.draw(flags(df.index, dtype))
    kept, rest = df[mask.fillna(False)], df[~mask.fillna(False).astype(bool)]
    both = backend.frame(df.assign(mask=mask))
    frame, flag = both[list(df.columns)], both["mask"]
    same(backend.to_pandas(frame.gpuscan.filter(flag)), kept)
    ddf = partitioned(both, at)
    lazy, predicate = ddf[list(df.columns)], ddf["mask"]
    same(backend.to_pandas(lazy.gpuscan.filter(predicate).compute()), kept)
    sides = lazy.gpuscan.partition(predicate)
    for found, expected in zip(dask.compute(*sides), (kept, rest), strict=True):
        same(backend.to_pandas(found), expected)


@moves_columns
@given(x=columns(EVERY), data=st.data())
def test_a_series(backend, x, data):
    mask = data.draw(flags(x.index))
    same(backend.to_pandas(backend.frame(x).gpuscan.filter(backend.frame(mask))), x[mask])


numbers = pd.DataFrame(
    {
        "a": [1, 5, -3, 0, 7, 2],
        "b": [0.5, np.nan, 2.0, -1.0, np.inf, 2.0],
        "flag": [True, False, True, True, False, False],
        "name": ["x", "y", None, "x", "z", "y"],
        "odd name": pd.array([1, None, 3, 4, None, 6], dtype="Int64"),
        "when": pd.date_range("2026-01-01", periods=6),
        "small": np.array([1, 2, 3, 4, 5, 6], np.float32) / 10,
    },
    index=pd.Index(range(10, 16), name="row"),
)

TEXTS = {
    "a > 1": lambda f: f.a > 1,
    "0 < a <= 5": lambda f: (f.a > 0) & (f.a <= 5),
    "a > 1 and b < 3": lambda f: (f.a > 1) & (f.b < 3),
    "a > 1 or b < 3": lambda f: (f.a > 1) | (f.b < 3),
    "a > 1 & b < 3 | name == 'x'": lambda f: (f.a > 1) & (f.b < 3) | (f.name_ == "x"),
    "not (a > 1 or b == 2)": lambda f: ~((f.a > 1) | (f.b == 2)),
    "not (a > 1 and b == 2)": lambda f: ~((f.a > 1) & (f.b == 2)),
    "not b > 1": lambda f: ~(f.b > 1),
    "~(b == b)": lambda f: ~(f.b == f.b),
    "b != 2": lambda f: f.b != 2,
    "`odd name` > 2": lambda f: f.odd > 2,
    "`odd name` > 2 or a > 1": lambda f: (f.odd > 2) | (f.a > 1),
    "flag": lambda f: f.flag,
    "flag and a > 0": lambda f: f.flag & (f.a > 0),
    "a in [1, 7, -3]": lambda f: f.a.isin([1, 7, -3]),
    "name not in ('x', 'y')": lambda f: ~f.name_.isin(["x", "y"]),
    "a * 2 + 1 > b ** 2 - 3 / 4": lambda f: f.a * 2 + 1 > f.b**2 - 3 / 4,
    "a % 2 == 1 and a // 2 < 3": lambda f: (f.a % 2 == 1) & (f.a // 2 < 3),
    "when >= '2026-01-04'": lambda f: f.when >= "2026-01-04",
    "small < 0.3": lambda f: f.small < 0.3,
    "a < 1e300 and a < -0.5": lambda f: (f.a < 1e300) & (f.a < -0.5),
    "name == 'it\\'s' or name == \"z\"": lambda f: (f.name_ == "it's") | (f.name_ == "z"),
}


@pytest.mark.parametrize("text", list(TEXTS))
def test_text_means_what_it_means_to_the_library(backend, text):
    whole = backend.frame(numbers)
    named = whole.rename(columns={"name": "name_", "odd name": "odd"})
    truth = backend.to_pandas(TEXTS[text](named)).fillna(False).astype(bool)
    if backend.name == "cpu":
        assert truth[truth].index.equals(numbers.query(text, engine="python").index)
    expected = numbers[truth]
    same(backend.to_pandas(whole.gpuscan.filter(text)), expected)
    ddf = partitioned(whole, [0.3, 0.3, 0.8])
    same(backend.to_pandas(ddf.gpuscan.filter(text).compute()), expected)
    kept, rest = ddf.gpuscan.partition(text)
    same(backend.to_pandas(kept.compute()), expected)
    same(backend.to_pandas(rest.compute()), numbers.drop(expected.index))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a >", "no expression"),
        ("nothing > 1", "'nothing' is not a column; columns are 'a'"),
        ("__import__('os').system('true')", "holds .*accepted after a dot are"),
        ("__import__('os') > a", "holds .*Call.*accepted are"),
        ("a.real > 1", "Attribute"),
        ("a[0] > 1", "Subscript"),
        ("(lambda: a)() > 1", "Call"),
        ("[x for x in a]", "ListComp"),
        ("(b := 3) > a", "NamedExpr"),
        ("a == None", "Constant"),
        ("a is True", "Compare"),
        ("a > 1j", "Constant"),
        ("a" + " + 1" * 300 + " > 1", "nested deeper"),
        ("a > 1" + " " * 30000, "at most"),
        ("_column_0_ > `odd name`", "'_column_0_' is not a column"),
    ],
)
def test_text_outside_of_the_grammar(backend, text, message):
    whole = backend.frame(numbers)
    for frame in (whole, partitioned(whole, [0.5])):
        with pytest.raises(ValueError, match=message):
            frame.gpuscan.filter(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a", "must be boolean, found dtype int64"),
        ("a + 1", "must be boolean"),
        ("a and flag", "boolean operand is needed"),
        ("name > 3", "predicate 'name > 3'"),
        ("name + 1 == 2", "predicate 'name"),
        ("not name", "predicate 'not name'"),
    ],
)
def test_text_that_is_not_boolean(backend, text, message):
    whole = backend.frame(numbers.astype({"name": STRING}))
    for frame in (whole, partitioned(whole, [0.5])):
        with pytest.raises(TypeError, match=message):
            frame.gpuscan.filter(text)


def test_names_that_are_there_twice():
    frame = pd.DataFrame([[1, 2]], columns=["x", "x"])
    with pytest.raises(ValueError, match="two columns named 'x'"):
        frame.gpuscan.filter("x > 1")
    with pytest.raises(ValueError, match="twice"):
        frame.gpuscan.filter(lambda x: x > 1)


def above(a, b):
    return a > 1 and b < 3.0


limit = 2


@moves_columns
@pytest.mark.parametrize("at", [[], [0.5]])
def test_functions(backend, at):
    whole = backend.frame(numbers)
    ddf = partitioned(whole, at)
    nan = numbers.b.isna() & (
        backend.name == "cpu"
    )  # to cuDF they are nulls, which no function sees
    for function, expected in [
        (above, (numbers.a > 1) & (numbers.b < 3)),
        (lambda b: b != b, nan),
        (lambda a: a % limit == 1, numbers.a % 2 == 1),
        (lambda flag: not flag, ~numbers.flag),
    ]:
        same(backend.to_pandas(whole.gpuscan.filter(function)), numbers[expected])
        same(backend.to_pandas(ddf.gpuscan.filter(function).compute()), numbers[expected])
        rest = ddf.gpuscan.partition(function)[1]
        same(backend.to_pandas(rest.compute()), numbers[~expected])
    nullable = numbers["odd name"]
    found = whole["odd name"].gpuscan.filter(lambda x: x != 3)
    same(backend.to_pandas(found), nullable[nullable != 3])
    found = ddf.b.gpuscan.filter(lambda x: x > 0).compute()
    same(backend.to_pandas(found), numbers.b[numbers.b > 0])


def reads(a):
    return open("a file").read() == a


def asks(a):
    return os.path.exists(str(a))


def imports(a):
    import math

    return math.sqrt(a) > 1


def prints(a):
    print(a)
    return a > 1


@pytest.mark.parametrize(
    ("predicate", "error", "message"),
    [
        (lambda nothing: nothing > 1, ValueError, "parameter 'nothing' is not a column"),
        (lambda: True, TypeError, "must take columns by name"),
        (lambda *a: True, TypeError, "must take columns by name"),
        (lambda name: name == "x", TypeError, "takes column 'name' of dtype"),
        (lambda when: when > 0, TypeError, "takes column 'when' of dtype"),
        (lambda a: a.banana > 1, TypeError, "predicate <lambda> cannot be compiled.*banana"),
        (reads, TypeError, "predicate reads cannot be compiled .*open.*may use arithmetic"),
        (asks, TypeError, "predicate asks cannot be compiled .*give a boolean Series or a text"),
        (
            imports,
            TypeError,
            "predicate imports cannot be compiled .*(IMPORT_NAME|found for signature: lift)",
        ),
        (prints, TypeError, "prints calls print, for which threads would wait"),
        (lambda a: a + 0.5, TypeError, "must be boolean, found a function that returns float64"),
        (lambda a: (a, a), TypeError, "predicate"),
        (3, TypeError, "must be a boolean Series, a string or a function, found int"),
        (None, TypeError, "found NoneType"),
        (print, TypeError, "found builtin_function_or_method"),
    ],
)
def test_bad_predicates(backend, predicate, error, message):
    whole = backend.frame(numbers)
    for frame in (whole, partitioned(whole, [0.5])):
        with pytest.raises(error, match=message):
            frame.gpuscan.filter(predicate)


def test_text_about_intervals():
    frame = pd.DataFrame({"x": pd.arrays.IntervalArray.from_breaks([0, 1, 2]), "y": [1, 2]})
    lazy = partitioned(frame, [0.5])
    for text in ("x.notnull()", "x != x or y > 1"):
        found, series = dask.compute(
            lazy.gpuscan.filter(text), lazy["x"].gpuscan.filter("x.notnull()")
        )
        same(found, frame.gpuscan.filter(text))
        same(series, frame["x"])


@pytest.mark.parametrize("dtype", ["date32[day][pyarrow]", "date64[ms][pyarrow]"])
def test_text_about_dates_of_arrow(dtype):
    days = [datetime.date(2026, 1, 1), datetime.date(2026, 1, 2), None]
    frame = pd.DataFrame({"d": pd.array(days, dtype=dtype)})
    for text, rows in {
        "d == '2026-01-02'": [1],
        "d != '2026-01-02'": [0],
        "d < '2026-01-02'": [0],
        "'2026-01-01' < d": [1],
        "'2026-01-01' <= d <= '2026-01-02 00:00'": [0, 1],
    }.items():
        for each in (frame, partitioned(frame, [0.5])):
            assert computed(each.gpuscan.filter(text)).index.tolist() == rows, text
    with pytest.raises(TypeError, match="has a time of day, and is compared with dates"):
        frame.gpuscan.filter("d >= '2026-01-01 12:00'")


def test_predicates_of_other_rows(backend):
    whole = backend.frame(numbers)
    ddf = partitioned(whole, [0.5])
    with pytest.raises(ValueError, match="as many rows as the frame, found 2 for 6"):
        whole.gpuscan.filter(whole.flag.iloc[:2])
    with pytest.raises(ValueError, match="index of the frame"):
        whole.gpuscan.filter(whole.flag.reset_index(drop=True))
    with pytest.raises(TypeError, match="must be boolean, found dtype int64"):
        whole.gpuscan.filter(whole.a)
    with pytest.raises(TypeError, match="must be boolean, found dtype int64"):
        ddf.gpuscan.filter(ddf.a)
    with pytest.raises(TypeError, match="compute it first"):
        whole.gpuscan.filter(ddf.flag)
    with pytest.raises(TypeError, match="must be a Dask Series"):
        ddf.gpuscan.filter(whole.flag)
    with pytest.raises(ValueError, match="divisions are unknown"):
        ddf.gpuscan.filter(partitioned(whole.flag, [0.2]))
    mask = backend.array(numbers.flag.to_numpy())
    same(backend.to_pandas(whole.gpuscan.filter(mask)), numbers[numbers.flag])
    with pytest.raises(ValueError, match="rebalance must be True or False"):
        ddf.gpuscan.filter("a > 1", rebalance="yes")


@moves_columns
def test_known_divisions_are_aligned_and_kept(backend):
    whole = backend.frame(numbers)
    ddf, other = dd.from_pandas(whole, npartitions=3), dd.from_pandas(whole, npartitions=2)
    kept = ddf.gpuscan.filter(ddf.flag)
    assert kept.divisions == ddf.divisions
    same(backend.to_pandas(kept.compute()), numbers[numbers.flag])
    aligned = ddf.gpuscan.filter(other.flag)
    same(backend.to_pandas(aligned.compute()), numbers[numbers.flag])
    same(backend.to_pandas((kept.a + ddf.a).compute()), numbers.a[numbers.flag] + numbers.a)


@moves_columns
@given(df=frames(EVERY), at=cuts(), data=st.data())
def test_rebalance(backend, df, at, data):
    mask = data.draw(flags(df.index))
    ddf = partitioned(backend.frame(df.assign(mask=mask)), at)
    even = ddf[list(df.columns)].gpuscan.filter(ddf["mask"], rebalance=True)
    lengths = [len(part) for part in dask.compute(*even.to_delayed())]
    assert max(lengths) - min(lengths) <= 1
    assert len(even) == sum(lengths) == mask.sum()
    same(backend.to_pandas(even.compute()), df[mask])
    assert even.npartitions == ddf.npartitions


def test_lengths_are_known_after_rebalancing(backend):
    ddf = partitioned(backend.frame(numbers), [0.2, 0.4])
    even = ddf.gpuscan.filter("a > 0", rebalance=True)
    assert even.a.to_dask_array(lengths=True).chunks == ((1, 1, 2),)
    assert len(even.a) == len(even[["a", "b"]]) == 4
    assert "columns=['a']" in even[["a"]].optimize(fuse=False).expr.tree_repr()
    same(backend.to_pandas(even.b.compute()), numbers.b[numbers.a > 0])


def test_only_columns_that_are_needed_are_read(tmp_path):
    dd.from_pandas(numbers, npartitions=2).to_parquet(tmp_path)
    ddf = dd.read_parquet(tmp_path)
    for predicate in ("a > 1", lambda a: a > 1, ddf.a > 1):
        lazy = ddf.gpuscan.filter(predicate)["b"]
        tree = str(lazy.optimize(fuse=False).expr.tree_repr())
        assert "'name'" not in tree, tree
        same(lazy.compute(), numbers.b[numbers.a > 1])


def test_names_follow_content(backend):
    ddf = partitioned(backend.frame(numbers), [0.5])
    name = ddf.gpuscan.filter("a > 1")._name
    assert name.startswith("filter-")
    assert name == ddf.gpuscan.filter("a > 1")._name != ddf.gpuscan.filter("a > 2")._name
    one, other = (ddf.gpuscan.filter(lambda a: a > 1) for _ in range(2))
    assert one._name == other._name != ddf.gpuscan.filter(lambda a: a > 2)._name


def test_predicates_travel(backend):
    ddf = partitioned(backend.frame(numbers), [0.5]).gpuscan.filter(lambda a: a % limit == 1)
    travelled = cloudpickle.loads(cloudpickle.dumps(ddf))
    assert travelled._name == ddf._name
    same(backend.to_pandas(travelled.compute()), numbers[numbers.a % 2 == 1])


def test_constants_of_modules_are_those_of_the_call():
    limits = ModuleType("limits")
    x = pd.Series([-2.0, 3.0])

    def above(module):
        return lambda x: x > module.LIMIT

    for limit, kept in [(0, [3.0]), (-5, [-2.0, 3.0]), (7, [])]:
        limits.LIMIT = limit
        assert x.gpuscan.filter(above(limits)).tolist() == kept
        assert x.gpuscan.filter(lambda x: (lambda y: y > limits.LIMIT)(x)).tolist() == kept


@moves_columns
@pytest.mark.parametrize(
    "mask",
    [
        np.array([True, False, True]),
        pd.Index([True, False, True]),
        pd.array([True, None, True], dtype="boolean"),
        pd.array([True, None, True], dtype="bool[pyarrow]"),
    ],
)
def test_masks_without_an_index_are_met_by_position(mask):
    df = pd.DataFrame({"x": [1, 2, 3]}, index=[5, 6, 7])
    assert df.gpuscan.filter(mask).index.tolist() == [5, 7]
