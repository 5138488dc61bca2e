"""Predicates as text, parsed: their columns, their variables, and what is compiled of them."""

import ast
import pickle
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from dask.base import tokenize

from dask_gpuscan.ops.predicates.text import Expression


@pytest.mark.parametrize("prefix", ["", "r", "R", "u"])
@pytest.mark.parametrize("escape", r"\d \\d \\\d \n \' \é \x41 \7 \4 \377 \401 \4010".split())
def test_strings_are_pythons_without_its_warnings(prefix, escape):
    written = f"{prefix}'{escape}'"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = ast.literal_eval(written)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        predicate = Expression(f"s == {written}")
    assert list(predicate.evaluate({"s": np.array([value, ""], object)})) == [True, False]


def test_many_terms_are_not_compiled():
    terms = [f"x == {2 * i}" for i in range(1_500)]
    text, few = " or ".join(terms), " or ".join(terms[:40])
    dtypes = {"x": np.dtype("int64")}
    assert Expression(few).function(dtypes) is not None
    for many in (text, " or ".join(terms[:41]), "x" + " < 4" * 41, "not " * 40 + "x < 4"):
        assert Expression(many).function(dtypes) is None


def test_few_columns_are_held_at_a_time():
    class Counted:
        """A column of bool that knows how many of its kind there are."""

        dtype = np.dtype(bool)
        alive = most = 0

        def __init__(self, *_):
            Counted.alive += 1
            Counted.most = max(Counted.most, Counted.alive)

        def __del__(self):
            Counted.alive -= 1

        __lt__ = __gt__ = __and__ = __or__ = lambda self, other: Counted()

    for text in (" or ".join(["x < 4"] * 500), "x" + " < 4" * 500, "x" + " < x" * 500):
        Expression(text).evaluate({"x": Counted()})
    assert Counted.most <= 6


def test_names_of_variables_are_told_by_value_and_type():
    tokens = {
        tokenize(Expression("x == @v", (("v", value),)))
        for value in (1, True, 1.0, "1", np.int8(1), pd.Timestamp(1), Decimal(1))
    }
    assert len(tokens) == 7
    one = Expression("x in @v", (("v", (1, 2)),))
    assert pickle.loads(pickle.dumps(one)) == one
    assert tokenize(pickle.loads(pickle.dumps(one))) == tokenize(one)


def test_one_kernel_serves_all_values_of_a_variable():
    dtypes = {"x": np.dtype("int64")}
    low, high = (Expression("x > @v", (("v", v),)).function(dtypes) for v in (1, 2))
    assert low[0] is high[0]
    assert (low[1], high[1]) == ([1], [2])
    folded = Expression("x > @v + 1 and x < 2 * @v", (("v", 3),)).function(dtypes)
    assert folded[1] == [4, 6]
