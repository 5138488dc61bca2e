"""What a suite of another library's tests is: which modules, and which of its methods are ours while they run."""

import importlib
import importlib.util
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Methods = Mapping[Any, tuple[str, ...]]
"""By class: its methods that are replaced by those of `.gpuscan`."""

Functions = Mapping[Any, Mapping[str, Callable[..., Any]]]
"""By module or class: its functions that are replaced, and by which."""


@dataclass(frozen=True)
class Suite:
    """A theme: modules of a library's tests, and what is replaced while they run."""

    modules: tuple[str, ...]
    methods: Methods = field(default_factory=dict)
    functions: Functions = field(default_factory=dict)
    tests: str = ""
    """A pattern that is found in the names of the tests that are run; all by default."""
    same_words: bool = False
    """Whether messages of errors are compared, and not their types alone."""
    left: Mapping[str, Callable[[dict[str, Any]], bool]] = field(default_factory=dict)
    """By method: whether a call asks for what ours does not have, given its arguments."""
    without_effect: Mapping[str, tuple[object, ...] | None] = field(
        default_factory=lambda: {"axis": (None, 0, "index", "rows")}
    )
    """Arguments that change no answer of ours, and their values that do not; None for any value."""


@dataclass(frozen=True)
class Library:
    """A library whose own tests are run."""

    name: str
    package: str
    """The package that its version is told by."""
    root: str
    """The package of its tests, or their folder in a checkout of the library."""
    suites: Mapping[str, Suite]
    checkout: str = ""
    """The variable of the environment that names a checkout, where no package holds the tests."""

    def place_of(self, path: Path) -> tuple[str, str]:
        """Return the theme and the module of a file of tests."""
        _, _, name = path.with_suffix("").as_posix().rpartition(f"/{self.root.replace('.', '/')}/")
        module = name.replace("/", ".")
        return next(t for t, suite in self.suites.items() if module in suite.modules), module

    def arguments(self, themes: list[str]) -> list[str]:
        """Return what pytest is told to run the modules of some themes."""
        modules = [m for theme in themes for m in self.suites[theme].modules]
        if not self.checkout:
            return ["--pyargs", *(f"{self.root}.{m}" for m in modules)]
        folder = Path(os.environ[self.checkout]).resolve() / self.root
        files = [folder / (m.replace(".", "/") + ".py") for m in modules]
        return [str(file) for file in files if file.exists()]  # versions have not all of them

    def missing(self) -> str:
        """Return why the tests cannot be run; nothing if they can."""
        if importlib.util.find_spec(self.package) is None:
            return f"{self.package} is not installed"
        if self.checkout and self.checkout not in os.environ:
            return f"{self.checkout} names no checkout of {self.name}"
        return ""

    def version(self) -> str:
        return str(importlib.import_module(self.package).__version__)
