"""Parts of tests that take too long: the same part runs each time, and all parts with ``MATRIX=all``."""

import os
import random
from collections.abc import Iterable
from zlib import crc32

ALL = os.environ.get("MATRIX") == "all"


def share(names: Iterable[str], parts: int, turn: int = 0) -> list[str]:
    """Return one of `parts` parts of the names, a different one for each `turn`."""
    found = sorted(names)
    random.Random(turn).shuffle(found)
    return found[:: 1 if ALL else parts]


def is_due(name: str, parts: int) -> bool:
    """Return whether a test is in the part that runs."""
    return ALL or crc32(name.encode()) % parts == 0
