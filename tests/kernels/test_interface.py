"""What kernels show of themselves: names, options, traits of operators, backends, reprs."""

import pickle

import numpy as np
import pytest

from dask_gpuscan import kernels, operator, segmented
from dask_gpuscan.kernels import (
    BUILT_IN,
    INT128,
    InBand,
    Operator,
    Predicate,
    backends,
    bitmap,
    byte_mask,
    cpu,
    scan_by_code,
    signature,
)
from dask_gpuscan.kernels.operators.built_in import TRAITS, Traits, traits_of
from dask_gpuscan.kernels.options import ScanOptions
from dask_gpuscan.kernels.scan import aggregating, carry_in_from, carry_inputs, carry_operator
from dask_gpuscan.kernels.selection import runs

X = np.arange(4.0)


# --- names ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("module", [kernels, cpu])
def test_dir_lists_what_is_public(module):
    assert dir(module) == sorted(module.__all__)
    assert all(callable(getattr(module, name)) or module is kernels for name in dir(module))


def test_reprs_are_short_and_literal():
    welford, minimum = BUILT_IN["welford"], BUILT_IN["minimum"]
    assert repr(welford) == "Operator('welford', inputs=1, identity=(0.0, 0.0, 0.0))"
    assert repr(minimum) == "Operator('minimum', inputs=1, identity=<by dtype>)"
    late = Predicate(lambda x, limit: x > limit, [X, 30])
    assert repr(late) == "Predicate(<lambda>, inputs=(float64[4], 30))"
    assert repr(runs([X, X])) == "Runs(keys=(float64[4], float64[4]), last=False, continues=False)"
    assert repr(byte_mask(X > 2)) == "Mask(uint8[4], offset=0, shift=0, null=1)"


# --- options ----------------------------------------------------------------------------------------


def test_options_are_a_key_of_which_nulls_are_no_part():
    f4 = np.dtype("f4")
    plain, masked = ScanOptions(dtype=f4), ScanOptions(bitmap(np.zeros(1, np.uint8)), dtype=f4)
    assert plain == masked
    assert hash(plain) == hash(masked)
    assert plain.dtype is f4
    assert plain != ScanOptions(dtype=f4, exclusive=True) != ScanOptions(dtype=f4, reverse=True)
    assert ScanOptions(mark_nulls=True) != ScanOptions() != ScanOptions(axis=0)
    assert ScanOptions().dtype is None


# --- backends ---------------------------------------------------------------------------------------


def test_the_type_of_arrays_chooses_the_backend():
    class Array(np.ndarray):
        pass

    assert backends.backend_of([X, X]) is cpu
    assert backends.backend_of([X.view(Array)]) is cpu
    with pytest.raises(TypeError, match=r"one supported type .*found list, ndarray"):
        backends.backend_of([X, [1]])


@pytest.mark.parametrize(
    "call",
    [
        lambda x: kernels.scan(BUILT_IN["add"], x),
        lambda x: kernels.scan_by_key(BUILT_IN["add"], [x], np.arange(3.0)),
        lambda x: kernels.scan_by_code(BUILT_IN["add"], x, np.arange(3.0), 3),
        lambda x: kernels.argsort(x),
        lambda x: kernels.take(np.arange(3.0), x),
        lambda x: kernels.factorize(x, 3),
    ],
)
def test_masked_arrays_are_refused(call):
    with pytest.raises(TypeError, match="kernels take no masked arrays"):
        call(np.ma.MaskedArray(np.arange(3), mask=[False, True, False]))


def test_groups_that_a_backend_has_no_room_for(monkeypatch):
    monkeypatch.setattr(cpu, "max_groups", lambda length: 1)
    with pytest.raises(ValueError, match=r"^groups must be at most 1 of these arrays, found 2$"):
        scan_by_code(BUILT_IN["add"], np.array([0, 1]), np.array([1, 1]), 2)


# --- traits -----------------------------------------------------------------------------------------


def plain(function, name):
    """An operator of a user's with the functions of a built-in one and another name."""
    op = BUILT_IN[function]
    return Operator(
        op.combine, op.identity, op.lift, op.lower, name, op.inputs, op.null_identity, op.in_order
    )


@pytest.mark.parametrize("name", BUILT_IN)
def test_facts_follow_what_an_operator_computes_and_not_its_name(name):
    mine, other = plain(name, "mine"), operator(lambda a, b: a * b - a, identity=0, name=name)
    assert mine == BUILT_IN[name]
    assert mine.name == "mine"
    assert traits_of(mine) is traits_of(BUILT_IN[name])
    assert traits_of(pickle.loads(pickle.dumps(mine))) is traits_of(BUILT_IN[name])
    assert traits_of(other) == Traits()


def test_products_of_floats_are_carried_by_another_operator():
    for dtype in map(np.dtype, ("f4", "f8")):
        for op in (BUILT_IN["multiply"], plain("multiply", "mine")):
            carries = carry_operator(op, dtype)
            assert carries.name == "product"
            assert carries == traits_of(op).carry_operator(dtype)
            state = carries.lift(dtype.type(6.0))
            assert carry_in_from(op, state, dtype) == 6.0
            assert carry_in_from(op, state, dtype, initial=0.5) == 3.0
    for op, kind in [("multiply", "i8"), ("multiply", "c16"), ("add", "f8"), ("maximum", "f4")]:
        assert carry_operator(BUILT_IN[op], np.dtype(kind)) is BUILT_IN[op]
        assert carry_in_from(BUILT_IN[op], 3, np.dtype(kind)) == 3
    assert carry_operator(segmented(BUILT_IN["multiply"]), np.dtype("f8")).inputs == 2


def test_what_reduces_to_a_carry_has_the_type_of_the_answer():
    x, f8 = np.arange(3, dtype="f4"), np.dtype("f8")
    by, values, dtype = carry_inputs(BUILT_IN["multiply"], x, f8, f8)
    assert (by.name, values.dtype, dtype) == ("product", f8, None)
    by, values, dtype = carry_inputs(BUILT_IN["add"], x, f8, f8)
    assert (by, values is x, dtype) == (BUILT_IN["add"], True, f8)


def test_products_and_their_segmented_kind_are_told_from_others():
    products = {op for op, traits in TRAITS.items() if traits.is_product}
    assert products == {BUILT_IN["multiply"], segmented(BUILT_IN["multiply"])}
    assert all(op.in_order for op in products)
    assert [op.name for op in BUILT_IN.values() if op.in_order] == ["multiply"]


def test_operators_without_a_value_for_nothing():
    names = {op.name for op in BUILT_IN.values() if op.null_identity}
    assert names == {"minimum", "maximum", "first", "last", "welford"}
    assert segmented(BUILT_IN["first"]).null_identity


def test_operators_that_take_128_bit_integers():
    takes = {
        op.name: traits.int128_identity
        for op, traits in TRAITS.items()
        if traits.int128_identity is not None
    }
    assert takes == {
        "add": 0,
        "minimum": 2**127 - 1,
        "maximum": -(2**127),
        "first": (0, False),
        "last": (0, False),
    }
    for op in BUILT_IN.values():
        if op.name in takes:
            found = signature(op, [INT128])
            assert (found.outputs, found.identity) == ((INT128,), takes[op.name])
            assert found.scalar_state == (not isinstance(takes[op.name], tuple))
        else:
            with pytest.raises(TypeError, match="for 128-bit integers there are add, minimum, max"):
                signature(op, [INT128] * op.inputs)


def test_an_identity_is_what_changes_no_state_of_128_bits():
    for name in ("add", "minimum", "maximum", "first", "last"):
        op, identity = BUILT_IN[name], signature(BUILT_IN[name], [INT128]).identity
        for value in (-(2**127), -1, 0, 5, 2**127 - 1):
            state = value if op.lift is None else op.lift(value)
            assert op.combine(identity, state) == state == op.combine(state, identity)


def test_nulls_in_band_are_one_object_for_caches():
    assert InBand() == InBand()
    assert hash(InBand()) == hash(InBand())


@pytest.mark.parametrize("call", [kernels.scan, kernels.reduce])
def test_numpy_arrays_of_128_bits_are_refused(call):
    message = "the kernels do not take arrays of dtype"
    with pytest.raises(TypeError, match=message):
        call(BUILT_IN["add"], np.zeros(3, INT128))
    key = np.zeros(3, np.int64)
    for by_key in (kernels.reduce_by_key, kernels.scan_by_key):
        with pytest.raises(TypeError, match=message):
            by_key(BUILT_IN["add"], [key], np.zeros(3, INT128))
    with pytest.raises(TypeError, match=message):
        scan_by_code(BUILT_IN["add"], key, np.zeros(3, INT128), 1)


SHORT_MASKS = (
    kernels.bitmap(np.zeros(1, np.uint8)),
    kernels.bitmap(np.zeros(2, np.uint8), 8),
    kernels.byte_mask(np.zeros(8, np.bool_)),
)
NINE, ADD = np.arange(9), BUILT_IN["add"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("mask", SHORT_MASKS)
@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("values", lambda nulls: kernels.scan(ADD, NINE, nulls=nulls)),
        ("values", lambda nulls: kernels.reduce(ADD, NINE.reshape(3, 3), nulls=nulls)),
        ("values", lambda nulls: aggregating(ADD, NINE, nulls=nulls)),
        ("values", lambda nulls: kernels.scan_by_key(ADD, [NINE], NINE, nulls=nulls)),
        ("values", lambda nulls: kernels.reduce_by_key(ADD, [NINE], NINE, nulls=nulls)),
        ("values", lambda nulls: kernels.scan_by_code(ADD, NINE, NINE, 9, nulls=nulls)),
        ("values", lambda nulls: kernels.reduce_by_code(ADD, NINE, NINE, 9, nulls=nulls)),
        ("a key", lambda nulls: kernels.scan_by_key(ADD, [NINE], NINE, key_nulls=[nulls])),
        ("a key", lambda nulls: kernels.head_flags([NINE, NINE], nulls=[None, nulls])),
        ("a key", lambda nulls: kernels.run_length_encode(NINE, nulls=[nulls])),
        ("a key", lambda nulls: kernels.argsort(NINE, nulls=[nulls])),
        ("an input", lambda nulls: kernels.Predicate(lambda x: x > 2, [NINE], [nulls])),
    ],
)
def test_masks_that_are_too_short(name, call, mask):
    with pytest.raises(ValueError, match=f"the mask of {name}.* must have 9 elements, found 8"):
        call(mask)
    eight = kernels.Mask(np.zeros(9, np.uint8), 0, mask.shift, 1)
    call(eight)
