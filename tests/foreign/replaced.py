"""Methods of pandas that are replaced by ours, for calls with arguments that ours take too."""

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import dask.dataframe as dd

from dask_gpuscan import Gpuscan

from .suites import LEFT_TO_PANDAS, OBJECTS, Methods


class Replaced:
    """The methods that are replaced now, and how often ours were called."""

    active: ClassVar[list[tuple[type, str, Any, Any]]] = []
    calls = 0
    by_rows = False
    """Whether ours are called on Dask collections whose partitions are single rows."""

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
            return _called(name, bound, Gpuscan, lambda: _source(self).gpuscan, args, options)

    return method


def _source(frame: Any) -> Any:
    """Return the frame or series that ours are called on."""
    if not Replaced.by_rows:
        return frame
    parts = [frame.iloc[i : i + 1] for i in range(len(frame))] or [frame]
    return dd.from_map(lambda part: part, parts, meta=frame.iloc[:0])


def _computed(answer: Any) -> Any:
    return answer.compute(scheduler="synchronous") if hasattr(answer, "compute") else answer


def _called(
    name: str,
    theirs: Callable[..., Any],
    kind: type,
    ours: Callable[[], Any],
    args: tuple[Any, ...],
    options: dict[str, Any],
) -> Any:
    """Return what ours answers, a method of a kind of objects, or theirs where an argument is none of ours.

    If the answer is an object, its methods are replaced in the same way.
    """
    given = _arguments(theirs, getattr(kind, name), args, options)
    if given is None or (name in LEFT_TO_PANDAS and LEFT_TO_PANDAS[name](given)):
        return theirs(*args, **options)
    if name in OBJECTS:
        return Beside(theirs(*args, **options), getattr(ours(), name)(**given))
    Replaced.calls += 1
    return _computed(getattr(ours(), name)(**given))


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
        theirs, kind = getattr(self._theirs, name), type(self._ours)
        if not callable(theirs) or not callable(getattr(kind, name, None)):
            return theirs

        def method(*args: Any, **options: Any) -> Any:
            with Replaced.paused():
                return _called(name, theirs, kind, lambda: self._ours, args, options)

        return method

    def __getitem__(self, columns: Any) -> Any:
        theirs = self._theirs[columns]
        return Beside(theirs, self._ours[columns]) if hasattr(self._ours, "__getitem__") else theirs

    def __iter__(self) -> Iterator[Any]:
        return iter(self._theirs)
