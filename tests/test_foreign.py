"""Some of the tests of other libraries pass with our methods; `make foreign` runs all of them."""

import subprocess
import sys
from pathlib import Path

import pytest

from foreign.page import in_readme, page
from foreign.results import PAGE, README, read
from versions import since


@pytest.mark.slow
@since("pandas", "3", "has other tests")
@pytest.mark.parametrize(
    ("library", "options"),
    [
        ("pandas", ["--theme", "cumulative", "--cut", "whole", "--cut", "one row"]),
        ("Dask", ["--theme", "arrays", "--theme", "asof", "--theme", "frames"]),
    ],
)
def test_nothing_new_differs(library, options):
    done = subprocess.run(
        [sys.executable, "-m", "foreign", library, *options, "--numprocesses", "0"],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert "of the tests called our methods" in done.stdout


def test_page_shows_what_is_kept():
    assert PAGE.read_text() == page(read()), "run make foreign"
    text = README.read_text()
    assert in_readme(text, read()) == text, "run make foreign"
