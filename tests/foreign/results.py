"""What is kept of a run: how many tests of each theme pass, and which differ for which reason."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .cuts import CUTS
from .differences import listed
from .libraries import LIBRARIES
from .page import page
from .suite import Library

HERE = Path(__file__).parent
RESULTS = HERE / "results.json"
PAGE = HERE / "README.md"


def read() -> dict[str, dict[str, Any]]:
    """Return what is kept: by library and cut, the version and the themes."""
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {}


def keep(library: Library, cut: str, themes: dict[str, Any]) -> None:
    """Keep the themes of a run, and write the page that shows what is kept."""
    results = read()
    run = results.setdefault(library.name, {}).setdefault(cut, {"version": "", "themes": {}})
    others = run["themes"] if run["version"] == library.version() else {}
    run |= {"themes": others | themes, "version": library.version()}
    results = {
        name: {
            cut: json.loads(json.dumps(results[name][cut], sort_keys=True))
            for cut in CUTS
            if cut in results[name]
        }
        for name in LIBRARIES
        if name in results
    }
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    PAGE.write_text(page(results))


def _differences(themes: dict[str, Any]) -> dict[tuple[str, str], int]:
    """Return how many cases of each test differ for each reason."""
    return {
        (test, reason): cases
        for theme in themes.values()
        for reason, tests in theme["differs"].items()
        for test, cases in tests.items()
    }


def complaints(library: Library, cut: str, themes: dict[str, Any]) -> Iterator[str]:
    """Tell what speaks against keeping a run.

    That is a difference that was not there before, a theme of which fewer tests pass with the same version, and a
    test that is listed as different and passes.
    """
    known = read().get(library.name, {}).get(cut)
    differ = _differences(themes)
    if known is not None:
        before = _differences(known["themes"])
        for (test, reason), cases in differ.items():
            was = before.get((test, reason), 0)
            if cases > was:
                yield f"{test} differs in {cases} cases, before in {was}: {reason}"
        for theme, found in themes.items():
            passed = known["themes"].get(theme, {"passed": 0})["passed"]
            if found["passed"] < passed and library.version() == known["version"]:
                yield f"{found['passed']} tests of {theme} pass, and not {passed}"
    if cut == "whole":
        modules = {m for theme in themes for m in library.suites[theme].modules}
        for test in sorted(listed(library.name) - {test for test, _ in differ}):
            if test.partition("::")[0] in modules:
                yield f"{test} passes, and is listed in differences.py"
