"""pandas' own tests of running answers pass with our methods; `make foreign` runs those of all themes."""

import subprocess
import sys
from pathlib import Path

import pytest

from versions import since


@pytest.mark.slow
@since("pandas", "3", "has other tests")
@pytest.mark.parametrize("theme", ["cumulative"])
def test_theme(theme):
    done = subprocess.run(
        [sys.executable, "-m", "foreign", theme],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert "of the tests called our methods" in done.stdout
