"""The API reference lists whatever is public; figures and tables of the docs are those of committed files."""

from __future__ import annotations

import datetime
import inspect
import json
import os
import random
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

import dask_gpuscan
from dask_gpuscan import kernels
from dask_gpuscan.api.groupby import GroupBy
from dask_gpuscan.api.list_accessor import ListAccessor
from dask_gpuscan.api.order_methods import GpuscanIndex
from dask_gpuscan.api.resample_methods import Resampler
from dask_gpuscan.api.rolling_methods import Rolling
from dask_gpuscan.api.window_methods import Ewm, Expanding
from dask_gpuscan.api.xarray_accessor import XarrayGpuscan, XarrayGroups

ROOT = Path(__file__).parents[1]
DAY = datetime.datetime.now(datetime.UTC).toordinal()
sys.path.insert(0, str(ROOT / "docs"))  # whose scripts are no package

import bench_records  # noqa: E402
import headlines  # noqa: E402
import support_matrix  # noqa: E402

PAGES = "\n".join(page.read_text() for page in ROOT.glob("docs/api/*.md"))
ALIASES = {"aggregate"}  # of agg, as in pandas
ON_OTHER_PAGES = {"check_associative", "operator", "segmented", "Operator"}


@pytest.mark.parametrize(
    "owner",
    [
        dask_gpuscan.Gpuscan,
        GpuscanIndex,
        ListAccessor,
        GroupBy,
        Resampler,
        Rolling,
        Expanding,
        Ewm,
        XarrayGpuscan,
        XarrayGroups,
    ],
)
def test_methods(owner: type) -> None:
    listed = re.findall(rf"^   ~{owner.__name__}\.(\w+)$", PAGES, re.MULTILINE)
    public = {name for name in dir(owner) if not name.startswith("_")}
    assert len(listed) == len(set(listed))
    assert set(listed) == public - ALIASES


@pytest.mark.parametrize("module", [dask_gpuscan, kernels])
def test_functions(module: ModuleType) -> None:
    name = module.__name__
    blocks = re.findall(
        rf"currentmodule:: {re.escape(name)}\n\n\.\. autosummary::.*?\n\n(.*?)```", PAGES, re.DOTALL
    )
    listed = {line.strip() for block in blocks for line in block.splitlines() if "~" not in line}
    public = {
        each
        for each in module.__all__
        if inspect.isclass(getattr(module, each)) or inspect.isfunction(getattr(module, each))
    }
    missing = public - listed - {"Gpuscan"} - (ON_OTHER_PAGES if module is kernels else set())
    assert not missing
    assert not listed - set(module.__all__)


@pytest.mark.parametrize("file", ["cpu", "h200"])
def test_every_benchmark_has_a_name(file: str) -> None:
    for record in bench_records.load(file):
        bench_records.label(record)  # raises a KeyError
        if record.get("target"):
            bench_records.aim(record)


def test_speeds_in_readme() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert headlines.BEGIN in text
    assert headlines.in_readme(text) == text, "run docs/headlines.py"


def test_every_headline_is_recorded() -> None:
    for name in ("ON_CPUS", "ON_A_GPU", "OVER_PARTITIONS", "OF_MEMORY"):
        for headline in getattr(headlines, name):
            assert headline.records(), headline


def test_support_matrix_is_written_out() -> None:
    known = json.loads(support_matrix.TABLE.read_text())
    calls = {*support_matrix.CALLS, *support_matrix.ARRAY_CALLS, *support_matrix.CUBE_CALLS}
    assert set(known["cells"]) == calls, "run docs/support_matrix.py"
    for page, made in support_matrix.PAGES.items():
        text = page.read_text(encoding="utf-8")
        assert support_matrix.BEGIN in text
        assert support_matrix.put_in(text, made(known)) == text, "run docs/support_matrix.py"


@pytest.mark.slow
@pytest.mark.parametrize("part", range(16 if os.environ.get("MATRIX") == "all" else 2))
@pytest.mark.filterwarnings("ignore")
def test_support_matrix_is_true(part: int) -> None:
    known = json.loads(support_matrix.TABLE.read_text())["cells"]
    names = sorted(known)
    random.Random(DAY).shuffle(names)  # kernels for each are compiled: another eighth every day
    for name, cells in support_matrix.run(names[part::16])["cells"].items():
        assert cells == {library: known[name][library] for library in cells}, name
