"""A warm call of few elements enters the front door and the module of its name in the backend, and no other."""

import sys
from pathlib import Path

import numpy as np
import pytest

from dask_gpuscan import kernels
from dask_gpuscan.kernels import BUILT_IN, InBand, Predicate
from dask_gpuscan.kernels.scan import aggregating, carry_in_from, fold
from dask_gpuscan.kernels.selection import counter_of

ADD, FIRST = BUILT_IN["add"], BUILT_IN["first"]
KEYS, X = np.array([7, 7, 8]), np.array([1.0, np.nan, 3.0])
STATES = [np.float64(1), np.float64(2)]
LATE = counter_of(lambda x: x > 2)
FOLDER = str(Path(kernels.__file__).parent)

SCAN = {"scan", "cpu/scan/scan"}
CODES = {"arrays", "by_code", "cpu/columns/by_code"}
BY_CODE = CODES | {"cpu/core/shares"}
ROWS = {"selection", "cpu/columns/selection"}
BY_KEY = CODES | {"by_key", "cpu/columns/by_key"} | ROWS
COMPACT = {"compact", "cpu/columns/compact", "cpu/core/shared"} | ROWS


@pytest.mark.parametrize(
    ("call", "modules"),
    [
        (lambda: kernels.scan(ADD, X, nulls=InBand(), carry_in=STATES[0], mark_nulls=True), SCAN),
        (lambda: kernels.scan(FIRST, X, dtype=X.dtype), SCAN),
        (lambda: kernels.reduce(ADD, X), SCAN),
        (lambda: aggregating(ADD, X)[1](), SCAN),
        (lambda: fold(ADD, STATES), SCAN),
        (lambda: carry_in_from(ADD, STATES[0], X.dtype, STATES[1]), SCAN),
        (lambda: kernels.reduce_by_code(ADD, KEYS, X, 9, nulls=InBand()), BY_CODE),
        (lambda: kernels.scan_by_code(ADD, KEYS, X, 9, carry_in=X), BY_CODE),
        (lambda: kernels.reduce_by_key(ADD, [KEYS], X), BY_KEY),
        (lambda: kernels.scan_by_key(ADD, [KEYS], X), BY_KEY),
        (lambda: kernels.select([X], KEYS > 7, positions=True), COMPACT),
        (lambda: kernels.partition([X], Predicate(LATE, [X], [InBand()])), COMPACT),
        (lambda: kernels.head_flags([KEYS]), COMPACT),
        (lambda: kernels.unique([KEYS], [X]), COMPACT),
        (lambda: kernels.run_length_encode([KEYS]), COMPACT),
    ],
)
def test_modules_that_a_warm_call_enters(call, modules):
    entered = set()

    def enter(frame, event, _):
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(FOLDER):
            entered.add(path[len(FOLDER) + 1 :].removesuffix(".py"))

    call()
    before = sys.getprofile()
    sys.setprofile(enter)
    try:
        call()
    finally:
        sys.setprofile(before)
    assert entered <= modules
