"""What no other thread does at the moment of a fork: locks that it holds would never be released in the child.

All that the package imports late, it imports by `import_late`, or within `importing`, which forks wait for. What they
and the locks guard keeps no `cached_property`: that of Python 3.11 has a lock for all objects, which no fork waits for.
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
    """Entered while modules are imported. Threads that import do not wait for each other, as Python lets them."""

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
        """Return whether another thread is within; `lock` is held."""
        return any(thread != get_ident() for thread in self._threads)

    def wait(self) -> None:
        """Wait until no other thread is within."""
        with self.lock:
            while self.are_others():
                self._left.wait()


importing, writing = _Importing(), RLock()
"""Entered while a module is imported, and while methods of a dataclass are written."""

compilers: list[Any] = []
"""Locks of compilers, which are imported late: who holds one may import more, and an import may wait for one."""

leaves: list[Any] = [writing]
"""Locks that are held for a moment, and with which no other is taken."""


def import_late(name: str, package: str | None = None) -> ModuleType:
    """Import a module that nothing has needed before, as `importlib.import_module` does.

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
            self._finish(importing.wait)  # without a compiler's lock, for which an import may wait
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
        """Wait, however impatient the user is: Python would fork all the same, and say nothing of the interrupt."""
        while True:
            try:
                wait()
                return
            except KeyboardInterrupt:
                self._interrupted = True

    def release(self) -> None:
        """Let them go."""
        self._interrupted = False
        self._let(self._held)

    def resume(self) -> None:
        """Let them go in the parent, and interrupt it then if that is asked for."""
        interrupted = self._interrupted
        self.release()
        if interrupted:
            start_new_thread(interrupt_main, ())  # once this has returned

    def _let(self, held: list[Any]) -> None:
        for lock in reversed(held):
            lock.__exit__(None, None, None)


if hasattr(os, "register_at_fork"):
    _forks = _Forks()
    os.register_at_fork(
        before=_forks.hold, after_in_parent=_forks.resume, after_in_child=_forks.release
    )
