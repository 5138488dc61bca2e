"""Numba and LLVM, imported when something is compiled: a kernel that came as machine code needs neither.

No `cached_property` here: that of Python 3.11 has a lock for all objects, which a fork would not wait for.
"""

import os
from importlib import import_module
from threading import RLock
from types import ModuleType
from typing import Any

importing, writing = RLock(), RLock()
"""Held while a module is imported, and while methods of a dataclass are written."""

compilers: list[Any] = []
"""Locks of compilers, which are imported late: who holds one may import more."""

leaves: list[Any] = [writing]
"""Locks that are held for a moment, and with which no other is taken."""


class _Forks:
    """Lets forks wait until no other thread holds one of these locks: it would never be released in the child."""

    def __init__(self) -> None:
        self._held: list[Any] = []

    def hold(self) -> None:
        """Take all locks, in the order in which threads take them."""
        while True:
            held = [*compilers, importing]
            for lock in held:
                lock.__enter__()
            if len(held) > len(compilers):
                break
            self._let(held)  # the compilers were imported meanwhile
        self._held = [*held, *leaves]
        for lock in self._held[len(held) :]:
            lock.__enter__()

    def release(self) -> None:
        """Let them go."""
        self._let(self._held)

    def _let(self, held: list[Any]) -> None:
        for lock in reversed(held):
            lock.__exit__(None, None, None)


if hasattr(os, "register_at_fork"):
    _forks = _Forks()
    os.register_at_fork(
        before=_forks.hold, after_in_parent=_forks.release, after_in_child=_forks.release
    )


class Late:
    """A module that is imported when something of it is asked for."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._module: ModuleType | None = None

    @property
    def module(self) -> ModuleType:
        """The module."""
        if self._module is None:
            with importing:
                self._module = import_module(self._name)
        return self._module

    def __getattr__(self, name: str) -> Any:
        return getattr(self.module, name)


class LateFunction:
    """A function of which Numba makes what it calls, when that is asked for."""

    @property
    def made(self) -> Any:
        """What Numba calls."""
        raise NotImplementedError


numba = Late("numba")
ir = Late("llvmlite.ir")
analysis = Late("numba.core.analysis")
cgutils = Late("numba.core.cgutils")
compiler = Late("numba.core.compiler")
numba_ir = Late("numba.core.ir")
forms = Late(f"{__package__}.forms")
internals = Late(f"{__package__}.numba_internals")
symbols = Late(f"{__package__}.symbols")
