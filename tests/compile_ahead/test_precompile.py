"""Compiling ahead: what is compiled is what later calls need; what is said of it, and what is refused."""

import io
import logging
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dask_gpuscan
from dask_gpuscan import ProgressBar, operator, precompile, precompile_plugin
from dask_gpuscan.compile_ahead import processes as precompile_processes
from dask_gpuscan.compile_ahead.calls import COMMON, check_method
from dask_gpuscan.kernels.compiler.listening import listening
from helpers.programs import run
from helpers.versions import STRING


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache, for this process's children too."""
    monkeypatch.setenv("DASK_GPUSCAN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


USE = """
import logging, sys
import pandas as pd, dask.dataframe as dd, dask_gpuscan
logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
frame = pd.DataFrame({"key": [1, 1, 2, 2], "x": [1.0, None, 3.0, 4.0]})
for obj in (frame, dd.from_pandas(frame, npartitions=2)):
    answers = obj.x.gpuscan.cumsum(), obj.gpuscan.groupby("key", clustered=True).x.sum()
    for answer in answers:
        getattr(answer, "compute", lambda: None)()
"""


AGAIN = """
again = dask_gpuscan.precompile(["cumsum", "groupby.sum"], "float64", "cpu", processes=0)
print(again.kernels.sum())
"""


MANY = """
import numpy as np
draw = np.random.default_rng(0)
for rows in (7, 1000, 5000, 40_000, 300_000, 1_000_000):
    for key in (np.arange(rows) // 5, draw.integers(0, 100, rows)):
        frame = pd.DataFrame({"key": key, "x": draw.standard_normal(rows) * 1e9})
        for obj in (frame, dd.from_pandas(frame, npartitions=2)):
            answers = obj.x.gpuscan.cumsum(), obj.gpuscan.groupby("key").x.sum()
            for answer in answers:
                getattr(answer, "compute", lambda: None)()
"""


@pytest.mark.sampled(2)
@pytest.mark.slow
def test_calls_find_what_was_compiled_ahead(cache):
    done = precompile(["cumsum", "groupby.sum"], "float64", "cpu", processes=2)
    assert list(done.method) == ["cumsum", "groupby.sum"]
    assert done.kernels.sum() > 3
    assert run(f"{USE}\n{MANY}\n{AGAIN}") == ["0"]


@pytest.mark.parametrize(
    "dtype", ["int8", "Int8", "int8[pyarrow]", "float16", "int64[pyarrow]", "str"]
)
def test_numbers_too_large_for_a_dtype_are_no_refusal(dtype):
    method = "cumsum" if dtype == "str" else "cumprod"
    assert list(precompile([method], dtype, "cpu", processes=0).refused) == [""]


@pytest.mark.slow
def test_the_log_says_what_is_compiled_once(cache):
    program = USE.replace("(frame, dd.from_pandas(frame, npartitions=2))", "[frame]")
    said = run(program)
    assert "compiling add of float64 for this CPU, once" in said
    assert all(line.startswith("compiling ") and line.endswith(", once") for line in said)
    assert run(program) == []


def test_a_users_operator_is_compiled_ahead(cache):
    offset = 3.0
    mine = operator(lambda a, b: a + b, identity=0.0, lift=lambda x: x + offset, name="mine")
    done = precompile([mine], np.dtype("f8"), "cpu", processes=1)
    assert done.method.tolist() == ["mine"]
    assert done.kernels[0] > 0
    assert done.refused[0] == ""
    heard = []
    with listening(heard.append):
        pd.Series([1.0, 2.0]).gpuscan.scan(mine)
    # what Python asks of an operator's functions is compiled ahead too
    assert heard == []


def test_what_a_method_refuses_is_told_and_the_rest_goes_on():
    done = precompile(["rolling.mean", "shift"], [STRING, "category"], "cpu", processes=0)
    refused = done.set_index(["method", "dtype"]).refused
    assert "str" in refused["rolling.mean"].iloc[0]
    assert (refused["shift"] == "").all()


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"methods": ["cumsun"]}, ValueError, "did you mean 'cumsum'"),
        ({"methods": "groupby.summ"}, ValueError, "did you mean 'sum'"),
        ({"methods": ["cumsum.x"]}, ValueError, "no 'x' here"),
        ({"methods": ["groupby.agg"]}, ValueError, "give names of reductions"),
        ({"methods": "groupby.rolling"}, ValueError, "computes nothing: add a method"),
        ({"methods": ["scan"]}, ValueError, "or the operator itself"),
        ({"dtypes": None}, TypeError, "dtypes must be dtypes such as 'float64', found None"),
        ({"backends": []}, ValueError, "backends must name one at least"),
        ({"methods": [3]}, TypeError, "methods must be names .* found 3"),
        ({"methods": []}, ValueError, "methods must name one at least"),
        ({"methods": [dask_gpuscan.affine]}, ValueError, "affine takes 2 inputs, not one"),
        ({"dtypes": "flot"}, TypeError, "dtypes must be dtypes such as 'float64', found 'flot'"),
        ({"backends": "gpu"}, ValueError, "backends must be one of 'cpu', 'cuda', found 'gpu'"),
    ],
)
def test_wrong_arguments(arguments, error, words):
    for function in (precompile, precompile_plugin):
        with pytest.raises(error, match=words):
            function(**{"methods": ["shift"], **arguments})


CRASH = """
import os, pathlib
met = pathlib.Path({path!r})
count = len(met.read_text()) if met.exists() else 0
met.write_text("x" * (count + 1))
if count < {deaths}:
    os.abort()
from dask_gpuscan.compile_ahead.processes import serve
serve()
"""


@pytest.mark.parametrize("paths", [[], [""]], ids=["a script", "a console"])
def test_processes_do_not_import_what_lies_in_the_working_directory(
    cache, tmp_path, monkeypatch, paths
):
    for name in ("random", "numpy", "pickle", "dask_gpuscan"):
        (tmp_path / f"{name}.py").write_text("open('imported', 'w').close()\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*paths, *(path for path in sys.path if path)])
    done = precompile(["shift"], "float64", "cpu", processes=1)
    assert list(done.refused) == [""]
    assert not (tmp_path / "imported").exists()


@pytest.mark.parametrize("deaths", [1, 2])
def test_a_process_that_dies_is_replaced_once(cache, tmp_path, monkeypatch, deaths):
    crash = CRASH.format(path=str(tmp_path / "met"), deaths=deaths)
    monkeypatch.setattr(precompile_processes, "SERVE", crash)
    if deaths == 1:
        done = precompile(["shift"], "float64", "cpu", processes=1)
        assert list(done.refused) == [""]
    else:
        with pytest.raises(RuntimeError, match="two processes that compiled shift of float64"):
            precompile(["shift"], "float64", "cpu", processes=1)


INTERRUPTED = """
import sys
from dask_gpuscan import precompile
from dask_gpuscan.compile_ahead import processes

processes.SERVE = sys.argv[1]
precompile(["shift", "cumsum", "cummax"], "float64", "cpu", processes=2)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="interrupts are other signals there")
def test_an_interrupt_ends_all_processes_at_once(tmp_path):
    waits = f"import os, time; open(os.path.join({str(tmp_path)!r}, str(os.getpid())), 'w'); time.sleep(600)"
    program = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, waits], stderr=subprocess.PIPE, text=True
    )
    while len(list(tmp_path.iterdir())) < 2:
        assert program.poll() is None
        time.sleep(0.05)
    while (
        program.poll() is None
    ):  # one that comes while a lock is about to be waited for is not heard
        program.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            program.wait(20)
    assert program.stderr.read().rstrip().endswith("KeyboardInterrupt")
    for path in tmp_path.iterdir():
        with pytest.raises(ProcessLookupError):
            os.kill(int(path.name), 0)


@pytest.mark.parametrize("processes", [-1, 1.5, "2", True])
def test_wrong_numbers_of_processes(processes):
    with pytest.raises(ValueError, match="processes must be a number of processes, 0 or more"):
        precompile(["shift"], processes=processes)


def test_cudf_is_asked_for_where_it_is_missing(monkeypatch):
    monkeypatch.setattr("dask_gpuscan.compile_ahead.precompile.find_spec", lambda name: None)
    with pytest.raises(ImportError, match="'cuda' needs cuDF"):
        precompile(["shift"], backends="cuda")
    assert set(precompile(["shift"], processes=0).backend) == {"cpu"}


@given(st.sampled_from((*COMMON, "list.cumsum", "list.sum", "explode")))
def test_the_common_methods_are_methods(method):
    check_method(method)


def test_the_progress_bar_says_what_is_compiled(cache):
    # of a user's operator, which no other test compiles in this process
    mine = operator(lambda a, b: a + b + 0.0, identity=0.0, name="told")
    file = io.StringIO()
    lazy = dd.from_pandas(pd.Series([1.0, 2.0, 3.0]), npartitions=3).gpuscan.scan(mine)
    with ProgressBar(dt=0.01, out=file):
        assert lazy.compute().tolist() == [1.0, 3.0, 6.0]
    text = file.getvalue()
    assert "compiling told of float64 for this CPU, once" in text
    assert text.rstrip(" \n").rpartition("\r")[2].startswith("[####")
    assert "compiling" not in text.rpartition("\r")[2]


def test_compiling_is_logged(cache, caplog):
    mine = operator(lambda a, b: a + b + 1.0, identity=-1.0, name="logged")
    with caplog.at_level(logging.INFO, "dask_gpuscan"):
        pd.Series([1.0, 2.0]).gpuscan.scan(mine)
    assert "compiling logged of float64 for this CPU, once" in caplog.messages
    assert os.environ["DASK_GPUSCAN_CACHE"] == str(cache)


@pytest.mark.gpu
@pytest.mark.slow
def test_kernels_of_a_gpu_are_compiled_ahead(cache, caplog):
    pytest.importorskip("cudf")
    pytest.importorskip("dask_cudf")
    done = precompile(["cumsum", "groupby.sum"], ["float64", "int32"], "cuda")
    assert (done.refused == "").all()
    assert done.kernels.sum() > 3
    with caplog.at_level(logging.INFO, "dask_gpuscan"):
        again = precompile(["cumsum", "groupby.sum"], ["float64", "int32"], "cuda", processes=0)
    assert not [message for message in caplog.messages if message.startswith("compiling")]
    assert again.kernels.sum() == 0
