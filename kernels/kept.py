"""What is known of calls before there are values, in dictionaries of bounded size by what calls have in common."""

from typing import Any, TypeVar

T = TypeVar("T")

MOST = 4096
"""How many things of a kind are kept."""


def keep(kept: dict[Any, T], key: Any, made: T) -> T:
    """Keep what has been made under a key, under which calls that differ in no more than values find it."""
    if len(kept) >= MOST:
        kept.clear()
    kept[key] = made
    return made
