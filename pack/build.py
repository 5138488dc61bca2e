"""Makes the pack: machine code of the kernels of usual calls, for each level of this machine's kind of processor.

    make pack                                        # in .venv/pack, for a release
    python pack/build.py --only cumsum --out /tmp/p  # some calls, with the packages that are here

Processes run the calls and record which kernels they ask for; others compile these for each level. It takes a C
compiler: that of Python's own builds, or another one that CC names.
"""

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZIP_LZMA, ZipFile

import cloudpickle
from calls import CALLS
from record import Found, load
from setuptools import Distribution, Extension

from dask_gpuscan.kernels.compiler import pack
from dask_gpuscan.kernels.compiler.forms import COMPILERS

HERE, KERNELS = Path(__file__).parent, Path(pack.__file__).parents[1]
X86 = pack.system().endswith(("x86_64", "amd64"))
USUAL_LEVELS = "x86-64-v3 x86-64-v2" if X86 else "generic"
"""Levels of the wheel, which all three of x86-64 would make larger than 6 MB."""


def run_all(jobs: int, commands: list[list[object]], **environment: str) -> None:
    """Run scripts of this folder beside each other."""

    def run(command: list[object]) -> None:
        line = [sys.executable, *map(str, command)]
        subprocess.run(line, check=True, cwd=HERE, env=os.environ | environment)

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(run, commands))


# what is the same for all levels has no instructions of this processor
PLAIN = {"NUMBA_CPU_NAME": "x86-64" if X86 else "generic", "NUMBA_CPU_FEATURES": ""}


def record(names: list[str], jobs: int, work: Path) -> tuple[Path, Found]:
    """Return what calls ask for, and a file of it."""
    parts = [work / f"{i}.asked" for i in range(jobs)]
    commands = [["record.py", part, *names[i::jobs]] for i, part in enumerate(parts)]
    run_all(jobs, commands, **PLAIN)
    found = Found({}, {}, {})
    for part in map(load, parts):
        for whole, some in zip(found, part, strict=True):
            whole.update(some)
    path = work / "asked"
    path.write_bytes(cloudpickle.dumps(found.asked))
    print(f"{len(names)} calls ask for {len(found.asked)} kernels", flush=True)
    return path, found


def write_engines(path: Path, engines: dict[str, bytes]) -> None:
    """Write the archive of engines."""
    with ZipFile(path, "w", ZIP_LZMA) as archive:
        archive.comment = COMPILERS.encode()
        for name, kept in sorted(engines.items()):
            archive.writestr(name, kept)


def emit(levels: list[str], asked: Path, jobs: int, work: Path) -> dict[str, list[str]]:
    """Return the object files of kernels for levels of processors."""
    commands = [["emit.py", work, asked, i, jobs, *levels] for i in range(jobs)]
    run_all(jobs, commands, **PLAIN)
    return {level: [str(work / f"{level}-{i}.o") for i in range(jobs)] for level in levels}


def choose_compiler() -> dict[str, str]:
    """Take the compiler that pip installs, if it is here and no other is named; return the options of the wheel."""
    if sys.platform != "linux" or "CC" in os.environ or find_spec("ziglang") is None:
        return {}
    cpu = platform.machine()
    os.environ["CC"] = f"{sys.executable} -m ziglang cc -target {cpu}-linux-gnu.2.17"
    return {"plat_name": f"manylinux_2_17_{cpu}"}


def link(levels: dict[str, list[str]], work: Path, out: Path) -> None:
    """Link libraries of kernels, and the module that calls them."""
    call, plain = KERNELS / "compiler" / "call.c", ["-g0"] if os.name == "posix" else []
    extension = Extension("call", [str(call)], py_limited_api=True, extra_compile_args=plain)
    command = Distribution({"ext_modules": [extension]}).get_command_obj("build_ext")
    command.build_lib, command.build_temp = str(out), str(work)
    command.ensure_finalized()
    command.run()
    compiler = command.compiler
    runtime = compiler.compile(
        [str(HERE / "runtime.c")], output_dir=str(work), extra_postargs=plain
    )
    libraries = ["m"] if os.name == "posix" else []
    for level, objects in levels.items():
        compiler.link_shared_object(
            [*objects, *runtime], str(out / pack.library_of(level)), libraries=libraries
        )


def main() -> None:
    """Make a pack, and say how large it is."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", help="a regular expression of calls")
    parser.add_argument("--levels", default=USUAL_LEVELS)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=Path, default=HERE.parent / "build" / "packed")
    given = parser.parse_args()
    sources = pack.sources(KERNELS)
    names = [name for name in CALLS if re.search(given.only, name)]
    shutil.rmtree(given.out, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        asked, found = record(names, given.jobs, work)
        levels = emit(given.levels.split(), asked, given.jobs, work)
        given.out.mkdir(parents=True)
        wheel = choose_compiler()
        link(levels, work, given.out)
        write_engines(given.out / pack.ENGINES, found.engines)
    files = {path.name: pack.digest(path.read_bytes()) for path in sorted(given.out.iterdir())}
    index = {
        "system": pack.system(),
        "sources": sources,
        "wheel": wheel,
        "files": files,
        "answers": found.answers,
    }
    given.out.joinpath(pack.INDEX).write_text(json.dumps(index, indent=1))
    for path in sorted(given.out.iterdir()):
        print(f"{path}  {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
