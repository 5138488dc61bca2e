"""Operators of the package are not tried on users' machines: their identities and associativity are tried here."""

from dataclasses import replace

import numpy as np
import pytest

from dask_gpuscan.kernels import BUILT_IN, operator
from dask_gpuscan.kernels.operators.calls import is_own
from dask_gpuscan.kernels.operators.signature import _try, signature_of

DTYPES = ("bool", "int8", "int64", "uint64", "float32", "float64")


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
