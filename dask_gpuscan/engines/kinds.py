"""Tells what an engine is for, without importing it: until a class has been imported, there is no object of it."""

from __future__ import annotations

import sys
from typing import Any


def is_stream(obj: Any) -> bool:
    """Tell whether an object is a stream."""
    return _is_of(obj, "dask_gpuscan.engines.stream.stream", "Stream")


def is_of_dask(obj: Any) -> bool:
    """Tell whether an object is a frame, a series or an index of Dask."""
    return _is_of(obj, "dask.dataframe", "Series", "DataFrame")


def is_array_of_dask(obj: Any) -> bool:
    """Tell whether an object is an array of Dask."""
    return _is_of(obj, "dask.array", "Array")


def is_lazy(obj: Any) -> bool:
    """Tell whether an object is any collection of Dask."""
    base = sys.modules.get("dask.base")
    return base is not None and base.is_dask_collection(obj)


def _is_of(obj: Any, module: str, *names: str) -> bool:
    found = sys.modules.get(module)
    return any(isinstance(obj, getattr(found, name, ())) for name in names)
