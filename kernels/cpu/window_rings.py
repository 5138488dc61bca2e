"""Windows of the last rows of each group, of rows in any order: for each group a ring of as many states.

A ring is walked as two blocks: of the slots that the group's rows have not come to again, each has the suffix of the
block before; the rows since then are one running state. When they have filled the ring, its states become suffixes.
A row takes about three combinations, and no row is moved. After van Herk (Pattern Recognition Letters 13, 1992).
"""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

from typing import NamedTuple

import numpy as np

from ..jit import cached_njit
from ..operator_calls import combine, lower
from .elements import cast, load, store
from .memory import borrow
from .steps import Arrays, state_of


class Rings(NamedTuple):
    """For each group `width` states, the slot that is next, the state of the block under way, and the latest answer."""

    states: Arrays
    slots: np.ndarray
    running: Arrays
    answers: Arrays
    width: int


@cached_njit
def walk_rings(source, outs, codes, rings, groups, first, last, delayed):
    """Answer rows `first` to ``last - 1``; `delayed`, with the state of the row of the group before.

    Returns the first row whose code is none of a group, where the walk ends; -1 if there is none.
    """
    source, outs, codes, rings = borrow(source), borrow(outs), borrow(codes), borrow(rings)
    op, identity, states, width = source.op, source.identity, rings.states, rings.width
    for at in range(last):
        code = codes[at]
        if code < 0 or code >= groups:
            return at
        slot, ring = rings.slots[code], code * width
        entering = state_of(source, load(source.xs, at), at)
        running = cast(identity, combine(op, load(rings.running, code), entering))
        answer = running
        if slot + 1 < width:
            store(states, ring + slot, entering)
            answer = cast(identity, combine(op, load(states, ring + slot + 1), running))
            store(rings.running, code, running)
            rings.slots[code] = slot + 1
        else:
            suffix = entering
            store(states, ring + slot, suffix)
            for i in range(ring + slot - 1, ring - 1, -1):
                suffix = cast(identity, combine(op, load(states, i), suffix))
                store(states, i, suffix)
            store(rings.running, code, identity)
            rings.slots[code] = 0
        if at >= first:
            if delayed:
                store(outs, at - first, lower(op, load(rings.answers, code)))
            else:
                store(outs, at - first, lower(op, answer))
        if delayed:
            store(rings.answers, code, answer)
    return -1
