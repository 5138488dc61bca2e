"""Runs the examples as a user does."""

from pathlib import Path
from subprocess import CompletedProcess

import pytest

from helpers.programs import python

EXAMPLES = Path(__file__).parents[2] / "examples"

THREADS = pytest.param(["--scheduler", "threads"], id="threads")
PROCESSES = pytest.param(
    ["--scheduler", "distributed", "--workers", "2"], id="distributed", marks=pytest.mark.cluster
)
A_GPU = pytest.param(["--gpus", "1"], id="gpu", marks=[pytest.mark.gpu, pytest.mark.cluster])


def run(script: str, folder: Path, *options: object) -> CompletedProcess[str]:
    """Run a script in a folder, and assert that it succeeds."""
    if "--gpus" in options:
        pytest.importorskip("dask_cuda")
    return python(EXAMPLES / script, *options, folder=folder)
