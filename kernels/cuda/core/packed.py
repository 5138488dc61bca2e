"""Cubins from a separate wheel, the package `dask_gpuscan_cubins`, with one archive for each architecture.

`make cubins` writes it (pack/cubins.py). An archive is used only with the sources that it was made from.
"""

import logging
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

from ...compiler import archives

PACKAGE = "dask_gpuscan_cubins"

ENDING = ".zip"
"""The ending of the names of archives. The comment of an archive is the digest of its sources."""


def is_there(architecture: str, sources: str) -> bool:
    """Return whether there is an archive for an architecture; without one, no name of a kernel is computed."""
    return _opened(architecture, sources) is not None


def read(name: str, architecture: str, sources: str) -> bytes | None:
    """Return the cubin of this name; None if there is none from these sources, or it is damaged."""
    try:
        return archives.entry(_opened(architecture, sources), name)
    except Exception as error:  # ZipFile raises a dozen kinds
        _pass_over(f"one in {architecture}{ENDING} is damaged: {error}")
        return None


def folder() -> Path | None:
    """Return where the archives are, if they are installed."""
    found = find_spec(PACKAGE)
    places = None if found is None else found.submodule_search_locations
    return Path(places[0]) if places else None


@lru_cache(maxsize=8)
def _opened(architecture: str, sources: str) -> ZipFile | None:
    """Return the archive for an architecture, if there is one from these sources."""
    place = folder()
    if place is None:
        return None
    try:
        archive = archives.opened(place.joinpath(f"{architecture}{ENDING}"))
        if archive.comment.decode() != sources:
            raise ValueError("they are of other sources")
    except FileNotFoundError:
        return None
    except Exception as error:  # ZipFile raises a dozen kinds
        _pass_over(error)
        return None
    return archive


@lru_cache(maxsize=16)
def _pass_over(why: object) -> None:
    """Log once why cubins are not used."""
    logging.getLogger(__name__).warning("the cubins in %s are passed over: %s", folder(), why)
