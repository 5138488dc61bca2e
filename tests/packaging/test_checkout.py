"""The package in a checkout: from its folder, an editable install and a wheel, also on systems without links."""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINK = Path("dask_gpuscan", "kernels")
BUILT_FROM = ("LICENSE", "MANIFEST.in", "README.md", "pyproject.toml", "setup.py")
PLAIN = ("--quiet", "--no-deps", "--no-build-isolation")
USE = """
import dask_gpuscan, pandas
from dask_gpuscan.kernels.cpu.core import launch
assert pandas.Series([1, 2]).gpuscan.cumsum().tolist() == [1, 3]
print(dask_gpuscan.__file__, launch.__file__, sep="\\n")
"""


@pytest.fixture(params=["links", "no links"])
def checkout(request, tmp_path: Path) -> Path:
    """A copy of the folders, in which setup.py can link ``dask_gpuscan/kernels``, or fails to."""
    copy = tmp_path / "checkout"
    without = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "kernels", copy / "kernels", ignore=without)
    without = shutil.ignore_patterns("__pycache__", "kernels")
    shutil.copytree(ROOT / "dask_gpuscan", copy / "dask_gpuscan", ignore=without)
    for name in (*BUILT_FROM, "dask_gpuscan_sizes.py"):
        shutil.copy(ROOT / name, copy)
    if request.param == "no links":
        copy.joinpath(LINK).touch()  # a link cannot have the name of a file
    return copy


def _files(*command: object, cwd: Path) -> list[Path]:
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    line = [*map(str, command)]
    done = subprocess.run(line, cwd=cwd, env=plain, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [Path(line).resolve() for line in done.stdout.splitlines()]


def _sources(folder: Path) -> list[Path]:
    return [
        folder / "dask_gpuscan" / "__init__.py",
        folder / "kernels" / "cpu" / "core" / "launch.py",
    ]


def test_python_started_in_the_checkout(checkout: Path) -> None:
    """The folder hides what is installed."""
    assert _files(sys.executable, "-c", USE, cwd=checkout) == _sources(checkout)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_editable_install(checkout: Path, builder: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "env", with_pip=False)
    (packages,) = tmp_path.glob("env/lib/python3*/site-packages")
    # what the package needs; of these folders, Python does not read the .pth files
    needed = [path for path in sys.path if "site-packages" in path]
    packages.joinpath("needed.pth").write_text("\n".join(needed))
    python = tmp_path / "env" / "bin" / "python"
    pip = (
        sys.executable,
        "-m",
        "pip",
        "--python",
        builder,
        "install",
        "--prefix",
        tmp_path / "env",
    )
    subprocess.run([*pip, *PLAIN, "--editable", checkout], check=True, cwd=tmp_path)
    assert _files(python, "-c", USE, cwd=tmp_path) == _sources(checkout)
    if not checkout.joinpath(LINK).is_file():  # type checkers read these files, no import hooks
        paths = [p.read_text().splitlines() for p in packages.glob("__editable__*.pth")]
        assert [str(checkout)] in paths


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("checkout", ["no links"], indirect=True)  # test_wheel.py has the other
def test_wheel_of_a_checkout(checkout: Path, builder: Path, tmp_path: Path) -> None:
    wheel = (sys.executable, "-m", "pip", "--python", builder, "wheel", "--wheel-dir", tmp_path)
    subprocess.run([*wheel, *PLAIN, checkout], check=True, cwd=tmp_path)
    (path,) = tmp_path.glob("*.whl")
    shutil.unpack_archive(path, tmp_path / "unpacked", "zip")
    folder = tmp_path / "unpacked" / "dask_gpuscan"
    for name in ("dask_gpuscan", "kernels"):
        sources = {p.relative_to(ROOT / name) for p in ROOT.joinpath(name).rglob("*.py")}
        inside = folder if name == "dask_gpuscan" else folder / "kernels"
        assert sources
        assert all(inside.joinpath(source).is_file() for source in sources)
