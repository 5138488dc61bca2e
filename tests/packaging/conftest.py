"""The environment in which packages are built."""

import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def builder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment of what pyproject.toml says builds need, which is installed once for all of them."""
    folder = tmp_path_factory.mktemp("builder") / "env"
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    # bytecode of all that is never imported would take most of the time
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-compile")
    subprocess.run([*pip, "build", *needed], check=True, cwd=folder)
    return python
