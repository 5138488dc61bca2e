"""Scans and reductions of CuPy arrays within groups of rows in any order."""

from functools import lru_cache
from typing import Any, NamedTuple

import cupy
import numpy as np

from ...nulls import Mask
from ...operators.operator import Operator
from ...operators.signature import Signature, signature_of
from ...options import Exclusive, ScanOptions
from ..core import launch
from ..core.closure_constants import shared_code
from ..core.device_arrays import kind_of_nulls, mask_buffer, readable, valid_elements
from ..core.devices import device
from ..core.plan import Extent, Form, state_dtype, typed
from ..core.tuning import LARGE_SHARED
from ..scan.scan import run_for
from ..scan.sequential_product import StableProduct
from ..sort.partition import Partition, leading_bits
from .code_pass import STEPS, CodePass, group_bytes
from .factorize import check_range, flagged, no_group
from .tuning import CHUNKS, FEW_CODES, LEAST_ROWS, LONG_PART, MOST_ROWS, PART_TABLE, PARTED_FROM

BUCKET = 1024
"""Passes are compiled for multiples of this many bytes of states, so that there are not too many of them."""


def max_groups(length: int) -> int:
    """Return the most groups that `by_code` takes for this many rows on the current device."""
    return _few_groups() << (leading_bits(length) if length >= PARTED_FROM else 0)


def _few_groups() -> int:
    """Return for how many groups a warp of the current device has room."""
    return FEW_CODES[device(launch.current_device()).capability in LARGE_SHARED]


def _part_bits(state: Form) -> int:
    """Return how many bits a code within a part may have, so that a warp has room for a state of each group."""
    room = PART_TABLE[device(launch.current_device()).capability in LARGE_SHARED]
    return (room // group_bytes(state)).bit_length() - 1


class Pieces(NamedTuple):
    """Parts of the rows; if some are long, all are cut into pieces."""

    number: int
    bounds: Any
    """Where each piece starts, and where the last one ends."""
    owners: Any = None
    """The part of each piece."""
    firsts: Any = None
    """The first piece of each part, and the number of pieces."""

    @staticmethod
    def of(partition: Partition) -> "Pieces":
        """Return the pieces of a partition."""
        bounds = partition.bounds
        if int((bounds[1:] - bounds[:-1]).max()) <= LONG_PART:
            return Pieces(len(bounds) - 1, cupy.asarray(bounds))
        starts = cupy.asnumpy(bounds)
        counts = np.maximum(1, -(-np.diff(starts) // LONG_PART))
        firsts = np.append(0, np.cumsum(counts)).astype(np.int32)
        owners = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
        within = np.arange(len(owners)) - firsts[owners]
        begins = np.append(starts[owners] + within * LONG_PART, starts[-1])
        return Pieces(len(owners), *map(cupy.asarray, (begins, owners, firsts)))

    @property
    def are_cut(self) -> bool:
        """Whether parts were cut."""
        return self.owners is not None

    @property
    def pointers(self) -> list[int]:
        """Return the addresses that kernels take."""
        return [0 if a is None else a.data.ptr for a in (self.bounds, self.owners, self.firsts)]


def chunk_rows(length: int, groups: int) -> int:
    """Return the number of rows of a chunk: a power of two, so that there are few sizes."""
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
    occurring: bool = False,
) -> tuple[Any, Any, Any]:
    """Scan each group, or without `write` reduce it; see `kernels.scan_by_code`."""
    length, codes = len(codes), readable(codes)
    partition: Partition | None = None
    if groups > _few_groups() and length:
        if check:
            check_range(codes, groups)
        _, run, *_ = _types(op, tuple([v.dtype for v in values]), options.dtype, options.mark_nulls)
        partition, check = Partition(codes, groups, _part_bits(run.state)), False
        values, options = _arranged(partition, values, options)
    nulls, dtypes = options.nulls, tuple([v.dtype for v in values])
    width = groups if partition is None else 1 << partition.low
    chunk = chunk_rows(length, groups) if partition is None else 0
    asked, types_, stable, passes, numbers = _steps(
        op, dtypes, options.dtype, codes.itemsize, kind_of_nulls(nulls), options.exclusive,
        options.mark_nulls, width, chunk, write,
    )  # fmt: skip
    outs = [cupy.ndarray(length, d) for d in types_.outputs] if write else []
    states = [cupy.ndarray(groups, d) for d in types_.state]
    if carry_in is not None and stable is not None:
        carry_in = stable.enter(_on_host(carry_in))
    initial = _initial(types_, carry_in, carry_codes, groups)
    pieces = Pieces(-(-length // chunk) if chunk else 0, None)
    if partition is not None:
        pieces, codes = Pieces.of(partition), partition.codes
    work = _work(passes, bool(chunk), pieces, length, groups, write)
    table_rows = pieces.number * width if len(work) > 1 else 0
    table = cupy.ndarray(max(1, table_rows), state_dtype(types_.state))
    wrong = cupy.zeros(1, np.uint64) if check else None
    met = cupy.zeros(groups, np.bool_) if occurring else None
    arrays = [readable(v, d) for v, d in zip(values, types_.inputs, strict=True)]
    mask, offset, null = 0, 0, 0
    if isinstance(nulls, Mask):
        buffer = mask_buffer(nulls)
        mask, offset, null = buffer.data.ptr, nulls.offset, nulls.null
    pointers = [a.data.ptr for a in (*arrays, *outs)] + [0] * (len(types_.outputs) - len(outs))
    pointers += [codes.data.ptr, mask, table.data.ptr]
    pointers += [0 if f is None else f.data.ptr for f in initial]
    pointers += [f.data.ptr for f in states]
    pointers += [0 if a is None else a.data.ptr for a in (wrong, met)] + pieces.pointers
    for each, extent in work:
        if not extent:
            continue
        begun = launch.Launch(launch.current_space(each.alone, Extent(extent)), False)
        integers = chunk, pieces.number, groups, null, 0 if partition is None else partition.low
        begun.run(0, pointers, offsets=(offset,), options=integers, numbers=numbers)
    if wrong is not None and (code := np.uint64(wrong[0].get())):  # its bits
        raise ValueError(no_group(groups, code.astype(f"u{codes.itemsize}").view(codes.dtype)))
    if partition is not None:
        outs = [partition.restore(out) for out in outs]
    out = None
    if write:
        out = outs[0] if types_.scalar_output else tuple(outs)
    rows = None
    if met is not None:
        rows, states = flagged(met, states)
    found = states[0] if types_.scalar_state else tuple(states)
    if stable is not None:
        left = stable.leave(_on_host(found))
        found = cupy.asarray(left) if asked.scalar_state else tuple(map(cupy.asarray, left))
    return out, found, rows


def _arranged(
    partition: Partition, values: tuple[Any, ...], options: ScanOptions
) -> tuple[tuple[Any, ...], ScanOptions]:
    """Return values in the order of parts, and options with their nulls in this order."""
    nulls = options.nulls
    if isinstance(nulls, Mask):
        valid = partition.arrange(valid_elements(nulls, len(values[0])).view(np.uint8))
        options = options._replace(nulls=Mask(valid, 0, 0, 0))
    return tuple([partition.arrange(readable(v)) for v in values]), options


def _work(
    passes: "Steps", chunked: bool, pieces: Pieces, length: int, groups: int, write: bool
) -> list[tuple[CodePass, int]]:
    """Return the passes, and the number of items that each goes over."""
    if not (chunked or pieces.are_cut):
        return [(passes.walk, pieces.number)]
    rows = length if chunked else pieces.number
    every = (passes.reduce, rows), (passes.table, groups), (passes.scan, rows)
    return list(every if write else every[:2])


def _on_host(states: Any) -> Any:
    return tuple(map(cupy.asnumpy, states)) if isinstance(states, tuple) else cupy.asnumpy(states)


def _initial(types_: Signature, carry_in: Any, carry_codes: Any, groups: int) -> list[Any]:
    """Return the states of all groups before the first row: for each field an array, or None."""
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


class Steps(NamedTuple):
    """The passes of a scan by code."""

    reduce: CodePass
    table: CodePass
    scan: CodePass
    walk: CodePass


@lru_cache(maxsize=1024)
def _types(
    op: Operator, inputs: Form, dtype: np.dtype | None, mark_nulls: bool
) -> tuple[Signature, Signature, StableProduct | None, Operator, bytes]:
    """Return the types of `op`, those of the operator that is run, the stable product, that operator, its numbers."""
    asked = signature_of(op, inputs, dtype)
    op, types_, stable = run_for(op, asked, mark_nulls)
    return asked, types_, stable, *shared_code(op, types_.inputs)


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
) -> tuple[Signature, Signature, StableProduct | None, Steps, bytes]:
    """Return the types of `op`, those of the operator that is run, the stable product, the passes, the numbers."""
    asked, types_, stable, op, numbers = _types(op, inputs, dtype, mark_nulls)
    of = typed(op, types_)
    bytes_ = -(-groups * group_bytes(types_.state) // BUCKET) * BUCKET
    reduce, table, scan, walk = (
        CodePass(of, step, code, nulls, exclusive, mark_nulls, write, bytes_, chunk)
        for step in STEPS
    )
    return asked, types_, stable, Steps(reduce, table, scan, walk), numbers
