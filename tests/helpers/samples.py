"""Which cases of long tests run: a sample, always the same, and all of them with ``MATRIX=all``."""

import os
import random
from collections.abc import Iterable, Sequence
from zlib import crc32

ALL = os.environ.get("MATRIX") == "all"


def share(names: Iterable[str], parts: int, turn: int = 0) -> list[str]:
    """Return one of so many parts of the names, another one at every turn."""
    found = sorted(names)
    random.Random(turn).shuffle(found)
    return found[:: 1 if ALL else parts]


def sample(cases: Sequence[tuple[str, int]]) -> list[bool]:
    """Return which cases run, given as ids of pytest and of how many one is to run: at least one of each test."""
    taken = [ALL or crc32(case.encode()) % parts == 0 for case, parts in cases]
    tests = [case.partition("[")[0] for case, _ in cases]
    sampled = {test for test, runs in zip(tests, taken, strict=True) if runs}
    for i, test in enumerate(tests):
        if test not in sampled:
            taken[i] = True
            sampled.add(test)
    return taken
