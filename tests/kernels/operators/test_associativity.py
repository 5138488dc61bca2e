"""The laws of operators, and the counter-examples that are shown."""

import pytest

from dask_gpuscan import add, affine, check_associative, operator, segmented
from dask_gpuscan.kernels import BUILT_IN

gcd_plus = operator(lambda a, b: a if a > 2 * b else b, identity=0, name="not-associative")


@pytest.mark.parametrize(
    "op", [o for o in BUILT_IN.values() if o.inputs == 1], ids=lambda o: o.name
)
def test_built_ins_keep_the_laws(op):
    check_associative(op, [0, 1, 2, 3])
    check_associative(segmented(op), [(True, 1), (False, 2), (False, 3)])


def test_affine_keeps_the_laws():
    check_associative(affine, [(0.5, 1.0), (2.0, -1.0), (0.0, 3.0)])


def test_counter_examples_are_shown():
    with pytest.raises(ValueError, match=r"not-associative is not associative: combine\(combine\("):
        check_associative(gcd_plus, [1, 2, 3])
    with pytest.raises(ValueError, match="has no identity 1"):
        check_associative(operator(lambda a, b: a + b, identity=1), [1, 2])
    with pytest.raises(ValueError, match="at least one"):
        check_associative(add, [])
