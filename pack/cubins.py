"""Makes the wheel of cubins: machine code of the kernels that usual calls need on GPUs. This script needs a GPU.

    make cubins                                                  # in .venv/gpu
    python pack/cubins.py --only cumsum --architectures sm_90 --out /tmp/c

Processes run the calls on cuDF frames, and record the passes that they launch and their numbers of rows, which
determine the kernels of each architecture. Other processes compile these.
"""

import argparse
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from pathlib import Path
from typing import Any

import cloudpickle
from calls import CALLS_ON_GPU, call

import dask_gpuscan
from dask_gpuscan.kernels.compiler import archives
from dask_gpuscan.kernels.cuda.core import build, devices, launch, packed

HERE = Path(__file__).parent

ARCHITECTURES = "sm_80 sm_86 sm_89 sm_90 sm_100 sm_120"

Kernels = dict[str, tuple[Any, str]]
"""The pass and the schedule for each name in an archive."""


def record(names: list[str], architectures: list[str]) -> bytes:
    """Run calls, and return the kernels that they need on each architecture, pickled."""
    found: dict[str, Kernels] = {each: {} for each in architectures}
    known, of_device = set(), launch.space

    def space(plan: Any, extent: Any, *rest: Any) -> Any:
        if (plan, extent) not in known:
            known.add((plan, extent))
            for each in architectures:
                found[each].update(_kernels(plan, extent, each))
        return of_device(plan, extent, *rest)

    launch.space = space  # type: ignore[assignment]
    warnings.simplefilter("ignore")
    for name in names:
        try:
            call(*CALLS_ON_GPU[name], on_gpu=True)
        except Exception as error:  # no method takes every dtype
            print(f"{name}: {str(error)[:100]}".partition("\n")[0], file=sys.stderr)
    return cloudpickle.dumps(found)  # type: ignore[no-any-return]


def _kernels(plan: Any, extent: Any, architecture: str) -> Iterator[tuple[str, tuple[Any, str]]]:
    capability = _capability(architecture)
    multiprocessors = devices.device(launch.current_device()).multiprocessors
    for one in plan.passes:
        each = one.sized(capability)
        schedule = each.schedule(extent, capability, multiprocessors, "")
        each = build.as_bits(each)
        name = build.pack_name(each, schedule, capability)
        if name is not None:
            yield name, (each, schedule)


def _capability(architecture: str) -> tuple[int, int]:
    number = architecture.removeprefix("sm_")
    return int(number[:-1]), int(number[-1])


def compiled(kernel: bytes, architecture: str) -> bytes:
    """Return the machine code of a kernel; for the GPU of this machine, the call has compiled it."""
    return build.cubin(*cloudpickle.loads(kernel), _capability(architecture))


def write(path: Path, kernels: Kernels, processes: Executor) -> None:
    """Compile the kernels of an architecture, and write its archive."""
    codes = map(cloudpickle.dumps, kernels.values())
    made = processes.map(compiled, codes, [path.stem] * len(kernels), chunksize=4)
    archives.write(path, dict(zip(kernels, made, strict=True)), build.sources())
    print(f"{path}  {len(kernels)} kernels, {path.stat().st_size:,} bytes", flush=True)


PROJECT = """
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "{name}"
version = "{version}"
description = "Machine code of the GPU kernels of dask-gpuscan"
requires-python = ">=3.11"
license = "Apache-2.0"

[tool.setuptools]
packages = ["{package}"]
package-data = {{"{package}" = ["*{ending}"]}}
"""


def wheel(folder: Path, out: Path) -> None:
    """Make the wheel from a folder with the package."""
    text = PROJECT.format(
        name=packed.PACKAGE.replace("_", "-"), version=dask_gpuscan.__version__,
        package=packed.PACKAGE, ending=packed.ENDING,
    )  # fmt: skip
    folder.joinpath("pyproject.toml").write_text(text)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir"]
    subprocess.run([*command, out, folder], check=True)


def main() -> None:
    """Make the wheel, and print the size of each archive."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", help="a regular expression of calls")
    parser.add_argument("--architectures", default=ARCHITECTURES)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=Path, default=HERE.parent / "dist")
    given = parser.parse_args()
    names = [name for name in CALLS_ON_GPU if re.search(given.only, name)]
    architectures = given.architectures.split()
    with tempfile.TemporaryDirectory() as work:
        os.environ["DASK_GPUSCAN_CACHE"] = f"{work}/cache"
        package = Path(work, packed.PACKAGE)
        package.mkdir()
        package.joinpath("__init__.py").write_text(f'"""{packed.__doc__.partition(":")[0]}."""\n')
        spawn = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(given.jobs, spawn) as processes:
            kernels: dict[str, Kernels] = {each: {} for each in architectures}
            shares = [names[i :: given.jobs] for i in range(given.jobs)]
            for part in processes.map(record, shares, [architectures] * len(shares)):
                for each, found in cloudpickle.loads(part).items():
                    kernels[each].update(found)
            print(f"{len(names)} calls take {len(kernels[architectures[0]])} kernels", flush=True)
            for each in architectures:
                write(package / f"{each}{packed.ENDING}", kernels[each], processes)
        wheel(Path(work), given.out)


if __name__ == "__main__":
    main()
