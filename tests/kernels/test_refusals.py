"""What kernels refuse: each call with the error that it raises, which names the argument and what was found."""

import re

import numpy as np
import pytest

from dask_gpuscan import kernels as k
from dask_gpuscan.kernels import (  # fmt: skip
    BUILT_IN,
    BoundWindows,
    Distinct,
    InBand,
    Mask,
    Predicate,
    Quantile,
    Rank,
    RowWindows,
)
from dask_gpuscan.kernels.factorize import (  # fmt: skip
    arrange_by_code,
    first_met,
    flags_at,
    occurring,
    sort_by_code,
    value_range,
)
from dask_gpuscan.kernels.grids import window_sum
from dask_gpuscan.kernels.keys import (  # fmt: skip
    KeyTable,
    count_distinct,
    factorize_words,
    hash_codes,
    hash_texts,
    take_texts,
    text_words,
)
from dask_gpuscan.kernels.scan import fold
from dask_gpuscan.kernels.shift import are_floats, subtract
from dask_gpuscan.kernels.sorted_values import (  # fmt: skip
    is_sorted,
    searchsorted_sorted,
    sorted_quantiles,
    tied_ranks,
)
from dask_gpuscan.kernels.windows_by_code import rolling_by_code, rows_before

ADD, AFFINE, DISTINCT, ONE, NAN = (
    BUILT_IN["add"],
    BUILT_IN["affine"],
    Distinct(),
    RowWindows(1),
    np.float64("nan"),
)
X, NONE, BYTES, WORDS = (
    np.arange(4),
    np.zeros(1, np.int64),
    np.zeros(4, np.uint8),
    np.arange(4, dtype=np.uint64),
)
F, TABLE, TWO, LONG = X / 1.0, np.ones((2, 2)), np.array([0, 1]), np.zeros(4, np.longdouble)


def fixed(x):
    out = x.copy()
    out.flags.writeable = False
    return out


def bounds(starts, stops):
    return BoundWindows(np.array(starts), np.array(stops))


KERNELS = {
    "scan": [
        (TypeError("dtype"), lambda: k.scan(ADD, np.array(["a"]))),
        (TypeError("supported type"), lambda: k.scan(ADD, [1, 2])),
        (TypeError("takes 1 input"), lambda: k.scan(ADD, (X, X))),
        (ValueError("one shape"), lambda: k.scan(AFFINE, (X, X[:2]))),
        (TypeError("takes 2 input"), lambda: k.scan(AFFINE, X)),
        (TypeError("mark_nulls"), lambda: k.scan(BUILT_IN["logical_any"], F, nulls=InBand(), mark_nulls=True)),
        (ValueError("axis must be from -1 to 0"), lambda: k.scan(ADD, X, axis=1)),
        (TypeError("axis must be an integer, found 'x'"), lambda: k.scan(ADD, X, axis="x")),
        (TypeError("carry_in must be int64, found 0.5"), lambda: k.scan(ADD, X, carry_in=0.5)),
        (TypeError("op must be"), lambda: k.scan(np.add, X)),
        (TypeError("dtype must be a dtype of NumPy, found 'x'"), lambda: k.scan(ADD, X, dtype="x")),
        (TypeError("exclusive must be True or False, found 'no'"), lambda: k.scan(ADD, X, exclusive="no")),
        (TypeError("reverse must be True or False, found 2"), lambda: k.scan(ADD, X, reverse=2)),
        (TypeError("nulls must be InBand, Mask or None, found a numpy"), lambda: k.scan(ADD, X, nulls=X > 1)),
        (ValueError("states must not be empty"), lambda: fold(ADD, [])),
    ],
    "masks": [
        *((TypeError("a mask must be an array of bool, found"),
          lambda m=m: k.byte_mask(m)) for m in (F, X, [True], None)),
        *((TypeError("buffer of a mask must be an array of uint8"), lambda m=m: Mask(m, 0, 0, 1)) for m in (F, [0, 0])),
        (TypeError("offset of a mask must be an integer"), lambda: Mask(BYTES, 0.5, 0, 1)),
        (ValueError("offset of a mask must not be negative, found -1"), lambda: Mask(BYTES, -1, 0, 1)),
        (ValueError("offset of a mask must not be negative, found -2147483648"), lambda: k.bitmap(BYTES, -(2**31))),
        (ValueError("shift 0 or 3 and null 0 or 1"), lambda: Mask(BYTES, 0, 2, 1)),
        (ValueError("shift 0 or 3 and null 0 or 1"), lambda: Mask(BYTES, 0, 0, 2)),
    ],
    "by key": [
        (row[0], lambda call=call, row=row: row[1](call))
        for call in (k.reduce_by_key, k.scan_by_key)
        for row in (
            (TypeError("op must be"), lambda call: call(np.add, [X], X)),
            (TypeError("takes 1 input"), lambda call: call(ADD, [X], (X, X))),
            (ValueError("one length"), lambda call: call(ADD, [X], X[:2])),
            (TypeError("values must be arrays"), lambda call: call(ADD, [X], [1, 2, 3, 4])),
            (TypeError("do not compare arrays of dtype"), lambda call: call(ADD, [LONG], F)),
        )
    ] + [
        (TypeError("carry_in must be"), lambda: k.scan_by_key(ADD, [X], X, carry_in=0.5, continues=True)),
        (TypeError("saw_null must be one bool"), lambda: k.scan_by_key(ADD, [X], X, saw_null=np.zeros(0, np.bool_))),
    ],
    "compaction": [
        (TypeError("keep must be an array of bool or a Predicate"), lambda: k.select([X], X)),
        (ValueError("one length"), lambda: k.select([X], X[:2] > 1)),
        (ValueError("one length"), lambda: k.select([X, X[:0]], X > 1)),
        (TypeError("must be arrays"), lambda: k.select([[1]], X > 1)),
        (TypeError("dtype object"), lambda: k.select([X.astype(object)], X > 1)),
        (ValueError("1-d"), lambda: k.select([X.reshape(2, 2)], X > 1)),
        (TypeError("found int64"), lambda: k.select([X], Predicate(lambda v: v + 1, [X]))),
        (ValueError("shares"), lambda: k.select([X[:3], X[1:]], X[1:] > 1, in_place=True)),
        (ValueError("contiguous"), lambda: k.select([X[::2]], X[::2] > 1, in_place=True)),
        (ValueError("read-only"), lambda: k.select([fixed(X)], X > 1, in_place=True)),
        (TypeError("2 parameters, found 1"), lambda: Predicate(lambda v, w: True, [X])),
        (TypeError("written in Python"), lambda: Predicate(np.isnan, [X])),
        (TypeError("at least one array"), lambda: Predicate(lambda v: True, [1])),
        (ValueError("one entry an input"), lambda: Predicate(lambda v: True, [X], nulls=[])),
        (ValueError("at least one"), lambda: k.head_flags([])),
        (ValueError("one length"), lambda: k.head_flags([X, X[:1]])),
        (ValueError("one entry a key"), lambda: k.head_flags([X], nulls=[None, None])),
        (ValueError("'first' or 'last'"), lambda: k.unique([X], keep="any")),
        (TypeError("dtype must be int64 or int32"), lambda: k.run_length_encode([X], dtype="i2")),
        (TypeError("out must be an array"), lambda: k.flags(Predicate(lambda x: x > 0, [TWO]), out=[True, True])),
    ],
    "intervals": [
        (ValueError("lengths must not be negative, found -3"), lambda: k.run_length_decode(-X, [X])),
        (ValueError("negative"), lambda: k.run_length_decode(np.array([2**62, 2**62, -1]), [])),
        (TypeError("lengths must be an array of int64"), lambda: k.run_length_decode(F, [X])),
        (TypeError("lengths must be an array of int64"), lambda: k.run_length_decode([1, 2], [X])),
        (ValueError("lengths and values must have one length"), lambda: k.run_length_decode(X, [X[:3]])),
        (TypeError("dtype object"), lambda: k.run_length_decode(X, [X.astype(object)])),
        (TypeError("values must be arrays"), lambda: k.run_length_decode(X, [[1, 2, 3, 4]])),
        (ValueError("lengths must be 1-d"), lambda: k.run_length_decode(X.reshape(2, 2), [X])),
        (ValueError("beside must not be negative"), lambda: k.run_length_decode(X, [X], beside=-5)),
        (ValueError("offsets and counts must have one"), lambda: k.interval_move(X[:3], X, gather=X)),
        (ValueError("gather: interval 3 has 3 items from 3 on"), lambda: k.interval_move(X, X, gather=X)),
        (ValueError("1 items from -1 on"), lambda: k.interval_move(X, X, gather=X - 2)),
        (ValueError("not within the 4 of source"), lambda: k.interval_move(X + 2**62, X, gather=X + 2**62)),
        (TypeError("gather must be"), lambda: k.interval_move(X, X, gather=X.astype("i4"))),
        (TypeError("give both"), lambda: k.interval_move(X, X, gather=X, out=X)),
        (ValueError("not within the 4 of out"), lambda: k.interval_move(X, X, scatter=X, out=X.copy())),
        (ValueError("add up to, 1, found 4"), lambda: k.interval_move(X // 3, X, scatter=X * 0, out=X.copy())),
        (ValueError("share no memory"), lambda: k.interval_move(X // X.clip(1), X, scatter=X, out=X)),
        (TypeError("dtype of source, int64, found fl"), lambda: k.interval_move(X, X, scatter=X, out=F)),
        (TypeError("out must be arrays"), lambda: k.interval_move(X, X, scatter=X)),
        (ValueError("contiguous"), lambda: k.interval_move(X, X, scatter=X, out=np.zeros(8, int)[::2])),
        (ValueError("read-only"), lambda: k.interval_move(X, X, scatter=X, out=fixed(X))),
        (ValueError("one length"), lambda: k.interval_move(X[:2], X, gather=X, scatter=X, out=X)),
        (ValueError("scatter: interval 3"), lambda: k.interval_move(X // 3, X, gather=X, scatter=9 - X, out=X + 0)),
        (ValueError("gather: interval 3"), lambda: k.interval_move(X // 3, X, gather=9 - X, scatter=X, out=X + 0)),
        (ValueError("side must be 'left' or"), lambda: searchsorted_sorted(X, X, side="up")),
        (TypeError("one dtype, found int64 and float64"), lambda: searchsorted_sorted(X, F)),
        (TypeError("no order of dtype complex128"), lambda: searchsorted_sorted(X * 1j, X * 1j)),
        (ValueError("needles must be 1-d"), lambda: searchsorted_sorted(X.reshape(2, 2), X)),
    ],
    "rolling": [
        *(
            (ValueError(message), lambda row=row: k.rolling(ADD, X[:3], bounds(*row)))
            for message, *row in (
                ("must not decrease, found", [0, 2, 1], [1, 3, 3]),
                ("must not decrease, found", [0, 0, 0], [1, 3, 2]),
                ("must be from 0 to 3, found", [-1, 0, 0], [1, 3, 3]),
                ("must be from 0 to 3, found", [0, 0, 0], [1, 3, 4]),
                ("must be from 0 to 3, found", [0, 0, 2**62], [1, 2, 2**62]),
                ("starts and stops must ", [0, 0, 9], [1, 3, 3]),
                ("starts and stops must ", [-(2**62), 0, 0], [2**62, 3, 3]),
            )
        ),
        (TypeError("windows must be RowWindows or BoundWindows, found 3"), lambda: k.rolling(ADD, X, 3)),
        (ValueError("first must be from 0 to 3, found 4"), lambda: k.rolling(ADD, X[:3], RowWindows(1, first=4))),
        (ValueError("first must be from 0 to 3, found -1"), lambda: k.rolling(ADD, X[:3], RowWindows(1, first=-1))),
        (ValueError("count must be from 0 to 1, found 2"),
         lambda: k.rolling(ADD, X[:3], RowWindows(1, first=2, count=2))),
        (ValueError("count must be from 0 to 3, found -1"), lambda: k.rolling(ADD, X[:3], RowWindows(1, count=-1))),
        (TypeError("before must be an integer, found 2.0"), lambda: RowWindows(2.0)),
        (TypeError("count must be an integer, found True"), lambda: RowWindows(2, count=True)),
        (TypeError("before must be an integer, found '1'"), lambda: BoundWindows(X, X, before="1")),
        (TypeError("stops must be an array of int64, found int32"), lambda: BoundWindows(X, X.astype("i4"))),
        (ValueError("starts and stops must have one length"), lambda: BoundWindows(X, X[1:])),
        (ValueError("values must be 1-d, found 2-d"), lambda: k.rolling(ADD, TABLE, ONE)),
        (TypeError("add takes 1 input arrays, found 2"), lambda: k.rolling(ADD, (X, X), ONE)),
        (ValueError("after must be 0 or -1, found 1"), lambda: rolling_by_code(ADD, X, X, 4, RowWindows(1, 1))),
        (TypeError("windows must be RowWindows, found BoundWindows"),
         lambda: rolling_by_code(ADD, X, X, 4, BoundWindows(X, X))),
        (TypeError("lows must be integers of 2 columns"), lambda: window_sum(TABLE, TWO, TWO)),
        (TypeError("highs must be integers of 2 columns"), lambda: window_sum(TABLE, TWO[None], TABLE[:1] / 2)),
        (ValueError("lows and highs must have one shape"), lambda: window_sum(TABLE, TWO[None], np.array([TWO, TWO]))),
    ],
    "order statistics": [
        (TypeError("statistic must be a Quantile, Rank or Distinct, found 1"), lambda: k.order_statistics(1, F, ONE)),
        *(
            (TypeError("values must be an array of float64, found"), lambda x=x: k.order_statistics(DISTINCT, x, ONE))
            for x in (X, [1.0])
        ),
        (ValueError("values must be 1-d and of at most"), lambda: k.order_statistics(DISTINCT, TABLE, ONE)),
        (TypeError("windows must be RowWindows or BoundWindows, found 3"), lambda: k.order_statistics(DISTINCT, F, 3)),
        (ValueError("starts and stops must not decrease"),
         lambda: k.order_statistics(DISTINCT, F, bounds([1, 0], [2, 2]))),
        (TypeError("least must be an integer, found 'a'"), lambda: k.order_statistics(DISTINCT, F, ONE, least="a")),
        (ValueError("least must be from 0 to 2**63"), lambda: k.order_statistics(DISTINCT, F, ONE, least=-1)),
        *((ValueError(f"q must be from 0 to 1, found {q!r}"),
          lambda q=q: Quantile(q)) for q in (1.5, "a", np.nan, None)),
        (ValueError("interpolation must be one of 'linear', 'lower'"), lambda: Quantile(0.5, "cubic")),
        (ValueError("method must be one of 'average', 'min', 'max', found"), lambda: Rank("first")),
    ],
    "codes": [
        *(
            (ValueError("groups must") if groups == -1 else TypeError("groups must"),
             lambda call=call, groups=groups: call(groups))
            for groups in (-1, 1.5, None, True)
            for call in (
                lambda groups: k.factorize(TWO, groups),
                lambda groups: k.scan_by_code(ADD, TWO, TWO, groups),
                lambda groups: k.reduce_by_code(ADD, TWO, TWO, groups),
            )
        ),
        (TypeError("codes must be an array of int32 or int64"), lambda: k.scan_by_code(ADD, F, X, 4)),
        (TypeError("codes must be an array of int32 or int64"), lambda: k.factorize(F, 4)),
        (TypeError("codes must be an array of int32 or int64"), lambda: occurring(F, 4)),
        (TypeError("codes must be an array of int32 or int64"), lambda: rows_before(F, 4, 1)),
        (ValueError("codes and values"), lambda: k.scan_by_code(ADD, X, X[1:], 4)),
        (ValueError("groups must not be negative"), lambda: occurring(X, -1)),
        (ValueError("length must not be negative"), lambda: flags_at(X, -3)),
        (TypeError("rows must be an array of int32 or int64"), lambda: flags_at([1], 2)),
        *((TypeError("values must be an array of integers"), lambda x=x: value_range(x)) for x in (F, [1, 2])),
        (ValueError("groups must be at most 4096 of these arrays, found 4097"), lambda: arrange_by_code(X, 4097, [])),
        *(
            (ValueError("arrays must be as long as the codes"), lambda x=x: arrange_by_code(X, 4, [x]))
            for x in (np.zeros(2), X * 1j)
        ),
        (TypeError("periods must be an integer, found '1'"), lambda: rows_before(X, 8, "1")),
        (ValueError("periods must not be 0"), lambda: rows_before(X, 8, 0)),
    ],
    "keys": [
        (TypeError("words must be a 1-d array of uint64"), lambda: hash_codes(X)),
        (TypeError("words must be a 1-d array of uint32 or uint64"), lambda: factorize_words(X)),
        (TypeError("words must be a 1-d array of uint64, found int64"), lambda: KeyTable().number_words(X)),
        (ValueError("offsets must not decrease"), lambda: KeyTable().number_texts(X[[0, 2, 1]], BYTES)),
        (ValueError("offsets must have an item more"), lambda: KeyTable().number_texts(X[:0], BYTES)),
        (TypeError("rows must be a 1-d array of int64, found"),
         lambda: take_texts(X[[0, 2]], BYTES, np.zeros(1, "i4"))),
        *(
            (IndexError(f"rows must be of texts within the bytes, found {row}"),
             lambda o=o, row=row: take_texts(np.array(o), BYTES, np.array([row])))
            for o, row in (([0, 2], 1), ([0, 5], 0), ([3, 1], 0), ([-1, 2], 0))
        ),
        *(
            (ValueError("offsets must not decrease, nor go beyond the 4 bytes; text"),
             lambda o=o, call=call: call(np.array(o), BYTES))
            for o in ([0, 3, 2], [-1, 2, 4], [0, 2, 5])
            for call in (hash_texts, lambda o, data: text_words(o, data, 1))
        ),
        (TypeError("offsets must be a 1-d array of int32 or int64, found"), lambda: hash_texts(F, BYTES)),
        (TypeError("data must be a 1-d array of uint8, found"), lambda: hash_texts(X, "text")),
        (ValueError("an item more than there are texts, found none"), lambda: hash_texts(X[:0], BYTES)),
        (ValueError("count must be a positive integer, found 0"), lambda: text_words(X[:2], BYTES, 0)),
        (TypeError("words must be a 1-d array of uint64"), lambda: count_distinct(X, X[[0, 3]])),
        (TypeError("offsets must be a 1-d array of int64"), lambda: count_distinct(WORDS, np.zeros(2, "i4"))),
        (ValueError("end with the number of rows"), lambda: count_distinct(WORDS, X)),
        (ValueError("words and missing"), lambda: count_distinct(WORDS, np.array([0, 4]), X[1:] > 1)),
    ],
    "shift": [
        (row[0], lambda row=row, given=given: row[1](lambda *rows: k.shift(*rows, **given)))
        for given in ({}, {"subtract": True})
        for row in (
            (TypeError("rows must be arrays"), lambda move: move([1, 2], 1, NAN)),
            (ValueError("rows must be 1-d"), lambda move: move(TABLE, 1, NAN)),
            (TypeError("periods must be an integer, found 1.5"), lambda move: move(F, 1.5, NAN)),
            (TypeError("fill must be a NumPy scalar, found 0.0"), lambda move: move(F, 1, 0.0)),
        )
    ] + [
        *(
            (TypeError("rows must be numbers to be subtracted, found dtype"),
             lambda d=d: k.shift(np.zeros(2, d), 1, NAN, subtract=True))
            for d in ("bool", "M8[s]", "m8[s]", "O")
        ),
        (TypeError("exact answers are of integers in float64"), lambda: k.shift(X, 1, np.float32("nan"), exact=True)),
        (TypeError("exact answers are of integers in float64"), lambda: k.shift(F, 1, NAN, exact=True)),
        (TypeError("rows must be integers"), lambda: are_floats(F)),
        (TypeError("integers of one dtype"), lambda: subtract(X, X, np.zeros(4, "i4"))),
        (ValueError("fill must be a value of int8, found 300"),
         lambda: k.take(TWO.astype("i1"), np.array([-1, 0]), 300)),
        (ValueError("fill must be a value of float64, found 'x'"), lambda: k.take(F, np.array([-1, 0]), "x")),
    ],
    "order": [
        (TypeError("floats of at most 64 bits"), lambda: is_sorted(LONG)),
        (ValueError("array is read-only"), lambda: k.sort(fixed(X), in_place=True)),
    ],
}  # fmt: skip
CALLS = [
    pytest.param(*row, id=f"{name} {i}")
    for name, rows in KERNELS.items()
    for i, row in enumerate(rows)
]


@pytest.mark.parametrize(("error", "call"), CALLS)
def test_calls_of_arrays_of_numpy(error, call):
    with pytest.raises(type(error), match=re.escape(str(error))):
        call()


T = ("i8", "i8")
ON_ANY_BACKEND = [
    (TypeError("values must be integers"), lambda x: sorted_quantiles(x * 1j, NONE, NONE, 0.5)),
    (TypeError("counts must be int64"), lambda x: sorted_quantiles(x, NONE, x[:0] / 1, 0.5)),
    (ValueError("must have one length"), lambda x: sorted_quantiles(x, NONE, NONE[:0], 0.5)),
    (ValueError("q must be a number from 0 to 1"), lambda x: sorted_quantiles(x, NONE, NONE, 1.5)),
    (ValueError("q must be a number from 0 to 1"), lambda x: sorted_quantiles(x, NONE, NONE, "1")),
    (TypeError("keys must be integers"), lambda x: tied_ranks(x.astype("complex64"), "min")),
    (ValueError("method must be one of"), lambda x: tied_ranks(x, "first")),
    (TypeError("groups must be integers"), lambda x: tied_ranks(x, "min", groups=x / 2)),
    (ValueError("keys and groups must have one"), lambda x: tied_ranks(x, "min", groups=x[:2])),
    (TypeError("keys must be arrays"), lambda x: k.argsort("abc")),
    (TypeError("keys must be arrays"), lambda x: k.argsort([[1, 2]])),
    (TypeError("do not sort arrays of dtype complex128"), lambda x: k.argsort(x + 1j)),
    (TypeError("do not sort arrays of dtype >i4"), lambda x: k.argsort(np.zeros(3, ">i4"))),
    (TypeError("nulls must be InBand, Mask or None"), lambda x: k.sort(x, nulls=x)),
    (TypeError("descending must be bool"), lambda x: k.sort(x, descending=1)),
    (TypeError("keys must be an array or"), lambda x: k.argsort(3)),
    (TypeError("nulls must be a sequence"), lambda x: k.argsort(x, nulls=InBand())),
    (TypeError("nulls_first must be bool"), lambda x: k.argsort([x], nulls_first=["last"])),
    (TypeError("offsets must be a 1-d array of int64"), lambda x: k.sort_pairs(x, offsets=[0, 3])),
    (ValueError("keys must be at least one array"), lambda x: k.argsort([])),
    (ValueError("keys must have one length"), lambda x: k.argsort([x, x[1:]])),
    (ValueError("keys must be 1-d"), lambda x: k.argsort(x.reshape(1, 3))),
    (ValueError("descending must have one entry a key"), lambda x: k.argsort(x, descending=[True] * 2)),
    (ValueError("nulls must have one entry a key"), lambda x: k.argsort([x, x], nulls=[None])),
    (ValueError("keys and values must have one length"), lambda x: k.sort_pairs(x, x[1:])),
    (ValueError("either offsets or within"), lambda x: k.sort_pairs(x, offsets=x, within=x)),
    (ValueError("keys and within must have one"), lambda x: k.sort_pairs(x, within=x[:2])),
    (ValueError("begin with 0 and end with"), lambda x: k.sort_pairs(x, offsets=x[:0])),
    (ValueError("begin with 0 and end with"), lambda x: k.sort_pairs(x, offsets=x + 1)),
    (ValueError("must not decrease"), lambda x: k.sort_pairs(x, offsets=x[[0, 2, 1, 2]] * 3 // 2)),
    (TypeError("heads must be bool"), lambda x: is_sorted(x, x)),
    (ValueError("values and heads"), lambda x: is_sorted(x, x[1:] > 0)),
    (TypeError("left and right must be arrays"), lambda x: k.asof([1], [2])),
    (TypeError("integers, or floats of 32 or 64 bits"), lambda x: k.asof(*[x.astype("f2")] * 2)),
    (TypeError("left and right must have one dtype"), lambda x: k.asof(x.astype("i4"), x)),
    (ValueError("direction must be one of 'backward'"), lambda x: k.asof(x, x, direction="up")),
    (ValueError("tolerance must not be negative"), lambda x: k.asof(x, x, tolerance=-1)),
    (ValueError("tolerance must not be negative"), lambda x: k.asof(x / 1, x / 1, tolerance=np.nan)),
    (TypeError("codes must be an array of int32"), lambda x: k.asof(x, x, ([1], [2]))),
    (ValueError("codes must have a row each"), lambda x: k.asof(x, x, (x[1:], x[1:]))),
]  # fmt: skip


@pytest.mark.parametrize(("error", "call"), ON_ANY_BACKEND)
def test_calls_on_any_backend(backend, error, call):
    with pytest.raises(type(error), match=re.escape(str(error))):
        call(backend.array(np.arange(3)))


OF_CODES = {
    "occurring": lambda codes: occurring(codes, 6),
    "flags_at": lambda codes: flags_at(codes, 6),
    "first_met": lambda codes: first_met(codes, 6),
    "asof": lambda codes: k.asof(codes, codes, (codes, codes), 6),
    "rows_before": lambda codes: rows_before(codes, 6, 1),
    "factorize": lambda codes: k.factorize(codes, 6),
    "scan_by_code": lambda codes: k.scan_by_code(ADD, codes, codes, 6),
    "reduce_by_code": lambda codes: k.reduce_by_code(ADD, codes, codes, 6),
}
OF_CODES_ON_CPUS = {
    "arrange_by_code": lambda codes: arrange_by_code(codes, 6, []),
    "sort_by_code": lambda codes: sort_by_code(codes, 6, []),
    "rolling_by_code": lambda codes: rolling_by_code(ADD, codes, codes, 6, ONE),
}


@pytest.mark.parametrize("call", OF_CODES)
@pytest.mark.parametrize("bad", [-1, 6, 2**31 - 1, -(2**31), 2**40, 2**62, 2**63 - 1, -(2**63)])
def test_codes_of_no_group(backend, call, bad):
    for dtype in ("i4", "i8") if abs(bad) <= 2**31 else ("i8",):
        codes = backend.array(np.sort(np.array([0, bad], dtype)))
        with pytest.raises(ValueError, match=f"(codes|rows) must be from 0 to 5, found {bad}$"):
            OF_CODES[call](codes)


@pytest.mark.parametrize("call", [*OF_CODES, *OF_CODES_ON_CPUS])
def test_codes_on_cpus(call):
    ask = (OF_CODES | OF_CODES_ON_CPUS)[call]
    with pytest.raises(ValueError, match=f"(codes|rows) must be from 0 to 5, found {2**40}"):
        ask(np.array([0, 2**40]))
    for codes in (np.array([[0, 1]]), np.array(3)):
        with pytest.raises(ValueError, match="must be 1-d, found"):
            ask(codes)


def test_no_groups_have_no_codes():
    with pytest.raises(ValueError, match="codes must be from 0 to -1, found 1"):
        k.asof(TWO, TWO, (TWO, TWO))
    assert k.scan_by_code(ADD, TWO[:0], TWO[:0], 0)[0].tolist() == []
    assert k.asof(TWO, TWO, tolerance=np.inf).tolist() == [0, 1]
