"""Puts each pack in build/packed into a wheel for its system, which is a copy of the wheel for all systems in dist/."""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from systems import SYSTEMS

ROOT = Path(__file__).parents[1]


def wheel(*arguments: object) -> None:
    """Run the program `wheel`."""
    subprocess.run([sys.executable, "-m", "wheel", *map(str, arguments)], check=True)


def make(plain: Path, packed: Path, dist: Path) -> None:
    """Make the wheel of a pack."""
    system = SYSTEMS[json.loads(packed.joinpath("pack.json").read_text())["system"]]
    with tempfile.TemporaryDirectory() as folder:
        wheel("unpack", plain, "--dest", folder)
        (content,) = Path(folder).iterdir()
        shutil.copytree(packed, content / "dask_gpuscan" / "kernels" / "compiler" / "packed")
        (about,) = content.glob("*.dist-info/WHEEL")
        text = about.read_text().replace("Purelib: true", "Purelib: false")
        about.write_text(text.replace("py3-none-any", f"cp311-abi3-{system.platform}"))
        wheel("pack", content, "--dest-dir", dist)


if __name__ == "__main__":
    dist = ROOT / "dist"
    (plain,) = dist.glob("*-py3-none-any.whl")
    for packed in sorted(ROOT.joinpath("build", "packed").iterdir()):
        make(plain, packed, dist)
