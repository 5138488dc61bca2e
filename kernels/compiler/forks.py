"""Locks that no other thread holds at the moment of a fork: they would never be released in the child.

What they guard keeps no `cached_property`: that of Python 3.11 has a lock for all objects, which no fork waits for.
"""

import os
from threading import RLock
from typing import Any

importing, writing = RLock(), RLock()
"""Held while a module is imported, and while methods of a dataclass are written."""

compilers: list[Any] = []
"""Locks of compilers, which are imported late: who holds one may import more."""

leaves: list[Any] = [writing]
"""Locks that are held for a moment, and with which no other is taken."""


class _Forks:
    """Lets forks wait until no other thread holds one of these locks."""

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
