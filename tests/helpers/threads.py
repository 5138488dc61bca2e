"""Call public methods from many threads at once, with no kernel compiled yet: answers must have the bits of one thread.

    python -m helpers.threads Gpuscan.cumsum GroupBy.sum

calls these methods, or all methods without names. Kernels are compiled into a new folder, so all take many minutes.
"""

import os
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any

THREADS = 16


def at_once(call: Callable[[], Any]) -> list[Any]:
    """Return the answer of a call in each thread, or its error; all threads start together."""
    start = threading.Barrier(THREADS)

    def answer(_: int) -> Any:
        start.wait()
        try:
            return call()
        except Exception as error:
            return error

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(answer, range(THREADS)))


def complaints(name: str, call: Callable[[], Any], bits: Callable[[Any], Any]) -> list[str]:
    """Return what is wrong with the answers of threads, which are compared with that of a single call after them."""
    answers = at_once(call)
    errors = [each for each in answers if isinstance(each, Exception)]
    if errors:
        return [
            f"{name}: {len(errors)} threads raise\n{''.join(traceback.format_exception(errors[0]))}"
        ]
    expected = bits(call())
    other = sum(bits(each) != expected for each in answers)
    return [f"{name}: {other} threads have other bits"] if other else []


def main(names: list[str]) -> int:
    """Call methods on a frame, and on a Dask collection that threads compute."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DASK_GPUSCAN_CACHE"] = folder  # read when a kernel is compiled
        schedules, harm = import_module("fuzz.schedules"), import_module("faults.harm")
        dask = import_module("dask")
        dask.config.set({"scheduler": "threads", "dataframe.shuffle.method": "tasks"})
        found = list[str]()
        for name in names or schedules.METHODS:
            call, make = schedules.METHODS[name]
            for cuts in ([], [13, 30]):
                rows = make(cuts) if cuts else dask.compute(make(cuts))[0]
                found += complaints(
                    name, lambda call=call, rows=rows: dask.compute(call(rows)), harm.bits
                )
            print(f"{name}: {len(found)} complaints so far", flush=True)
    print(*found, sep="\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
