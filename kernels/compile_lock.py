"""One lock for all that compiles, Numba's own, which no thread holds at the moment of a fork.

A forked child has one thread; a lock that another one held would never be released in it. So a fork waits for the
compilation that is under way, whether it is ours or its user's. It is one lock, which a thread may take again:
with two, a thread that forks while it compiles could wait for one that compiles and waits for it.
"""

import contextlib
import os
from typing import Any

from llvmlite.binding import ffi
from numba.core.compiler_lock import global_compiler_lock as compile_lock

__all__ = ["compile_lock", "hold_over_forks"]


def hold_over_forks() -> None:
    """From now on let forks of this process and of its children wait for compilers."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_hold, after_in_parent=_release, after_in_child=_release)


_of_llvm: Any = getattr(ffi.lib, "_lock", contextlib.nullcontext())
"""What compiled code is freed or looked up under: always after the other."""


def _hold() -> None:
    compile_lock.acquire()
    _of_llvm.__enter__()


def _release() -> None:
    try:
        _of_llvm.__exit__(None, None, None)
    finally:
        compile_lock.release()
