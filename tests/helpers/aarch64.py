"""Install Python and the package's requirements for Linux on ARM, run by QEMU: ``python -m helpers.aarch64 FOLDER``.

It needs Debian or Ubuntu with ``apt-get install qemu-user-static``, and once ``dpkg --add-architecture arm64; apt-get
update``. Numba is left out, so that nothing is compiled there.
"""

import re
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

FOLDER = Path(__file__).parents[2] / ".venv" / "aarch64"
"""The folder of `make aarch64`."""

QEMU = "qemu-aarch64-static"

DEBIAN = ("python3-minimal", "libpython3-stdlib", "libstdc++6")
LIBRARIES = ("cloudpickle", "dask", "numpy", "pandas", "pyarrow", "xarray")


def command() -> list[str] | None:
    """Return the command that runs Python for ARM, if it is installed."""
    found = sorted(FOLDER.glob("root/usr/bin/python3.*"))
    if shutil.which(QEMU) is None or not found:
        return None
    return [QEMU, "-L", str(FOLDER / "root"), str(found[0])]


def install(folder: Path) -> None:
    """Unpack Debian's Python, and libraries in the versions of this environment."""
    asked = [f"{name}:arm64" for name in DEBIAN]
    shown = subprocess.check_output(["apt-cache", "depends", "--recurse", "-i", *asked], text=True)
    names = re.findall(r"^((?:lib|zlib|python)\S+:arm64)$", shown, re.MULTILINE)
    debs = folder / "debs"
    debs.mkdir(parents=True)
    subprocess.run(["apt-get", "download", *names], check=True, cwd=debs)
    for path in debs.iterdir():
        subprocess.run(["dpkg", "-x", path, folder / "root"], check=True)
    (python,) = folder.glob("root/usr/bin/python3.*")
    wanted = [f"{name}=={version(name)}" for name in LIBRARIES]
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--target", folder / "site")
    of = ("--platform", "manylinux_2_28_aarch64", "--platform", "manylinux_2_17_aarch64")
    of += ("--python-version", python.name.removeprefix("python"), "--only-binary=:all:")
    subprocess.run([*pip, *of, *wanted], check=True)


if __name__ == "__main__":
    install(Path(sys.argv[1]))
