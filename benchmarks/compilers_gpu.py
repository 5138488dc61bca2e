"""Users' operators on a GPU, compiled by numba-cuda-mlir and, as the peer, by numba-cuda.

    python benchmarks/compilers_gpu.py [--output benchmarks/results/h100/records.json]

Each package has its own process and empty cache for each operator. ``compile_*`` is the time of the first scan less
that of the second, with the import of the compiler; ``scan_*`` is a scan of 2**27 rows on the device's clock. Both must
give the same bits.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import cupy as cp
import numpy as np
from gpu import HERE, commit, median_ms
from timing import merge, versions

from dask_gpuscan import operator
from dask_gpuscan.kernels import BUILT_IN, cuda
from dask_gpuscan.kernels.options import ScanOptions

N = 1 << 27
REPEATS = 3
COMPILERS = ("numba-cuda", "numba-cuda-mlir")
PACKAGES = (*COMPILERS, "cupy-cuda13x", "cuda-core", "numba", "numpy")

OPERATORS = {
    "own_maximum": operator(lambda a, b: b if b > a else a, identity=-np.inf),
    "own_argmax": operator(
        lambda a, b: b if b[0] > a[0] else a,
        identity=(-np.inf, -1),
        lift=lambda x: (x, np.int64(1)),
        lower=lambda s: s[0] * s[1],
    ),
    "own_recurrence": operator(
        lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1]),
        identity=(1.0, 0.0),
        lift=lambda x: (0.9, x),
        lower=lambda s: s[1],
    ),
    "multiply": BUILT_IN["multiply"],
}
"""Operators, which are scanned over float64."""


def measure(name: str) -> dict[str, float | str]:
    """Return the times of one operator, and a digest of its answer, in this process."""
    x = cp.random.default_rng(11).random(N) * 2 - 0.5
    cp.cumsum(x[:10])  # loads the driver and CuPy's own kernels
    seconds = []

    def run(rows: int = N):
        options = ScanOptions()
        return cuda.scan(OPERATORS[name], (x[:rows],), options, None, write=True, waits=False)[0]

    for _ in range(2):
        start = time.perf_counter()
        run(1000)
        cp.cuda.Device().synchronize()
        seconds.append(time.perf_counter() - start)
    digest = hashlib.sha256(cp.asnumpy(run()).tobytes()).hexdigest()
    return {"compile": 1e3 * (seconds[0] - seconds[1]), "scan": median_ms(run), "digest": digest}


def in_a_process(name: str, compiler: str) -> dict[str, float | str]:
    """Return the same for a new process that uses `compiler` and has no kernels yet."""
    found = []
    for _ in range(REPEATS):
        with tempfile.TemporaryDirectory() as cache:
            environment = {
                **os.environ,
                "DASK_GPUSCAN_CACHE": cache,
                "DASK_GPUSCAN_COMPILER": compiler,
            }
            command = [sys.executable, __file__, "--measure", name]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment)
            found.append(json.loads(done.stdout.splitlines()[-1]))
    return {
        "digest": found[0]["digest"],
        **{of: float(np.median([each[of] for each in found])) for of in ("compile", "scan")},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=HERE / "results" / "h100" / "records.json")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        print(json.dumps(measure(given.measure)))
        return
    gpu = cp.cuda.runtime.getDeviceProperties(0)["name"].decode()
    driver = cp.cuda.runtime.driverGetVersion()
    context = {
        "machine": f"{gpu}, driver {driver}",
        "versions": versions(PACKAGES),
        "commit": commit(),
    }
    for name in OPERATORS:
        rows = []
        old, new = (in_a_process(name, compiler) for compiler in COMPILERS)
        assert old["digest"] == new["digest"], f"{name}: the bits differ"
        for of in ("compile", "scan"):
            ours, peer = float(new[of]), float(old[of])
            rows.append(
                {"name": f"{of}_{name}_mlir", "dtype": "float64", "n": N if of == "scan" else 1000,
                 "ours_ms": round(ours, 4), "peer": "numba-cuda", "peer_ms": round(peer, 4),
                 "ratio": round(peer / ours, 3), "limit_ms": None, **context}
            )  # fmt: skip
            print(f"{of:8} {name:16} mlir {ours:9.3f} ms  numba-cuda {peer:9.3f} ms", flush=True)
        merge(given.output, rows)


if __name__ == "__main__":
    main()
