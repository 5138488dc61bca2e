"""scan with any operator: users' own, tuple states, several input columns; and what operators promise."""

import pickle
import sys
import types

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from dask.base import tokenize
from hypothesis import given
from hypothesis import strategies as st

import dask_gpuscan
from dask_gpuscan import (
    Operator,
    add,
    affine,
    check_associative,
    first,
    last,
    maximum,
    minimum,
    operator,
    segmented,
    welford,
)
from helpers.asked import computed, refusals
from helpers.backends import same
from helpers.programs import run
from helpers.strategies import columns, cuts, partitioned

settings = None  # a module that a test puts here
argmax = operator(
    lambda a, b: b if b[0] > a[0] else a,
    identity=(-np.inf, -1),
    lift=lambda x, i: (x, i),
    lower=lambda s: s[1],
    name="argmax",
)


@given(
    x=columns(("int64", "float64", "Int64", "double[pyarrow]")), at=cuts(), reverse=st.booleans()
)
def test_built_ins_equal_the_methods(backend, x, at, reverse):
    ddf = partitioned(backend.frame(x), at)
    for op, method in ((add, "cumsum"), (maximum, "cummax"), (minimum, "cummin")):
        one = ddf.gpuscan.scan(op, reverse=reverse).compute()
        other = getattr(ddf.gpuscan, method)(reverse=reverse).compute()
        same(backend.to_pandas(one), backend.to_pandas(other))


@given(at=cuts(), x=st.lists(st.integers(-9, 9).map(float), min_size=1, max_size=20))
def test_operator_of_two_columns(backend, at, x):
    df = pd.DataFrame({"x": x, "i": np.arange(len(x))})
    out = partitioned(backend.frame(df), at).gpuscan.scan(argmax).compute()
    expected = [int(np.argmax(x[: k + 1])) for k in range(len(x))]
    assert backend.to_pandas(out).tolist() == expected


@given(at=cuts(), reverse=st.booleans())
def test_affine_and_segmented_columns(backend, at, reverse):
    rng = np.random.default_rng(1)
    df = pd.DataFrame({"a": rng.random(15), "b": rng.random(15)})
    ordered = df[::-1] if reverse else df
    y, expected = 2.0, []
    for a, b in ordered.itertuples(index=False):
        y = a * y + b
        expected.append(y)
    ddf = partitioned(backend.frame(df), at)
    out = ddf.gpuscan.scan(affine, initial=(1.0, 2.0), reverse=reverse).compute()
    np.testing.assert_allclose(backend.to_pandas(out)[:: -1 if reverse else 1], expected)

    heads = pd.DataFrame({"head": rng.random(15) < 0.3, "x": np.arange(15)})
    out = partitioned(backend.frame(heads), at).gpuscan.scan(segmented(add)).compute()
    same(backend.to_pandas(out), heads.x.groupby(heads["head"].cumsum()).cumsum().rename(None))


@given(x=columns(("float64", "Int64")), at=cuts(), skipna=st.booleans())
def test_users_operator_follows_null_rules(backend, x, at, skipna):
    plus = operator(lambda a, b: a + b, identity=0)
    ddf = partitioned(backend.frame(x), at)
    expected = backend.answer(x, lambda s: s.cumsum(skipna=skipna))
    same(backend.to_pandas(ddf.gpuscan.scan(plus, skipna=skipna).compute()), expected)


def test_null_in_any_input_makes_a_null_row(backend):
    df = pd.DataFrame({"head": [True, False, False], "x": [1.0, None, 3.0]})
    out = partitioned(backend.frame(df), [0.5]).gpuscan.scan(segmented(add)).compute()
    assert backend.to_pandas(out).fillna(-1).tolist() == [1.0, -1.0, 4.0]
    mixed = df.astype({"x": "Float64"})
    assert mixed.gpuscan.scan(segmented(add)).tolist() == [1.0, pd.NA, 4.0]


def test_first_last_welford_columns(backend):
    x = pd.Series([None, 2.0, None, 5.0])
    ddf = partitioned(backend.frame(x), [0.5])

    def answer(op, **options):
        out = backend.to_pandas(ddf.gpuscan.scan(op, **options).compute())
        return out.fillna(-1).tolist()

    assert answer(first) == [-1, 2, -1, 2]
    assert answer(last, exclusive=True) == [-1, -1, -1, 2]
    assert answer(welford) == [-1, -1, -1, 4.5]
    assert answer(last, initial=7.0) == [-1, 2, -1, 5]


def test_integer_answers_with_nulls_are_floats(backend):
    rounds = operator(lambda a, b: a + b, identity=0, lift=lambda x: int(x))
    x = pd.Series([1.9, None, 2.2])
    out = backend.to_pandas(partitioned(backend.frame(x), [0.5]).gpuscan.scan(rounds).compute())
    assert out.dtype == "float64"
    assert out.fillna(-1).tolist() == [1, -1, 3]


def test_tokens_follow_content():
    def make(k):
        return operator(lambda a, b: a + b + k, identity=-k)

    assert make(1) == make(1)
    assert tokenize(make(1)) == tokenize(make(1))
    assert make(1) != make(2)
    assert hash(make(1)) == hash(make(1))
    assert segmented(add) == segmented(add) != segmented(maximum)
    given = partitioned(pd.Series([1]), [])
    names = {given.gpuscan.scan(make(k))._name for k in (1, 1, 2)}
    assert len(names) == 2


@pytest.mark.parametrize(
    "op", [add, segmented(add), argmax, operator(lambda a, b: a + b, identity=0)]
)
def test_pickling(op):
    again = pickle.loads(pickle.dumps(op))
    assert isinstance(again, Operator)
    assert again == op
    assert again.name == op.name
    assert pickle.loads(pickle.dumps(add)) is add


def test_pickling_looks_into_no_module(monkeypatch):
    """Modules that load others when they are asked would, and keep what is pickled if that fails."""
    asked = []

    class Lazy(types.ModuleType):
        def __getattr__(self, name):
            asked.append(name)
            raise AttributeError(name)

    monkeypatch.setitem(sys.modules, "lazy", Lazy("lazy"))
    halved = operator(lambda a, b: _plus(a, b), identity=0, lift=lambda x: x // 2)
    again = pickle.loads(pickle.dumps(halved))
    assert pickle.loads(pickle.dumps(again)) == halved
    assert pd.Series([2, 4, 6]).gpuscan.scan(again).tolist() == [1, 3, 6]
    assert asked == []


WRONG = {
    TypeError: {
        "combine must be a function written in Python.*found 3": [lambda: operator(3, identity=0)],
        "combine must be a function": [lambda: operator(None, identity=0)],
        "identity must be a number": [lambda: operator(max, identity="a")],
        "lift must be a function": [lambda: operator(lambda a, b: a, identity=0, lift=1)],
        "wrap it in a lambda": [
            lambda: operator(max, identity=0),
            lambda: operator(np.add, identity=0),
        ],
        "combine must take 2 parameters": [lambda: operator(lambda a: a, identity=0)],
        "lower must take 1": [lambda: operator(lambda a, b: a, identity=0, lower=lambda: 0)],
        "op must be an Operator": [lambda: segmented(3)],
    },
    ValueError: {"elements of 2 numbers": [lambda: check_associative(affine, [1, 2])]},
}


@pytest.mark.parametrize(("error", "message", "make"), refusals(WRONG))
def test_bad_operators(make, error, message):
    with pytest.raises(error, match=message):
        make()


WRONG_WHEN_BUILT = {
    TypeError: {
        "Numba cannot compile combine.*strip": [operator(lambda a, b: a.strip(b), identity=0)],
        "identity of .* must be int64": [operator(lambda a, b: a + b, identity=0.5)],
        "another form": [operator(lambda a, b: (a, b), identity=0)],
        "no lower": [
            operator(lambda a, b: b if b[0] > a[0] else a, identity=(-9, 0), lift=lambda x: (x, 1))
        ],
        "op must be an Operator": [np.add],
        "takes 2 input columns, found 1": [affine],
    },
    ValueError: {
        "identity of": [
            operator(lambda a, b: a + b, identity=1),
            operator(lambda a, b: (a[0], b[1]), identity=(0, 0), lift=lambda x: (x, x)),
        ]
    },
}


@pytest.mark.parametrize(("error", "message", "op"), refusals(WRONG_WHEN_BUILT))
@pytest.mark.parametrize("lazy", [False, True])
def test_errors_when_the_expression_is_built(op, error, message, lazy):
    x = pd.Series([1, 2, 3], name="x")
    series = partitioned(x, [0.5]) if lazy else x
    with pytest.raises(error, match=message):
        series.gpuscan.scan(op)


def test_operators_keep_what_they_were_made_with():
    scale = 2

    def make():
        return operator(lambda a, b: a + b, identity=0, lift=lambda x: x * scale)

    first_one = make()
    scale = 3
    assert make() != first_one
    x = pd.Series([1, 2])
    assert x.gpuscan.scan(first_one).tolist() == [2, 6]
    assert x.gpuscan.scan(make()).tolist() == [3, 9]


def test_what_a_module_holds_is_content_too(monkeypatch):
    import types

    module = types.ModuleType("settings_of_a_user")
    module.scale = 2
    monkeypatch.setitem(globals(), "settings", module)

    def make():
        return operator(lambda a, b: a + b, identity=0, lift=lambda x: x * settings.scale)

    x = pd.Series([1, 2])
    two, unused = make(), make()
    assert x.gpuscan.scan(two).tolist() == [2, 6]
    module.scale = 3
    assert make() != two
    assert x.gpuscan.scan(make()).tolist() == [3, 9]
    assert x.gpuscan.scan(unused).tolist() == [2, 6]  # equal to the one that was compiled
    module.scale = 4
    late = make()
    module.scale = 5
    with pytest.raises(ValueError, match="has changed since the operator was made"):
        x.gpuscan.scan(late)


def test_compiled_functions_and_defaults_are_taken():
    import numba

    x = pd.Series([1, 2])
    compiled = operator(numba.njit(lambda a, b: a + b), identity=0)
    assert x.gpuscan.scan(compiled).tolist() == [1, 3]
    with_default = operator(lambda a, b: a + b, identity=0.0, lift=lambda x, k=2.0: x * k)
    assert x.gpuscan.scan(with_default).tolist() == [2, 6]


RAISES = """
import pandas as pd
from dask_gpuscan import operator

def bounded(a, b):
    if a + b > 5:
        raise ValueError(f"{a} and {b} are too much")
    return a + b

for _ in range(2):
    try:
        pd.Series([1, 2, 3]).gpuscan.scan(operator(bounded, identity=0))
    except ValueError as error:
        print(error)
"""


def test_errors_with_values_in_their_text_are_raised_also_from_the_cache(tmp_path):
    for _ in range(2):
        told = run(RAISES, DASK_GPUSCAN_CACHE=str(tmp_path))
        assert told == ["3 and 3 are too much"] * 2


def test_operator_that_raises_is_found_when_built():
    def refuses(a, b):
        if a == b or a != b:
            raise RuntimeError("never")
        return a

    with pytest.raises(ValueError, match="refuses raised RuntimeError: never"):
        partitioned(pd.Series([1]), []).gpuscan.scan(operator(refuses, identity=0))


def _plus(a, b):
    return a + b


def _largest(a, b):
    return a if a > b else b


CONTENTS = {
    "plus": lambda name: operator(_plus, identity=0, name=name),
    "largest": lambda name: operator(_largest, identity=-(2**62), name=name),
}


@pytest.mark.parametrize("content", CONTENTS)
def test_names_never_decide(content):
    x = pd.Series([2**40, 2**40, 3], dtype="int64[pyarrow]")
    frame = pd.DataFrame({"k": [1, 1, 1], "x": x})
    answers = []
    for name in ("mine", "add", "multiply", "maximum", "first"):
        op = CONTENTS[content](name)
        pair = pickle.loads(pickle.dumps(op))
        assert pair == op
        groups = [frame.gpuscan.groupby("k", clustered=c)["x"] for c in (True, False)]
        answers.append(
            [
                frame["x"].gpuscan.scan(op).tolist(),
                partitioned(frame["x"], [0.5]).gpuscan.scan(pair).compute().tolist(),
                *[group.scan(op).tolist() for group in groups],
                *[group.reduce(op).tolist() for group in groups],
            ]
        )
    expected = (x.cumsum() if content == "plus" else x.cummax()).tolist()
    assert answers[0] == [expected] * 4 + [expected[-1:]] * 2
    assert all(answer == answers[0] for answer in answers)


def test_a_sum_by_another_name_overflows_as_a_sum():
    x = pd.Series([2**62, 2**62], dtype="int64[pyarrow]")
    for op in (CONTENTS["plus"]("multiply"), operator(lambda a, b: a + b, identity=0)):
        assert op == add
        with pytest.raises(pa.ArrowInvalid, match="overflow"):
            x.gpuscan.scan(op)


@pytest.mark.parametrize("dtype", ["int64", "float32", "Int64", "int64[pyarrow]"])
@pytest.mark.parametrize("lazy", [False, True])
def test_operators_that_are_not_associative_are_found(dtype, lazy):
    apart = operator(lambda a, b: abs(a - b), identity=0, name="apart")
    x = pd.Series([1, 2, 3], dtype=dtype, name="x")
    series = partitioned(x, [0.5]) if lazy else x
    message = r"apart is not associative: combine\(combine\(1.*, 1.*\), 2.*\) is 2.*check=False"
    for ask in (
        lambda: series.gpuscan.scan(apart),
        lambda: series.gpuscan.rolling(2).scan(apart),
        lambda: series.to_frame().assign(y=series).gpuscan.groupby("y").scan(apart),
    ):
        with pytest.raises(ValueError, match=message):
            ask()


@pytest.mark.parametrize("identity", [(), (0,)])
def test_a_state_of_one_number_is_the_number(identity):
    with pytest.raises(TypeError, match="identity must be a number or a tuple of two or more"):
        operator(lambda a, b: (a[0] + b[0],), identity=identity, lift=lambda x: (x,))


def test_what_one_knows_is_not_checked():
    # associative on 0 and 1
    apart = operator(lambda a, b: abs(b - a), identity=0, check=False)
    for op in (apart, pickle.loads(pickle.dumps(apart))):
        assert not op.check
        assert pd.Series([1, 1, 0, 1]).gpuscan.scan(op).tolist() == [1, 0, 0, 1]
    with pytest.raises(ValueError, match="check must be True or False, found 'no'"):
        operator(lambda a, b: a + b, identity=0, check="no")


def test_elements_that_the_identity_changes_are_no_counter_examples():
    differs = operator(lambda a, b: a != b, identity=0)
    odd = operator(lambda a, b: (a + b) % 2, identity=0)
    for op in (differs, odd):
        assert pd.Series([1, 1, 0, 1]).gpuscan.scan(op).tolist() == [1, 0, 0, 1]
    table = np.array([[0, 1], [1, 0]])
    states = operator(lambda a, b: table[a, b], identity=0)  # of two states
    assert pd.Series([1, 1, 0, 1]).gpuscan.scan(states).tolist() == [1, 0, 0, 1]


def test_associative_operators_of_several_fields_are_taken():
    mean = operator(
        lambda a, b: (a[0] + b[0], a[1] + b[1]),
        identity=(0.0, 0),
        lift=lambda x: (x, 1),
        lower=lambda s: s[0] / max(s[1], 1),
    )
    assert pd.Series([1.0, 3.0]).gpuscan.scan(mean).tolist() == [1.0, 2.0]
    weighted = operator(
        lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1]), identity=(1.0, 0.0), lower=lambda s: s[1]
    )
    frame = pd.DataFrame({"a": [0.5, 0.5], "b": [1.0, 1.0]})
    assert frame.gpuscan.scan(weighted).tolist() == [1.0, 1.5]


CLIPPED = operator(lambda a, b: max(min(a + b, 100), -100), identity=0, name="clipped")
"""Associative on 1, 2 and 3."""

STEPS = pd.DataFrame({"k": 1, "x": [60, 70, -50, 20] * 9})

COMBINING = {
    "scan": lambda it: it["x"].gpuscan.scan(CLIPPED),
    "rolling": lambda it: it["x"].gpuscan.rolling(3).scan(CLIPPED),
    "groups": lambda it: it.gpuscan.groupby("k")["x"].scan(CLIPPED),
    "clustered groups": lambda it: it.gpuscan.groupby("k", clustered=True)["x"].scan(CLIPPED),
    "reduced groups": lambda it: it.gpuscan.groupby("k")["x"].reduce(CLIPPED),
    "several": lambda it: it.gpuscan.scan({"a": (CLIPPED, "x"), "b": (add, "x")}),
    "segmented": lambda it: it.assign(h=it["x"] == 60)[["h", "x"]].gpuscan.scan(segmented(CLIPPED)),
}


@pytest.mark.parametrize("name", COMBINING)
def test_operators_are_tried_on_the_data(name, backend):
    message = "clipped.* is not associative on the data: .* from left to right, .* check=False"
    frame = backend.frame(STEPS)
    for _ in range(2):
        with pytest.raises(ValueError, match=message):
            COMBINING[name](partitioned(frame, [0.5])).compute()
        with pytest.raises(ValueError, match=message):
            COMBINING[name](frame)


@pytest.mark.parametrize("dtype", ["int64", "float64", "Int64", "int64[pyarrow]"])
def test_rows_that_are_eight_and_more_are_cut_in_memory_too(dtype):
    after_ten = operator(lambda a, b: (0 if a >= 10 else a) + b, identity=0, name="after_ten")
    x = pd.Series([7, 6, 5, 3, 3, 1, 1, 1], dtype=dtype, name="x")
    for rows in (x, partitioned(x, [0.4]), dask_gpuscan.stream([x[:3], x[3:]])):
        with pytest.raises(
            ValueError, match=r"after_ten is not associative on the data: the states 7"
        ):
            computed(rows.gpuscan.scan(after_ten))
    with pytest.raises(ValueError, match="after_ten is not associative on the data"):
        dask_gpuscan.on(pa.table({"x": x})).scan({"s": (after_ten, "x")})
