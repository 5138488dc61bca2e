"""What type checkers and editors know of the package. `make check` runs these tests, with what they need."""

import re
import subprocess
import sys
import venv
from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CALLS = HERE / "calls.py"
ROOT = HERE.parents[1]


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


def _expected(checker: str) -> list[int]:
    ends = ("# error", f"# error of {checker}")
    lines = CALLS.read_text().splitlines()
    return [number for number, line in enumerate(lines, 1) if line.endswith(ends)]


def _lines(output: str, pattern: str) -> list[int]:
    return sorted({int(number) for number in re.findall(pattern, output, re.MULTILINE)})


def _run(tmp_path: Path, *command: object) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *map(str, command)], cwd=tmp_path, capture_output=True, text=True
    )
    return done.stdout + done.stderr


@_needs("mypy", "pandas-stubs")
def test_mypy(python: Path, tmp_path: Path) -> None:
    out = _run(tmp_path, "mypy", "--strict", "--python-executable", python, CALLS)
    assert _lines(out, r"calls\.py:(\d+): error") == _expected("mypy"), out


@_needs("basedpyright", "pandas-stubs")
def test_pyright(python: Path, tmp_path: Path) -> None:
    out = _run(tmp_path, "basedpyright", "--level", "error", "--pythonpath", python, CALLS)
    assert _lines(out, r"calls\.py:(\d+):\d+ - error") == _expected("pyright"), out


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
