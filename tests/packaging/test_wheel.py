"""The distribution as a user gets it: built, installed beside what it needs and nothing else, run from there."""

import os
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import dask_gpuscan

ROOT = Path(__file__).parents[2]
NO_EXTRAS = frozenset({""})

USE = """
from importlib.metadata import entry_points

import pandas as pd
import dask.dataframe as dd
import dask_gpuscan
import dask_gpuscan.kernels.cpu

assert "site-packages" in dask_gpuscan.__file__, dask_gpuscan.__file__
s = pd.Series([1, 2, 3, 4, 5], name="x")
whole = s.gpuscan.cumsum()
split = dd.from_pandas(s, npartitions=2).gpuscan.cumsum().compute()
pd.testing.assert_series_equal(whole, s.cumsum())
pd.testing.assert_series_equal(split, s.cumsum())
(entry,) = [e for e in entry_points(group="dask.sizeof") if e.name == "cudf"]
assert entry.load().__module__ == "dask_gpuscan_sizes"
print("used")
"""


def _run(*command: object, cwd: Path) -> str:
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    plain["CC"] = "false"  # no install asks for a C compiler
    line = [*map(str, command)]
    done = subprocess.run(line, cwd=cwd, env=plain, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done.stdout


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_wheel_is_whole_and_works_with_what_it_needs(builder: Path, tmp_path: Path) -> None:
    out = tmp_path / "dist"
    _run(builder, "-m", "build", "--no-isolation", "--outdir", out, ROOT, cwd=tmp_path)
    (sdist,) = out.glob("*.tar.gz")
    (wheel,) = out.glob(f"dask_gpuscan-{dask_gpuscan.__version__}-py3-none-any.whl")
    nothing_is_left_out(sdist, wheel)
    # what a package index would refuse, or show as plain text
    _run(sys.executable, "-m", "twine", "check", "--strict", sdist, wheel, cwd=tmp_path)

    venv.create(tmp_path / "env", with_pip=False)
    python = tmp_path / "env" / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python)
    _run(*pip, "install", "--quiet", "--no-compile", "--no-deps", wheel, cwd=tmp_path)
    (packages,) = tmp_path.glob("env/lib/python3*/site-packages")
    link_what_is_needed(packages)
    _run(*pip, "check", cwd=tmp_path)
    assert "used" in _run(python, "-c", USE, cwd=tmp_path)


def link_what_is_needed(packages: Path) -> None:
    """Link what the wheel needs, and what that needs, from this environment: nothing else is there."""
    (installed,) = packages.glob("dask_gpuscan-*.dist-info")
    wanted: list[tuple[Distribution, frozenset[str]]] = [(Distribution.at(installed), NO_EXTRAS)]
    met = set()
    while wanted:
        found, extras = wanted.pop()
        for need in map(Requirement, found.requires or ()):
            asked = need.name, NO_EXTRAS | need.extras
            applies = not need.marker or any(need.marker.evaluate({"extra": e}) for e in extras)
            if not applies or asked in met:
                continue
            met.add(asked)
            wanted.append((distribution(need.name), asked[1]))
            for top in {file.parts[0] for file in wanted[-1][0].files or ()} - {
                "..",
                "__pycache__",
            }:
                if not packages.joinpath(top).exists():
                    packages.joinpath(top).symlink_to(wanted[-1][0].locate_file(top))


def nothing_is_left_out(sdist: Path, wheel: Path) -> None:
    """Assert that the wheel holds every module, device source and type marker, and the sdist the whole repository."""
    wanted = set()
    for folder, package in (("dask_gpuscan", "dask_gpuscan"), ("kernels", "dask_gpuscan/kernels")):
        for path in ROOT.joinpath(folder).rglob("*"):
            if path.suffix in {".py", ".cuh"} or path.name == "py.typed":
                wanted.add((path, f"{package}/{path.relative_to(ROOT / folder).as_posix()}"))
    wanted.add((ROOT / "dask_gpuscan_sizes.py", "dask_gpuscan_sizes.py"))
    in_wheel = set(zipfile.ZipFile(wheel).namelist())
    assert {name for _, name in wanted} - in_wheel == set()
    with tarfile.open(sdist) as archive:
        in_sdist = {f.name.partition("/")[2] for f in archive.getmembers() if f.isfile()}
    made = {"PKG-INFO", "setup.cfg"} | {n for n in in_sdist if ".egg-info/" in n}
    assert in_sdist - made == files_of_the_repository() - made


def files_of_the_repository() -> set[str]:
    """Return the paths of all files that git has; in an unpacked sdist, of those that it holds."""
    if (ROOT / ".git").exists():
        return set(_run("git", "ls-files", cwd=ROOT).splitlines())
    listed = next(ROOT.glob("*.egg-info/SOURCES.txt")).read_text()
    return set(listed.splitlines())


def test_every_package_is_listed() -> None:
    """A package that pyproject.toml does not name would be missing in every install."""
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    found = []
    for folder, package in (("dask_gpuscan", "dask_gpuscan"), ("kernels", "dask_gpuscan.kernels")):
        for init in ROOT.joinpath(folder).rglob("__init__.py"):
            parts = init.parent.relative_to(ROOT / folder).parts
            found.append(".".join((package, *parts)))
    assert sorted(listed) == sorted(found)


def test_a_numba_that_may_not_compile_is_refused() -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import numpy as np, dask_gpuscan; dask_gpuscan.cumsum(np.arange(3))",
        ],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("ImportError: NUMBA_DISABLE_JIT is set, and")
