"""The embedded default backend (`backends.Backend`): the primitives as Numba functions on NumPy arrays."""

from .asof import asof
from .boxes import box_filter
from .by_key import by_code, most_codes, reduce_by_key, scan_by_key
from .codes import number_codes
from .compact import compact, head_flags, run_lengths
from .first_within import first_within
from .grids import summed_area_table
from .intervals import copy_intervals, intervals
from .order_statistics import order_statistics
from .outputs import available
from .rolling import most_ring_rows, rolling, rolling_by_code
from .scan import fold, scan
from .shift import rows_before, shift, subtract
from .sort import is_sorted, put, sort, take
from .sorted_search import searchsorted_sorted
from .tied_ranks import tied_ranks

__all__ = [
    "asof",
    "available",
    "box_filter",
    "by_code",
    "compact",
    "copy_intervals",
    "first_within",
    "fold",
    "head_flags",
    "intervals",
    "is_sorted",
    "most_codes",
    "most_ring_rows",
    "number_codes",
    "order_statistics",
    "put",
    "reduce_by_key",
    "rolling",
    "rolling_by_code",
    "rows_before",
    "run_lengths",
    "scan",
    "scan_by_key",
    "searchsorted_sorted",
    "shift",
    "sort",
    "subtract",
    "summed_area_table",
    "take",
    "tied_ranks",
]


def __dir__() -> list[str]:
    return __all__
