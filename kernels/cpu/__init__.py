"""The embedded default backend: the primitives as Numba functions on NumPy arrays.

It must never import Dask, pandas or a GPU library.
"""

from .launch import fold, run

__all__ = ["fold", "run"]
