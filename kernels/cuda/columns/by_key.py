"""Ordered group-by of CuPy arrays: operators that restart where runs of keys start, as passes over columns.

Each function launches one kernel, and reads the number of runs once, at the end.
"""

from dataclasses import replace
from functools import lru_cache
from typing import Any

import cupy
import numpy as np

from ...operators.calls import as_constant_as
from ...operators.operator import Operator
from ...operators.signature import Signature, as_state, signature_of
from ...options import Exclusive, ScanOptions
from ...selection import RunEnds
from ..core.closure_constants import shared_code
from ..core.device_arrays import readable, shrink
from ..core.plan import Form, Nullness, typed
from ..core.visitors import REDUCE_BY_KEY, SCAN_BY_KEY
from ..scan.scan import run_for
from ..scan.sequential_product import StableProduct, stable_product
from .column_pass import ColumnPass
from .columns import launch_columns
from .selection import masks_of, nullness, selected


def reduce_by_key(
    op: Operator,
    runs: RunEnds,
    values: tuple[Any, ...],
    options: ScanOptions,
    *,
    starts: bool,
    lower: bool,
) -> tuple[Any, Any]:
    """Reduce runs of equal keys; see `kernels.reduce_by_key`."""
    found, nulls = selected(runs), options.nulls
    forms, n = tuple([v.dtype for v in values]), found.length
    only, types_, seed, numbers = reducing(
        found.only, op, forms, nullness(nulls), options.dtype, starts, lower
    )
    outs = [cupy.ndarray(runs.most, d) for d in types_.outputs]
    first = cupy.ndarray(runs.most if starts else 0, np.int64)
    count = 0
    if n:
        begun = launch_columns(
            only, n, [*found.data, *map(readable, values)], [*found.masks, *masks_of(nulls)],
            outs=outs, rests=[first], numbers=numbers, continues=found.continues, seed=seed,
        )  # fmt: skip
        count = int(begun.read()["selected"][0])
    fields = [shrink(o, count) for o in outs]
    answers = fields[0] if types_.scalar_output else tuple(fields)
    return (shrink(first, count) if starts else None), answers


def scan_by_key(
    op: Operator,
    runs: RunEnds,
    values: tuple[Any, ...],
    options: ScanOptions,
    carry_in: Any,
    *,
    saw_null: Any,
    carry_out: bool,
) -> tuple[Any, Any]:
    """Scan arrays within runs of equal keys; see `kernels.scan_by_key`."""
    found, nulls = selected(runs), options.nulls
    forms, n = tuple([v.dtype for v in values]), found.length
    only, types_, asked, stable, numbers = scanning(
        found.only, op, forms, nullness(nulls), options.dtype, options.exclusive,
        options.mark_nulls,
    )  # fmt: skip
    carry = asked.identity
    if carry_in is not None:
        host = tuple(map(cupy.asnumpy, carry_in)) if isinstance(carry_in, tuple) else carry_in
        carry = as_state(host, asked, "carry_in")
    if stable is not None:
        carry = stable.enter(carry)
    outs = [cupy.ndarray(n, d) for d in types_.outputs]
    if n:
        begun = launch_columns(
            only, n, [*found.data, *map(readable, values)], [*found.masks, *masks_of(nulls)],
            outs=outs, rests=[saw_null], numbers=numbers, continues=found.continues,
            seed=_seed(only, carry, types_), waits=carry_out,
        )  # fmt: skip
        if carry_out:
            last = begun.read()["open"][0]
            fields = tuple(last[f] for f in last.dtype.names)
            carry = fields[0] if types_.scalar_state else fields
    answers = outs[0] if types_.scalar_output else tuple(outs)
    if not carry_out:
        return answers, None
    if stable is not None:
        carry = stable.leave(carry)
    return answers, carry


@lru_cache(maxsize=1024)
def reducing(
    each: ColumnPass,
    op: Operator,
    values: Form,
    nulls: Nullness,
    dtype: np.dtype | None,
    starts: bool,
    lower: bool,
) -> tuple[ColumnPass, Signature, bytes, bytes]:
    """Return the pass of a reduction, its types, the state before the first row, and the operator's numbers."""
    types_ = _signature(op, values, dtype)
    stable = stable_product(op, types_) if op.in_order else None
    if not lower:
        types_ = replace(types_, outputs=types_.state, scalar_output=types_.scalar_state)
        op = op if op.lower is None else as_constant_as(op, replace(op, lower=None))
    if stable is not None:
        op = stable.op if lower else _leaving(stable)
        types_ = replace(stable.types, outputs=types_.outputs, scalar_output=types_.scalar_output)
    op, numbers = shared_code(op, types_.inputs)
    only = replace(
        each, visitor=REDUCE_BY_KEY, operator=typed(op, types_), value_nulls=nulls, starts=starts
    )
    return only, types_, _seed(only, types_.identity, types_), numbers


@lru_cache(maxsize=1024)
def scanning(
    each: ColumnPass,
    op: Operator,
    values: Form,
    nulls: Nullness,
    dtype: np.dtype | None,
    exclusive: Exclusive,
    mark_nulls: bool,
) -> tuple[ColumnPass, Signature, Signature, StableProduct | None, bytes]:
    """Return a scan's pass, its types, those of the operator asked for, its stable product, and numbers."""
    asked = _signature(op, values, dtype)
    op, types_, stable = run_for(op, asked, mark_nulls)
    op, numbers = shared_code(op, types_.inputs)
    only = replace(
        each, visitor=SCAN_BY_KEY, operator=typed(op, types_), value_nulls=nulls,
        exclusive=exclusive, mark_nulls=mark_nulls,
    )  # fmt: skip
    return only, types_, asked, stable, numbers


def _signature(op: Operator, values: Form, dtype: np.dtype | None) -> Signature:
    for value in values:
        if value.kind == "V":
            raise TypeError(f"{op.name} by key: the kernels do not take arrays of dtype {value}")
    return signature_of(op, values, dtype)


@lru_cache(maxsize=256)
def _leaving(stable: StableProduct) -> Operator:
    """Return the substitute operator with states of the original one as answers."""
    answer: Any = stable.op.lower
    if not stable.flags:
        return stable.op
    return as_constant_as(stable.op, replace(stable.op, lower=lambda s: (s[0], answer(s))))


def _seed(each: ColumnPass, state: Any, types_: Signature) -> bytes:
    parts = (state,) if types_.scalar_state else tuple(state)
    return np.array([(0, parts)], each.carry).tobytes()
