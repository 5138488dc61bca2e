"""From marked rows of NumPy arrays to compacted arrays (a first form, in plain NumPy)."""

from typing import Any

import numpy as np

from ..marks import Predicate, Runs
from ..nulls import Mask
from ..operators import segmented
from .launch import run
from .types import signature


def _null_rows(nulls: Any, array: np.ndarray) -> np.ndarray:
    n = len(array)
    if nulls is None:
        return np.zeros(n, bool)
    if isinstance(nulls, Mask):
        at = nulls.offset + np.arange(n)
        low = (1 << nulls.shift) - 1
        return ((nulls.buffer[at >> nulls.shift] >> (at & low)) & 1) == nulls.null
    if array.dtype.kind in "fc":
        return np.isnan(array)
    if array.dtype == np.int64:
        return array == np.iinfo(np.int64).min
    return np.zeros(n, bool)


def marked(marks: Any) -> np.ndarray:
    if isinstance(marks, Predicate):
        n = len(marks.arrays[0])
        null = np.zeros(n, bool)
        for x, nulls in zip(marks.inputs, marks.nulls or (), strict=True):
            if isinstance(x, np.ndarray):
                null |= _null_rows(nulls, x)
        rows = zip(
            *(x if isinstance(x, np.ndarray) else [x] * n for x in marks.inputs), strict=True
        )
        found = [marks.function(*row) for row in rows]
        for value in found[:1]:
            if not isinstance(value, (bool, np.bool_)):
                raise TypeError(f"predicate must return bool, found {type(value).__name__}")
        return np.array(found, bool) & ~null
    if isinstance(marks, Runs):
        n = len(marks.keys[0])
        out = np.zeros(n, bool)
        for key, nulls in zip(marks.keys, marks.nulls, strict=True):
            a, b = key[:-1], key[1:]
            differs = a != b
            if key.dtype.kind in "fcmM":
                differs &= (a == a) | (b == b)
            null = _null_rows(nulls, key) if isinstance(nulls, Mask) else np.zeros(n, bool)
            differs = (null[:-1] != null[1:]) | (~null[:-1] & differs)
            if marks.last:
                out[:-1] |= differs
            else:
                out[1:] |= differs
        if n:
            out[-1 if marks.last else 0] = not marks.continues
        return out
    return marks


def compact(arrays: Any, marks: Any, split: bool, positions: bool, in_place: bool) -> Any:
    flags = marked(marks).copy()
    columns = [*arrays, np.arange(len(flags))] if positions else arrays
    kept = [a[flags] for a in columns]
    rest = [a[~flags] for a in columns] if split else None
    if in_place:
        count = int(flags.sum())
        for i, a in enumerate(arrays):
            a[:count] = kept[i]
            kept[i] = a[:count]
            if rest is not None:
                a[count:] = rest[i]
                rest[i] = a[count:]
    return kept, rest


def heads(marks: Any) -> Any:
    return marked(marks)


def run_lengths(marks: Any) -> Any:
    flags = marked(marks)
    starts = np.flatnonzero(flags)
    return starts, np.diff(starts, append=len(flags))


def repeat(lengths: Any, arrays: Any) -> Any:
    if (lengths < 0).any():
        raise ValueError(f"lengths must not be negative, found {lengths.min()}")
    return [np.repeat(a, lengths) for a in arrays]


def scan_by_key(
    op: Any,
    marks: Any,
    values: Any,
    *,
    nulls: Any,
    exclusive: Any,
    carry_in: Any,
    dtype: Any,
    mark_nulls: Any,
) -> Any:
    types_ = signature(op, tuple(v.dtype for v in values), dtype)
    if dtype is not None and op.lift is None and op.inputs == 1:
        values = (values[0].astype(dtype),)
    flags = marked(marks)
    sop = segmented(op)
    initial = types_.identity if carry_in is None else carry_in
    initial = (False, initial) if types_.scalar_state else (False, *initial)
    options = dict(axis=0, reverse=marks.last, dtype=None, mark_nulls=mark_nulls)
    if exclusive:
        raise NotImplementedError
    # nulls leave the flag out as well: a head that is null must restart all the same
    out, carry = run(
        sop, (flags, *values), write=True, nulls=nulls, exclusive=False, carry_in=initial, **options
    )
    return out, carry[1] if types_.scalar_state else carry[1:]


def reduce_by_key(
    op: Any, marks: Any, values: Any, *, nulls: Any, dtype: Any, starts: bool, lower: bool
) -> Any:
    types_ = signature(op, tuple(v.dtype for v in values), dtype)
    heads_ = np.flatnonzero(marked(marks))
    ends = [*heads_[1:], len(values[0])]
    states = []
    for a, b in zip(heads_, ends):
        piece = nulls
        if isinstance(nulls, Mask):
            piece = Mask(nulls.buffer, nulls.offset + int(a), nulls.shift, nulls.null)
        _, state = run(
            op,
            tuple(v[a:b] for v in values),
            write=False,
            nulls=piece,
            axis=0,
            exclusive=False,
            reverse=False,
            carry_in=None,
            dtype=dtype,
            mark_nulls=False,
        )
        states.append(state)
    fields = list(zip(*states)) if not types_.scalar_state else [states]
    out = [np.array(f, d) for f, d in zip(fields or [[]] * len(types_.state), types_.state)]
    if lower:
        from .engine import probe_lower

        answers = [probe_lower(op, s) for s in states]
        return (heads_ if starts else None), np.array(answers, types_.outputs[0])
    return (heads_ if starts else None), out[0] if types_.scalar_state else tuple(out)
