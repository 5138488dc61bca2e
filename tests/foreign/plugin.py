"""A plugin of pytest: tests of another library call our methods, but for the differences that are known."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import pytest

import dask_gpuscan  # noqa: F401 (registers .gpuscan)

from .cuts import CUTS
from .differences import reason_for, refusal_for
from .libraries import LIBRARIES
from .replaced import Replaced
from .suite import Library

FOUND = "foreign"
"""The property of a test that says what it called, and why it differs."""

RAISES = pytest.raises


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--library", choices=LIBRARIES, default="pandas", help="whose tests these are")
    parser.addoption("--cut", choices=CUTS, default="whole", help="how frames are partitioned")
    parser.addoption("--found", type=Path, help="the file into which the counts are written")


def pytest_configure(config: pytest.Config) -> None:
    Replaced.rows = CUTS[config.getoption("--cut")]
    dask.config.set({"dataframe.convert-string": False})


def _library(config: pytest.Config) -> Library:
    return LIBRARIES[config.getoption("--library")]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    library = _library(config)
    kept, others = [], []
    for item in items:
        theme, module = library.place_of(item.path)
        name = item.nodeid.partition("::")[2]
        (kept if re.search(library.suites[theme].tests, name) else others).append(item)
        test, _, parameters = f"{module}::{name}".partition("[")
        item.user_properties.append((FOUND, {"theme": theme, "test": test}))
        reason = reason_for(test, parameters, library.name, config.getoption("--cut"))
        if reason is not None:
            item.add_marker(pytest.mark.xfail(reason=reason))
            item.user_properties.append((FOUND, {"reason": reason}))
    config.hook.pytest_deselected(items=others)
    items[:] = kept


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    library = _library(item.config)
    suite = library.suites[library.place_of(item.path)[0]]
    try:
        with pytest.MonkeyPatch.context() as patch, Replaced.by_ours(suite):
            if not suite.same_words:
                patch.setattr(pytest, "raises", _raises)
            return (yield)
    except Exception as error:
        reason = refusal_for(error, library.name)
        if reason is None:
            raise
        item.user_properties.append((FOUND, {"reason": reason}))
        pytest.xfail(reason)
    finally:
        calls = {"calls": Replaced.calls, "left": dict(Replaced.left)}
        item.user_properties.append((FOUND, calls))


def _raises(expected: Any, *args: Any, match: object = None, **options: Any) -> Any:
    """Expect an error of a type; our messages have words of their own."""
    return RAISES(expected, *args, **options)


def _found(report: pytest.TestReport) -> dict[str, Any]:
    return {k: v for name, some in report.user_properties if name == FOUND for k, v in some.items()}


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Count, by theme, tests that called ours and pass, those that differ by reason, and calls that are not ours."""
    counts: dict[str, dict[str, Any]] = {}
    for outcome, reports in terminalreporter.stats.items():
        for report in reports:
            if getattr(report, "when", "") != "call":
                continue
            found = _found(report)
            count = counts.setdefault(
                found["theme"], {"passed": 0, "differs": {}, "left": Counter()}
            )
            count["left"].update(found.get("left", {}))
            if outcome == "xfailed" and "reason" in found:
                count["differs"].setdefault(found["reason"], Counter())[found["test"]] += 1
            elif outcome in ("passed", "xpassed") and found.get("calls"):
                count["passed"] += 1
    passed = sum(count["passed"] for count in counts.values())
    terminalreporter.write_line(f"{passed} of the tests called our methods and passed")
    path = config.getoption("--found")
    if path is not None:
        path.write_text(json.dumps(counts))
