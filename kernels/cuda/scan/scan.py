"""Scans and reductions of CuPy arrays: from shapes to lines, from operators to plans, one pass for each call.

Only the caller's request for a carry-out waits for the device. A carry is one state for all lines, or arrays with one
item for each line.
"""

from collections.abc import Callable
from functools import lru_cache
from math import prod
from typing import Any

import cupy
import numpy as np

from ...int128 import Int128, halves, whole
from ...late_dataclass import dataclass
from ...nulls import Mask, Nulls
from ...operators.operator import Operator
from ...operators.signature import Signature, as_state, signature_of
from ...options import Exclusive, ScanOptions
from ..core import launch
from ..core.closure_constants import shared_code
from ..core.device_arrays import kind_of_nulls, mask_buffer, readable
from ..core.devices import ADVICE
from ..core.plan import Extent, Plan, in_words, state_dtype, typed
from .scan_pass import ScanPass
from .sequential_product import StableProduct, stable_product
from .table_pass import table_of
from .tuning import TABLE_WORDS


def scan(
    op: Operator,
    arrays: tuple[Any, ...],
    options: ScanOptions,
    carry_in: Any,
    *,
    write: bool,
    waits: bool,
) -> tuple[Any, Callable[[], Any]]:
    """Launch a scan (or, without `write`, a reduction) of CuPy arrays; see `kernels.scan` for the parameters.

    Returns
    -------
    out : array, tuple of arrays or None
    read : callable
        Waits for the carry-out and returns it on the host. Must be called if and only if `waits`.
    """
    first, nulls, axis = arrays[0], options.nulls, options.axis % arrays[0].ndim
    masked = isinstance(nulls, Mask)
    dtypes = tuple([a.dtype for a in arrays])
    # positions in a mask are in C order, so with a mask the memory must be in that order as well
    columns = not first.flags.c_contiguous and all(a.flags.f_contiguous for a in arrays)
    flipped = first.ndim > 1 and not masked and columns
    if flipped:
        arrays, axis = tuple([a.T for a in arrays]), first.ndim - 1 - axis
        first = arrays[0]
    lines = _lines(first.shape, axis)
    work = _work(
        op, dtypes, options.dtype, kind_of_nulls(nulls), options.exclusive, options.reverse,
        options.mark_nulls, write, min(lines.extent.inner, TABLE_WORDS + 1),
    )  # fmt: skip
    types_ = work.types
    seed, carries = work.seed, None
    if carry_in is not None:
        given = on_host(carry_in, work.asked)
        given = given if work.stable is None else work.stable.enter(given)
        seed, carries = carries_of(given, work.types, work.state, lines.shape, flipped)
    begun: launch.Launch | None = None
    try:
        arrays = tuple([readable(a, d) for a, d in zip(arrays, types_.inputs, strict=True)])
        if lines.extent.lines * lines.extent.length:
            begun, outs = _launched(work, arrays, axis, write, nulls, seed, carries, waits)
        else:
            outs = [cupy.empty(first.shape, d) for d in types_.outputs] if write else []
    except MemoryError as error:
        if ADVICE not in str(error):  # raised by the allocator, not by the driver
            error.add_note(_advice(first.shape, types_, write))
        raise

    def carry() -> Any:
        if begun is not None:
            host = begun.read().reshape(-1)
        elif carries is not None:
            host = carries
        else:
            state = np.frombuffer(seed, np.uint8, work.state.itemsize).view(work.state)[0]
            host = np.full(lines.extent.lines, state)
        return state_of(host, types_, lines.shape, flipped, work.stable)

    out = None
    if write:
        views = [o.T for o in outs] if flipped else outs
        out = views[0] if types_.scalar_output else tuple(views)
    return out, carry


@dataclass(frozen=True, eq=False)
class _Work:
    """What all scans by one operator, of arrays of the same types and with the same options, have in common.

    `asked` are the types of the caller's operator, in which carries are given and returned; `types` are those of the
    operator that is run, which may be `stable`.
    """

    plan: Plan
    types: Signature
    asked: Signature
    stable: StableProduct | None
    state: np.dtype
    seed: bytes
    numbers: bytes
    across: int
    """Lines side by side that are scanned as one."""


@lru_cache(maxsize=4096)
def _work(
    op: Operator,
    inputs: tuple[np.dtype, ...],
    dtype: np.dtype | None,
    nulls: str,
    exclusive: Exclusive,
    reverse: bool,
    mark_nulls: bool,
    write: bool,
    inner: int,
) -> _Work:
    asked = signature_of(op, inputs, dtype)
    op, types_, stable = run_for(op, asked, mark_nulls)
    identity = (types_.identity,) if types_.scalar_state else types_.identity
    state = state_dtype(types_.state)
    op, numbers = shared_code(op, types_.inputs)
    of = typed(op, types_, None if stable is None else stable.follow)
    only = table_of(ScanPass(of, nulls, exclusive, reverse, mark_nulls, write), inner)
    seed = bytes_of(identity, state)
    return _Work(only.alone, types_, asked, stable, state, seed, numbers, only.across)


@dataclass(frozen=True, eq=False)
class _Lines:
    """The lines along an axis, and the shape of one item of each."""

    extent: Extent
    shape: tuple[int, ...]

    def of_rows(self, across: int) -> Extent:
        """Return the extent if `across` lines side by side, which are one or all, are scanned as one."""
        length, lines, inner = self.extent
        return Extent(length, lines // across, inner // across)


@lru_cache(maxsize=4096)
def _lines(shape: tuple[int, ...], axis: int) -> _Lines:
    inner = prod(shape[axis + 1 :])
    extent = Extent(shape[axis], prod(shape[:axis]) * inner, inner)
    return _Lines(extent, shape[:axis] + shape[axis + 1 :])


@lru_cache(maxsize=4096)
def _space(
    work: _Work, shape: tuple[int, ...], axis: int, write: bool, number: int, forced: str
) -> launch.Space:
    sizes = [prod(shape) * d.itemsize if write else 0 for d in work.types.outputs]
    extent = _lines(shape, axis).of_rows(work.across)
    return launch.space(work.plan, extent, tuple(sizes), number, forced)


def _launched(
    work: _Work,
    arrays: tuple[Any, ...],
    axis: int,
    write: bool,
    nulls: Nulls,
    seed: bytes,
    carries: np.ndarray | None,
    waits: bool,
) -> tuple[launch.Launch, list[Any]]:
    """Launch one kernel on the current stream; return it and the outputs."""
    shape, outputs = arrays[0].shape, work.types.outputs
    found = _space(work, shape, axis, write, launch.current_device(), launch.SCHEDULE)
    begun = launch.Launch(found, waits)
    outs = [begun.result(i, shape, d) for i, d in enumerate(outputs)] if write else []
    pointers = [a.data.ptr for a in (*arrays, *outs)] + [0] * (len(outputs) - len(outs))
    given = None if carries is None else cupy.asarray(carries.view(np.uint8))
    mask, offset, null = 0, 0, 0
    if isinstance(nulls, Mask):
        buffer = mask_buffer(nulls)
        mask, offset, null = buffer.data.ptr, nulls.offset, nulls.null
    begun.run(
        0,
        [*pointers, mask],
        carry_in=(0 if given is None else given.data.ptr,),
        offsets=(offset,),
        options=(_lines(shape, axis).extent.inner // work.across, null),
        seed=seed[: work.state.itemsize] * work.across,
        numbers=work.numbers,
    )
    return begun, outs


def run_for(
    op: Operator, asked: Signature, mark_nulls: bool
) -> tuple[Operator, Signature, StableProduct | None]:
    """Return the operator that is run for `op`, its types, and the stable product that replaces `op`, if any.

    Raises
    ------
    TypeError
        If nulls are to be marked, and an output cannot hold a null.
    """
    for dtype in asked.outputs if mark_nulls else ():
        if dtype.kind not in "fc" and dtype != np.int64:
            raise TypeError(f"mark_nulls: an output of {dtype} cannot hold a null")
    stable = stable_product(op, asked) if op.in_order else None
    return (op, asked, None) if stable is None else (stable.op, stable.types, stable)


def _advice(shape: tuple[int, ...], types_: Signature, write: bool) -> str:
    """Return what to add to an allocator's error: how much memory was requested, and what to do."""
    size = prod(shape) * sum(d.itemsize for d in types_.outputs) if write else 0
    return (
        f"dask-gpuscan asked for {size} bytes of device memory for the output of {prod(shape)} items, "
        f"and for about a hundredth of that to work with. {ADVICE}"
    )


def on_host(carry_in: Any, types_: Signature) -> Any:
    """Return a caller's carry as a state of these types, on the host."""
    if isinstance(carry_in, tuple):
        return as_state(tuple(map(_host, carry_in)), types_, "carry_in")
    return as_state(_host(carry_in), types_, "carry_in")


def _host(part: Any) -> Any:
    return part.get() if isinstance(part, cupy.ndarray) else part


def carries_of(
    carry: Any, types_: Signature, state: np.dtype, lines_shape: tuple[int, ...], flipped: bool
) -> tuple[bytes, np.ndarray | None]:
    """Return the state that every line starts from, or a state for each line in the order of the lines."""
    parts = (carry,) if types_.scalar_state else carry
    if not any(isinstance(p, np.ndarray) and p.ndim for p in parts):
        return bytes_of(parts, state), None
    table = np.zeros(prod(lines_shape), state)
    order = lines_shape[::-1] if flipped else lines_shape  # the caller's order
    for name, part in zip(state.names or (), parts, strict=True):
        full = np.broadcast_to(np.array(_halved(part), state[name]), order)
        table[name] = (full.T if flipped else full).reshape(-1)
    return bytes(in_words(state.itemsize)), table


def _halved(part: Any) -> Any:
    return halves(part) if isinstance(part, Int128) else part


def bytes_of(parts: Any, state: np.dtype) -> bytes:
    """Return a state as bytes for a kernel."""
    return (
        np.array([tuple(map(_halved, parts))], state)
        .tobytes()
        .ljust(in_words(state.itemsize), b"\0")
    )


def state_of(
    host: np.ndarray,
    types_: Signature,
    lines_shape: tuple[int, ...],
    flipped: bool,
    stable: StableProduct | None,
) -> Any:
    """Return the states of all lines in the form that a caller gets."""
    fields: list[Any] = []
    for name in host.dtype.names or ():
        field = np.ascontiguousarray(host[name])
        if flipped:
            fields.append(field.reshape(lines_shape).T)
        else:
            fields.append(field.reshape(lines_shape)[()])
    if types_.state[0].kind == "V" and not lines_shape:
        fields[0] = whole(fields[0])
    state = fields[0] if types_.scalar_state else tuple(fields)
    return state if stable is None else stable.leave(state)
