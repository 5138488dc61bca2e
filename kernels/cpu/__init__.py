"""The embedded default backend: the primitives as Numba functions on NumPy arrays.

It must never import Dask, pandas or a GPU library.
"""

from .by_code import by_code
from .by_key import reduce_by_key, scan_by_key
from .compaction import compact, heads, repeat, run_lengths
from .launch import begin, fold, run
from .types import Endless, Signature, as_state, signature

__all__ = [
    "Endless",
    "Signature",
    "as_state",
    "begin",
    "by_code",
    "compact",
    "fold",
    "heads",
    "reduce_by_key",
    "repeat",
    "run",
    "run_lengths",
    "scan_by_key",
    "signature",
]
