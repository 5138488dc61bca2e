"""Forked children compute, whatever other threads of their parent were compiling."""

import os

import pytest

from helpers.programs import run

USE = """
import sys
import numpy as np
from dask_gpuscan import cumsum

def use():
    sys.exit(cumsum(np.arange(5)).tolist() != [0, 1, 3, 6, 10])
"""

FORKS = """
import multiprocessing, threading, time, warnings
from dask_gpuscan import operator
from dask_gpuscan.kernels import signature
from dask_gpuscan.kernels.compiler.compiling import compile_lock

warnings.simplefilter("ignore")  # that a process with threads forks: it is what is tested
done = threading.Event()

def compile_until_done():
    for k in range(1000):
        if not done.is_set():
            signature(operator(lambda a, b: a + b, identity=0, lift=lambda x: x * k), [np.int64])

def fork():
    children.append(multiprocessing.get_context("fork").Process(target=use))
    children[-1].start()

children = []
thread = threading.Thread(target=compile_until_done)
thread.start()
for _ in range(8):
    time.sleep(0.05)
    fork()
with compile_lock:  # as of a fork by what is called in a compilation
    fork()
done.set()
until = time.monotonic() + 30
for child in children:
    child.join(max(until - time.monotonic(), 0))
print([child.exitcode for child in children])
for child in children:
    child.kill()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_no_child_waits_for_a_thread_that_it_does_not_have(tmp_path):
    folder = str(tmp_path / "cache")
    run(
        f"{USE}\nuse()", DASK_GPUSCAN_CACHE=folder
    )  # so that children find their kernels on disk, and do not take long
    assert run(f"{USE}\n{FORKS}", DASK_GPUSCAN_CACHE=folder) == [str([0] * 9)]
