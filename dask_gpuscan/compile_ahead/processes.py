"""Processes that compile requests, one after another.

Threads would not help, as Numba and nvJitLink each hold a lock while they compile.
"""

from __future__ import annotations

import faulthandler
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed
from functools import lru_cache
from typing import NamedTuple

import cloudpickle

from ..forks import importing
from ..kernels.compiler.listening import listening
from .calls import Request, call

SERVE = """
import signal
signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started this one ends it
from dask_gpuscan.compile_ahead.processes import serve
serve()
"""
"""The program of such a process."""

POOL = 1 << 28
"""The initial size of a process's pool of GPU memory, in bytes."""


class Outcome(NamedTuple):
    """The outcome of a request."""

    kernels: int
    seconds: float
    refused: str


def compile_all(requests: Sequence[Request], processes: int) -> Iterator[tuple[int, Outcome]]:
    """Yield the position and the outcome of each request when it is done.

    `processes` processes compile; with 0, this one does. If a process dies, another one repeats its request.

    Raises
    ------
    RuntimeError
        If the second process dies, too.
    """
    if processes == 0:
        for i, request in enumerate(requests):
            yield i, compile_one(request)
        return
    started: list[subprocess.Popen[bytes]] = []
    own, starting, ended = threading.local(), threading.Lock(), threading.Event()

    def ask(request: Request) -> Outcome:
        for _ in range(2):
            with starting:
                if ended.is_set():
                    raise CancelledError
                if getattr(own, "process", None) is None:
                    own.process = _start()
                    started.append(own.process)
            process = own.process
            try:
                cloudpickle.dump(request, process.stdin)
                process.stdin.flush()
                outcome: Outcome = pickle.load(process.stdout)
                return outcome
            except (EOFError, OSError, pickle.UnpicklingError):
                own.process = None
        raise RuntimeError(
            f"two processes that compiled {request.title} died, the second with exit status {process.wait()}"
        )

    pool = ThreadPoolExecutor(min(processes, len(requests)))
    try:
        places = {pool.submit(ask, request): i for i, request in enumerate(requests)}
        for future in as_completed(places):
            yield places[future], future.result()
    finally:  # if the caller gives up, the rest is cancelled
        with starting:
            ended.set()
        for process in started:
            process.kill()
        pool.shutdown(cancel_futures=True)
        for process in started:
            process.communicate()


def compile_one(request: Request) -> Outcome:
    """Compile a request in this process."""
    compiled: list[str] = []
    begin, refused = time.perf_counter(), ""
    with listening(compiled.append):
        try:
            call(request)
        except Exception as error:  # the row of the request has the error, and the others go on
            refused = str(error).partition("\n")[0] or type(error).__name__
    return Outcome(len(compiled), round(time.perf_counter() - begin, 3), refused)


def serve() -> None:
    """Compile requests from the standard input, and write their outcomes to the standard output."""
    faulthandler.enable()  # shows where a compiler crashes
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # other output goes to the standard error
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
    """Take GPU memory from a small pool: without it, the processes wait for the driver at each call."""
    with importing:
        import rmm

    rmm.reinitialize(pool_allocator=True, initial_pool_size=POOL)


def _start() -> subprocess.Popen[bytes]:
    """Start a process that runs `serve`."""
    paths = [path for path in sys.path if path]
    if "" in sys.path:  # the working directory comes last, so that its modules hide no others
        paths.append(os.getcwd())
    return subprocess.Popen(
        [sys.executable, "-P", "-c", SERVE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )
