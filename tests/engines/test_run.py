"""Which engine runs a call is decided in one place, and eager calls enter nothing of Dask's."""

import ast
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dask_gpuscan
from dask_gpuscan.engines.dask import engine as dask_engine
from dask_gpuscan.engines.run import Engine
from dask_gpuscan.engines.stream import engine as stream_engine
from helpers.routes import route

PACKAGE = Path(dask_gpuscan.__file__).parent

EAGER = {
    "cumsum": lambda df: df.gpuscan.cumsum(),
    "filter": lambda df: df.gpuscan.filter("x > 0.5"),
    "groupby.sum": lambda df: df.gpuscan.groupby("k").sum(),
    "merge_asof": lambda df: dask_gpuscan.merge_asof(
        df.reset_index(), df.reset_index(), on="index"
    ),
    "rank": lambda df: df.gpuscan.rank(),
    "rle": lambda df: df["k"].gpuscan.rle(),
    "rolling.sum": lambda df: df.gpuscan.rolling(10).sum(),
    "sort_values": lambda df: df.gpuscan.sort_values("x"),
}


@pytest.mark.parametrize("name", EAGER)
def test_an_eager_call_enters_no_file_of_the_engine_of_dask(name: str) -> None:
    rng = np.random.default_rng(7)
    df = pd.DataFrame({"k": rng.integers(0, 9, 1_000), "x": rng.random(1_000)})
    files = route(EAGER[name], df).files
    assert "engines/eager.py" in files or name == "groupby.sum"
    assert not [file for file in files if file.startswith("engines/dask/")]


def test_no_method_asks_whether_it_is_of_a_collection() -> None:
    for path in (PACKAGE / "api").rglob("*.py"):
        tree = ast.parse(path.read_text())
        imported = [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
        assert not [n for n in imported if n.module == "dask.base"] or path.name == "run_ends.py"
        modules = {n.module or "" for n in imported}
        assert not [m for m in modules if m.startswith("dask.dataframe.dask_expr")], path
        assert not [m for m in modules if m.endswith(("engines.dask.compat", "engines.eager"))], (
            path
        )


def test_all_engines_have_what_methods_ask_for() -> None:
    from dask_gpuscan.engines import eager

    asked = {name for name in vars(Engine) if not name.startswith("_")}
    for module in (eager, dask_engine, stream_engine):
        assert not [name for name in asked if not hasattr(module, name)]
