"""Operators of the package are not tried on users' machines: their identities and associativity are tried here."""

from dataclasses import replace

import numpy as np
import pytest

from dask_gpuscan import operator
from dask_gpuscan.kernels import BUILT_IN, Operator, scan
from dask_gpuscan.kernels.operators.calls import is_own
from dask_gpuscan.kernels.operators.signature import _try, signature_of

DTYPES = ("bool", "int8", "int64", "uint64", "float32", "float64")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", BUILT_IN)
def test_operators_of_the_package_keep_what_is_asked_of_those_of_users(name, dtype):
    op = BUILT_IN[name]
    assert is_own(op)
    inputs = (np.dtype(dtype),) * op.inputs
    try:
        found = signature_of(op, inputs, None)
    except TypeError as error:
        assert "is not defined for" in str(error)  # noqa: PT017
        return
    tried = op if np.dtype(dtype).kind in "f" else replace(op, check=True)
    _try(tried, found)


def test_operators_with_functions_of_a_user_s_are_tried():
    mine = operator(lambda a, b: max(a, b) + 7 - 7, identity=3, check=False)
    assert not is_own(mine)
    with pytest.raises(ValueError, match="identity"):
        signature_of(mine, (np.dtype("int64"),), None)


FOREIGN = [
    Operator(BUILT_IN["add"].combine, 5),
    operator(BUILT_IN["add"].combine, identity=5, check=False),
    operator(BUILT_IN["maximum"].combine, identity=2, check=False),
    replace(BUILT_IN["maximum"], identity=lambda dtype: 2),
    replace(BUILT_IN["first"], identity=(7, True)),
    replace(BUILT_IN["welford"], identity=(1.0, 0.0, 0.0)),
]


@pytest.mark.parametrize("op", FOREIGN)
def test_functions_of_the_package_with_an_identity_of_a_user_s_are_tried(op):
    with pytest.raises(ValueError, match="identity of"):
        scan(op, np.array([1, 2, 3]))


@pytest.mark.parametrize(
    ("name", "dtype"),
    [("bitwise_or", "float64"), ("minimum", "complex128"), ("bitwise_and", "float32")],
)
def test_a_dtype_that_an_operator_of_the_package_does_not_take_is_refused(name, dtype):
    with pytest.raises(TypeError, match=f"{name} is not defined for {dtype}"):
        signature_of(BUILT_IN[name], (np.dtype("int64"),), np.dtype(dtype))


def test_whether_an_operator_is_checked_is_its_own():
    def apart(a, b):
        return a + b if a * b == 0 else abs(a - b)

    signature_of(operator(apart, identity=0, check=False), (np.dtype("int64"),), None)
    with pytest.raises(ValueError, match="apart is not associative"):
        signature_of(operator(apart, identity=0), (np.dtype("int64"),), None)
