"""No module imports another one that imports it back, and `api` imports no engine; imports for type checkers count.

Libraries are imported when they are asked for, and not before.
"""

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import dask_gpuscan

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
    """Name what a module imports, wherever it does so: `a.b.c` for ``from a.b import c``.

    What checkers alone read is left out.
    """
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    for node in ast.walk(tree):
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


def _unguarded(node: ast.AST, in_function: bool = False) -> Iterator[ast.AST]:
    """Yield the imports within functions that no ``with importing`` is around."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.With) and ast.unparse(child.items[0]) == "importing":
            continue
        if in_function and isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        yield from _unguarded(child, in_function or isinstance(child, ast.FunctionDef))


def test_forks_wait_for_what_is_imported_late() -> None:
    own = {
        "dask_gpuscan": ["from pathlib import Path"],  # before anything of it is there
        "dask_gpuscan.forks": [],
        "dask_gpuscan.api.accessors": None,  # of libraries that have been imported
    }
    for module, path in _modules():
        text = path.read_text(encoding="utf-8")
        found = [ast.unparse(node) for node in _unguarded(ast.parse(text))]
        assert own.get(module, []) in (None, found), f"{module}: put these within `importing`"
        assert module in own or "import_module(" not in text, f"{module}: call `import_late`"


LATE = [
    "cudf",
    "cupy",
    "dask",
    "dask_cudf",
    "distributed",
    "fsspec",
    "numba.cuda",
    "polars",
    "pyarrow.dataset",
    "pyarrow.fs",
    "pyarrow.parquet",
    "scipy.fftpack",
    "scipy.sparse",
    "xarray",
]
"""What a call on frames of pandas or arrays of NumPy never needs."""

STAGES = """
import json, sys
import pandas as pd
before, found = set(sys.modules), {}
import dask_gpuscan
found["import"] = sorted(m for m in set(sys.modules) - before if not m.startswith("dask_gpuscan"))
found["ours"] = sorted(m for m in sys.modules if m.startswith("dask_gpuscan"))

def stage(name):
    found[name] = [m for m in sys.argv[1].split() if m in sys.modules and m not in before]

df = pd.DataFrame({"k": [1, 1, 2], "x": [1.0, 2.0, 3.0]})
df.gpuscan.cumsum()
stage("cumsum")
df.gpuscan.groupby("k").sum(), df.gpuscan.filter("x > 1"), df.gpuscan.rolling(2).sum()
dask_gpuscan.merge_asof(df, df, on="x")
dask_gpuscan.cumsum(df["x"].to_numpy())
stage("others")
dask_gpuscan.stream([df]).gpuscan.cumsum().compute()
stage("stream")
import polars as pl
pl.DataFrame(df).gpuscan.cumsum()
stage("polars")
import dask.array, dask.dataframe as dd
before |= set(sys.modules)  # dask.array loads CuPy itself
dd.from_pandas(df, npartitions=1).gpuscan.cumsum()
stage("Dask")
print(json.dumps(found))
"""


def test_libraries_are_imported_when_they_are_asked_for() -> None:
    done = subprocess.run(
        [sys.executable, "-c", STAGES, " ".join(LATE)],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["import"] == []
    assert found["ours"] == [
        "dask_gpuscan",
        "dask_gpuscan.api",
        "dask_gpuscan.api.accessors",
        "dask_gpuscan.api.lazy_import",
        "dask_gpuscan.forks",
    ]
    assert found["cumsum"] == found["others"] == []
    files = {"fsspec", "pyarrow.fs", "pyarrow.parquet"}
    assert set(found["stream"]) <= files
    assert set(found["polars"]) <= files | {"polars"}
    assert found["Dask"] == []


def test_public_names_are_those_that_type_checkers_read() -> None:
    tree = ast.parse((ROOT / "dask_gpuscan" / "__init__.py").read_text(encoding="utf-8"))
    read = {
        alias.name: f".{node.module}"
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert read == dask_gpuscan._MODULE_OF
    assert sorted(read) == sorted(dask_gpuscan.__all__)
    for name in dir(dask_gpuscan):
        assert getattr(dask_gpuscan, name) is not None
