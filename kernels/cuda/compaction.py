"""Compaction and ordered group-by of CuPy arrays: from marks and arrays to plans and results.

Each function is one pass of a kernel whose output has room for every row; how many rows there are is read once, at
the end. This module must never know what a predicate or an operator computes, nor how a kernel is launched.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import cupy
import numpy as np
from numba.core import types

from ..arrays import MOST, check_size
from ..nulls import InBand, Mask, Nulls
from ..operator_calls import as_constant_as
from ..operators import ROLES, Operator
from ..options import ScanOptions
from ..selection import Predicate, Runs, counter_of
from ..signature import Signature, as_state, lifted, signature_of
from .in_order import Substitute, substitute
from .numbers import kernel_code, shared_code
from .plan import Moved, Nullness, Plan, prefix_dtype_of
from .source import Form, Variant
from .visits import fits, readable, visit

MUCH = 8
"""How many times as large as a result its memory may be before the result is copied out of it."""

POSITIONS = Moved(np.dtype(np.int64), -2)


def compact(
    arrays: list[Any], keep: Any, split: bool, positions: bool, in_place: bool
) -> tuple[list[Any], list[Any] | None]:
    """Move the marked rows of arrays, and with `split` the others; see `kernels.select`, `partition`, `unique`."""
    plan, data, masks, scalars, continues = _marking(keep)
    n = len(data[0])
    sources = [readable(a) for a in arrays]
    staged: list[Any] = []
    moved = []
    for source in sources:
        column = _column_of(source, data[: len(plan.keys)])
        if column < 0 and in_place:
            column = plan.columns + len(staged)
            staged.append(source)
        moved.append(Moved(source.dtype, column))
    if positions or not moved:
        moved.append(POSITIONS)
    form = tuple([a.dtype for a in staged])
    here = _compacting(plan, tuple(moved), form, split, in_place)
    writes_over = in_place and fits(here)
    if in_place and not writes_over:  # tiles of so many columns are too large: by way of a buffer
        kept, rest = compact(sources, keep, split, positions, False)
        count = len(kept[0])
        return _put_back(arrays, kept, rest, count)

    places = [m.dtype for m in moved]
    outs = [cupy.ndarray(n, d) for d in places]
    if writes_over:
        outs[: len(sources)] = sources
    rests = [cupy.ndarray(n, d) for d in places] if split else []
    count = 0
    if n:
        found = visit(
            here, n, data, masks, staged, moved=[*sources, None][: len(moved)], outs=outs,
            rests=rests, scalars=scalars, continues=continues,
        ).read()  # fmt: skip
        count = int(found["marked"])
    wanted = len(arrays) + positions
    if writes_over:
        kept = [o[:count] for o in outs]
        rest = [r[: n - count] for r in rests] if split else None
        kept, rest = _put_back(arrays, kept[:wanted], rest, count)
        return kept, rest[:wanted] if rest is not None else None
    kept = [_cut(o, count) for o in outs[:wanted]]
    return kept, [_cut(r, n - count) for r in rests[:wanted]] if split else None


def head_flags(selection: Predicate | Runs, out: Any = None) -> Any:
    """Return which rows are selected; see `kernels.head_flags` and `kernels.flags`."""
    plan, data, masks, scalars, continues = _marking(selection)
    n = len(data[0])
    flags = cupy.ndarray(n, np.bool_) if out is None else out
    if plan.marks == "flags":
        flags[:] = data[0]
    elif n:
        visit(
            _visiting(plan, "heads"), n, data, masks, outs=[flags], scalars=scalars,
            continues=continues, waits=False,
        )  # fmt: skip
    return flags


def run_lengths(runs: Runs) -> tuple[Any, Any]:
    """Return starts and lengths of runs; see `kernels.run_length_encode`."""
    plan, data, masks, _, continues = _marking(runs)
    n = len(data[0])
    starts, lengths = cupy.ndarray(n, np.int64), cupy.ndarray(n, np.int64)
    count = 0
    if n:
        here = _visiting(plan, "run_lengths")
        found = visit(here, n, data, masks, outs=[starts], rests=[lengths], continues=continues)
        count = int(found.read()["marked"])
    return _cut(starts, count), _cut(lengths, count)


def repeat(lengths: Any, arrays: Sequence[Any], beside: int) -> list[Any]:
    """Repeat entries of arrays; see `kernels.run_length_decode`."""
    if len(lengths) and int(lengths.min()) < 0:
        raise ValueError(f"lengths must not be negative, found {int(lengths.min())}")
    ends = cupy.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    if float(lengths.sum(dtype=np.float64)) > MOST / 2:  # what the integers may not have counted
        total = MOST
    check_size(total, 8, float("inf"))  # smaller ones are for CuPy's pool to refuse
    rows = cupy.searchsorted(ends, cupy.arange(total), side="right")
    return [a[rows] for a in arrays]


def reduce_by_key(
    op: Operator,
    runs: Runs,
    values: tuple[Any, ...],
    options: ScanOptions,
    *,
    starts: bool,
    lower: bool,
) -> tuple[Any, Any]:
    """Reduce runs of equal keys; see `kernels.reduce_by_key`."""
    plan, data, masks, _, continues = _marking(runs)
    nulls, dtype = options.nulls, options.dtype
    forms = tuple([v.dtype for v in values])
    here, types_, seed, numbers = _reducing(plan, op, forms, _nullness(nulls), dtype, starts, lower)
    n = len(data[0])
    outs = [cupy.ndarray(n, d) for d in types_.outputs]
    first = cupy.ndarray(n if starts else 0, np.int64)
    count = 0
    if n:
        found = visit(
            here, n, [*data, *map(readable, values)], [*masks, *_mask(nulls)], outs=outs,
            rests=[first], numbers=numbers, continues=continues, seed=seed,
        ).read()  # fmt: skip
        count = int(found["marked"])
    fields = [_cut(o, count) for o in outs]
    answers = fields[0] if types_.scalar_output else tuple(fields)
    return (_cut(first, count) if starts else None), answers


def scan_by_key(
    op: Operator,
    runs: Runs,
    values: tuple[Any, ...],
    options: ScanOptions,
    carry_in: Any,
    *,
    saw_null: Any,
    carry_out: bool,
) -> tuple[Any, Any]:
    """Scan arrays within runs of equal keys; see `kernels.scan_by_key`."""
    plan, data, masks, _, continues = _marking(runs)
    nulls = options.nulls
    forms, nullness = tuple([v.dtype for v in values]), _nullness(nulls)
    here, types_, asked, instead, numbers = _scanning(
        plan, op, forms, nullness, options.dtype, options.exclusive, options.mark_nulls
    )
    carry = asked.identity
    if carry_in is not None:
        host = tuple(map(cupy.asnumpy, carry_in)) if isinstance(carry_in, tuple) else carry_in
        carry = as_state(host, asked, "carry_in")
    if instead is not None:
        carry = instead.enter(carry)
    n = len(data[0])
    outs = [cupy.ndarray(n, d) for d in types_.outputs]
    if n:
        begun = visit(
            here, n, [*data, *map(readable, values)], [*masks, *_mask(nulls)], outs=outs,
            rests=[saw_null], numbers=numbers, continues=continues, seed=_seed(here, carry, types_),
            waits=carry_out,
        )  # fmt: skip
        if carry_out:
            found = begun.read()["open"]
            fields = tuple(found[f] for f in found.dtype.names)
            carry = fields[0] if types_.scalar_state else fields
    answers = outs[0] if types_.scalar_output else tuple(outs)
    if not carry_out:
        return answers, None
    if instead is not None:
        carry = instead.leave(carry)
    return answers, carry


# --- plans ----------------------------------------------------------------------------------------


def _marking(marks: Any) -> tuple[Plan, list[Any], list[Mask], list[Any], bool]:
    """Return a plan that marks rows, the columns and masks it reads, a predicate's scalars, and whether runs go on."""
    if isinstance(marks, Predicate):
        return _predicate(marks)
    if not isinstance(marks, Runs):
        flags = readable(marks)
        return Plan("compact", "flags", (flags.dtype,), (Nullness(),)), [flags], [], [], False
    keys = [readable(k) for k in marks.keys]
    nulls = tuple(_nullness(m if isinstance(m, Mask) else None) for m in marks.nulls)
    masks = [m for m in marks.nulls if isinstance(m, Mask)]
    plan = _runs(tuple([k.dtype for k in keys]), nulls, marks.last)
    if len(keys) > 1 and not fits(plan):  # by way of flags
        half = len(keys) // 2
        some = replace(marks, keys=marks.keys[:half], nulls=marks.nulls[:half])
        others = replace(marks, keys=marks.keys[half:], nulls=marks.nulls[half:])
        flags = head_flags(some) | head_flags(others)
        flat = Plan("compact", "flags", (flags.dtype,), (Nullness(),), last=marks.last)
        return flat, [flags], [], [], marks.continues
    return plan, keys, masks, [], marks.continues


def _predicate(keep: Predicate) -> tuple[Plan, list[Any], list[Mask], list[Any], bool]:
    rows: list[Any] = []
    scalars: list[Any] = []
    nulls, order = [], []
    counter, numbers = _parametric(keep.counter, tuple(map(_dtype, keep.inputs)))
    inputs = (*numbers, *keep.inputs)
    for value, told in zip(inputs, (*[None] * len(numbers), *(keep.nulls or ())), strict=True):
        if isinstance(value, cupy.ndarray):
            order.append(("row", len(rows)))
            rows.append(readable(value))
            nulls.append(told)
        else:
            order.append(("scalar", len(scalars)))
            scalars.append(np.asarray(value)[()])
    forms = tuple([r.dtype for r in rows]), tuple([s.dtype for s in scalars])
    plan = _predicated(counter, *forms, tuple(map(_nullness, nulls)), tuple(order))
    return plan, rows, [m for m in nulls if isinstance(m, Mask)], scalars, False


def _dtype(value: Any) -> np.dtype:
    """The dtype of an array or a scalar."""
    found: np.dtype = np.asarray(value).dtype if np.isscalar(value) else value.dtype
    return found


@lru_cache(maxsize=1024)
def _parametric(counter: Operator, inputs: Form) -> tuple[Operator, tuple[np.generic, ...]]:
    """Return what counts rows by the same function with the numbers that it captures as parameters, and those."""
    found = lifted(counter, inputs)
    if found != types.boolean:
        raise TypeError(f"a predicate must return bool, found {found}")
    code = kernel_code(counter, inputs)
    (numbers,) = (v for v, role in zip(code.values, ROLES, strict=True) if role == "lift")
    return (counter_of(code.functions["lift"], counter.name), numbers) if numbers else (counter, ())


@lru_cache(maxsize=1024)
def _predicated(
    counter: Operator,
    rows: Form,
    scalars: Form,
    nulls: tuple[Nullness, ...],
    order: tuple[tuple[str, int], ...],
) -> Plan:
    return Plan(
        "compact", "predicate", rows, nulls, scalars=scalars, predicate=counter, order=order
    )


def _nullness(nulls: Nulls) -> Nullness:
    if isinstance(nulls, Mask):
        if not isinstance(nulls.buffer, cupy.ndarray):
            raise TypeError(f"the mask of CuPy values must be a CuPy array, found {nulls.buffer!r}")
        return Nullness("bits" if nulls.shift == 3 else "bytes", nulls.null)
    return Nullness("in band") if isinstance(nulls, InBand) else Nullness()


def _mask(nulls: Nulls) -> list[Mask]:
    return [nulls] if isinstance(nulls, Mask) else []


@lru_cache(maxsize=1024)
def _runs(keys: Form, nulls: tuple[Nullness, ...], last: bool) -> Plan:
    return Plan("compact", "runs", keys, nulls, last=last)


@lru_cache(maxsize=1024)
def _visiting(plan: Plan, visitor: str) -> Plan:
    return replace(plan, visitor=visitor)


@lru_cache(maxsize=1024)
def _compacting(
    plan: Plan, moved: tuple[Moved, ...], staged: Form, split: bool, in_place: bool
) -> Plan:
    return replace(plan, moved=moved, staged=staged, split=split, in_place=in_place)


@lru_cache(maxsize=1024)
def _reducing(
    plan: Plan,
    op: Operator,
    values: Form,
    nulls: Nullness,
    dtype: np.dtype | None,
    starts: bool,
    lower: bool,
) -> tuple[Plan, Signature, bytes, bytes]:
    """Return the plan of a reduction, its types, the state before the first row, and the operator's numbers."""
    types_ = signature_of(op, values, dtype)
    instead = substitute(op, types_) if op.in_order else None
    if not lower:
        types_ = replace(types_, outputs=types_.state, scalar_output=types_.scalar_state)
        op = op if op.lower is None else as_constant_as(op, replace(op, lower=None))
    if instead is not None:
        op = instead.op if lower else _leaving(instead)
        types_ = replace(instead.types, outputs=types_.outputs, scalar_output=types_.scalar_output)
    op, numbers = shared_code(op, types_.inputs)
    by = _variant(op, types_, dtype, last=plan.last)
    here = replace(
        plan, visitor="by_key", by=by, identity=types_.identity, value_nulls=nulls, reduces=True,
        starts=starts,
    )  # fmt: skip
    return here, types_, _seed(here, types_.identity, types_), numbers


@lru_cache(maxsize=1024)
def _scanning(
    plan: Plan,
    op: Operator,
    values: Form,
    nulls: Nullness,
    dtype: np.dtype | None,
    exclusive: bool,
    mark: bool,
) -> tuple[Plan, Signature, Signature, Substitute | None, bytes]:
    """Return a scan's plan, types, those of the operator that was asked for, the one instead of it, and numbers."""
    asked = types_ = signature_of(op, values, dtype)
    for answer in types_.outputs if mark else ():
        if answer.kind not in "fc" and answer != np.int64:
            raise TypeError(f"mark_nulls: an output of {answer} cannot hold a null")
    instead = substitute(op, types_) if op.in_order else None
    if instead is not None:
        op, types_ = instead.op, instead.types
    op, numbers = shared_code(op, types_.inputs)
    by = _variant(op, types_, dtype, exclusive=exclusive, last=plan.last, mark=mark)
    here = replace(plan, visitor="by_key", by=by, identity=types_.identity, value_nulls=nulls)
    return here, types_, asked, instead, numbers


def _variant(
    op: Operator,
    types_: Signature,
    dtype: np.dtype | None,
    *,
    last: bool,
    exclusive: bool = False,
    mark: bool = False,
) -> Variant:
    return Variant(
        op, types_.inputs, types_.state, types_.scalar_state, types_.outputs, types_.scalar_output,
        dtype, "none", exclusive, last, mark, True, "by_key",
    )  # fmt: skip


@lru_cache(maxsize=256)
def _leaving(instead: Substitute) -> Operator:
    """The substitute whose answers are the states of the operator it stands for."""
    answer: Any = instead.op.lower
    if not instead.flags:
        return instead.op
    return as_constant_as(instead.op, replace(instead.op, lower=lambda s: (s[0], answer(s))))


def _seed(plan: Plan, state: Any, types_: Signature) -> bytes:
    parts = (state,) if types_.scalar_state else tuple(state)
    return np.array([(0, parts)], prefix_dtype_of(plan)).tobytes()


# --- arrays ---------------------------------------------------------------------------------------


def _column_of(array: Any, columns: Sequence[Any]) -> int:
    """The column that holds an array already, or -1."""
    for i, column in enumerate(columns):
        if column.data.ptr == array.data.ptr and column.itemsize == array.itemsize:
            return i
    return -1


def _cut(array: Any, count: int) -> Any:
    """The first rows of an array, without the memory behind them if that is much."""
    if count * MUCH >= len(array):
        return array[:count]
    head = cupy.ndarray(count, array.dtype)
    kind, stream = cupy.cuda.runtime.memcpyDeviceToDevice, cupy.cuda.get_current_stream().ptr
    cupy.cuda.runtime.memcpyAsync(head.data.ptr, array.data.ptr, head.nbytes, kind, stream)
    return head


def _put_back(
    arrays: Sequence[Any], kept: list[Any], rest: list[Any] | None, count: int
) -> tuple[list[Any], list[Any] | None]:
    """Make what was kept the arrays' heads, if it is not, and the rest their tails."""
    for i, array in enumerate(arrays):
        head = array[:count]
        if kept[i].data.ptr != head.data.ptr or kept[i].strides != head.strides:
            head[:] = kept[i]
        kept[i] = head
        if rest is not None:
            array[count:] = rest[i]
            rest[i] = array[count:]
    return kept, rest
