"""Launches kernels: compiled kernels, threads, memory for results, and the types of kernels' arguments."""

import _thread
import contextlib
import os
import threading
from collections.abc import Callable
from math import isqrt
from queue import SimpleQueue
from typing import Any

import numpy as np
import pyarrow as pa

from ...compiler import argument_types as types
from ...compiler.functions import load_kernel
from ...nulls import NAT, InBand, Mask
from ...operators.built_in import traits_of
from ...operators.calls import operator_type
from ...operators.inference import Form, numba_type
from ...operators.operator import Operator
from ...operators.signature import Signature, StateForm, joined, signature_of
from ...options import ScanOptions, check_exclusive
from .engine import FAILED, STATUS, TICKET, States, Tiles, walk_tiles
from .limits import cores
from .steps import OperatorInputs, Output

POLL = 0.1
"""Seconds between looks at a thread; few, so that interrupts are handled on every system."""


class Helper:
    """Runs work on another thread, unless it is waived before it begins.

    Parameters
    ----------
    work : callable
        Raises nothing.
    """

    def __init__(self, work: Callable[[], None]) -> None:
        self._work: Callable[[], None] | None = work
        # whether the work begins: the first thread to set this decides
        self._claims: dict[str, bool] = {}
        self._ended = False
        self._running = _thread.allocate_lock()
        self._running.acquire()

    def run(self) -> None:
        """Do the work, unless it is waived."""
        if self._claims.setdefault("begins", True):
            try:
                assert self._work is not None
                self._work()
            finally:
                self._ended = True
                self._running.release()

    def waive(self) -> bool:
        """Keep the work from beginning; return whether it had not begun."""
        waived = not self._claims.setdefault("begins", False)
        if waived:
            self._work = None  # it holds arrays, and may wait long for a thread
        return waived

    def has_ended(self) -> bool:
        """Wait a moment for the work; return whether it has ended, or never began and is waived."""
        if self._ended or self._running.acquire(timeout=POLL):
            return True
        return self.waive()


class Pool:
    """Threads that wait for helpers: starting 15 threads takes 0.7 ms, waking them 0.04 ms."""

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        """Forget all threads, as a forked child has none."""
        self._waiting: SimpleQueue[Helper] = SimpleQueue()
        self._threads = 0

    def grow(self, threads: int) -> None:
        """Start threads until there are `threads`, or the system has no room for more."""
        with contextlib.suppress(RuntimeError, MemoryError):
            while self._threads < threads:
                _thread.start_new_thread(self._serve, ())
                self._threads += 1

    def take(self, helper: Helper) -> bool:
        """Run a helper as soon as a thread is free; return whether there is any thread."""
        self._waiting.put(helper)
        return self._threads > 0

    def _serve(self) -> None:
        while True:
            self._waiting.get().run()


POOL = Pool()
"""The threads of this process."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=POOL.renew)


MAPPED = 32 << 20
"""The size in bytes from which on malloc maps new pages for each array and unmaps them when it is freed; smaller arrays
reuse freed memory. With Arrow's pool for these, too, 500 partitions of three columns of 0.8 MB took 0.9 to 1.3 s
instead of 0.7."""


np.empty(MAPPED - (1 << 16), np.uint8)
"""An array that is freed at once, after which glibc's malloc maps only arrays of its size, and keeps freed memory of
twice its size: otherwise it gives the pages of arrays of 128 KiB back and clears new ones, in each call anew. On two
cores, a filter of 100,000 rows took 1.8 ms in a fresh process and takes 0.4, a sort of such a frame 4.6 and 2.4."""


def empty(count: int, dtype: Any) -> np.ndarray:
    """Allocate an uninitialised array; a large one from Arrow's memory pool.

    The pool keeps the pages of freed arrays for the next one: the system takes longer to clear new pages than a kernel
    to fill them.
    """
    dtype = np.dtype(dtype)
    if count * dtype.itemsize < MAPPED:
        return np.empty(count, dtype)
    buffer = pa.allocate_buffer(max(count, 1) * dtype.itemsize, resizable=True)
    return np.frombuffer(buffer, dtype)[:count]


def plain(array: Any) -> Any:
    """Return a contiguous, aligned array; faster than `numpy.require`, which takes 1.3 microseconds to check."""
    flags = array.flags
    if flags.c_contiguous and flags.aligned:
        return array
    return np.require(array, requirements=["C", "A"])


Kernel = Callable[..., Any]
"""The caller of a compiled kernel."""

WORD = np.dtype(np.int64)

PARALLEL = 1 << 17
"""The number of elements from which on a scan is worth a second thread: waking it and waiting for it takes 30 to 50
microseconds. For fewer, callers run the kernel themselves, and make arrays by `numpy.empty`, as `empty` would. Kernels
with more work for each element multiply by their `WORK`."""

TEAM = 15
"""Elements of a scan that are worth a thread, as a power of two; k threads are worth k * k times as many, as each takes
time to wake. On 16 cores against a thread for each 2^16: filters of 100,000 rows 0.85 ms for 1.00, group medians of a
million 4.3 for 5.3, sums 0.72 for 0.84, orders as before; for k * k times 2^17 sorts of a million took a tenth longer
and groups of 10^6 keys twice as long."""

LONG = 1 << 23
"""The number of elements from which on the main thread only waits for others, so that it can handle interrupts: a scan
of so many takes some 8 ms. A user's function may take far longer."""

NO_MORE = 1 << 31
"""The next ticket after an interrupt: larger than the last of every call, and small enough to be multiplied by rows."""


def types_of(op: Operator, dtypes: Form, dtype: np.dtype | None) -> Signature:
    """Return the types of a scan or reduction of NumPy arrays.

    Raises
    ------
    TypeError
        As `signature`; for 128-bit integers, which Numba does not have.
    """
    types_ = signature_of(op, dtypes, dtype)
    if types_.inputs[0].kind == "V":
        numba_type(types_.inputs[0])
    return types_


def is_sequential(op: Operator, types_: Signature) -> bool:
    """Return whether states must be combined element by element: floating-point ones of an operator `in_order`."""
    return op.in_order and any(d.kind in "fc" for d in types_.state)


def is_exact(op: Operator, types_: Signature) -> bool:
    """Return whether states are known to have the same bits in any order of combination."""
    return all(d.kind in traits_of(op).exact for d in types_.state)


def outside(op: Operator, error: IndexError) -> IndexError:
    """Return the error if functions of an operator read outside of a tuple or an array."""
    return IndexError(f"{op.name} reads outside a tuple or an array that it uses: {error}")


def helpers_for(elements: int) -> int:
    """Return the number of other threads for this many elements.

    Dask's worker threads scan one partition each, so only the main thread takes other cores.
    """
    if elements < PARALLEL or threading.current_thread() is not threading.main_thread():
        return 0
    return min(cores() - 1, isqrt(elements >> TEAM))


def is_alone(elements: int) -> bool:
    """Return whether this thread does all the work, without others that help or wait for interrupts.

    One thread walks elements once and several threads twice, so that these need twice as many elements.
    """
    return helpers_for(elements // 2) == 0 and not _waits(elements)


def _waits(elements: int) -> bool:
    """Return whether this thread leaves the work to others, to handle interrupts."""
    return elements >= LONG and threading.current_thread() is threading.main_thread()


def run_team(elements: int, control: np.ndarray, work: Callable[[bool], None]) -> None:
    """Run `work` on this thread, and on other cores if there are enough elements.

    It returns, or raises, when all threads have ended, so that the caller may free the arrays. The main thread leaves
    long work to others and waits, so that it can handle interrupts.
    """
    if elements < PARALLEL:
        work(True)
        return
    failures: list[BaseException] = []

    def attempt(leader: bool) -> None:
        try:
            work(leader)
        except BaseException as failure:
            control[FAILED] = 1  # threads that wait for this one's tile give up
            failures.append(failure)

    helpers = [Helper(lambda: attempt(False)) for _ in range(helpers_for(elements))]
    waits = _waits(elements)
    leader = Helper(lambda: attempt(True)) if waits else None
    POOL.grow(len(helpers) + waits)
    try:
        if leader is None or not POOL.take(leader):
            leader = None
        for helper in helpers:
            POOL.take(helper)
        while leader is not None and not leader.has_ended():
            pass
        if leader is None or leader.waive():
            attempt(True)
        _end(helpers)
    except BaseException:
        control[TICKET], control[FAILED] = NO_MORE, 1
        _end_at_last(helpers if leader is None else [leader, *helpers])
        raise
    if failures:
        raise failures[0]


def _end(helpers: list[Helper]) -> None:
    """Keep waiting helpers from beginning, and wait for those that work."""
    for helper in helpers:
        while not (helper.waive() or helper.has_ended()):
            pass


def _end_at_last(helpers: list[Helper]) -> None:
    """End helpers, even if the user interrupts again."""
    while True:
        with contextlib.suppress(KeyboardInterrupt):
            _end(helpers)
            return


def run_kernel(elements: int, kernel: Kernel, *given: Any) -> np.ndarray:
    """Run a kernel that takes tickets on as many threads as `elements` are worth; return its control array."""
    control = np.zeros(STATUS, np.int64)
    if elements < PARALLEL:
        kernel(*given, control)
    else:
        run_team(elements, control, lambda _: kernel(*given, control))
    return control


def null_values(form: StateForm, mark: bool) -> Any:
    """The values to write at missing elements, if they are marked; one for each output."""
    return joined([_null_value(dtype, mark) for dtype in form.fields], form.scalar)


def _null_value(dtype: np.dtype, mark: bool) -> Any:
    if not mark:
        return dtype.type(0).item()
    if dtype.kind in "fc":
        return dtype.type(np.nan).item()
    if dtype == np.int64:
        return NAT
    raise TypeError(f"mark_nulls: an output of {dtype} cannot hold a null")


# --- compiled kernels: one for each operator, types and kind of nulls ------------------------------


def array_type(dtype: np.dtype, readonly: bool = False, layout: str = "A") -> types.Type:
    """The type of an array, by default with any strides, so that one kernel serves sliced and reversed arrays, too."""
    return types.Array(types.Number(dtype), 1, layout, readonly)


def arrays_type(form: StateForm, layout: str = "A") -> types.Type:
    """The type of a tuple with an array for each field."""
    return joined_type([array_type(d, layout=layout) for d in form.fields], form.scalar)


def state_type(form: StateForm) -> types.Type:
    """The type of a scalar, or of a tuple with a scalar for each field."""
    return joined_type([types.Number(d) for d in form.fields], form.scalar)


def joined_type(kinds: list[types.Type], scalar: bool) -> types.Type:
    """The type of the answer of `joined` for values of these types."""
    return kinds[0] if scalar else types.Tuple(tuple(kinds))


def source_type(op: Operator, types_: Signature, nulls: type, layout: str = "A") -> types.Type:
    """The type of a `OperatorInputs`: of arrays of any stride, or of contiguous ones."""
    return types.record_type(
        OperatorInputs,
        op=operator_type(op),
        xs=joined_type([array_type(d, True, layout) for d in types_.inputs], op.inputs == 1),
        nulls=nulls_type(nulls),
        identity=state_type(types_.state_form),
    )


def output_type(types_: Signature, options: ScanOptions, layout: str = "A") -> types.Type:
    """The type of an `Output`."""
    count = len(types_.outputs)
    check_exclusive(options.exclusive, count)
    many = isinstance(options.exclusive, tuple)
    flags = types.Tuple((types.boolean,) * count) if many else types.boolean
    return types.record_type(
        Output,
        outs=arrays_type(types_.output_form, layout),
        null_value=state_type(types_.output_form),
        mark_nulls=types.boolean,
        exclusive=flags,
    )


CONTROL = array_type(np.dtype(np.int64))
"""The type of the control array."""


def nulls_type(nulls: type) -> types.Type:
    """The type of nulls in kernels: a mask as four numbers, a flag, or None."""
    word = types.int64
    mask = types.Tuple((array_type(np.dtype(np.uint8), True), word, word, word))
    return mask if nulls is Mask else types.boolean if nulls is InBand else types.none


def tiles_kernel(
    op: Operator, form: StateForm, work: types.Type, space: types.Type = types.none
) -> Kernel:
    """Compile the walk of a visitor of type `work` over tiles, or load it from the cache on disk."""
    word, flag, state, arrays = types.int64, types.boolean, state_type(form), arrays_type(form)
    states = types.record_type(
        States, op=operator_type(op), identity=state, carries=arrays, aggregates=arrays
    )
    tiles = types.record_type(Tiles, line=word, length=word, size=word, sequential=flag)
    return entry(walk_tiles, (work, space, states, tiles, CONTROL, flag))


def entry(function: Any, arguments: tuple[types.Type, ...]) -> Kernel:
    """Return the caller of a kernel for arguments of these types; it does not check their types."""
    kernel: Kernel = load_kernel(function, arguments).entry_point
    return kernel
