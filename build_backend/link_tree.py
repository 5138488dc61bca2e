"""The packages as they are installed, as a folder of links: what finds packages by their folders can read it.

Run as a script, it makes the folder that it is given.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def link_tree(folder: Path) -> Path:
    """Make a folder anew in which ``kernels/`` stands in the package, and return it.

    Parameters
    ----------
    folder : Path
        What is there is removed.

    Raises
    ------
    OSError
        Where links cannot be made, as on Windows for most users.
    """
    shutil.rmtree(folder, ignore_errors=True)
    package = folder / "dask_gpuscan"
    package.mkdir(parents=True)
    for path in (*ROOT.joinpath("dask_gpuscan").iterdir(), ROOT / "kernels"):
        package.joinpath(path.name).symlink_to(path)
    folder.joinpath("dask_gpuscan_sizes.py").symlink_to(ROOT / "dask_gpuscan_sizes.py")
    return folder


if __name__ == "__main__":
    link_tree(Path(sys.argv[1]))
