"""Run fuzzers for as long as they are given.

    python -m fuzz frames predicates --minutes 30 --seed 7

runs some of them, or without names all of them in turn. Exits with 1 if anything was found.
"""

import argparse
import gc
import sys
import time

import dask

from .fuzzer import Finding, Run
from .fuzzers import FUZZERS

TURN = 20.0
"""Seconds of one fuzzer, before the next has its turn."""


def main(arguments: list[str]) -> int:
    """Run the fuzzers that are named."""
    parser = argparse.ArgumentParser(prog="fuzz")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of: {', '.join(FUZZERS)}")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**6)
    parser.add_argument("--cases", type=int, default=2**63, help="at most, of each fuzzer")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    given = parser.parse_args(arguments)
    for name in ("minutes", "cases", "first"):
        if not getattr(given, name) >= 0:
            parser.error(f"--{name} must not be negative, found {getattr(given, name)}")
    unknown = [name for name in given.names if name not in FUZZERS]
    if unknown:
        parser.error(f"there is no fuzzer {unknown[0]!r}, only {', '.join(FUZZERS)}")
    gc.set_threshold(50_000, 20, 50)  # a case makes many objects, and keeps none
    dask.config.set({"scheduler": "synchronous", "dataframe.convert-string": False})
    print(f"SEED={given.seed}", flush=True)
    runs = [Run(FUZZERS[name], given.seed, given.first) for name in given.names or FUZZERS]
    for run in runs:
        run.fuzzer.started()
    end = time.monotonic() + 60 * given.minutes
    turn = min(TURN, 60 * given.minutes / len(runs))
    last = given.first + given.cases
    while time.monotonic() < end and any(run.number < last for run in runs):
        for run in runs:
            for found in run.steps(min(turn, end - time.monotonic()), last):
                print(told(found, given.seed), flush=True)
            print(run, flush=True)
    findings = [found for run in runs for found in run.findings.values()]
    for found in findings:
        print(f"{found.times} times: {' '.join(found.key)}")
    print(f"{len(findings)} {'finding' if len(findings) == 1 else 'findings'}; SEED={given.seed}")
    return int(bool(findings))


def told(found: Finding, seed: int) -> str:
    """Say what was found, and how to try it again."""
    again = f'SEED={seed} FUZZ="{found.fuzzer.name} --first {found.number} --cases 1"'
    return f"\n--- {found.fuzzer.name}: {found.key[0]} ({again})\n{found.text}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
