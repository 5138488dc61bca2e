"""Runs a function when a module is imported, now if it has been, without importing it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


def when_imported(name: str, then: Callable[[], None]) -> None:
    """Call `then` as soon as the module `name` has been imported.

    Parameters
    ----------
    name : str
        Full name of a module.
    then : callable
        Called once, without arguments.
    """
    finder = _Finder(name, then)
    sys.meta_path.insert(0, finder)  # first, as another thread may import it meanwhile
    if sys.modules.get(name) is not None:  # None bars the import
        finder.loaded()


class _Finder(MetaPathFinder):
    """Finds the one module where the other finders find it, and has `then` called once it is loaded."""

    def __init__(self, name: str, then: Callable[[], None]) -> None:
        self._name = name
        self._then = then

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self._name:
            return None
        for finder in [each for each in sys.meta_path if each is not self]:
            spec = finder.find_spec(fullname, path, target)
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _Loader(spec.loader, self.loaded)
                return spec
        return None

    def loaded(self) -> None:
        """Call `then`, the first time."""
        try:
            sys.meta_path.remove(self)
        except ValueError:  # it was called before
            return
        self._then()


class _Loader(Loader):
    """A module's own loader, followed by `then`."""

    def __init__(self, loader: Any, then: Callable[[], None]) -> None:
        self._loader = loader
        self._then = then

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._then()
