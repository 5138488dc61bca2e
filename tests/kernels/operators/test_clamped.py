"""Clamped sums, combined in any order, against a walk over the elements: at the ends of integers, with infinity too."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dask_gpuscan.kernels import reduce, scan
from dask_gpuscan.kernels.operators.clamped import clamped_add
from dask_gpuscan.kernels.scan import fold

FLOATS = [0.0, 1.0, -2.0, 0.5, 3.0, np.inf, -np.inf, np.nan]


@st.composite
def elements(draw, dtype):
    """Elements, and bounds of which at least one is there."""
    if dtype.kind == "f":
        one, bound = st.sampled_from(FLOATS), st.sampled_from([None, -3.0, 0.0, 1.0, 4.0])
    else:
        ends = np.iinfo(dtype)
        near = {end + by for end in (ends.min, 0, ends.max) for by in (-5, -1, 0, 1, 5)}
        possible = sorted(x for x in near if ends.min <= x <= ends.max)
        one, bound = st.sampled_from(possible), st.sampled_from([None, *possible])
    lower, upper = draw(st.tuples(bound, bound).filter(lambda pair: pair != (None, None)))
    if None not in (lower, upper):
        lower, upper = sorted((lower, upper))
    return np.array(draw(st.lists(one, min_size=1, max_size=8)), dtype), lower, upper


def walked(x, lower, upper):
    ends = (
        (-np.inf, np.inf) if x.dtype.kind == "f" else (np.iinfo(x.dtype).min, np.iinfo(x.dtype).max)
    )
    low, high = (float(e) if x.dtype.kind == "f" else int(e) for e in ends)
    low, high = (low if lower is None else lower), (high if upper is None else upper)
    total, found = 0, []
    for value in x.tolist():
        total = total + value
        total = low if total < low else high if total > high else total
        found.append(total)
    return found


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ["u8", "i1", "f8"])
@given(data=st.data())
def test_states_combine_in_any_way(backend, dtype, data):
    x, lower, upper = data.draw(elements(np.dtype(dtype)))
    op = clamped_add(x.dtype, lower, upper)
    expected = walked(x, lower, upper)
    found, _ = scan(op, backend.array(x), dtype=x.dtype)
    np.testing.assert_array_equal(backend.to_numpy(found), np.array(expected, x.dtype))
    cut = data.draw(st.integers(0, len(x)))
    pieces = [reduce(op, backend.array(piece)) for piece in (x[:cut], x[cut:])]
    combined = fold(clamped_add(x.dtype), pieces)
    out, _ = scan(op, backend.array(x), exclusive=True, carry_in=combined, dtype=x.dtype)
    np.testing.assert_array_equal(backend.to_numpy(out)[:1], np.array(expected[-1:], x.dtype))


@pytest.mark.parametrize("dtype", ["i1", "i4", "i8", "u8", "f4", "f8"])
def test_bounds_are_parameters_of_one_kernel(dtype):
    """Each compiler compiles the code of an operator once, by its token."""
    given = [(0, None), (None, 3), (1, 4), (2, 2), (0.5, 1.5), (2, np.inf), (-np.inf, 0)]
    pairs = given if dtype[0] == "f" else given[:4]
    made = [clamped_add(np.dtype(dtype), *bounds) for bounds in pairs]
    assert len({op.code.token for op in made}) == 1
    assert len({op.code.values for op in made}) == len(set(made)) == len(pairs)


def test_bounds_the_wrong_way_round():
    with pytest.raises(ValueError, match="lower must not be greater than upper, found 5 and 1"):
        clamped_add(np.dtype("i8"), 5, 1)
    assert clamped_add("i8", 0, 3) == clamped_add(np.dtype("i8"), 0, 3)


@pytest.mark.parametrize(
    ("dtype", "bounds"),
    [
        ("i8", (0.5, None)),
        ("i1", (None, 128)),
        ("u8", (-1, None)),
        ("f4", (None, 1e39)),
        ("c16", (0, 1)),
    ],
)
def test_bounds_are_numbers_of_the_dtype(dtype, bounds):
    with pytest.raises(TypeError, match=r"must be a number of dtype|cannot be clamped"):
        clamped_add(np.dtype(dtype), *bounds)
