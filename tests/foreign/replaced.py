"""Methods of pandas that are replaced by ours, for calls with arguments that ours take too."""

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from .suites import LEFT_TO_PANDAS, OBJECTS, Methods


class Replaced:
    """The methods that are replaced now, and how often ours were called."""

    active: ClassVar[list[tuple[type, str, Any, Any]]] = []
    calls = 0

    @classmethod
    def _put(cls, ours: bool) -> None:
        for owner, name, theirs, other in cls.active:
            setattr(owner, name, other if ours else theirs)

    @classmethod
    @contextmanager
    def paused(cls) -> Iterator[None]:
        """While ours runs: what it calls is pandas' own."""
        cls._put(False)
        try:
            yield
        finally:
            cls._put(True)

    @classmethod
    @contextmanager
    def by_ours(cls, methods: Methods) -> Iterator[None]:
        """While a test runs: its calls of these methods are ours."""
        for owner, names in methods.items():
            for name in names:
                theirs = getattr(owner, name)
                cls.active.append((owner, name, theirs, _method(name, theirs)))
        cls._put(True)
        try:
            yield
        finally:
            cls._put(False)
            cls.active.clear()


def _method(name: str, theirs: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(theirs)
    def method(self: Any, *args: Any, **options: Any) -> Any:
        with Replaced.paused():
            bound = functools.partial(theirs, self)
            return _called(name, bound, getattr(self.gpuscan, name), args, options)

    return method


def _called(
    name: str,
    theirs: Callable[..., Any],
    ours: Callable[..., Any],
    args: tuple[Any, ...],
    options: dict[str, Any],
) -> Any:
    """Return what ours answers, or theirs where an argument is none of ours; objects answer in the same way."""
    given = _arguments(theirs, ours, args, options)
    if given is None or (name in LEFT_TO_PANDAS and LEFT_TO_PANDAS[name](given)):
        return theirs(*args, **options)
    if name in OBJECTS:
        return Beside(theirs(*args, **options), ours(**given))
    Replaced.calls += 1
    return ours(**given)


def _arguments(
    theirs: Callable[..., Any], ours: Callable[..., Any], args: Any, options: Any
) -> dict[str, Any] | None:
    """Return the arguments of a call but for those that change nothing; None if ours take others."""
    try:
        signature = inspect.signature(theirs)
        bound = signature.bind(*args, **options)
    except TypeError:
        return None
    given: dict[str, Any] = {}
    for name, value in bound.arguments.items():
        parameter = signature.parameters[name]
        if parameter.kind is parameter.VAR_KEYWORD:  # of NumPy's functions, which call methods
            given |= {k: v for k, v in value.items() if v is not None}
        elif parameter.kind is parameter.VAR_POSITIONAL:
            return None
        elif name == "axis" and value in (None, 0, "index", "rows"):
            continue
        elif value is not parameter.default:
            given[name] = value
    taken = inspect.signature(ours).parameters
    return given if given.keys() <= taken.keys() else None


class Beside:
    """An object of pandas whose methods are ours where ours has them, such as windows."""

    def __init__(self, theirs: Any, ours: Any) -> None:
        self._theirs, self._ours = theirs, ours

    def __getattr__(self, name: str) -> Any:
        theirs, ours = getattr(self._theirs, name), getattr(type(self._ours), name, None)
        if not callable(theirs) or not callable(ours):
            return theirs

        def method(*args: Any, **options: Any) -> Any:
            with Replaced.paused():
                return _called(name, theirs, getattr(self._ours, name), args, options)

        return method

    def __getitem__(self, columns: Any) -> Any:
        theirs = self._theirs[columns]
        return Beside(theirs, self._ours[columns]) if hasattr(self._ours, "__getitem__") else theirs

    def __iter__(self) -> Iterator[Any]:
        return iter(self._theirs)
