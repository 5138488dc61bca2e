"""Who waits for a compiler is told, if somebody watches."""

import contextlib
import gc
import io
import multiprocessing
import sys
import time

import pandas as pd
import pytest

from dask_gpuscan import operator
from dask_gpuscan.kernels.compiler import compiling
from dask_gpuscan.kernels.compiler.compiling import say_compiling
from dask_gpuscan.kernels.compiler.listening import listening


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def at_terminal(monkeypatch):
    """Return what stands a terminal in for standard error; pytest sets that anew before each test."""

    def stand_in(patience=0.0):
        monkeypatch.setattr(sys, "stderr", Terminal())
        monkeypatch.setattr(compiling, "PATIENCE", patience)
        compiling._tell.cache_clear()
        return sys.stderr

    return stand_in


def _compile():
    with compiling.compiling():
        say_compiling("add of float64", "this CPU")
        for wait in compiling._waits:
            wait.join()


def test_one_line_says_what_is_compiled_and_that_it_is_kept(at_terminal, tmp_path, monkeypatch):
    terminal = at_terminal()
    monkeypatch.setenv("DASK_GPUSCAN_CACHE", str(tmp_path / "here"))
    _compile()
    _compile()  # another kernel of the same name
    assert terminal.getvalue() == (
        f"dask-gpuscan: compiling add of float64 for this CPU; it is kept in {tmp_path / 'here'} for later calls\n"
    )


def test_where_nothing_can_be_kept_the_line_says_why(at_terminal, tmp_path, monkeypatch):
    terminal, place = at_terminal(), tmp_path / "file" / "below"
    (tmp_path / "file").write_text("mine")
    monkeypatch.setenv("DASK_GPUSCAN_CACHE", str(place))
    _compile()
    assert terminal.getvalue() == (
        f"dask-gpuscan: compiling add of float64 for this CPU; it is not kept in {place}: Not a directory. "
        "Choose another folder by DASK_GPUSCAN_CACHE\n"
    )


def test_a_users_operator_is_told_of(at_terminal, tmp_path, monkeypatch):
    terminal = at_terminal()
    monkeypatch.setenv("DASK_GPUSCAN_CACHE", str(tmp_path))
    offset = time.time()
    mine = operator(lambda a, b: a + b, identity=0.0, lower=lambda s: s + offset, name="mine")
    pd.Series([1.0, 2.0]).gpuscan.scan(mine)
    assert "compiling mine of float64 for this CPU" in terminal.getvalue()


def test_short_waits_are_not_told_of(at_terminal):
    terminal = at_terminal(patience=60.0)
    with compiling.compiling():
        say_compiling("add of float64", "this CPU")
        (wait,) = compiling._waits
    wait.join(10)
    assert not wait.is_alive()
    assert not compiling._waits
    assert terminal.getvalue() == ""


def test_nothing_is_said_where_nobody_watches(at_terminal, monkeypatch):
    terminal = at_terminal()
    with listening(lambda message: None):  # a progress bar says it
        _compile()
    with monkeypatch.context() as patch:
        patch.setenv("DASK_GPUSCAN_QUIET", "1")
        _compile()
    with monkeypatch.context() as patch:  # a worker
        patch.setattr(multiprocessing, "parent_process", multiprocessing.current_process)
        _compile()
    assert terminal.getvalue() == ""
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    _compile()
    assert sys.stderr.getvalue() == ""
    closed = Terminal()
    closed.close()
    for stand_in in (None, closed, object()):
        monkeypatch.setattr(sys, "stderr", stand_in)
        _compile()


@pytest.mark.parametrize("enabled", [True, False])
def test_garbage_is_collected_again_after_a_compile(enabled):
    before = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        with contextlib.suppress(TypeError), compiling.compiling():
            with compiling.compiling():  # of a kernel that another one calls
                assert not gc.isenabled()
            assert not gc.isenabled()
            raise TypeError
        assert gc.isenabled() == enabled
    finally:
        (gc.enable if before else gc.disable)()
