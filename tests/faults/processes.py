"""A scheduler and workers that are processes of their own, on loopback: each can be killed, and others can follow."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from faults.harm import wait_for


class Processes:
    """Starts schedulers and workers as users do by `dask scheduler` and `dask worker`, and kills all in the end."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.folder = folder
        self.settings = {f"DASK_{name}": str(value) for name, value in settings.items()}
        self.started: list[subprocess.Popen] = []

    def __enter__(self) -> "Processes":
        return self

    def __exit__(self, *_: Any) -> None:
        for process in self.started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)  # a nanny's worker too, and what is stopped
            process.wait(60)

    def scheduler(self, address: str = "tcp://127.0.0.1:0") -> tuple[subprocess.Popen, str]:
        """Start a scheduler; return it and its address."""
        port = address.rpartition(":")[2]
        process, log = self._start("scheduler", "--port", port)
        listens = re.compile(r"Scheduler at: +(tcp://\S+)")
        wait_for(lambda: process.poll() is not None or listens.search(log.read_text()))
        found = listens.search(log.read_text())
        assert found, log.read_text()
        return process, found[1]

    def worker(self, address: str, nanny: bool = False) -> subprocess.Popen:
        """Start a worker of one thread for the scheduler of an address."""
        kind = "--nanny" if nanny else "--no-nanny"
        where = ["--local-directory", str(self.folder), "--memory-limit", "0"]
        return self._start("worker", address, "--nthreads", "1", *where, kind)[0]

    def _start(self, *command: str) -> tuple[subprocess.Popen, Path]:
        log = self.folder / f"{command[0]}-{len(self.started)}.log"
        paths = os.pathsep.join(path for path in sys.path if path)  # where `faults` is
        here = ["--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0"]
        with log.open("w") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", command[0], *here, *command[1:]],
                env={**os.environ, "PYTHONPATH": paths, **self.settings},
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.started.append(process)
        return process, log
