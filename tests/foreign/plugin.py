"""A plugin of pytest that replaces methods of pandas by ours while pandas' tests run, and knows where they differ."""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import pytest

import dask_gpuscan  # noqa: F401 (registers .gpuscan)

from .differences import reason_for
from .suites import Suite, suite_of

OF_NUMPY = ("out", "dtype")
"""What pandas takes and leaves alone, so that NumPy's functions can call its methods."""


def _ours(name: str, theirs: Callable[..., Any]) -> Callable[..., Any]:
    """Return our method in the place of one of pandas'; whatever it calls meanwhile is pandas' own."""

    @functools.wraps(theirs)
    def method(self: Any, axis: Any = 0, *args: Any, **options: Any) -> Any:
        options = {k: v for k, v in options.items() if k not in OF_NUMPY or v is not None}
        with _Replaced.paused():
            return getattr(self.gpuscan, name)(0 if axis is None else axis, *args, **options)

    return method


class _Replaced:
    """The methods that are replaced now."""

    active: ClassVar[list[tuple[type, str, Any, Any]]] = []

    @classmethod
    def put(cls, ours: bool) -> None:
        for owner, name, theirs, other in cls.active:
            setattr(owner, name, other if ours else theirs)

    @classmethod
    @contextmanager
    def paused(cls) -> Iterator[None]:
        cls.put(False)
        try:
            yield
        finally:
            cls.put(True)

    @classmethod
    @contextmanager
    def of(cls, suite: Suite) -> Iterator[None]:
        for owner, names in suite.methods.items():
            for name in names:
                theirs = getattr(owner, name)
                cls.active.append((owner, name, theirs, _ours(name, theirs)))
        cls.put(True)
        try:
            yield
        finally:
            cls.put(False)
            cls.active.clear()


def pytest_collection_modifyitems(items: list[pytest.Function]) -> None:
    for item in items:
        reason = reason_for(_name(item))
        if reason is not None:
            item.add_marker(pytest.mark.xfail(reason=reason))


def _name(item: pytest.Function) -> str:
    """Return the id of a test from its module in pandas' tests on."""
    module = item.module.__name__.partition("pandas.tests.")[2]
    return f"{module}::{item.nodeid.partition('::')[2]}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Function) -> Iterator[None]:
    suite = suite_of(item.module.__name__)
    if suite is None:
        return (yield)
    with _Replaced.of(suite):
        return (yield)
