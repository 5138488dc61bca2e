"""A partition cut into pieces, one for each new partition."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

from .. import kernels
from ..frames.keys import By, named_keys
from ..frames.protocol import Values
from ..frames.registry import library_of
from .groups import INT64


class Cut(Protocol):
    """How partitions are cut."""

    @property
    def label(self) -> str:
        """For the names of tasks."""

    def pieces(self, frame: Any, count: int) -> list[Any]:
        """Return the rows of a partition that go to each of so many new ones, as they are to be there."""


@dataclass(frozen=True)
class ByKey:
    """Rows with equal keys go to one new partition, in their order."""

    by: By
    label = "by-key"

    def pieces(self, frame: Any, count: int) -> list[Any]:
        library = library_of(frame)
        with library.reading(frame):
            series = self.by.series(frame)
            with named_keys(series):
                hashes = library.hash_rows(series)
            targets = (hashes % library.xp.uint64(count)).astype(INT64)
            return pieces_of(frame, kernels.argsort(targets), targets, count)


def pieces_of(frame: Any, order: Values, targets: Values, count: int) -> list[Any]:
    """Return the rows of a partition by target, given an order of rows in which targets do not decrease."""
    library = library_of(frame)
    xp = library.xp
    bounds = xp.searchsorted(targets[order], xp.arange(count + 1, dtype=INT64)).tolist()
    ordered = library.rows(frame, order)
    return [library.rows(ordered, slice(start, stop)) for start, stop in pairwise(bounds)]
