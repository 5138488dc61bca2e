"""Threads and memory by what may be used, not by what the machine has."""

import os
import platform
import subprocess
import sys

import pytest

from dask_gpuscan.kernels.cpu.core import launch, limits


@pytest.fixture
def container(monkeypatch, tmp_path):
    """A container, whose limits are what is written into its files."""
    files = {name: tmp_path / name for name in ("cpu.max", "quota", "period")}
    paths = {name: str(path) for name, path in files.items()}
    times = ((paths["cpu.max"],), (paths["quota"], paths["period"]))
    monkeypatch.setattr(limits, "_TIME", times)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(64)), raising=False)

    def limited(**contents):
        for name, content in contents.items():
            files[name.replace("_", ".")].write_text(content)
        limits._quota.cache_clear()
        return limits.cores()

    yield limited
    limits._quota.cache_clear()


def test_a_machine_without_limits(container):
    assert container() == 64
    assert container(cpu_max="max 100000\n") == 64
    assert container(quota="-1\n", period="100000\n") == 64


@pytest.mark.parametrize(("time", "cores"), [(200_000, 2), (150_000, 2), (10_000, 1)])
def test_a_container_has_the_time_of_some_cores(container, time, cores):
    assert container(cpu_max=f"{time} 100000\n") == cores


def test_the_older_files(container):
    assert container(quota="400000\n", period="100000\n") == 4


def test_more_time_than_cores(container):
    assert container(cpu_max="12800000 100000\n") == 64


def test_no_more_threads_than_cores(container):
    container(cpu_max="300000 100000\n")
    assert launch.helpers_for(1 << 30) == 2
    assert launch.helpers_for(1000) == 0


FAULTS = """
import resource, numpy as np, pandas as pd, dask_gpuscan
columns = {name: np.arange(100_000) / 7 for name in "abcd"}
frame = pd.DataFrame(columns)
def faults(calls):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(calls):
        frame.gpuscan.filter("a > 5"), frame.gpuscan.sort_values("a")
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
faults(3)
print(faults(10))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="of glibc's malloc")
def test_memory_of_middling_arrays_is_kept_for_the_next_call():
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MALLOC_")}
    found = subprocess.run(
        [sys.executable, "-c", FAULTS], env=environment, capture_output=True, text=True, check=True
    )
    assert int(found.stdout) < 1_000  # 7,500 if the pages of each array were given back
