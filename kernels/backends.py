"""Which backend works on which arrays: the type of the arrays chooses it, and nothing else does.

Data stays where it lives. This module must never know what the backends compute.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from . import cpu
from .arrays import is_cupy

_BACKENDS: dict[type, Any] = {np.ndarray: cpu}
"""The backend of each array type that has been met: a module with ``begin``."""


def backend_of(arrays: Iterable[Any]) -> Any:
    """Return the backend of these arrays.

    Raises
    ------
    TypeError
        If they are not all arrays of one supported type.
    ImportError
        If they live on a GPU and the extra for it is missing.
    """
    kinds = {type(a) for a in arrays}
    found = {_BACKENDS.get(kind) or _of_kind(kind) for kind in kinds}
    if len(found) == 1:
        (backend,) = found
        if backend is not None:
            return backend
    names = ", ".join(sorted(k.__name__ for k in kinds))
    raise TypeError(
        f"values must be arrays of one supported type (numpy.ndarray, cupy.ndarray), found {names}"
    )


def _of_kind(kind: type) -> Any:
    """Return the backend of a type that has not been met, or None."""
    if issubclass(kind, np.ndarray):
        _BACKENDS[kind] = cpu
    elif is_cupy(kind):
        _BACKENDS[kind] = _cuda()
    return _BACKENDS.get(kind)


def primitive(name: str, arrays: Iterable[Any]) -> Any:
    """Return the function `name` of the backend of these arrays.

    Raises
    ------
    TypeError
        As `backend_of`; or if the backend has no such function.
    """
    arrays = list(arrays)
    backend = backend_of(arrays)
    if not hasattr(backend, name):
        raise TypeError(f"{name} does not take {type(arrays[0]).__module__} arrays yet")
    return getattr(backend, name)


def _cuda() -> Any:
    """Import the CUDA backend, which the first CuPy array does and nothing else."""
    try:
        from . import cuda
    except ImportError as error:
        raise ImportError(
            f"CuPy arrays need the extra cuda13 (pip install 'dask-gpuscan[cuda13]'): {error}"
        ) from error
    return cuda
