"""The API reference lists whatever is public, and nothing else."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from types import ModuleType

import pytest

import dask_gpuscan
from dask_gpuscan import kernels
from dask_gpuscan.api.groupby import GroupBy
from dask_gpuscan.api.order_methods import GpuscanIndex
from dask_gpuscan.api.resample_methods import Resampler
from dask_gpuscan.api.rolling_methods import Rolling
from dask_gpuscan.api.window_methods import Ewm, Expanding

PAGES = "\n".join(page.read_text() for page in Path(__file__).parents[1].glob("docs/api/*.md"))
ALIASES = {"aggregate"}  # of agg, as in pandas
ON_OTHER_PAGES = {"check_associative", "operator", "segmented", "Operator"}


@pytest.mark.parametrize(
    "owner", [dask_gpuscan.Gpuscan, GpuscanIndex, GroupBy, Resampler, Rolling, Expanding, Ewm]
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
