"""What is kept of a run: how many tests of each theme pass, and which differ for which reason."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .page import in_readme, page

HERE = Path(__file__).parent
RESULTS = HERE / "results.json"
PAGE = HERE / "README.md"
README = HERE.parents[1] / "README.md"


def read() -> dict[str, dict[str, Any]]:
    """Return what is kept: by library and cut, the version and the themes."""
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {}


def write(results: dict[str, dict[str, Any]]) -> None:
    RESULTS.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
    PAGE.write_text(page(results))
    README.write_text(in_readme(README.read_text(), results))


def _differences(themes: dict[str, Any]) -> dict[tuple[str, str], int]:
    """Return how many cases of each test differ for each reason."""
    return {
        (test, reason): cases
        for theme in themes.values()
        for reason, tests in theme["differs"].items()
        for test, cases in tests.items()
    }


def complaints(title: str, run: dict[str, Any], known: dict[str, Any]) -> Iterator[str]:
    """Tell of differences that were not there before and, of the same version, of themes in which fewer tests pass."""
    before = _differences(known["themes"])
    for (test, reason), cases in _differences(run["themes"]).items():
        if cases > before.get((test, reason), 0):
            was = before.get((test, reason), 0)
            yield f"{title}: {test} differs in {cases} cases, not in {was}: {reason}"
    for theme, found in run["themes"].items():
        passed = known["themes"].get(theme, {"passed": 0})["passed"]
        if found["passed"] < passed and run["version"] == known["version"]:
            yield f"{title}: {found['passed']} tests of {theme} pass, and not {passed}"
