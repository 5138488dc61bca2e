"""Caches of results that calls share and that depend on no values, at most 4096 entries each."""

from typing import TypeVar

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
