"""The packages that the CUDA backend needs: checked before any is imported, so an error names what is missing."""

import os
from collections.abc import Callable
from typing import Any

from ....forks import import_late

COMPILERS = {"numba_cuda": "0.30", "numba_cuda_mlir": "0.6"}
"""Modules that compile Python functions, and their oldest versions: one of them is needed, the first is preferred."""

Find = Callable[[str], Any]


def compilers() -> dict[str, str]:
    """Return the modules that may compile: the one that the environment names, or all.

    Raises
    ------
    ValueError
        If ``DASK_GPUSCAN_COMPILER`` names another.
    """
    asked = os.environ.get("DASK_GPUSCAN_COMPILER", "").replace("-", "_")
    if not asked:
        return COMPILERS
    if asked not in COMPILERS:
        raise ValueError(f"DASK_GPUSCAN_COMPILER is {asked}, not one of {', '.join(COMPILERS)}")
    return {asked: COMPILERS[asked]}


def package(find: Find = import_late) -> str:
    """Return the module that compiles: the first that is installed and new enough, else the first."""
    either = compilers()
    return _good(either, find) or next(iter(either))


def require(find: Find = import_late) -> None:
    """Check that all needed packages are installed.

    Raises
    ------
    ImportError
        If one is missing or too old; it says what installs it.
    """
    for either in ({"cupy": "14"}, compilers(), {"cuda.core": "1"}):
        if _good(either, find) is None:
            needed = " or ".join(f"{name} {least}" for name, least in either.items())
            found = ", ".join(_found(name, find) for name in either)
            raise ImportError(
                f"{needed} or later is needed, found {found}: pip install 'dask-gpuscan[cuda13]'"
            )


def _good(either: dict[str, str], find: Find) -> str | None:
    """Return the first module that is new enough; those after it are not imported, as that may take seconds."""
    good = (name for name, least in either.items() if _enough(_found(name, find), least))
    return next(good, None)


def _found(name: str, find: Find) -> str:
    try:
        return str(find(name).__version__)
    except ImportError as error:
        return f"none ({error})"


def _enough(found: str, least: str) -> bool:
    return found[0].isdigit() and _numbers(found) >= _numbers(least)


def _numbers(version: str) -> tuple[int, ...]:
    parts = version.split(".")[:2]
    return tuple(int("".join(c for c in part if c.isdigit()) or 0) for part in parts)
