"""Caches of results that calls share and that depend on no values, at most 4096 entries each."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

K = TypeVar("K")
V = TypeVar("V")

MOST = 4096
"""Entries of a cache, at most."""


class BoundedCache(dict[K, V]):
    """A dictionary that is emptied when it is full."""

    def store(self, key: K, value: V) -> V:
        """Store a value under a key, and return it."""
        if len(self) >= MOST:
            self.clear()
        self[key] = value
        return value


class Planned:
    """What keeps plans that it made: they are no field of it, and no token or pickle has them."""

    if TYPE_CHECKING:

        @property
        def plans(self) -> BoundedCache[Any, Any]:
            """The plans, by what they are for."""

    else:

        def __getattr__(self, name: str) -> Any:
            if name != "plans":
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            return vars(self).setdefault(name, BoundedCache())

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "plans"}


PLAIN = frozenset((bool, int, float, str, type(None)))
"""Types of arguments that hold nothing of a caller's."""

MADE: BoundedCache[tuple[Callable[..., Any], str], Any] = BoundedCache()


def made_once(make: Callable[..., V], *given: Any) -> V:
    """Return what a function makes of arguments: for the same plain ones the same object, which must not be changed.

    What it refuses, it refuses each time.
    """
    if not PLAIN.issuperset(map(type, given)):
        return make(*given)
    try:
        key = make, repr(given)  # which tells 1 from 1.0 and True, and 0.0 from -0.0
    except ValueError:  # too many digits
        return make(*given)
    found: V | None = MADE.get(key)
    return MADE.store(key, make(*given)) if found is None else found
