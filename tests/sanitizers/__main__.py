"""Run every family of kernels under each tool of compute-sanitizer, and print one line each.

    python -m sanitizers racecheck

runs that tool; without a name, all run.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

EXERCISE = [sys.executable, "-m", "sanitizers.exercise"]

TOOLS: dict[str, list[str]] = {
    "memcheck": ["--report-api-errors", "no"],  # CuPy asks the driver for what it may not have
    "racecheck": ["--kernel-regex", "kns=run_tiles"],
    # of all kernels, as CuPy's write what ours read; of no copies to the host, as bulk stores are not followed
    "initcheck": ["--check-api-memory-access", "no"],
    "synccheck": [],
}

SUMMARY = re.compile(r"(?:ERROR|RACECHECK) SUMMARY: (\d+) (?:errors?|hazards?)(?! were not).*")


def sanitizer() -> str | None:
    """Return the program: on the path, of a CUDA toolkit, or of the package nvidia-cuda-sanitizer-api."""
    site = Path(sysconfig.get_path("purelib")) / "nvidia"
    homes = [os.environ.get(name) for name in ("CUDA_HOME", "CUDA_PATH")]
    roots = [*(Path(home) for home in homes if home), Path("/usr/local/cuda"), *site.glob("cu*")]
    places = [str(root / folder) for root in roots for folder in ("bin", "compute-sanitizer")]
    return shutil.which(
        "compute-sanitizer", path=os.pathsep.join([os.environ.get("PATH", ""), *places])
    )


def summary(text: str) -> tuple[bool, str]:
    """Return whether the output of a tool says that it found nothing, and the line that says what it found."""
    found = list(SUMMARY.finditer(text))
    if not found:
        return False, (text.strip().splitlines() or ["it said nothing"])[-1]
    return all(each[1] == "0" for each in found), found[-1][0]


def main(names: list[str]) -> int:
    """Run the tools that are named."""
    unknown = [name for name in names if name not in TOOLS]
    if unknown:
        print(f"there is no tool {unknown[0]!r}; there are {', '.join(TOOLS)}", file=sys.stderr)
        return 2
    program = sanitizer()
    if program is None:
        print(
            "compute-sanitizer is not here: install a CUDA toolkit or the package nvidia-cuda-sanitizer-api, "
            "or set CUDA_HOME", file=sys.stderr,
        )  # fmt: skip
        return 2
    failed = 0
    with tempfile.TemporaryDirectory() as kernels:
        # its own kernels: those that racecheck can follow are others
        environment = {**os.environ, "DASK_GPUSCAN_RACECHECK": "1", "DASK_GPUSCAN_CACHE": kernels}
        begun = subprocess.run(
            EXERCISE, env=environment, capture_output=True, text=True, check=False
        )
        if begun.returncode:
            print(f"without a tool: failed\n{(begun.stdout + begun.stderr)[-3000:]}")
            return 1
        for name in names or TOOLS:
            begin = time.monotonic()
            command = [program, "--tool", name, *TOOLS[name], *EXERCISE]
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, check=False
            )
            text = done.stdout + done.stderr
            clean, line = summary(text)
            clean = clean and done.returncode == 0
            failed += not clean
            print(
                f"{name:9} {'ok' if clean else 'FAILED'} {time.monotonic() - begin:6.0f} s  {line}",
                flush=True,
            )
            if not clean:
                print(text[:3000], text[-1000:], sep="\n...\n")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
