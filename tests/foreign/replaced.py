"""Methods of a library that are replaced by ours, for calls with arguments that ours take too."""

import functools
import inspect
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np

from dask_gpuscan import Gpuscan

from .cuts import collection
from .suite import Suite


class Replaced:
    """What is replaced now, how often ours was called, and what was left to the library."""

    active: ClassVar[list[tuple[Any, str, Any, Any]]] = []
    suite: ClassVar[Suite]
    rows: ClassVar[int | None] = None
    """Of how many rows the partitions are that ours are called on; None for frames as they are."""
    calls = 0
    left: ClassVar[Counter[str]] = Counter()

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
    def by_ours(cls, suite: Suite) -> Iterator[None]:
        """While a test runs: its calls of these methods are ours."""
        cls.suite, cls.calls, cls.left = suite, 0, Counter()
        for owner, names in suite.methods.items():
            for name in names:
                theirs = getattr(owner, name)
                cls.active.append((owner, name, theirs, _method(name, theirs)))
        for owner, functions in suite.functions.items():
            for name, ours in functions.items():
                theirs = getattr(owner, name)
                cls.active.append((owner, name, theirs, _function(name, theirs, ours)))
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
            if not isinstance(self.gpuscan, Gpuscan):  # Dask's indexes are series to it
                return bound(*args, **options)
            return _called(name, bound, Gpuscan, lambda: _cut(self).gpuscan, args, options)

    return method


def _function(
    name: str, theirs: Callable[..., Any], ours: Callable[..., Any]
) -> Callable[..., Any]:
    @functools.wraps(theirs)
    def function(*args: Any, **options: Any) -> Any:
        with Replaced.paused():
            given = _arguments(name, theirs, ours, args, options)
            if given is None:
                return theirs(*args, **options)
            Replaced.calls += 1
            return _in_their_dtypes(ours(**given), lambda: theirs(*args, **options))

    return function


def _cut(value: Any) -> Any:
    """Return a frame or a series as the collection that ours is called on; other values as they are."""
    return value if Replaced.rows is None else collection(value, Replaced.rows)


def _computed(answer: Any) -> Any:
    """Return what a library that computes at once would return."""
    if Replaced.rows is None or not hasattr(answer, "compute"):
        return answer
    return answer.compute(scheduler="synchronous")


def _in_their_dtypes(found: Any, theirs: Callable[[], Any]) -> Any:
    """Return an answer whose floats and objects have the library's dtypes, integers and bool among them.

    Of partitions ours have a null wherever there may be one: this is meant, as dtypes are known before values are.
    """
    if Replaced.rows is None and not hasattr(found, "compute"):
        return found
    is_frame = getattr(found, "ndim", 0) == 2 and hasattr(found, "columns")
    dtypes = list(found.dtypes) if is_frame else [getattr(found, "dtype", None)]
    if not any(map(_holds_null, dtypes)):
        return found
    expected = theirs()
    if not is_frame:
        return found.astype(expected.dtype) if _lacks_null(expected.dtype) else found
    if not found.columns.is_unique or list(found.columns) != list(expected.columns):
        return found
    pairs = zip(found.columns, dtypes, strict=True)
    wanted = {
        label: expected[label].dtype
        for label, dtype in pairs
        if _holds_null(dtype) and _lacks_null(expected[label].dtype)
    }
    return found.astype(wanted) if wanted else found


def _holds_null(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and (dtype == np.float64 or dtype.kind == "O")


def _lacks_null(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind in "biu"


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
    method = functools.partial(getattr(kind, name), None)
    given = _arguments(name, theirs, method, args, options)
    if given is None:
        return theirs(*args, **options)
    given = {key: _cut(value) for key, value in given.items()}
    if name in OBJECTS:
        return Beside(theirs(*args, **options), getattr(ours(), name)(**given))
    Replaced.calls += 1
    found = _computed(getattr(ours(), name)(**given))
    return _in_their_dtypes(found, lambda: theirs(*args, **options))


OBJECTS = ("rolling", "expanding", "ewm", "groupby", "resample")
"""Methods whose answer is an object with methods, of which each is replaced too."""


def _arguments(
    name: str, theirs: Callable[..., Any], ours: Callable[..., Any], args: Any, options: Any
) -> dict[str, Any] | None:
    """Return the arguments of a call but for those that change nothing; None if ours take others."""
    try:
        given = _given(inspect.signature(theirs), args, options)
        if given is None:  # theirs takes any, and says no names
            given = _given(inspect.signature(ours), args, options)
    except TypeError:
        return None
    assert given is not None
    given = {k: v for k, v in given.items() if not _is_without_effect(k, v)}
    taken = inspect.signature(ours).parameters
    others = given.keys() - taken.keys()
    if others:
        Replaced.left.update(f"{name}({other}=)" for other in others)
        return None
    if name in Replaced.suite.left and Replaced.suite.left[name](given):
        Replaced.left[f"{name} with other values"] += 1
        return None
    return given


def _is_without_effect(name: str, value: Any) -> bool:
    values = Replaced.suite.without_effect.get(name, ())
    return values is None or any(value is known or value == known for known in values)


def _given(signature: inspect.Signature, args: Any, options: Any) -> dict[str, Any] | None:
    bound = signature.bind(*args, **options)
    given: dict[str, Any] = {}
    for name, value in bound.arguments.items():
        parameter = signature.parameters[name]
        if parameter.kind is parameter.VAR_KEYWORD:  # of NumPy's functions, which call methods
            given |= {k: v for k, v in value.items() if v is not None}
        elif parameter.kind is parameter.VAR_POSITIONAL:
            return None
        elif value is not parameter.default:
            given[name] = value
    return given


class Beside:
    """An object of a library whose methods are ours where ours has them, such as windows."""

    def __init__(self, theirs: Any, ours: Any) -> None:
        self._theirs, self._ours = theirs, ours

    def __getattr__(self, name: str) -> Any:
        theirs, kind = getattr(self._theirs, name), type(self._ours)
        is_column = not hasattr(type(self._theirs), name) and name not in vars(self._theirs)
        if is_column and hasattr(self._ours, "__getitem__"):
            return Beside(theirs, self._ours[name])
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
