"""A thread that works beside another one, and that nobody waits for in vain.

`threading.Thread.start` waits until the thread runs, and waits for ever if it could not get its first memory.
"""

import _thread
from collections.abc import Callable

POLL = 0.1
"""Seconds between looks at a thread: no more, so that an interrupt is heard on every system."""


class Helper:
    """A thread that works, unless it is waived before it begins.

    Parameters
    ----------
    work : callable
        Raises nothing.
    """

    def __init__(self, work: Callable[[], None]) -> None:
        self._work = work
        # whether it begins, as whoever asked first says; asked again, the answer is the same
        self._claims: dict[str, bool] = {}
        self._ended = False
        self._running = _thread.allocate_lock()
        self._running.acquire()

    def start(self) -> bool:
        """Start the thread; return whether the system had room for it."""
        try:
            _thread.start_new_thread(self._run, ())
        except (RuntimeError, MemoryError):
            return False
        return True

    def waive(self) -> bool:
        """Let the thread not begin any more; return whether it had not."""
        return not self._claims.setdefault("begins", False)

    def has_ended(self) -> bool:
        """Wait a moment for the thread; return whether it has ended, or never began and is waived."""
        if self._ended or self._running.acquire(timeout=POLL):
            return True
        return self.waive()

    def _run(self) -> None:
        if self._claims.setdefault("begins", True):
            try:
                self._work()
            finally:
                self._ended = True
                self._running.release()
