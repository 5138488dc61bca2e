"""What is too long to try every day: another part of it is, and all of it with ``MATRIX=all``."""

import datetime
import os
import random
from collections.abc import Iterable

ALL = os.environ.get("MATRIX") == "all"
DAY = datetime.datetime.now(datetime.UTC).toordinal()


def share(names: Iterable[str], parts: int, turn: int = 0) -> list[str]:
    """Return one of so many parts of the names, another one every day and at every turn."""
    found = sorted(names)
    random.Random(f"{DAY} {turn}").shuffle(found)
    return found[:: 1 if ALL else parts]
