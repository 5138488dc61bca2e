"""The intervals that are copied on CPUs and on GPUs: lengths, places, and the bytes that copying them must move."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

SECTOR = 32
"""The fewest bytes of memory that are moved at once."""

KINDS: dict[str, Callable[[Any, int], Any]] = {
    "mean of 100": lambda rng, n: rng.integers(0, 201, n // 100),
    "half in one": lambda rng, n: rng.integers(0, 201, n // 200),
    "mean of 4": lambda rng, n: rng.integers(0, 9, n // 4),
}


def counts_of(xp: Any, kind: str, n: int) -> Any:
    """Return the lengths of about `n` items in intervals."""
    counts = KINDS[kind](xp.random.default_rng(20261122), n).astype("int64")
    if kind == "half in one":
        counts[len(counts) // 3] = n // 2
    return counts


def shuffled(xp: Any, counts: Any, seed: int) -> Any:
    """Return the offsets of intervals that are adjacent, in a random order."""
    order = xp.argsort(xp.random.default_rng(seed).random(len(counts)))
    offsets = xp.empty_like(counts)
    offsets[order] = xp.cumsum(counts[order]) - counts[order]
    return offsets


def numbers(xp: Any, counts: Any) -> Any:
    """Return the number of each item's interval, by functions of NumPy."""
    full = xp.flatnonzero(counts)
    heads = xp.zeros(int(counts.sum()), "int64")
    heads[(xp.cumsum(counts) - counts)[full]] = 1
    return full[xp.cumsum(heads) - 1]


def places(xp: Any, offsets: Any, counts: Any) -> Any:
    """Return the place of each item, by functions of NumPy."""
    found = numbers(xp, counts)
    return (offsets - (xp.cumsum(counts) - counts))[found] + xp.arange(len(found))


def sectors(offsets: Any, counts: Any) -> int:
    """Return the bytes of the sectors that hold intervals of eight-byte items."""
    first, last = 8 * offsets // SECTOR, (8 * (offsets + counts) - 1) // SECTOR
    return SECTOR * int((last - first + 1)[counts > 0].sum())
