"""Forked children compute, whatever other threads of their parent were compiling or importing."""

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


LATE = {
    "dask_gpuscan.api.arrays.scans": "dask_gpuscan.scan",
    "dask_gpuscan.api.accessor": "frame.gpuscan.cumsum",
    "dask_gpuscan.frames.pandas.library": "registry.library_of(frame)",
    "dask_gpuscan.engines.dask.engine": "engines.engine_of(dd.from_pandas(frame, npartitions=1))",
    "dask_gpuscan.engines.dask.arrays": "engines.array_engine_of(da.ones(3))",
    "dask_gpuscan.engines.stream.engine": "engines.engine_of(dask_gpuscan.stream([frame]))",
    "dask_gpuscan.api.tables.accessor": "dask_gpuscan.on(pa.table({'x': [1]})).cumsum",
    "numba": "kernels.compiler.late.numba.njit",
}
"""What is imported late, in this order, and what asks for it."""

IMPORTS = """
import os, sys, threading, time, warnings
import dask.array as da, dask.dataframe as dd, pandas as pd, pyarrow as pa
import dask_gpuscan
from dask_gpuscan import kernels
from dask_gpuscan.engines import run as engines
from dask_gpuscan.frames import registry

warnings.simplefilter("ignore")
frame = pd.DataFrame({"x": [1.0, 2.0]})

class Slow:
    "Lets the main thread go on while the module is imported."

    def find_spec(self, name, path, target=None):
        if name == module:
            begun.set()
            time.sleep(0.05)

def end_of(child):
    until = time.monotonic() + 60
    while time.monotonic() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status
        time.sleep(0.01)
    os.kill(child, 9)
    return "hangs"

sys.meta_path.insert(0, Slow())
for module, asked in LATE.items():
    assert module not in sys.modules, module
    process = os.fork()  # each in one that has imported nothing more
    if process:
        if os.waitpid(process, 0)[1]:
            break
        continue
    begun = threading.Event()
    thread = threading.Thread(target=eval, args=(asked, globals()))
    thread.start()
    assert begun.wait(20), module
    child = os.fork()
    if not child:
        try:
            eval(asked)
        except BaseException:
            os._exit(1)
        os._exit(0)
    end = end_of(child)
    print(module, end, flush=True)
    thread.join()
    os._exit(end != 0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_no_child_waits_for_what_another_thread_was_importing():
    assert run(f"LATE = {LATE}\n{IMPORTS}") == [f"{module} 0" for module in LATE]


MEETS = """
import os, threading
from dask_gpuscan.forks import importing
from dask_gpuscan.kernels.compiler.compiling import compile_lock

def compile_and_import():
    with compile_lock:
        compiles.set()
        imports.wait()
        with importing:
            print("a kernel that imports", flush=True)

def import_and_compile():
    with importing:
        imports.set()
        compiles.wait()
        with compile_lock:
            print("an import that compiles", flush=True)

compiles, imports = threading.Event(), threading.Event()
threads = [threading.Thread(target=each) for each in (compile_and_import, import_and_compile)]
for thread in threads:
    thread.start()
imports.wait()
child = os.fork()
if not child:
    with importing, compile_lock:
        os._exit(0)
print(os.waitpid(child, 0)[1])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_imports_compiles_and_forks_do_not_wait_in_a_circle():
    assert sorted(run(MEETS)) == ["0", "a kernel that imports", "an import that compiles"]


INTERRUPTED = """
import os, signal, threading, time
from dask_gpuscan.forks import importing
from dask_gpuscan.kernels.compiler.compiling import compile_lock

def hold(lock):
    with lock:
        held.set()
        time.sleep(0.3)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.3)

for lock in (compile_lock, importing):
    held = threading.Event()
    threading.Thread(target=hold, args=(lock,)).start()
    held.wait()
    try:
        if not os.fork():
            signal.alarm(20)
            with lock:
                os._exit(0)
        time.sleep(20)
    except KeyboardInterrupt:
        print(os.waitpid(-1, 0)[1])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_who_is_impatient_while_a_fork_waits_is_heard_after_it():
    assert run(INTERRUPTED) == ["0", "0"]
