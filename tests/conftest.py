"""Fixtures and Hypothesis settings for all tests."""

import gc
import os
import sys
from contextlib import ExitStack
from functools import cache
from importlib import import_module
from itertools import compress
from pathlib import Path

import dask
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from dask.tokenize import normalize_object, normalize_token
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))  # for helpers/

from dask_gpuscan.kernels.cpu.core import launch
from helpers.backends import Backend, Cuda, has_cuda
from helpers.samples import sample
from helpers.thresholds import copy_threshold

# One folder of compiled kernels for all workers, subprocesses and runs; entries are found by content.
KERNELS = Path(__file__).parents[1] / ".pytest_cache" / "kernels"
os.environ.setdefault("DASK_GPUSCAN_CACHE", str(KERNELS))

settings.register_profile(
    "default",
    deadline=None,  # the first example of a kind compiles a kernel
    max_examples=int(os.environ.get("EXAMPLES", "6")),
    derandomize="EXAMPLES"
    not in os.environ,  # a change is not held up by a case that it has nothing to do with
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("default")

# Compilers make and keep so many objects that looking for garbage among them took a seventh of the time.
gc.freeze()
gc.set_threshold(100_000, 50, 50)

# Dask pickles the classes of expressions twice for each name that it gives: a twentieth of the time of small graphs.
normalize_token.register(type, cache(normalize_object))

BACKENDS = [pytest.param(Backend(), id="cpu")]
if has_cuda():
    BACKENDS.append(pytest.param(Cuda(), id="cuda", marks=pytest.mark.gpu))


def pytest_collection_modifyitems(config, items):
    """Start with the longest tests, and then those of many examples, so that all cores have work until the end.

    Leave out cases that are not in the samples, unless some are asked for by their names.
    """
    if not config.option.keyword and not any("::" in each for each in config.args):
        marks = [item.get_closest_marker("sampled") for item in items]
        parts = [1 if mark is None else mark.args[0] for mark in marks]
        runs = sample([(item.nodeid, n) for item, n in zip(items, parts, strict=True)])
        config.hook.pytest_deselected(items=[*compress(items, [not each for each in runs])])
        items[:] = compress(items, runs)
    items.sort(key=lambda item: ("slow" not in item.keywords, not hasattr(item.obj, "hypothesis")))


@pytest.fixture(params=BACKENDS, scope="session")
def backend(request):
    return request.param


@pytest.fixture(autouse=True)
def plain_dask():
    # Dask would turn str columns into string[pyarrow]: tests compare with the dtypes that they made
    with dask.config.set({"scheduler": "synchronous", "dataframe.convert-string": False}):
        yield


@pytest.fixture(scope="module")
def near_rows_apart():
    """Rows near borders of partitions are done apart, as those of many rows are, and not with all others."""
    with ExitStack() as stack:
        for each in BACKENDS:
            stack.enter_context(copy_threshold(each.values[0].frame(pd.Series([1])), 0))
        yield


@pytest.fixture(scope="module", params=["together", "by column"])
def columns_moved(request):
    """The columns of a pandas frame are moved together, as those of few rows are, and each by itself."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "by column":
            for name in ("FEW", "FEW_OF_TEAM"):
                patch.setattr(f"dask_gpuscan.frames.pandas.library.{name}", -1)
        yield request.param


@pytest.fixture
def poisoned(monkeypatch):
    """Outputs of the CPU backend are filled with a pattern before they are written: none of it may be left."""
    allocate = pa.allocate_buffer

    def allocate_poisoned(size, **options):
        buffer = allocate(size, **options)
        np.frombuffer(buffer, np.uint8)[...] = 0xCC
        return buffer

    monkeypatch.setattr(pa, "allocate_buffer", allocate_poisoned)
    monkeypatch.setattr(launch, "MAPPED", 0)  # small ones too
    for name in (
        "columns.by_key",
        "columns.compact",
        "windows.rolling",
        "scan.scan",
        "columns.selection",
    ):
        module = import_module(f"dask_gpuscan.kernels.cpu.{name}")
        monkeypatch.setattr(module, "PARALLEL", 1)  # and those of few rows
