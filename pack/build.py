"""Makes packs: machine code of the kernels of usual calls, for each level of processors of a system.

    make pack                                        # for this system, in .venv/dist
    python pack/build.py --only cumsum --out /tmp/p  # some calls, with the packages of this environment
    python pack/build.py --systems all               # for every system in systems.py, for a release

Processes run the calls and record the kernels that they need; others compile these for each system and level. The C
compiler of the package ziglang links them, on Linux or macOS.
"""

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cloudpickle
from calls import CALLS
from record import Found, load
from systems import SYSTEMS

from dask_gpuscan.kernels.compiler import archives, pack
from dask_gpuscan.kernels.compiler.forms import COMPILERS

HERE, KERNELS = Path(__file__).parent, Path(pack.__file__).parents[1]
X86 = ("x86_64", "amd64")
USUAL_LEVELS = "x86-64-v3 x86-64-v2"
"""The levels in a wheel for x86-64; with all three it would be larger than 6 MB."""

ZIG = (sys.executable, "-m", "ziglang")


def run_all(jobs: int, commands: list[list[object]], **environment: str) -> None:
    """Run scripts of this folder in parallel."""

    def run(command: list[object]) -> None:
        line = [sys.executable, *map(str, command)]
        subprocess.run(line, check=True, cwd=HERE, env=os.environ | environment)

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(run, commands))


# files for all levels must not use instructions of this processor
PLAIN = {
    "NUMBA_CPU_NAME": "x86-64" if platform.machine().lower() in X86 else "generic",
    "NUMBA_CPU_FEATURES": "",
}


def record(names: list[str], jobs: int, work: Path) -> tuple[Path, Found]:
    """Record what calls need; return it, and the file with it."""
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


def emit(levels: dict[str, list[str]], asked: Path, jobs: int, work: Path) -> None:
    """Write object files of kernels for levels of systems: ``SYSTEM/LEVEL-SHARE.o``."""
    each = [f"{system}/{level}" for system, names in levels.items() for level in names]
    commands = [["emit.py", work, asked, i, jobs, *each] for i in range(jobs)]
    run_all(jobs, commands, **PLAIN)


def link(system: str, levels: list[str], work: Path, out: Path) -> None:
    """Link the libraries of a system's kernels, and the module that calls them."""

    def compile_c(*arguments: object) -> None:
        line = [*ZIG, "cc", "-target", SYSTEMS[system].target, "-O2", "-g0", "-s", *arguments]
        subprocess.run(list(map(str, line)), check=True, cwd=work)

    headers, call = work / "include", work / "call.o"
    shutil.copytree(sysconfig.get_path("include"), headers)
    shutil.copy(HERE / "pyconfig.h", headers)
    compile_c("-c", "-I", headers, KERNELS / "compiler" / "call.c", "-o", call)
    windows = system.startswith("win32")
    python = _python_library(call) if windows else "-Wl,-undefined,dynamic_lookup"
    compile_c("-shared", call, python, "-o", pack.CALL)
    made = [pack.CALL]
    for level in levels:
        made.append(pack.library_of(level))
        runtime = ("-fvisibility=hidden", HERE / "runtime.c", "-lm")
        compile_c("-shared", *work.glob(f"{level}-*.o"), *runtime, "-o", made[-1])
    for name in made:
        shutil.copy(work / name, out)


def _python_library(call: Path) -> Path:
    """Return a library that names Python's stable ABI on Windows as the source of call.o's imports."""
    names = sorted(set(re.findall(rb"__imp_(_?Py\w+)", call.read_bytes())))
    listed, made = call.with_name("python3.def"), call.with_name("python3.lib")
    listed.write_bytes(b"\n".join([b"LIBRARY python3.dll", b"EXPORTS", *names]))
    line = [*ZIG, "dlltool", "-m", "i386:x86-64", "-d", str(listed), "-l", str(made)]
    subprocess.run(line, check=True)
    return made


def main() -> None:
    """Make packs, and print their sizes."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", help="a regular expression of calls")
    parser.add_argument("--systems", nargs="+", choices=[*SYSTEMS, "all"], default=[pack.system()])
    parser.add_argument("--levels", default=USUAL_LEVELS, help="of x86-64")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=Path, default=HERE.parent / "build" / "packed")
    given = parser.parse_args()
    systems = list(SYSTEMS) if "all" in given.systems else given.systems
    levels = {
        system: given.levels.split() if system.endswith(X86) else ["generic"] for system in systems
    }
    sources = pack.sources(KERNELS)
    names = [name for name in CALLS if re.search(given.only, name)]
    shutil.rmtree(given.out, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        asked, found = record(names, given.jobs, work)
        emit(levels, asked, given.jobs, work)
        for system in systems:
            out = given.out / system.replace(" ", "-")
            out.mkdir(parents=True)
            link(system, levels[system], work / system, out)
            if system == pack.system():  # engines are LLVM code for this system
                archives.write(out / pack.ENGINES, found.engines, COMPILERS)
            out.joinpath(pack.ANSWERS).write_text(json.dumps(found.answers, indent=1))
            files = {path.name: pack.digest(path.read_bytes()) for path in sorted(out.iterdir())}
            index = {"system": system, "sources": sources, "files": files}
            out.joinpath(pack.INDEX).write_text(json.dumps(index, indent=1))
            for path in sorted(out.iterdir()):
                print(f"{path}  {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
