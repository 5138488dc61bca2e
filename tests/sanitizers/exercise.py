"""Runs every family of kernels on the GPU, in each of its schedules: what compute-sanitizer watches."""

import sys

import cupy
import numpy as np

from dask_gpuscan.kernels.cuda.core import build, launch
from dask_gpuscan.kernels.cuda.core.visitors import VISITORS
from dask_gpuscan.kernels.cuda.grids import grids
from dask_gpuscan.kernels.cuda.sort import permute
from sanitizers.families import FAMILIES


def host(answer: object) -> np.ndarray:
    """Return an answer of either backend as an array of NumPy."""
    return cupy.asnumpy(answer) if isinstance(answer, cupy.ndarray) else np.asarray(answer)


def in_words(size: int) -> cupy.cuda.MemoryPointer:
    """Take memory from no pool, so that the sanitizer knows where arrays end.

    Kernels read words of 16 bytes, so the last one is whole, and what it has more than the array is set.
    """
    memory = cupy.cuda.Memory(-(-size // 16) * 16)
    if memory.size > size:
        cupy.cuda.runtime.memset(memory.ptr + size, 0, memory.size - size)
    return cupy.cuda.MemoryPointer(memory, 0)


def main() -> int:
    """Return whether an answer was wrong, or a kernel not run."""
    cupy.cuda.set_allocator(in_words)
    permute.PLACED_FROM, permute.PACKED_FROM = 1 << 12, 1 << 12  # small inputs are as large ones
    grids.TABLE_BUSY = 0
    wrong = []
    schedules = ["classic"]
    if int(cupy.cuda.Device().compute_capability) >= 90:
        schedules.append("pipelined")
    for launch.SCHEDULE in schedules:
        for family in dict.fromkeys(FAMILIES.values()):
            pairs = zip(family(cupy.asarray), family(np.asarray), strict=True)
            for at, (found, expected) in enumerate(pairs):
                if not np.allclose(host(found), host(expected), equal_nan=True):
                    names = [name for name, each in FAMILIES.items() if each is family]
                    wrong.append(f"{'/'.join(names)}[{at}] {launch.SCHEDULE}")
    ran = {(each.visitor.name, schedule) for each, schedule, _ in build._kernels}
    wanted = {(v.name, s) for v in VISITORS for s in v.schedules if s in schedules}
    for problem in [
        *(f"WRONG {w}" for w in wrong),
        *(f"NOT RUN {w}" for w in sorted(wanted - ran)),
    ]:
        print(problem)
    print(f"{len(ran)} kinds of kernels ran")
    return bool(wrong or wanted - ran)


if __name__ == "__main__":
    sys.exit(main())
