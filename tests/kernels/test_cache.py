"""Compiled kernels on disk: found again, made anew where unreadable, done without where nothing can be kept."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

USE = """
import time, numpy as np, dask_gpuscan
print(dask_gpuscan.cumsum(np.arange(5)).tolist())
from dask_gpuscan.kernels.cpu.engine import walk_tiles
print(sum(walk_tiles.stats.cache_hits.values()), sum(walk_tiles.stats.cache_misses.values()))
"""


def use(folder: Path, program: str = USE) -> list[str]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()


def test_kernels_are_found_again_and_made_anew(tmp_path):
    assert use(tmp_path) == ["[0, 1, 3, 6, 10]", "0 1"]
    assert use(tmp_path) == ["[0, 1, 3, 6, 10]", "1 0"]
    for damage in (b"", b"no pickle", b"\x80\x04\x95"):
        for file in [*tmp_path.rglob("*.nbi"), *tmp_path.rglob("*.nbc")]:
            file.write_bytes(damage)
        assert use(tmp_path)[0] == "[0, 1, 3, 6, 10]"


BY_KEY = """
import numpy as np
from dask_gpuscan.kernels import BUILT_IN, reduce_by_key
from dask_gpuscan.kernels.cpu import calls, engine, marking
EDIT
for dtype in DTYPES:
    print(reduce_by_key(BUILT_IN["add"], np.array([1, 1, 2], dtype), np.arange(3))[1].tolist())
for function in (engine.walk_tiles, marking.mark_key, marking.mark_runs, marking.list_rows):
    stats = function.stats
    print(function.__name__, sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""


def by_key(folder: Path, dtypes: str, edit: str = "") -> list[str]:
    """Reduce by keys of some dtypes; return the answers, and how often each function was found and compiled."""
    return use(folder, BY_KEY.replace("DTYPES", dtypes).replace("EDIT", edit))


def test_shared_functions_are_compiled_for_the_keys_that_are_met_and_found_by_their_sources(
    tmp_path,
):
    answer = "[1, 2]"
    made = ["walk_tiles 0 1", "mark_key 0 1", "mark_runs 0 1", "list_rows 0 1"]
    assert by_key(tmp_path, "['f4']") == [answer, *made]
    more = ["walk_tiles 1 0", "mark_key 1 1", "mark_runs 1 0", "list_rows 1 0"]
    assert by_key(tmp_path, "['i8', 'f4']") == [answer, answer, *more]  # at other addresses
    found = ["walk_tiles 1 0", "mark_key 1 0", "mark_runs 1 0", "list_rows 1 0"]
    assert by_key(tmp_path, "['f4']") == [answer, *found]
    edit = "calls._SOURCES.update(b'an edit of some module')"
    assert by_key(tmp_path, "['f4']", edit) == [answer, *made]


def test_files_that_were_mixed_up_are_made_anew(tmp_path):
    """Two processes that compile at once may give one data file to two entries of the index."""
    other = USE.replace("np.arange(5)", "np.arange(5.0)")
    assert use(tmp_path)[0] == "[0, 1, 3, 6, 10]"
    assert use(tmp_path, other)[0] == "[0.0, 1.0, 3.0, 6.0, 10.0]"
    for index in tmp_path.rglob("*.nbi"):
        stem = index.with_suffix("")
        one, two = Path(f"{stem}.1.nbc"), Path(f"{stem}.2.nbc")
        if two.exists():
            one.write_bytes(two.read_bytes())
    assert use(tmp_path)[0] == "[0, 1, 3, 6, 10]"


def test_nothing_can_be_written(monkeypatch):
    import numba
    from dask_gpuscan.kernels.cpu.calls import cached_njit
    from numba.core import caching

    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    with pytest.raises(RuntimeError, match="locator"):
        numba.njit(cache=True)(lambda x: x)
    assert cached_njit(lambda x: x + 1)(1) == 2
