"""Tests have the rooms of what they test, and tests of the API use nothing but public names."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import dask_gpuscan
from dask_gpuscan import kernels

TESTS = Path(__file__).parent
PACKAGE = Path(dask_gpuscan.__file__).parent
KERNELS = Path(kernels.__file__).parent
ROOMS = {
    **{room: PACKAGE / room for room in ("api", "compile_ahead", "engines", "frames", "ops")},
    "kernels": KERNELS,
    "cuda": KERNELS / "cuda",
}
OF_API = sorted(TESTS.glob("api/**/*.py"))

PUBLIC = {
    "dask_gpuscan": {*dask_gpuscan.__all__, "kernels", "__version__"},
    "dask_gpuscan.kernels": set(kernels.__all__),
}


def names(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield each name that a module takes from a module of the package, with that module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", each.name) for each in node.names)
        elif isinstance(node, ast.Import):
            yield from (tuple(each.name.rpartition(".")[::2]) for each in node.names)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield {"kernels": "dask_gpuscan.kernels"}.get(node.value.id, node.value.id), node.attr


@pytest.mark.parametrize("path", OF_API, ids=lambda path: str(path.relative_to(TESTS)))
def test_tests_of_the_api_use_public_names(path: Path) -> None:
    for module, name in names(ast.parse(path.read_text(encoding="utf-8"))):
        if module.partition(".")[0] != "dask_gpuscan":
            continue
        own = module.startswith("dask_gpuscan.api.")
        assert own or name in PUBLIC.get(module, ()), f"{module}.{name} is not public"


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_of_tests_are_those_of_the_package(room: str) -> None:
    for file in TESTS.joinpath(room).rglob("test_*.py"):
        folder = ROOMS[room] / file.parent.relative_to(TESTS / room)
        assert folder.is_dir(), f"{file} is in no room of the package"


FOLDERS = sorted({*PACKAGE.rglob("__init__.py"), *KERNELS.rglob("__init__.py")})


@pytest.mark.parametrize("path", FOLDERS, ids=lambda path: path.parent.name)
def test_docstrings_of_folders_name_modules_that_exist(path: Path) -> None:
    folder, text = path.parent, ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    root = next(p for p in (KERNELS, PACKAGE) if path.is_relative_to(p))
    for name in re.findall(r"(?<!`)`([a-z]\w*(?:\.[a-z]\w*)*)`|``([a-z]\w*(?:/\w+)*)/``", text):
        parts = Path(*re.split(r"[./]", "".join(name)))
        found = [base / parts for base in (folder, folder.parent, PACKAGE, root)]
        modules = "".join(module.read_text(encoding="utf-8") for module in folder.glob("*.py"))
        assert (
            any(each.is_dir() or each.with_suffix(".py").is_file() for each in found)
            or any(folder.rglob(f"{parts.name}.py"))
            or f"def {parts.name}(" in modules
        ), f"{path} names {parts}, which does not exist"
