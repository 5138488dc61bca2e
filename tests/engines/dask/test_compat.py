"""The names of Dask that are not documented are there, and one module imports them."""

import ast
from importlib import import_module
from pathlib import Path

import dask

import dask_gpuscan

PACKAGE = Path(dask_gpuscan.__file__).parent
COMPAT = PACKAGE / "engines" / "dask" / "compat.py"


def imports(path: Path) -> list[tuple[str, str]]:
    """Return the names that a module imports, each with where it is from, wherever in the module that is."""
    found = [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.ImportFrom)]
    return [(n.module or "", alias.name) for n in found for alias in n.names if not n.level]


def test_the_names_are_there() -> None:
    names = [(m, name) for m, name in imports(COMPAT) if m.startswith("dask.")]
    assert names
    gone = [f"{m}.{name}" for m, name in names if not hasattr(import_module(m), name)]
    assert not gone, f"Dask {dask.__version__} does not have {', '.join(gone)}"


def test_no_other_module_imports_them() -> None:
    private = ("dask.dataframe.dask_expr", "dask.dataframe.methods", "dask.dataframe.utils")
    for path in PACKAGE.rglob("*.py"):
        if path != COMPAT:
            assert not [m for m, _ in imports(path) if m.startswith(private)], path
