"""A plugin of pytest: pandas' tests call our methods, but for the differences that are known."""

from collections.abc import Iterator
from typing import Any

import dask
import pytest

import dask_gpuscan  # noqa: F401 (registers .gpuscan)

from .differences import reason_for, refusal_for
from .replaced import Replaced
from .suites import suite_of

CALLED = "called ours"

RAISES = pytest.raises


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--by-rows",
        action="store_true",
        help="call our methods on Dask collections whose partitions are single rows",
    )


def pytest_configure(config: pytest.Config) -> None:
    Replaced.by_rows = config.getoption("--by-rows")
    dask.config.set({"dataframe.convert-string": False})


def _name(item: pytest.Function) -> str:
    """Return the id of a test from its module in pandas' tests on."""
    module = item.module.__name__.partition("pandas.tests.")[2]
    return f"{module}::{item.nodeid.partition('::')[2]}"


def pytest_collection_modifyitems(items: list[pytest.Function]) -> None:
    for item in items:
        reason = reason_for(_name(item), Replaced.by_rows)
        if reason is not None:
            item.add_marker(pytest.mark.xfail(reason=reason, strict=not Replaced.by_rows))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Function) -> Iterator[None]:
    suite = suite_of(item.module.__name__)
    if suite is None:
        return (yield)
    before = Replaced.calls
    try:
        with pytest.MonkeyPatch.context() as patch, Replaced.by_ours(suite.methods):
            if not suite.same_words:
                patch.setattr(pytest, "raises", _raises)
            return (yield)
    except Exception as error:
        reason = refusal_for(error)
        if reason is None:
            raise
        pytest.xfail(reason)
    finally:
        if Replaced.calls > before:
            item.user_properties.append((CALLED, True))


def _raises(expected: Any, *args: Any, match: object = None, **options: Any) -> Any:
    """Expect an error of a type; our messages have words of their own."""
    return RAISES(expected, *args, **options)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    tests = [
        report
        for reports in terminalreporter.stats.values()
        for report in reports
        if (CALLED, True) in getattr(report, "user_properties", ()) and report.when == "call"
    ]
    terminalreporter.write_line(f"{len(tests)} of the tests called our methods")
