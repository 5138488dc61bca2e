"""What is said when a kernel is compiled: a line on the log, and a call of whoever shows progress.

A kernel is compiled once a machine, as it is found in the cache from then on.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Listener = Callable[[str], None]

_listeners: list[Listener] = []


def say_compiling(what: str, target: str) -> None:
    """Say that a kernel is about to be compiled, as it is not in the cache."""
    message = f"compiling {what} for {target}, once"
    logging.getLogger("dask_gpuscan").info(message)
    for listener in tuple(_listeners):
        listener(message)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Call a function with what is said of each compile, from whichever thread compiles."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)
