"""What older versions of pandas, Dask and Numba do otherwise, for the tests that it touches."""

from collections.abc import Iterable
from functools import cache
from importlib.metadata import version

import pytest
from packaging.version import Version


@cache  # asked by every comparison of frames, and the answer lies in a file
def older(library: str, first: str) -> bool:
    """Return whether the library is older than the first version that does as a test says."""
    return Version(version(library)) < Version(first)


def since(library: str, first: str, reason: str) -> pytest.MarkDecorator:
    """Mark a test that only holds from a version of a library on, and say why."""
    return pytest.mark.skipif(older(library, first), reason=f"before {library} {first}: {reason}")


STRING = "string[pyarrow]" if older("pandas", "3") else "str"
"""A dtype of strings and nothing else; in pandas 2, ``str`` and lists of strings are of dtype object."""

culled = since(
    "dask", "2025.4", "partitions that are not asked for are computed, in its own scans too"
)
"""A test of what is not computed."""

NEW_STATISTICS = {"first", "last", "nunique", "sem"} if older("pandas", "3") else set()
"""Statistics of windows that this pandas has not, or, ``sem``, divides by another root."""


def known_to_pandas(statistics: Iterable[str]) -> list[str]:
    """Return those statistics of windows that can be compared with this pandas."""
    return [name for name in statistics if name not in NEW_STATISTICS]
