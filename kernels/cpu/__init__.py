"""The embedded default backend: the primitives as Numba functions on NumPy arrays.

It must never import Dask, pandas or a GPU library.
"""

from .launch import fold, run
from .types import Signature, as_state, signature

__all__ = ["Signature", "as_state", "fold", "run", "signature"]
