"""Links ``dask_gpuscan/kernels`` to ``kernels/``, or says where that package is on systems without links.

With the link, an editable install is a line in a ``.pth`` file, which type checkers read. Git does not keep it, as
Git on Windows would make a text file of it. Where `make pack` has written machine code of kernels, the wheel holds it,
and is for this kind of machine. Everything else is in pyproject.toml.
"""

import json
from contextlib import suppress
from pathlib import Path

from setuptools import Distribution, setup

link = Path(__file__).with_name("dask_gpuscan") / "kernels"
if not link.is_dir():
    with suppress(OSError):
        link.symlink_to(Path("..", "kernels"), target_is_directory=True)
index = Path(__file__).with_name("kernels") / "compiler" / "packed" / "pack.json"
if index.exists():
    Distribution.has_ext_modules = lambda self: True
    wheel = {"py_limited_api": "cp311", **json.loads(index.read_text())["wheel"]}
    setup_options = {"bdist_wheel": wheel}
else:
    setup_options = {}
setup(options=setup_options, package_dir={"": "."} if link.is_dir() else {"dask_gpuscan.kernels": "kernels"})
