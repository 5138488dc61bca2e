"""The packages that the CUDA backend needs: checked before any is imported, so an error names what is missing."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

NEEDED = (
    {"cupy": "14"},
    {"numba_cuda": "0.30", "numba_cuda_mlir": "0.6"},
    {"cuda.core": "1"},
)
"""Modules, and the oldest versions of them; one of each row."""


def require(find: Callable[[str], Any] = import_module) -> None:
    """Check that all that is needed is there.

    Raises
    ------
    ImportError
        Naming what is missing or too old, and what installs it.
    """
    for either in NEEDED:
        found = {name: _found(name, find) for name in either}
        if not any(_enough(found[name], least) for name, least in either.items()):
            needed = " or ".join(f"{name} {least}" for name, least in either.items())
            raise ImportError(
                f"{needed} or later is needed, found {', '.join(found.values())}: "
                f"pip install 'dask-gpuscan[cuda13]'"
            )


def _found(name: str, find: Callable[[str], Any]) -> str:
    try:
        return str(find(name).__version__)
    except ImportError as error:
        return f"none ({error})"


def _enough(found: str, least: str) -> bool:
    return found[0].isdigit() and _numbers(found) >= _numbers(least)


def _numbers(version: str) -> tuple[int, ...]:
    parts = version.split(".")[:2]
    return tuple(int("".join(c for c in part if c.isdigit()) or 0) for part in parts)
