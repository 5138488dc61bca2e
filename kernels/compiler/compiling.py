"""The lock of all compilations (Numba's own), and their reports: log, progress bar or terminal.

A fork waits for a running compilation, ours or a user's (`forks`). There is one reentrant lock: with two locks, a
thread that forks while it compiles could deadlock with another one that compiles.

A kernel is compiled once on each machine: later it is found in the cache.
"""

import contextlib
import gc
import logging
import multiprocessing
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

from llvmlite.binding import ffi
from numba.core.compiler_lock import global_compiler_lock as compile_lock

from ... import forks
from . import cache
from .listening import listeners

__all__ = ["compile_lock", "compiling", "say_compiling"]

PATIENCE = 0.5
"""Seconds after which a user at a terminal sees which kernel is being compiled."""


forks.compilers.append(compile_lock)
forks.leaves.append(getattr(ffi.lib, "_lock", contextlib.nullcontext()))  # to free or look up code

_waits: list[threading.Timer] = []


@contextmanager
def compiling() -> Iterator[None]:
    """Hold the lock while a kernel is looked up or compiled; then cancel messages that are not yet printed.

    Garbage collection is off: a compiler makes millions of objects, and would spend a tenth of its time on it.
    """
    with compile_lock:
        enabled = gc.isenabled()
        gc.disable()
        try:
            yield
        finally:
            if enabled:
                gc.enable()
            while _waits:
                _waits.pop().cancel()


def say_compiling(what: str, target: str) -> None:
    """Report, within `compiling`, that a kernel will be compiled, as it is not in the cache.

    Listeners and the log get the message at once. Without listeners, a user at a terminal or in a notebook sees a line
    if the compilation takes long.
    """
    message = f"compiling {what} for {target}, once"
    logging.getLogger("dask_gpuscan").info(message)
    for listener in tuple(listeners):
        listener(message)
    if not listeners and _is_watched():
        wait = threading.Timer(PATIENCE, _tell, [what, target])
        wait.daemon = True
        wait.start()
        _waits.append(wait)


def _is_watched() -> bool:
    """Return whether a user watches this process: not if it is a worker, or if standard error is a file."""
    if os.environ.get("DASK_GPUSCAN_QUIET") or multiprocessing.parent_process() is not None:
        return False
    notebook = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    with contextlib.suppress(AttributeError, ValueError):  # None, closed, or a substitute
        return notebook is not None or sys.stderr.isatty()
    return False


@lru_cache(maxsize=1024)
def _tell(what: str, target: str) -> None:
    """Print the line once for all kernels."""
    text = f"dask-gpuscan: compiling {what} for {target}; it is {cache.fate()}"
    with contextlib.suppress(OSError, ValueError):  # the standard error is closed
        print(text, file=sys.stderr, flush=True)
