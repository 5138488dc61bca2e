"""Links ``dask_gpuscan/kernels`` to ``kernels/``, or says where that package is on systems without links.

With the link, an editable install is a line in a ``.pth`` file, which type checkers read. Git does not keep it, as
Git on Windows would make a text file of it. Everything else is in pyproject.toml.
"""

from contextlib import suppress
from pathlib import Path

from setuptools import setup

link = Path(__file__).with_name("dask_gpuscan") / "kernels"
if not link.is_dir():
    with suppress(OSError):
        link.symlink_to(Path("..", "kernels"), target_is_directory=True)
setup(package_dir={"": "."} if link.is_dir() else {"dask_gpuscan.kernels": "kernels"})
