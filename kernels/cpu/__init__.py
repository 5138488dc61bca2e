"""The embedded default backend (`backends.Backend`): the primitives as Numba functions on NumPy arrays."""

from .by_key import by_code, reduce_by_key, scan_by_key
from .codes import number_codes
from .compact import compact, head_flags, repeat, run_lengths
from .scan import fold, scan
from .sort import sort

__all__ = [
    "by_code",
    "compact",
    "fold",
    "head_flags",
    "number_codes",
    "reduce_by_key",
    "repeat",
    "run_lengths",
    "scan",
    "scan_by_key",
    "sort",
]


def __dir__() -> list[str]:
    return __all__
