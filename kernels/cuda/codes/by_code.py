"""Scans and reductions of CuPy arrays within groups of rows in any order, where groups are few."""

from functools import lru_cache
from typing import Any

import cupy
import numpy as np

from ...nulls import Mask
from ...operators.operator import Operator
from ...operators.signature import Signature, signature_of
from ...options import Exclusive, ScanOptions
from ..core import launch
from ..core.closure_constants import shared_code
from ..core.device_arrays import kind_of_nulls, mask_buffer, readable
from ..core.devices import device
from ..core.plan import Extent, Form, Plan, state_dtype, typed
from ..core.tuning import LARGE_SHARED
from ..scan.scan import check_markers
from ..scan.sequential_product import StableProduct, stable_product
from .code_pass import STEPS, CodePass
from .tuning import CHUNKS, FEW_CODES, LEAST_ROWS, MOST_ROWS

BUCKET = 4096
"""Bytes of states by which passes differ, so that there are not too many of them."""


def max_groups() -> int:
    """Return how many groups `by_code` takes on the current device."""
    return FEW_CODES[device(launch.current_device()).capability in LARGE_SHARED]


def chunk_rows(length: int, groups: int) -> int:
    """Return the rows of a chunk, a power of two, so that there are few sizes."""
    least, most = (max(rows, each * groups) for rows, each in (LEAST_ROWS, MOST_ROWS))
    return 1 << (min(max(length // CHUNKS, least), most) - 1).bit_length()


def by_code(
    op: Operator,
    codes: Any,
    values: tuple[Any, ...],
    groups: int,
    options: ScanOptions,
    carry_in: Any,
    carry_codes: Any,
    *,
    write: bool,
    check: bool,
) -> tuple[Any, Any]:
    """Scan, or without `write` reduce, group by group; see `kernels.scan_by_code`."""
    nulls, length = options.nulls, len(codes)
    dtypes = tuple([v.dtype for v in values])
    asked, types_, stable, passes, numbers = _steps(
        op, dtypes, options.dtype, codes.itemsize, kind_of_nulls(nulls), options.exclusive,
        options.mark_nulls, groups, chunk_rows(length, groups), write,
    )  # fmt: skip
    outs = [cupy.ndarray(length, d) for d in types_.outputs] if write else []
    states = [cupy.ndarray(groups, d) for d in types_.state]
    if carry_in is not None and stable is not None:
        carry_in = stable.enter(_on_host(carry_in))
    initial = _initial(types_, carry_in, carry_codes, groups)
    reduce, scan_table, scan_chunks = passes
    chunks = -(-length // reduce.chunk)
    table = cupy.ndarray(max(1, chunks * groups), state_dtype(types_.state))
    wrong = cupy.zeros(1, np.uint64) if check else None
    arrays = [readable(v, d) for v, d in zip(values, types_.inputs, strict=True)]
    codes = readable(codes)
    mask, offset, null = 0, 0, 0
    if isinstance(nulls, Mask):
        buffer = mask_buffer(nulls)
        mask, offset, null = buffer.data.ptr, nulls.offset, nulls.null
    pointers = [a.data.ptr for a in (*arrays, *outs)] + [0] * (len(types_.outputs) - len(outs))
    pointers += [codes.data.ptr, mask, table.data.ptr]
    pointers += [0 if f is None else f.data.ptr for f in initial]
    pointers += [f.data.ptr for f in states] + [0 if wrong is None else wrong.data.ptr]
    work = [(reduce, length), (scan_table, groups), (scan_chunks, length)]
    for each, extent in work if write else work[:2]:
        if not extent:
            continue
        begun = launch.Launch(launch.current_space(Plan((each,)), Extent(extent)), False)
        integers = reduce.chunk, chunks, groups, null
        begun.run(0, pointers, offsets=(offset,), options=integers, numbers=numbers)
    if wrong is not None and (code := np.uint64(wrong[0].get())):  # its bits
        found_code = code.astype(f"u{codes.itemsize}").view(codes.dtype)
        raise ValueError(f"codes must be from 0 to {groups - 1}, found {found_code}")
    out = None
    if write:
        out = outs[0] if types_.scalar_output else tuple(outs)
    found = states[0] if types_.scalar_state else tuple(states)
    if stable is not None:
        left = stable.leave(_on_host(found))
        found = cupy.asarray(left) if asked.scalar_state else tuple(map(cupy.asarray, left))
    return out, found


@lru_cache(maxsize=1)
def _find_first() -> Any:
    # most rows see a row before them, and write nothing
    text = "if (first[code] > i) atomicMin(&first[code], (R)i)"
    return cupy.ElementwiseKernel("C code", "raw R first", text, "find_first")


@lru_cache(maxsize=1)
def _is_first() -> Any:
    return cupy.ElementwiseKernel(
        "C code, raw R first", "bool found", "found = first[code] == i", "is_first"
    )


def _first_rows(codes: Any, groups: int) -> Any:
    """Return the first row of each code, and the number of all rows where there is none."""
    length = len(codes)
    first = cupy.ndarray(groups, np.int32 if length < 1 << 31 else np.int64)
    first.fill(length)
    _find_first()(codes, first)
    return first


def first_met(codes: Any, groups: int) -> Any:
    """Return whether each row is the first one of its code; see `kernels.first_met`."""
    return _is_first()(codes, _first_rows(codes, groups))


def factorize(codes: Any, groups: int, *, check: bool) -> tuple[Any, Any]:
    """Return codes that each have a row; see `kernels.factorize`."""
    length = len(codes)
    low, high = value_range(codes) if check and length else (0, -1)
    if low < 0 or high >= groups:
        raise ValueError(f"codes must be from 0 to {groups - 1}, found {low if low < 0 else high}")
    first = _first_rows(codes, groups)
    there = cupy.flatnonzero(first < length)
    first = first.astype(np.int64, copy=False)
    if len(there) == groups:
        return codes, first
    numbers = cupy.zeros(groups, codes.dtype)
    numbers[there] = cupy.arange(len(there))
    return numbers[codes], first[there]


def most_arranged() -> int:
    """Return that rows of no groups are brought together so: the sort of positions is as fast."""
    return 0


def arrange(codes: Any, groups: int, arrays: Any) -> tuple[Any, list[Any]]:
    """Raise a TypeError: rows are sorted by their codes."""
    raise TypeError("arrange_by_code takes NumPy arrays; sort others by their codes")


def count_distinct(words: Any, ends: Any, missing: Any) -> Any:
    """Raise a TypeError: the values of segments are sorted."""
    raise TypeError("count_distinct takes NumPy arrays; sort the segments of others")


def hash_codes(words: Any) -> tuple[Any, int]:
    """Raise a TypeError: cuDF numbers the keys of its columns."""
    raise TypeError("hash_codes takes NumPy arrays; cuDF numbers the keys of its columns")


def hash_texts(offsets: Any, data: Any) -> tuple[Any, int]:
    """Raise a TypeError: cuDF numbers the keys of its columns."""
    raise TypeError("hash_texts takes NumPy arrays; cuDF numbers the keys of its columns")


def text_words(offsets: Any, data: Any, count: int) -> Any:
    """Raise a TypeError: cuDF sorts its columns of strings."""
    raise TypeError("text_words takes NumPy arrays; cuDF sorts its columns of strings")


def take_texts(offsets: Any, data: Any, rows: Any) -> tuple[Any, Any]:
    """Raise a TypeError: cuDF takes rows of its columns of strings."""
    raise TypeError("take_texts takes NumPy arrays; cuDF takes rows of its columns of strings")


def value_range(values: Any) -> tuple[int, int]:
    """Return the least and the greatest of some integers; see `kernels.value_range`."""
    low, high = cupy.stack([values.min(), values.max()]).get()
    return int(low), int(high)


def _on_host(states: Any) -> Any:
    return tuple(map(cupy.asnumpy, states)) if isinstance(states, tuple) else cupy.asnumpy(states)


def _initial(types_: Signature, carry_in: Any, carry_codes: Any, groups: int) -> list[Any]:
    """Return the states of all groups before the first row, one array a field, or None a field."""
    if carry_in is None:
        return [None] * len(types_.state)
    given = carry_in if isinstance(carry_in, tuple) else (carry_in,)
    found = []
    for field, identity, dtype in zip(
        given, types_.parts(types_.identity), types_.state, strict=True
    ):
        states = cupy.full(groups, identity, dtype)
        states[slice(len(field)) if carry_codes is None else carry_codes] = cupy.asarray(field)
        found.append(states)
    return found


@lru_cache(maxsize=1024)
def _steps(
    op: Operator,
    inputs: Form,
    dtype: np.dtype | None,
    code: int,
    nulls: str,
    exclusive: Exclusive,
    mark_nulls: bool,
    groups: int,
    chunk: int,
    write: bool,
) -> tuple[Signature, Signature, StableProduct | None, list[CodePass], bytes]:
    """Return the types that were asked for, those of the operator that is run, what it stands for, passes, numbers."""
    asked = types_ = signature_of(op, inputs, dtype)
    if mark_nulls:
        check_markers(types_)
    stable = stable_product(op, types_) if op.in_order else None
    if stable is not None:
        op, types_ = stable.op, stable.types
    op, numbers = shared_code(op, types_.inputs)
    of = typed(op, types_)
    bytes_ = -(-groups * state_dtype(types_.state).itemsize // BUCKET) * BUCKET
    passes = [
        CodePass(of, step, code, nulls, exclusive, mark_nulls, write, bytes_, chunk)
        for step in STEPS
    ]
    return asked, types_, stable, passes, numbers
