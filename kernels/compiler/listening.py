"""Listeners of compilations, such as progress bars; this module imports no compiler."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Listener = Callable[[str], None]

listeners: list[Listener] = []


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Call a function with the message of each compile, from the thread that compiles."""
    listeners.append(listener)
    try:
        yield
    finally:
        listeners.remove(listener)
