"""What type checkers and editors know of the package. `make check` runs these tests, with what they need."""

import json
import os
import re
import shutil
import subprocess
import sys
import venv
from importlib.util import find_spec
from pathlib import Path

import pytest

from helpers.pages import ROOT, write_modules

HERE = Path(__file__).parent
CALLS = HERE / "calls.py"
STUBS = HERE / "stubs"


def _needs(*modules: str) -> pytest.MarkDecorator:
    missing = [name for name in modules if find_spec(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"needs {', '.join(missing)}; see make check")


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment that has the package as an editable install has it, and all that is installed here."""
    folder = tmp_path_factory.mktemp("types")
    venv.create(folder / "env", with_pip=False)
    (packages,) = folder.glob("env/lib/python3*/site-packages")
    paths = [str(ROOT), *(p for p in sys.path if "site-packages" in p)]
    packages.joinpath("paths.pth").write_text("\n".join(paths))
    return folder / "env" / "bin" / "python"


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What checkers read: the calls, and the examples of the pages."""
    folder = tmp_path_factory.mktemp("modules")
    shutil.copy(CALLS, folder)
    write_modules(folder)
    (folder / "pyrightconfig.json").write_text(json.dumps({"stubPath": str(STUBS)}))
    return folder


def _expected(checker: str) -> list[tuple[str, int]]:
    ends = ("# error", f"# error of {checker}")
    lines = CALLS.read_text().splitlines()
    return [("calls", number) for number, line in enumerate(lines, 1) if line.endswith(ends)]


def _run(folder: Path, *command: object) -> str:
    """Return what a checker writes of the modules of a folder."""
    done = subprocess.run(
        [sys.executable, "-m", *map(str, command), "."],
        cwd=folder,
        capture_output=True,
        text=True,
        env=os.environ | {"MYPYPATH": str(STUBS)},
    )
    return done.stdout + done.stderr


def _errors(output: str, pattern: str) -> list[tuple[str, int]]:
    found = re.findall(rf"(\w+)\.py:{pattern}", output)
    return sorted({(module, int(number)) for module, number in found})


def test_examples_stand_in_the_lines_of_their_page(modules: Path) -> None:
    page, module = (p.read_text().splitlines() for p in (ROOT / "README.md", modules / "README.py"))
    accessors = [number for number, line in enumerate(page) if re.match(r">>> .*\.gpuscan", line)]
    assert accessors
    assert all("_on(" in module[number] for number in accessors)


@_needs("mypy", "pandas-stubs")
def test_mypy(python: Path, modules: Path) -> None:
    out = _run(
        modules, "mypy", "--strict", "--ignore-missing-imports", "--python-executable", python
    )
    assert _errors(out, r"(\d+): error") == _expected("mypy"), out


@_needs("basedpyright", "pandas-stubs")
def test_pyright(python: Path, modules: Path) -> None:
    out = _run(modules, "basedpyright", "--level", "error", "--pythonpath", python)
    assert _errors(out, r"(\d+):\d+ - error") == _expected("pyright"), out


@_needs("jedi")
@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("on(df).cums", "cumsum"),
        ("on(ddf).roll", "rolling"),
        ("on(df).groupby('k').cumc", "cumcount"),
        ("on(df).groupby('k')['x'].quant", "quantile"),
        ("on(df).rolling(3).med", "median"),
        ("on(df).resample('1h').ohl", "ohlc"),
        ("on(df).rolling(3).sum().to_parq", "to_parquet"),
        ("df.gpuscan.cums", "cumsum"),
    ],
)
def test_jedi(call: str, name: str) -> None:
    import jedi
    import pandas as pd
    from dask.dataframe import from_pandas

    from dask_gpuscan import on

    df = pd.DataFrame({"k": [1], "x": [2]})
    known = {"on": on, "df": df, "ddf": from_pandas(df, npartitions=1)}
    found = jedi.Interpreter(call, [known]).complete()
    assert name in [completion.name for completion in found]
