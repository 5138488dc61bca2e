"""Some of the tests of other libraries pass with our methods; `make foreign` runs all of them."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from foreign import results
from foreign.cuts import MOST, collection
from foreign.differences import refusal_for
from foreign.libraries import LIBRARIES
from foreign.page import page
from helpers.versions import since


@pytest.mark.slow
@since("pandas", "3", "has other tests")
def test_nothing_new_differs():
    options = "Dask", "--theme", "asof", "--check", "--numprocesses", "0"
    done = subprocess.run(
        [sys.executable, "-m", "foreign", *options],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert "of the tests called our methods" in done.stdout


def test_page_shows_what_is_kept():
    kept = results.read()
    assert results.PAGE.read_text() == page(kept), "run make foreign"


def test_refusals_of_cudf_are_no_others():
    error = ValueError("limit must be a positive integer or None, found 0")
    assert refusal_for(error, "cuDF") == "a limit is at least 1"
    assert all(refusal_for(error, name) is None for name in LIBRARIES if name != "cuDF")


def test_what_speaks_against_a_run(monkeypatch):
    pandas = LIBRARIES["pandas"]
    theme = {"passed": 3, "differs": {"why": {"a::b": 2}}, "left": {}}
    known = {"pandas": {"one row": {"version": pandas.version(), "themes": {"rank": theme}}}}
    monkeypatch.setattr(results, "read", lambda: known)

    def told(**changes):
        return list(results.complaints(pandas, "one row", {"rank": theme | changes}))

    assert not told()
    assert not told(passed=4, differs={})
    assert told(passed=2) == ["2 tests of rank pass, and not 3"]
    assert told(differs={"why": {"a::b": 3}}) == ["a::b differs in 3 cases, before in 2: why"]
    assert told(differs={"another": {"a::b": 2}}) == [
        "a::b differs in 2 cases, before in 0: another"
    ]
    known["pandas"]["one row"]["version"] = "2.0"
    assert not told(passed=2)


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("count", [0, 1, 7, 100])
def test_cuts_keep_all_rows(rows, count):
    frame = pd.DataFrame({"x": np.arange(count)}, index=np.arange(count)[::-1])
    cut = collection(frame, rows)
    sizes = cut.map_partitions(len).compute().tolist()
    pd.testing.assert_frame_equal(cut.compute(), frame)
    assert len(sizes) <= MOST * 4 // 3 + 1
    assert 0 in sizes or count < 2 * rows
    assert sizes[0] == min(rows, count)
