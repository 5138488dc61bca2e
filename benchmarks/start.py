"""Milliseconds of processor time before the first answer of a new process: imports, and a first call.

    python benchmarks/start.py                       # kernels are in the cache on disk
    python benchmarks/start.py --pack build/packed/linux-x86_64  # and also in a pack, as far as it has them

Each line is the least of seven processes, less the time of `import pandas, pyarrow`.
"""

import argparse
import os
import subprocess
import sys

BEFORE = "import os, time, pandas as pd, numpy as np, pyarrow\nstart = time.process_time()\n"
AFTER = "\nprint(1e3 * (time.process_time() - start))"
PACK = """
from dask_gpuscan.kernels.compiler import pack
import pathlib
pack.FOLDER = pathlib.Path(os.environ["PACK"])
"""
FRAME = """
import dask_gpuscan
df = pd.DataFrame({"k": np.arange(5000) // 7, "x": np.arange(5000.0)})
"""
PROGRAMS = {
    "import dask_gpuscan": "import dask_gpuscan",
    "import, cumsum": f"{FRAME}df[['x']].gpuscan.cumsum()",
    "import, groupby.sum": f"{FRAME}df.gpuscan.groupby('k').sum()",
    "import, rolling.mean": f"{FRAME}df[['x']].gpuscan.rolling(5).mean()",
}


def least(program: str, repeats: int = 7) -> float:
    """Return the least time of some processes, after one that fills caches."""
    command = [sys.executable, "-c", f"{BEFORE}{program}{AFTER}"]
    times = [
        float(subprocess.run(command, check=True, capture_output=True).stdout)
        for _ in range(repeats + 1)
    ]
    return min(times[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pack", help="the folder of kernels that are compiled already")
    given = parser.parse_args()
    if given.pack:
        os.environ["PACK"] = given.pack
    for name, program in PROGRAMS.items():
        text = (
            program.replace("import dask_gpuscan\n", f"import dask_gpuscan{PACK}")
            if given.pack
            else program
        )
        print(f"{name:24}{least(text):8.0f}", flush=True)


if __name__ == "__main__":
    main()
