"""Makes forks wait for imports, compilers and locks of other threads, which the child would never see released.

The package imports late by `import_late` or within `importing`, for which forks wait. Nothing that these and the locks
guard has a `cached_property`: that of Python 3.11 has a lock for all objects, for which no fork waits.
"""

import concurrent.futures.thread  # noqa: F401  # and logging: forks take their locks, after ours if they were first
import os
from _thread import interrupt_main, start_new_thread
from collections.abc import Callable
from importlib import import_module
from threading import Condition, RLock, get_ident
from types import ModuleType
from typing import Any


class _Importing:
    """Entered while modules are imported. Threads that import do not wait for each other."""

    def __init__(self) -> None:
        self.lock = RLock()
        self._left = Condition(self.lock)
        self._threads: list[int] = []

    def __enter__(self) -> None:
        with self.lock:
            self._threads.append(get_ident())

    def __exit__(self, *raised: object) -> None:
        with self.lock:
            self._threads.remove(get_ident())
            self._left.notify_all()

    def are_others(self) -> bool:
        """Return whether another thread is within; the caller holds `lock`."""
        return any(thread != get_ident() for thread in self._threads)

    def wait(self) -> None:
        """Wait until no other thread is within."""
        with self.lock:
            while self.are_others():
                self._left.wait()


importing, writing = _Importing(), RLock()
"""Entered while a module is imported, and while methods of a dataclass are written."""

compilers: list[Any] = []
"""Locks of compilers, which are imported late: a holder may import more, and an import may wait for a lock."""

leaves: list[Any] = [writing]
"""Locks that are held for a moment only, and never together with others."""


def import_late(name: str, package: str | None = None) -> ModuleType:
    """Import a module when it is first needed, as `importlib.import_module` does.

    Parameters
    ----------
    name : str
        Relative to `package`, if it begins with a dot.
    package : str, optional
        Full name.
    """
    with importing:
        return import_module(name, package)


class _Forks:
    """Lets forks wait until no other thread imports, or holds one of these locks."""

    def __init__(self) -> None:
        self._held: list[Any] = []
        self._interrupted = False

    def hold(self) -> None:
        """Take all locks, in the order in which threads take them."""
        while True:
            self._finish(importing.wait)  # holds no compiler's lock: an import may wait for one
            held = [*compilers, importing.lock]
            for lock in held:
                self._finish(lock.__enter__)
            if len(held) > len(compilers) and not importing.are_others():
                break
            self._let(held)  # compilers were imported meanwhile, or something is
        self._held = [*held, *leaves]
        for lock in self._held[len(held) :]:
            self._finish(lock.__enter__)

    def _finish(self, wait: Callable[[], Any]) -> None:
        """Wait, even if the user interrupts: Python would fork all the same, and lose the interrupt."""
        while True:
            try:
                wait()
                return
            except KeyboardInterrupt:
                self._interrupted = True

    def release(self) -> None:
        """Release the locks."""
        self._interrupted = False
        self._let(self._held)

    def resume(self) -> None:
        """Release the locks in the parent, and then pass on an interrupt."""
        interrupted = self._interrupted
        self.release()
        if interrupted:
            start_new_thread(interrupt_main, ())  # after this has returned

    def _let(self, held: list[Any]) -> None:
        for lock in reversed(held):
            lock.__exit__(None, None, None)


if hasattr(os, "register_at_fork"):
    _forks = _Forks()
    os.register_at_fork(
        before=_forks.hold, after_in_parent=_forks.resume, after_in_child=_forks.release
    )
