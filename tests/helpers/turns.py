"""What is too long to run every day: another part of it runs each day, and all of it with ``MATRIX=all``."""

import datetime
import os
import random
from collections.abc import Iterable
from zlib import crc32

ALL = os.environ.get("MATRIX") == "all"
DAY = int(  # of the first process, where several share the tests
    os.environ.setdefault("TEST_DAY", str(datetime.datetime.now(datetime.UTC).toordinal()))
)


def share(names: Iterable[str], parts: int, turn: int = 0) -> list[str]:
    """Return one of so many parts of the names, another one every day and at every turn."""
    found = sorted(names)
    random.Random(f"{DAY} {turn}").shuffle(found)
    return found[:: 1 if ALL else parts]


def is_due(name: str, parts: int) -> bool:
    """Return whether a test is in the part that runs today."""
    return ALL or (crc32(name.encode()) + DAY) % parts == 0
