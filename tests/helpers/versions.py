"""Differences of older versions of pandas, Dask and Numba, for the tests that they affect."""

from collections.abc import Iterable
from functools import cache
from importlib.metadata import version

import pytest
from packaging.version import Version


@cache  # called by every comparison of frames, and reads a file
def older(library: str, first: str) -> bool:
    """Return whether a library is older than version `first`."""
    return Version(version(library)) < Version(first)


def since(library: str, first: str, reason: str) -> pytest.MarkDecorator:
    """Return a mark for a test that needs at least this version of a library, with the reason."""
    return pytest.mark.skipif(older(library, first), reason=f"before {library} {first}: {reason}")


STRING = "string[pyarrow]" if older("pandas", "3") else "str"
"""A dtype of strings only; in pandas 2, ``str`` and lists of strings have dtype object."""

culled = since(
    "dask", "2025.4", "partitions that are not asked for are computed, in its own scans too"
)
"""The mark of a test that partitions are not computed."""

NEW_STATISTICS = {"first", "last", "nunique", "sem"} if older("pandas", "3") else set()
"""Statistics of windows that this pandas does not have, or, for ``sem``, divides by another root."""


def known_to_pandas(statistics: Iterable[str]) -> list[str]:
    """Return the statistics of windows that can be compared with this pandas."""
    return [name for name in statistics if name not in NEW_STATISTICS]
