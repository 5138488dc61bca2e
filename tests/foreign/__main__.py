"""Run pandas' own tests with our methods in the place of its.

    python -m foreign cumulative -k strings

runs those of a theme, or without one those of all; other arguments are pytest's.
"""

import sys
from pathlib import Path

import pytest

from .suites import SUITES

HERE = Path(__file__).parent


def main(arguments: list[str]) -> int:
    """Run the tests of the themes that are named first."""
    themes = [a for a in arguments if a in SUITES] or list(SUITES)
    modules = [f"pandas.tests.{m}" for theme in themes for m in SUITES[theme].modules]
    others = [a for a in arguments if a not in SUITES]
    return int(pytest.main(["-c", str(HERE / "foreign.ini"), "--pyargs", *modules, *others]))


sys.exit(main(sys.argv[1:]))
