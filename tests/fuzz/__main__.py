"""Run fuzzers for as long as they are given.

    python -m fuzz frames predicates --minutes 30 --seed 7

runs some of them, or without names all of them in turn. What one finds is printed, and kept in `.hypothesis`: the next
run begins with it. Exits with 1 if anything was found.
"""

import argparse
import gc
import sys
import time
import traceback
from collections import Counter

import dask
from hypothesis.database import DirectoryBasedExampleDatabase

from .fuzzer import fuzz
from .fuzzers import FUZZERS

TURN = 25
"""Cases of one fuzzer, before the next has its turn."""


def main(arguments: list[str]) -> int:
    """Run the fuzzers that are named."""
    parser = argparse.ArgumentParser(prog="fuzz")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of: {', '.join(FUZZERS)}")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**6)
    given = parser.parse_args(arguments)
    unknown = [name for name in given.names if name not in FUZZERS]
    if unknown:
        parser.error(f"there is no fuzzer {unknown[0]!r}, only {', '.join(FUZZERS)}")
    gc.set_threshold(50_000, 20, 50)  # a case makes many objects, and keeps none
    dask.config.set({"scheduler": "synchronous", "dataframe.convert-string": False})
    print(f"SEED={given.seed}", flush=True)
    kept = DirectoryBasedExampleDatabase(".hypothesis/examples")
    seen = {name: Counter[str]() for name in given.names or FUZZERS}
    running, number, end = list(seen), 0, time.monotonic() + 60 * given.minutes
    while running and time.monotonic() < end:
        for name in running.copy():
            try:
                turn = f"{given.seed} {number}"
                seen[name] += fuzz(name, FUZZERS[name], turn, max_examples=TURN, database=kept)
            except Exception:
                running.remove(name)
                print(f'--- make fuzz FUZZ="{name}" begins with this:')
                traceback.print_exc(file=sys.stdout)
            told = ", ".join(f"{count} {what}" for what, count in seen[name].most_common(12))
            print(f"{name}: {seen[name].total()} cases ({told})", flush=True)
        number += 1
    found = sorted(seen.keys() - set(running))
    print(f"{', '.join(found) or 'nothing'} found; SEED={given.seed}")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
