"""Links ``dask_gpuscan/kernels`` to ``kernels/``, or says where that package is on systems without links.

With the link, an editable install is a line in a ``.pth`` file, which type checkers read. Git does not keep it, as
Git on Windows would make a text file of it. Where `make pack` has written machine code of kernels, the wheel holds it,
and is for this kind of machine. Everything else is in pyproject.toml.
"""

import json
from contextlib import suppress
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).parent
PACKED = HERE / "build" / "packed"


class BuildWithPack(build_py):
    """Puts the pack into the wheel, beside the module that reads it."""

    def run(self) -> None:
        """Copy the modules, and then the pack."""
        super().run()
        if not self.editable_mode:
            target = Path(self.build_lib, "dask_gpuscan", "kernels", "compiler", "packed")
            self.copy_tree(str(PACKED), str(target))


link = HERE / "dask_gpuscan" / "kernels"
if not link.is_dir():
    with suppress(OSError):
        link.symlink_to(Path("..", "kernels"), target_is_directory=True)
given = {}
if PACKED.exists():
    Distribution.has_ext_modules = lambda self: True
    wheel = {"py_limited_api": "cp311", **json.loads((PACKED / "pack.json").read_text())["wheel"]}
    given = {"cmdclass": {"build_py": BuildWithPack}, "options": {"bdist_wheel": wheel}}
setup(package_dir={"": "."} if link.is_dir() else {"dask_gpuscan.kernels": "kernels"}, **given)
