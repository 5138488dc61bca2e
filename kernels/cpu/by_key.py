"""From keys and values in NumPy arrays to a state a run, or a scan that restarts at runs.

This module must never loop over elements.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from numba.core import types

from ..counted import counted
from ..marks import Runs
from ..nulls import InBand, Nulls, missing_in_band
from ..operators import Operator
from .calls import as_constant_as, operator_type
from .compaction import WORD
from .keyed import ReduceRuns, ScanRuns
from .launch import (
    array_type,
    form,
    null_arguments,
    null_value,
    nulls_type,
    state_type,
    walk,
)
from .marks import SPACE, marks_of, space_for, space_type
from .outputs import cut, room
from .types import Form, Signature, as_state, signature
from .visitors import work_type


def reduce_by_key(
    op: Operator,
    marks: Runs,
    values: tuple[np.ndarray, ...],
    *,
    nulls: Nulls,
    dtype: np.dtype | None,
    starts: bool,
    lower: bool,
) -> tuple[np.ndarray | None, Any]:
    """Reduce each run of keys; see `kernels.reduce_by_key`."""
    types_ = signature(op, tuple(v.dtype for v in values), dtype)
    told, kind, length, alive = marks_of(marks)
    told_nulls: Any = type(nulls)
    firsts = room(length, WORD) if starts else None
    fields, scalar = types_.state, types_.scalar_state
    if lower:
        fields, scalar = types_.outputs, types_.scalar_output
    outs = [room(length, d) for d in fields]
    like = [d.type(0).item() for d in fields]
    work = ReduceRuns(
        op,
        told,
        _told(values),
        null_arguments(nulls),
        _plain(types_.identity),
        _in_order(op, types_),
        firsts,
        outs[0] if scalar else tuple(outs),
        True if lower else None,
        like[0] if scalar else tuple(like),
    )
    work_kind = _reduce_type(op, types_, kind, told_nulls, starts, lower)

    def space(tile: int) -> Any:
        states = tuple(np.empty(tile + 1, d) for d in types_.state)
        return space_for(tile, states=states[0] if types_.scalar_state else states)

    space_kind = space_type(_arrays(types_.state, types_.scalar_state))
    runs, _ = _walk(op, types_, work, work_kind, (space, space_kind), types_.identity, length)
    del alive
    outs = [cut(out, runs) for out in outs]
    first = None if firsts is None else cut(firsts, runs)
    return first, outs[0] if scalar else tuple(outs)


def scan_by_key(
    op: Operator,
    marks: Runs,
    values: tuple[np.ndarray, ...],
    *,
    nulls: Nulls,
    exclusive: bool,
    carry_in: Any,
    dtype: np.dtype | None,
    mark_nulls: bool,
    met: Any,
    carry_out: bool,  # which costs nothing here
) -> tuple[Any, Any]:
    """Scan run by run; see `kernels.scan_by_key`."""
    types_ = signature(op, tuple(v.dtype for v in values), dtype)
    carry = types_.identity
    if carry_in is not None:
        carry = as_state(carry_in, types_.state, types_.scalar_state, "carry_in")
    null_values = [null_value(d, mark_nulls) for d in types_.outputs]
    told, kind, length, alive = marks_of(marks)
    told_nulls: Any = type(nulls)
    outs = [room(length, d) for d in types_.outputs]
    work = ScanRuns(
        op,
        told,
        _told(values),
        null_arguments(nulls),
        outs[0] if types_.scalar_output else tuple(outs),
        null_values[0] if types_.scalar_output else tuple(null_values),
        mark_nulls,
        exclusive,
        _plain(types_.identity),
        _in_order(op, types_),
        length,
        marks.last,
    )
    work_kind = _scan_type(op, types_, kind, told_nulls)
    space = space_for, SPACE
    _, carry_out = _walk(op, types_, work, work_kind, space, carry, length)
    del alive
    if met is not None and isinstance(nulls, InBand):
        met[0] |= any(missing_in_band(v).any() for v in values)
    return outs[0] if types_.scalar_output else tuple(outs), carry_out


def _walk(
    op: Operator, types_: Signature, work: Any, kind: Any, space: Any, carry: Any, length: int
) -> tuple[int, Any]:
    """Let a visitor walk from a carry-in; return the number of heads and the carry-out."""
    parts = (carry,) if types_.scalar_state else carry
    fields = (WORD, *types_.state)
    carries = tuple(np.array([part], d) for part, d in zip((0, *parts), fields, strict=True))
    identity = _plain(types_.identity)
    neutral = (0, identity) if types_.scalar_state else (0, *identity)
    combines = as_constant_as(op, counted(op, not types_.scalar_state))
    chained = _in_order(op, types_)
    walk(
        combines, fields, False, work, kind, neutral, carries, length, chained=chained, space=space
    )
    states = tuple(field[0] for field in carries[1:])
    return int(carries[0][0]), states[0] if types_.scalar_state else states


def _told(values: tuple[np.ndarray, ...]) -> Any:
    """What a kernel is told of values: it is much faster where it knows that they lie side by side."""
    flat = tuple(np.require(v, requirements=["C", "A"]) for v in values)
    return flat if len(flat) > 1 else flat[0]


def _in_order(op: Operator, types_: Signature) -> bool:
    return op.in_order and any(d.kind in "fc" for d in types_.state)


def _plain(state: Any) -> Any:
    return tuple(part.item() for part in state) if isinstance(state, tuple) else state.item()


# --- types of the visitors ---------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _reduce_type(
    op: Operator, types_: Signature, marks: Any, nulls: type, starts: bool, lower: bool
) -> Any:
    fields, scalar = types_.state, types_.scalar_state
    if lower:
        fields, scalar = types_.outputs, types_.scalar_output
    return work_type(
        ReduceRuns,
        **_read(op, types_, marks, nulls),
        starts=array_type(WORD, layout="C") if starts else types.none,
        outs=_arrays(fields, scalar),
        lowers=types.boolean if lower else types.none,
        like=state_type(fields, scalar),
    )


@lru_cache(maxsize=4096)
def _scan_type(op: Operator, types_: Signature, marks: Any, nulls: type) -> Any:
    return work_type(
        ScanRuns,
        **_read(op, types_, marks, nulls),
        outs=_arrays(types_.outputs, types_.scalar_output),
        null_value=state_type(types_.outputs, types_.scalar_output),
        mark=types.boolean,
        exclusive=types.boolean,
        length=types.int64,
        reverse=types.boolean,
    )


def _read(op: Operator, types_: Signature, marks: Any, nulls: type) -> dict[str, Any]:
    """The types of what both visitors read."""
    return {
        "op": operator_type(op),
        "marks": marks,
        "xs": form([array_type(d, True, "C") for d in types_.inputs], op.inputs == 1),
        "nulls": nulls_type(nulls),
        "identity": state_type(types_.state, types_.scalar_state),
        "chained": types.boolean,
    }


def _arrays(fields: Form, scalar: bool) -> Any:
    return form([array_type(d, layout="C") for d in fields], scalar)
