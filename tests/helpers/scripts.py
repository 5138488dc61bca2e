"""Starts the examples as a user does, each where it is to compute."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"

THREADS = pytest.param(["--scheduler", "threads"], id="threads")
PROCESSES = pytest.param(
    ["--scheduler", "distributed", "--workers", "2"], id="distributed", marks=pytest.mark.cluster
)
A_GPU = pytest.param(["--gpus", "1"], id="gpu", marks=[pytest.mark.gpu, pytest.mark.cluster])


def run(script: str, folder: Path, *options: object) -> subprocess.CompletedProcess[str]:
    """Run a script in a folder until it ends well."""
    if "--gpus" in options:
        pytest.importorskip("dask_cuda")
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / script), *map(str, options)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    return done
