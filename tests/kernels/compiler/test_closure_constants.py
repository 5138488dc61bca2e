"""What functions of users capture: arrays as they were, numbers as parameters of one compiled kernel, bounds."""

import functools
import gc
import math
import pickle
import subprocess
import sys
import weakref
from pathlib import Path

import numba
import numpy as np
import pytest

from dask_gpuscan import operator, segmented
from dask_gpuscan.kernels import Predicate, reduce_by_key, scan, select, signature
from dask_gpuscan.kernels.compiler import closure_constants as captured
from dask_gpuscan.kernels.compiler.closure_constants import extract_constants
from dask_gpuscan.kernels.compiler.frozen_functions import freeze
from dask_gpuscan.kernels.compiler.function_fingerprint import fingerprint
from dask_gpuscan.kernels.cpu.core import engine
from dask_gpuscan.kernels.operators import inference
from dask_gpuscan.kernels.operators.inference import Endless, probe_combine, probe_lift, probe_lower
from dask_gpuscan.kernels.scan import fold
from helpers.programs import run
from helpers.threads import THREADS, at_once

TABLE = np.array([1.0, 20.0, 3.0])


def plus(a, b):
    return a + b


ENGINE = (
    engine.walk_tiles, engine.walk_lines, engine.fold_states,
    probe_combine, probe_lift, probe_lower,
)  # fmt: skip


def compiled(call):
    """Return what a call returns, and how many kernels it has compiled or found on disk."""
    before = sum(len(function.made.overloads) for function in ENGINE)
    answer = call()
    return answer, sum(len(function.made.overloads) for function in ENGINE) - before


# --- arrays ---------------------------------------------------------------------------------------


def test_arrays_are_kept_as_they_were():
    table = np.array([1.0, 20.0, 3.0])

    def helper(x):
        return x + table[0]

    by_default = lambda x, t=table: x + t[0]  # noqa: E731
    fast = numba.njit(lambda x: x + table[0])

    def by_keyword(x, *, t=table):
        return x + t[0]

    def recursive(x):
        return recursive(x - 1) if x > 9 else x + table[0]

    held = (0, (table, 1))
    functions = [
        lambda x: x + table[0],
        lambda x: x + TABLE[0],
        lambda x: x + held[1][0][0],
        by_default,
        by_keyword,
        lambda x: helper(x),
        lambda x: fast(x),
        recursive,
    ]
    frozen = [freeze(f) for f in functions]
    tokens = [fingerprint(f) for f in frozen]
    table[0] = TABLE[0] = 2.0
    try:
        assert [f(5) for f in functions] == [7.0] * 8
        assert [f(5) for f in frozen] == [6.0] * 8
        assert [fingerprint(f) for f in frozen] == tokens
        assert not set(map(fingerprint, map(freeze, functions))) & set(tokens)
    finally:
        TABLE[0] = 1.0


def test_an_operator_computes_alike_here_and_where_it_is_sent():
    table = np.ones(10)
    op = operator(plus, lift=lambda x: x * table[0], identity=0.0, name="times one")
    table[0] = 2.0
    sent = pickle.loads(pickle.dumps(op))
    x = np.arange(10.0)
    assert sent == op
    assert [scan(o, x)[1] for o in (op, sent)] == [45.0, 45.0]


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ([1, 2], "a list"),
        ({1: 2}, "a dict"),
        ({1, 2}, "a set"),
        ((1, bytearray(b"a")), "a bytearray"),
        (functools.partial(max, 1), "a functools.partial"),
        (
            type("Array", (), {"__cuda_array_interface__": {}, "__module__": "cupy"})(),
            "a cupy.Array",
        ),
    ],
)
def test_what_may_change_and_cannot_be_kept_is_refused(value, kind):
    def function(x):
        return value(x) if callable(value) else value[x]

    with pytest.raises(TypeError, match=f"function uses value, {kind}: it may use numbers"):
        operator(plus, lift=function, identity=0)


@pytest.mark.parametrize("value", ["".join, [].append, TABLE.sum])
def test_methods_are_nothing_that_changes(value):
    """Numba says what it thinks of them."""
    assert freeze(lambda x: value(x)).__closure__[0].cell_contents is value


def test_globals_that_only_share_the_name_of_an_attribute_are_nobodys_business():
    namespace = {"real": [1, 2]}
    exec("function = lambda x: x.real", namespace)
    assert freeze(namespace["function"])(3.5) == 3.5


# --- numbers --------------------------------------------------------------------------------------


def test_numbers_become_parameters():
    def scaled(factor):
        return lambda y: y * factor

    def made(k, base, flag, table=TABLE):
        def function(x, y, d=7, e=True):
            if x > k and flag and e:
                return base(x) + y + table[1]
            return base(y) + d

        return function

    one, two = (
        extract_constants(freeze(made(k, scaled(f), True))) for k, f in ((3, 2.0), (4, 2.5))
    )
    assert [type(x) for x in one.values] == [np.float64, np.int64, np.int64, np.bool_]
    assert one.values == (2.0, 3, 7, True)
    assert fingerprint(one.function) == fingerprint(two.function)
    for x, y in ((1.0, 2.0), (3.5, 2.0), (5.0, 2.0)):
        assert two.function(*one.values, x, y) == made(3, scaled(2.0), True)(x, y)
        assert one.function(*two.values, x, y) == made(4, scaled(2.5), True)(x, y)


@pytest.mark.parametrize(
    ("value", "hoisted"),
    [
        (1, np.int64),
        (1.0, np.float64),
        (-0.0, np.float64),
        (math.nan, np.float64),
        (1j, np.complex128),
        (np.float32(1), np.float32),
        (np.uint8(1), np.uint8),
        (True, None),
        (np.True_, None),
        (2**63, None),
        ((1, 2), None),
    ],
)
def test_types_of_numbers(value, hoisted):
    found = extract_constants(freeze(lambda x: (x, value))).values
    assert [type(x) for x in found] == ([hoisted] if hoisted else [])
    if hoisted and found[0] == found[0]:
        assert np.signbit(found[0].real) == np.signbit(np.real(value))


def test_numbers_that_choose_a_branch_stay_constants():
    def divided(k):
        return lambda x: x / k if k else x  # of int64, float64 or int64

    assert extract_constants(freeze(divided(0))).values == ()
    x = np.array([2**62 + 1])
    made = [operator(plus, lift=divided(k), identity=0) for k in (0, 2)]
    assert [signature(op, [x.dtype]).outputs[0].name for op in made] == ["int64", "float64"]
    assert scan(made[0], x)[1] == 2**62 + 1


OF_PACKAGE = f"""
import re, sys
sys.path.append({str(Path(__file__).parents[3] / "docs" / "tools")!r})
from dask_gpuscan.kernels.compiler import closure_constants, pack
from dask_gpuscan.ops.statistics import windows
windows.std(2).code
print("numba" in sys.modules)
from support_calls import CALLS, frame
chooses, seen = closure_constants._chooses, {{}}
def heard(function, template):
    seen[function.__module__, function.__qualname__] = chooses(function, template)
    return False
closure_constants._chooses = heard
pack.is_of_package = lambda function: False
for name, call in CALLS.items():
    if re.search("Ewm|Rolling|session|prod", name):
        call(frame())
print(sorted(name for name, chosen in seen.items() if chosen), len(seen) > 10)
"""


def test_no_number_alone_chooses_a_branch_of_the_package_s():
    """So nobody asks a compiler for it."""
    assert run(OF_PACKAGE)[:2] == ["False", "[] True"]


def test_other_numbers_cost_no_compile():
    def make(k, m, identity=0.0):
        def base(x):
            return x * k

        return operator(
            lambda a, b: a + b + 0 * m,
            lift=lambda x: base(x),
            lower=lambda s, d=m: s + d,
            identity=identity,
        )

    x = np.arange(10.0)
    first, count = compiled(lambda: scan(make(2.0, 1), x))
    assert count
    assert first[0].tolist() == (np.cumsum(x * 2.0) + 1).tolist()
    keys = np.repeat([1, 2], 5)
    compiled(lambda: (fold(make(2.0, 1), [1.0, 2.0]), reduce_by_key(make(2.0, 1), keys, x)))

    def others():
        for k in (3.0, math.nan, -0.0, 4.0):
            op = make(k, 7)
            np.testing.assert_array_equal(scan(op, x)[0], np.cumsum(x * k) + 7)
            assert fold(op, [1.0, 2.0]) == 3.0
            sums = reduce_by_key(op, keys, x)[1]
            np.testing.assert_array_equal(sums, (x * k).reshape(2, 5).sum(1))

    assert compiled(others)[1] == 0
    assert make(2.0, 1) != make(3.0, 1)
    assert make(0.0, 1) != make(-0.0, 1)
    assert make(2.0, 1).code.token == make(3.0, 1).code.token != make(2, 1).code.token
    below = segmented(make(2.0, 1)), segmented(make(3.0, 1))
    assert below[0].code.token == below[1].code.token
    assert below[0] != below[1]


def test_other_numbers_of_predicates_cost_no_compile():
    def above(limit):
        return Predicate(lambda x: x > limit, [rows])

    rows = np.arange(10)
    assert select([rows], above(7))[0].tolist() == [8, 9]

    def others():
        return [len(select([rows], above(limit))[0]) for limit in range(10)]

    found, count = compiled(others)
    assert found == [9 - limit for limit in range(10)]
    assert count == 0


def test_numbers_that_types_depend_on_stay_constants():
    def part(i):
        return operator(plus, lift=lambda x: (x, x * 1.5)[i], identity=0)

    def named(k):
        def base(x, y):
            return x * k - y

        return operator(plus, lift=lambda x: base(y=1.0, x=x), identity=0.0)

    x = np.arange(4)
    assert [scan(part(i), x)[0].tolist() for i in (0, 1)] == [[0, 1, 3, 6], [0.0, 1.5, 4.5, 9.0]]
    assert reduce_by_key(part(1), x // 2, x)[1].tolist() == [1.5, 7.5]
    assert scan(named(3.0), x)[1] == 14.0


def test_what_cannot_be_compiled_makes_no_constants_for_other_types():
    def larger(k):
        return operator(plus, lift=lambda x: x if x > k else x * 0.0, identity=0.0)

    with pytest.raises(TypeError, match="Numba cannot compile lift"):
        signature(larger(1.0), ["c16"])  # which have no order
    signature(larger(2.0), ["f8"])
    assert compiled(lambda: signature(larger(3.0), ["f8"]))[1] == 0


# --- bounds ---------------------------------------------------------------------------------------


def look(role, table=TABLE):
    parts = {"combine": plus, "lift": None, "lower": None}
    helper = lambda i: table[int(i)]  # noqa: E731
    parts[role] = (lambda a, b: a + helper(b)) if role == "combine" else lambda x: helper(x)
    return operator(**parts, identity=0.0, name=f"{role} in a table")


CALLS = {
    "tiles": lambda op, x: scan(op, x),
    "lines": lambda op, x: scan(op, np.tile(x, (40, 1))),
    "threads": lambda op, x: scan(op, np.tile(x, 200_000)),
    "by_key": lambda op, x: reduce_by_key(op, np.zeros(len(x), int), x),
}


@pytest.mark.parametrize("call", CALLS)
def test_reading_outside_an_array_is_an_error(call):
    op = look("lift")
    assert scan(op, np.array([0.0, 2.0, -2.0]))[0].tolist() == [1.0, 4.0, 24.0]
    with pytest.raises(IndexError, match="lift in a table reads outside a tuple or an array"):
        CALLS[call](op, np.array([0.0, 1.0, 3.0, 1e9]))


def test_reading_outside_an_array_in_other_functions():
    with pytest.raises(IndexError, match="lower in a table reads outside"):
        scan(look("lower"), np.array([1.0, 1.0, 1.0, -9.0]))
    for combines in (
        lambda op: fold(op, [1.0, 1e9]),
        lambda op: scan(op, np.array([1.0, 1e9])),
    ):
        with pytest.raises(IndexError, match="combine in a table reads outside"):
            combines(operator(
                lambda a, b: a + b if b == 0 or a == 0 else a + TABLE[int(b)],
                identity=0.0, name="combine in a table",
            ))  # fmt: skip
    rows = np.array([0, 1, 99])
    with pytest.raises(IndexError, match="predicate reads outside"):
        select([rows], Predicate(lambda i: TABLE[i] > 1, [rows]))
    assert select([rows[:2]], Predicate(lambda i: TABLE[i] > 1, [rows[:2]]))[0].tolist() == [1]


def test_an_array_without_an_element_1_is_none_for_the_probe():
    op = look("lift", np.array([5.0]))
    assert scan(op, np.zeros(3))[0].tolist() == [5.0, 10.0, 15.0]


# --- functions that do not end --------------------------------------------------------------------


@pytest.mark.parametrize("role", ["combine", "lift", "lower"])
def test_a_function_that_never_ends(monkeypatch, role):
    monkeypatch.setattr(inference, "PATIENCE", 0.2)

    def forever(x):  # a second: what does not end at all would take a core from all other tests
        for _ in range(50_000_000):
            x = math.cos(x)
        return x

    parts = {"combine": plus, "lift": None, "lower": None}
    parts[role] = (lambda a, b: forever(a)) if role == "combine" else lambda x: forever(x)
    op = operator(**parts, identity=0.0, name="endless")
    with pytest.raises(Endless, match=f"endless: {role} did not end within 0.2 seconds"):
        signature(op, ["f8"])


ENDLESS = """
import signal, threading, os
import dask_gpuscan, numpy as np
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored by what runs in a shell's background
def forever(x):
    while x == x:
        pass
    return x
op = dask_gpuscan.operator(lambda a, b: a + b, lift=forever, identity=0.0)
run = threading.Thread.start
def start(thread):
    run(thread)
    if thread.name.startswith("lift"):
        os.kill(os.getpid(), signal.SIGINT)
threading.Thread.start = start
try:
    dask_gpuscan.scan(np.arange(3.0), op)
except KeyboardInterrupt:
    print("heard")
"""


def test_a_function_that_never_ends_hears_an_interrupt_and_lets_the_process_end():
    done = subprocess.run(
        [sys.executable, "-c", ENDLESS], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == "heard\n", done.stderr
    assert done.returncode == 0


def test_threads_that_meet_an_operator_first_agree_that_its_numbers_are_constants():
    def made(k):
        return operator(lambda a, b: a + b, lift=lambda x: (x * 7, 1)[k], identity=0.0)

    op, x = made(0), np.arange(1.0, 6.0)
    assert any(op.code.values)
    assert at_once(lambda: float(scan(op, x)[1])) == [105.0] * THREADS


def test_operators_that_are_dropped_keep_nothing():
    def made(i):
        table, k = np.full(1000, float(i)), float(i)
        return weakref.ref(
            operator(lambda a, b: a + b, lift=lambda x: x * table[0] * k, identity=0.0).lift
        )

    gc.freeze()  # what earlier tests left, among which looking for garbage takes seconds
    kept = [made(i) for i in range(5)]
    gc.collect()
    assert sum(ref() is not None for ref in kept) == 0


def test_functions_may_not_write_to_what_they_capture():
    m = 2.0

    def lift(x):
        nonlocal m
        m = m + 1.0
        return x * m

    with pytest.raises(TypeError, match="lift writes to m, which it may only read"):
        operator(lambda a, b: a + b, lift=lift, identity=0.0)


def test_variables_without_a_value_and_numbers_of_other_types():
    def unset():
        def lift(x):
            return x * later

        made = operator(lambda a, b: a + b, lift=lift, identity=0.0)
        later = 1.0
        return made, later

    with pytest.raises(TypeError, match="lift uses later, which has no value yet"):
        unset()
    half = np.float16(2)
    with pytest.raises(TypeError, match="Numba cannot compile lift"):
        scan(operator(lambda a, b: a + b, lift=lambda x: x * half, identity=0.0), np.arange(3.0))


def test_helpers_that_share_helpers_take_little_time():
    def layer(n):
        if n == 0:
            return (lambda v: v + 1.0), (lambda v: v + 2.0)
        one, two = layer(n - 1)
        k = float(n)
        return (lambda v: one(v) + two(v) * k), (lambda v: one(v) - two(v) * k)

    first, _ = layer(12)
    taken = operator(lambda a, b: a + b, lift=first, identity=0.0).code.values
    assert sum(map(len, taken)) <= captured.MOST
