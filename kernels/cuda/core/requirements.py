"""The packages that the CUDA backend needs: checked before any is imported, so an error names what is missing."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

NEEDED = {"cupy": "14", "numba_cuda": "0.30", "cuda.core": "1"}
"""Modules, and the oldest versions of them."""


def require(find: Callable[[str], Any] = import_module) -> None:
    """Check that all that is needed is there.

    Raises
    ------
    ImportError
        Naming what is missing or too old, and what installs it.
    """
    for name, least in NEEDED.items():
        try:
            found = str(find(name).__version__)
        except ImportError as error:
            found = f"none ({error})"
        if not found[0].isdigit() or _numbers(found) < _numbers(least):
            raise ImportError(
                f"{name} {least} or later is needed, found {found}: "
                f"pip install 'dask-gpuscan[cuda13]'"
            )


def _numbers(version: str) -> tuple[int, ...]:
    parts = version.split(".")[:2]
    return tuple(int("".join(c for c in part if c.isdigit()) or 0) for part in parts)
