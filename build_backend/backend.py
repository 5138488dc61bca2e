"""The build backend: setuptools', whose editable installs checkers and editors can read, too.

Setuptools has ``dask_gpuscan.kernels`` imported from the folder kernels/ by a finder, which checkers do not run. An
editable wheel of this backend also puts a folder of links on the path. Where no links can be made, there is the finder.
"""

from __future__ import annotations

import base64
import hashlib
import zipfile
from pathlib import Path
from typing import Any

from link_tree import ROOT, link_tree
from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403  (the hooks that stay as they are)

PTH = "dask_gpuscan_links.pth"


def build_editable(directory: str, settings: Any = None, metadata: str | None = None) -> str:
    """Build an editable wheel, and return its name."""
    name = build_meta.build_editable(directory, settings, metadata)
    try:
        links = link_tree(ROOT / "build" / "links")
    except OSError:
        return name
    _add(Path(directory, name), PTH, f"{links}\n".encode())
    return name


def _add(wheel: Path, name: str, content: bytes) -> None:
    """Add a file to a wheel, and to its record."""
    with zipfile.ZipFile(wheel) as old:
        files = {entry: old.read(entry) for entry in old.infolist()}
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as new:
        new.writestr(name, content)
        for entry, data in files.items():
            if entry.filename.endswith(".dist-info/RECORD"):
                data += f"{name},sha256={digest},{len(content)}\n".encode()
            new.writestr(entry, data)
