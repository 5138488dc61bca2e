"""Processes that compile: each takes one request after another, until there are no more.

They are processes because compilers do not run beside each other in one: Numba and nvJitLink each hold a lock.
"""

from __future__ import annotations

import faulthandler
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from functools import lru_cache
from queue import SimpleQueue
from typing import NamedTuple

import cloudpickle

from ..forks import importing
from ..kernels.compiler.listening import listening
from .calls import Request, call

SERVE = "from dask_gpuscan.compile_ahead.processes import serve; serve()"
"""What such a process runs."""

POOL = 1 << 28
"""Bytes of a GPU that each of them takes at first."""


class Outcome(NamedTuple):
    """What came of a request."""

    kernels: int
    seconds: float
    refused: str


def compile_all(requests: Sequence[Request], processes: int) -> Iterator[tuple[int, Outcome]]:
    """Yield the place and the outcome of each request as it is done, by so many processes or, with 0, by this one."""
    if processes == 0:
        for i, request in enumerate(requests):
            yield i, compile_one(request)
        return
    free: SimpleQueue[_Child] = SimpleQueue()
    count = min(processes, len(requests))

    def ask(request: Request) -> Outcome:
        child = free.get()
        try:
            return child.ask(request)
        finally:
            free.put(child)

    with _children(count) as children, ThreadPoolExecutor(count) as pool:
        for child in children:
            free.put(child)
        places = {pool.submit(ask, request): i for i, request in enumerate(requests)}
        try:
            for future in as_completed(places):
                yield places[future], future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def compile_one(request: Request) -> Outcome:
    """Compile in this process what a request needs."""
    compiled: list[str] = []
    begin, refused = time.perf_counter(), ""
    with listening(compiled.append):
        try:
            call(request)
        except Exception as error:  # whatever a method does not take is told, and the rest goes on
            refused = str(error).partition("\n")[0] or type(error).__name__
    return Outcome(len(compiled), round(time.perf_counter() - begin, 3), refused)


def serve() -> None:
    """Compile what is read from the standard input, and write the outcomes to the standard output."""
    faulthandler.enable()  # a compiler that crashes says where
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever else is printed goes elsewhere
    while True:
        try:
            request = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        if request.backend == "cuda":
            _take_pool()
        pickle.dump(compile_one(request), answers)
        answers.flush()


@lru_cache(maxsize=1)
def _take_pool() -> None:
    """Take memory of the GPU from a small pool: with none, all these processes wait for the driver at every call."""
    with importing:
        import rmm

    rmm.reinitialize(pool_allocator=True, initial_pool_size=POOL)


class _Child:
    """One such process, seen from the one that started it."""

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        paths = [path for path in sys.path if path]
        if (
            "" in sys.path
        ):  # the working directory, behind all others: its modules hide none of theirs
            paths.append(os.getcwd())
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", SERVE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )

    def ask(self, request: Request) -> Outcome:
        """Return the outcome of a request; if the process dies of it, another one takes its place and its request.

        Raises
        ------
        RuntimeError
            If that one dies too.
        """
        for _ in range(2):
            try:
                return self._ask(request)
            except (EOFError, OSError):
                status = self._process.wait()
                self._start()
        raise RuntimeError(
            f"two processes that compiled {request.title} died, the second with exit status {status}"
        )

    def _ask(self, request: Request) -> Outcome:
        given, answers = self._process.stdin, self._process.stdout
        assert given is not None
        assert answers is not None
        cloudpickle.dump(request, given)
        given.flush()
        outcome: Outcome = pickle.load(answers)
        return outcome

    def end(self) -> None:
        self._process.kill()
        self._process.communicate()


@contextmanager
def _children(count: int) -> Iterator[list[_Child]]:
    children = [_Child() for _ in range(count)]
    try:
        yield children
    finally:
        for child in children:
            child.end()
