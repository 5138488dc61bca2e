"""Programs in new processes, forked from one that has imported the package and compiled nothing."""

import multiprocessing
import os
import subprocess
import sys
import tempfile
from pathlib import Path

READY = ["dask_gpuscan.engines.run", "dask.dataframe", "distributed"]
"""The modules that are imported before processes are forked."""


def context() -> multiprocessing.context.BaseContext:
    """Return the context that starts processes; on systems without forks, each process imports the modules itself."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    found = multiprocessing.get_context("forkserver")
    found.set_forkserver_preload(READY)
    return found


def run(program: str, **variables: str) -> list[str]:
    """Run a program with these environment variables, assert that it succeeds, and return the lines that it prints."""
    with tempfile.TemporaryDirectory() as folder:
        said, told = Path(folder, "said"), Path(folder, "told")
        # the environment of the test, not that of the first process
        given = (program, {**os.environ, **variables}, str(said), str(told))
        process = context().Process(target=_run, args=given)
        process.start()
        process.join(280)
        process.kill()  # if it still runs
        process.join()
        assert process.exitcode == 0, told.read_text()[-3000:]
        return said.read_text().splitlines()


def python(
    *arguments: object, folder: Path | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a new Python in a folder with these environment variables, and assert that it succeeds."""
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=folder,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-3000:]
    return done


def _run(program: str, environment: dict[str, str], said: str, told: str) -> None:
    for handle, path in ((1, said), (2, told)):
        os.dup2(os.open(path, os.O_CREAT | os.O_WRONLY), handle)
    os.environ.clear()
    os.environ.update(environment)
    exec(compile(program, "<string>", "exec"), {"__name__": "__main__"})
