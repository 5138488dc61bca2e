"""fold, and what is built on it: what loops of Python give, whatever the partitions and batches."""

import math

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dask_gpuscan
from dask_gpuscan import stream
from helpers.asked import computed
from helpers.strategies import cuts, partitioned


def bar(total, units):
    total += units
    return (0, True) if total >= 10 else (total, False)


def average_cost(state, units, price):
    """The units held and their average cost; a sale leaves the cost as it is."""
    held, cost = state
    if units > 0:
        cost = (held * cost + units * price) / (held + units)
    held += units
    return (held, cost), (held, cost)


def loop(step, initial, rows, keys=None):
    states, found = {}, []
    for i, row in enumerate(rows):
        key = None if keys is None else keys[i]
        states[key], answer = step(states.get(key, initial), *row)
        found.append(answer)
    return found


@st.composite
def frames(draw):
    rows = draw(
        st.lists(
            st.tuples(st.sampled_from("abc"), st.integers(1, 9), st.integers(1, 5)), max_size=30
        )
    )
    frame = pd.DataFrame(rows, columns=["k", "units", "price"])
    frame = frame.astype({"k": "str", "units": "int64", "price": "float64"})
    return frame.assign(t=frame.units.cumsum())


@given(df=frames(), at=cuts())
def test_answers(df, at):
    alone, keyed = (
        loop(bar, 0, zip(df.units, strict=True)),
        loop(bar, 0, zip(df.units, strict=True), list(df.k)),
    )
    pairs = loop(average_cost, (0, 0.0), zip(df.units, df.price, strict=True), list(df.k))
    for rows in (df, partitioned(df, at)):
        own, groups = rows.gpuscan, rows.gpuscan.groupby("k")
        assert computed(rows["units"].gpuscan.fold(bar, initial=0)).tolist() == alone
        assert computed(own.fold(bar, "units", initial=0)).tolist() == alone
        found = computed(groups.fold(bar, "units", initial=0))
        assert found.tolist() == keyed
        assert found.index.equals(df.index)
        assert computed(groups["units"].fold(bar, initial=0)).tolist() == keyed
        both = groups.fold(
            average_cost, ["units", "price"], initial=(0, 0.0), names=["held", "cost"]
        )
        assert list(both.columns) == ["held", "cost"]
        assert list(computed(both).itertuples(index=False, name=None)) == pairs


@given(df=frames(), at=cuts())
def test_restarts_and_distances(df, at):
    def until(total, x):
        return (0 if total + x >= 12 else total + x), total + x

    def below(total, x):
        total = total + x if total + x <= 12 else x
        return total, total

    def apart(last, t):
        return (last, False) if last is not None and t - last < 8 else (t, True)

    def session(state, t):
        number, start, last = state
        if number < 0 or t - last > 7 or t - start > 15:
            number, start = number + 1, t
        return (number, start, t), number

    times, keys = list(zip(df.t, strict=True)), list(df.k)
    for rows in (df, partitioned(df, at)):
        own, units = rows.gpuscan, rows.gpuscan.groupby("k")["units"]
        for name, step in (("restart_at", until), ("restart_above", below)):
            found = computed(rows["units"].gpuscan.cumsum(**{name: 12}))
            assert found.tolist() == loop(step, 0, zip(df.units, strict=True))
            assert found.dtype == np.int64
            assert computed(units.cumsum(**{name: 12})).tolist() == loop(
                step, 0, zip(df.units, strict=True), keys
            )
        for by, of in ((None, None), ("k", keys)):
            kept = loop(apart, None, times, of)
            assert computed(own.keep_apart(8, "t", by)).t.tolist() == df.t[kept].tolist()
            found = computed(own.sessionize("t", by, gap=7, longest=15))
            assert found.tolist() == loop(session, (-1, 0, 0), times, of)
            table = computed(own.sessions("t", by, gap=7, longest=15))
            assert table["count"].sum() == len(df)
            assert len(table) == len(set(zip(found, of or found, strict=True)))


@given(df=frames(), cut=st.integers(0, 30))
def test_a_stream_goes_on_from_a_state(df, cut, tmp_path_factory):
    def asked(rows, state=None):
        source = stream([rows], state=state)
        return source.gpuscan.groupby("k").fold(bar, "units", initial=0)

    path = tmp_path_factory.mktemp("states") / "state"
    first = asked(df[:cut])
    found = [*first]
    first.state.save(path)
    found += [*asked(df[cut:], dask_gpuscan.load_state(path))]
    assert pd.concat(found).tolist() == loop(bar, 0, zip(df.units, strict=True), list(df.k))
    other = stream([df], state=first.state).gpuscan.groupby("k").fold(bar, "units", initial=1)
    with pytest.raises(ValueError, match="state"):
        list(other)


def test_many_keys_of_a_stream():
    keys = np.arange(9000)
    batches = [pd.DataFrame({"k": k, "units": 6}) for k in (keys, keys[5::1000], keys[::3])]
    found = list(stream(batches).gpuscan.groupby("k").fold(bar, "units", initial=0))
    assert not found[0].any()
    assert found[1].all()
    assert found[2].tolist() == [bool(k % 1000 != 5) for k in keys[::3]]


def test_nulls():
    units = pd.Series([6, None, 5, 3], dtype="Int64")
    df = pd.DataFrame({"k": ["a", "a", "a", None], "units": units, "x": [6.0, np.nan, 5.0, 3.0]})
    assert df.gpuscan.fold(bar, "units", initial=0).to_list() == [False, pd.NA, True, False]
    assert df.gpuscan.groupby("k").fold(bar, "units", initial=0).to_list() == [
        False,
        pd.NA,
        True,
        pd.NA,
    ]
    assert df.gpuscan.groupby("k", dropna=False).fold(bar, "units", initial=0).iloc[3] == False  # noqa: E712
    lazy = dd.from_pandas(df, npartitions=2).gpuscan.groupby("k").fold(bar, "units", initial=0)
    assert lazy.dtype == lazy.compute().dtype
    assert df.x.gpuscan.fold(bar, initial=0.0).tolist() == [
        False,
        False,
        False,
        False,
    ]  # NaN is a number
    assert df.x.gpuscan.cumsum(restart_at=11).iloc[[0, 2, 3]].tolist() == [6, 11, 3]
    assert math.isnan(df.x.gpuscan.cumsum(restart_at=11).iloc[1])


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        (lambda g: g.fold(bar, initial=0), TypeError, "of must name"),
        (lambda g: g.fold(bar, "k", initial=0), TypeError, "column 'k': a step takes numbers"),
        (lambda g: g.fold(bar, "z", initial=0), ValueError, "'z' is not a column"),
        (lambda g: g.fold("sum", "x", initial=0), TypeError, "must be a function"),
        (lambda g: g.fold(bar, "x", initial="0"), TypeError, "initial must be a number"),
        (lambda g: g.fold(bar, ["x", "x"], initial=0), TypeError, "step bar: Numba cannot compile"),
        (lambda g: g.fold(lambda s, x: x, "x", initial=0), TypeError, "must return a pair"),
        (
            lambda g: g.fold(lambda s, x: ((s, x), x), "x", initial=0),
            TypeError,
            "a state like initial=0",
        ),
        (lambda g: g.fold(lambda s, x: (s, None), "x", initial=0), TypeError, "must be a number"),
        (lambda g: g.fold(bar, "x", initial=0, names=["a", "b"]), ValueError, "names must be 1"),
        (
            lambda g: g.fold(lambda s, x: (s, 1 // (x * 0)), "x", initial=0),
            ZeroDivisionError,
            "zero",
        ),
        (lambda g: g["x"].cumsum(restart_at=3, reverse=True), ValueError, "no other argument"),
        (lambda g: g["x"].cumsum(restart_at="3"), TypeError, "restart_at must be a number"),
    ],
)
def test_refused(asked, error, message):
    df = pd.DataFrame({"k": list("ab"), "x": [1, 2]})
    for rows in (df, dd.from_pandas(df, npartitions=2)):
        with pytest.raises(error, match=message):
            computed(asked(rows.gpuscan.groupby(["k"])))


def test_times_that_decrease_or_are_null():
    df = pd.DataFrame({"t": [3.0, 9.0, 5.0]})
    for rows in (df, dd.from_pandas(df, npartitions=3)):
        with pytest.raises(ValueError, match="must not decrease"):
            computed(rows.gpuscan.keep_apart(1, "t"))
        with pytest.raises(ValueError, match="must not be null"):
            computed(rows.mask(rows.t > 8).gpuscan.keep_apart(1, "t"))
