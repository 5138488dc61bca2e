"""No module imports another one that imports it back, and `api` imports no engine; imports for type checkers count."""

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[1]


def _modules() -> Iterator[tuple[str, Path]]:
    for folder, package in ("dask_gpuscan", "dask_gpuscan"), ("kernels", "dask_gpuscan.kernels"):
        for path in (ROOT / folder).rglob("*.py"):
            parts = path.relative_to(ROOT / folder).with_suffix("").parts
            if folder != "kernels" and parts[0] == "kernels":  # the link to it
                continue
            parts = parts[:-1] if parts[-1] == "__init__" else parts
            yield ".".join([package, *parts]), path


def _imported(module: str, path: Path) -> Iterator[str]:
    """Name what a module imports, wherever it does so: `a.b.c` for ``from a.b import c``."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: 1 - node.level or None] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{source}.{alias.name}" for alias in node.names)


def test_modules_make_no_circle() -> None:
    paths = dict(_modules())
    imports = dict[str, set[str]]()
    for module, path in paths.items():
        named = list(_imported(module, path))
        found = {name if name in paths else name.rpartition(".")[0] for name in named}
        imports[module] = {name for name in found if name in paths and name != module}
    assert sum(map(len, imports.values())) > len(paths)  # imports are found at all
    TopologicalSorter(imports).prepare()  # raises a CycleError that names the circle


def test_api_leaves_the_choice_of_an_engine_to_run() -> None:
    engines = "dask_gpuscan.engines.eager", "dask_gpuscan.engines.dask"
    for module, path in _modules():
        if module.startswith("dask_gpuscan.api"):
            found = [name for name in _imported(module, path) if name.startswith(engines)]
            assert not found, f"{module} imports {found}; ask dask_gpuscan.engines.run"
