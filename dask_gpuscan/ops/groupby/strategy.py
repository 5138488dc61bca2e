"""The choice of a way for a group-by, by what its operations need and where rows with equal keys are: one table."""

from __future__ import annotations

from enum import Enum
from typing import Any

from ..core.operation import Needs
from .adjacent import AdjacentReduce, AdjacentScan
from .hashed import HashedReduce
from .hashed_scan import HashedScan
from .spec import GroupBySpec
from .whole_groups import WholeGroupReduce


class KeyOrder(Enum):
    """Where rows with equal keys are."""

    ADJACENT = "clustered"
    ONE_PARTITION = "together in partitions"
    """In one partition, in any order; partitions are in the order of the keys."""
    ANYWHERE = "in any order"


WAYS: dict[tuple[bool, Needs], tuple[Any, Any]] = {
    # an answer for each row, needs: equal keys adjacent, anywhere
    (False, Needs.STATES): (AdjacentReduce, HashedReduce),
    (False, Needs.WHOLE_GROUPS): (AdjacentReduce, WholeGroupReduce),
    (True, Needs.STATES): (AdjacentScan, HashedScan),
    (True, Needs.NEIGHBOURS): (AdjacentScan, HashedScan),
}


def strategy(spec: GroupBySpec, order: KeyOrder) -> Any:
    """Return the operation that does a group-by of rows in an order."""
    adjacent, anywhere = WAYS[spec.each_row, spec.needs]
    if order is KeyOrder.ANYWHERE:
        return anywhere(spec)
    return adjacent(spec, order is KeyOrder.ONE_PARTITION)
