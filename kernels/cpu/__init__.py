"""The default backend (`backends.Backend`): the primitives as Numba functions on NumPy arrays.

Read ``core/`` first, which all primitives share; each other folder has one theme. It must not import Dask, pandas or
CuPy.
"""

from .asof import asof
from .columns.arrange import arrange, sort_by_code
from .columns.by_code import by_code, max_groups
from .columns.by_key import reduce_by_key, scan_by_key
from .columns.compact import compact, head_flags, run_lengths
from .columns.distinct import count_distinct
from .columns.factorize import factorize, first_met, flags_at, occurring, value_range
from .columns.hashes import factorize_words, hash_codes, hash_texts
from .columns.key_table import KeyTable
from .columns.texts import take_texts, text_words
from .core.limits import available
from .core.shares import most_arranged
from .grids.grids import box_filter, summed_area_table
from .intervals import copy_intervals, intervals
from .scan.scan import fold, line_scan, scan
from .sort.permute import put, take
from .sort.sort import sort
from .sort.sorted_values import is_sorted, searchsorted_sorted, sorted_quantiles, tied_ranks
from .windows.order_statistics import order_statistics
from .windows.rolling import most_ring_rows, rolling, rolling_by_code, window_starts
from .windows.shift import are_floats, finds_rows_before, rows_before, shift, subtract

__all__ = [
    "KeyTable",
    "are_floats",
    "arrange",
    "asof",
    "available",
    "box_filter",
    "by_code",
    "compact",
    "copy_intervals",
    "count_distinct",
    "factorize",
    "factorize_words",
    "finds_rows_before",
    "first_met",
    "flags_at",
    "fold",
    "hash_codes",
    "hash_texts",
    "head_flags",
    "intervals",
    "is_sorted",
    "line_scan",
    "max_groups",
    "most_arranged",
    "most_ring_rows",
    "occurring",
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
    "sort_by_code",
    "sorted_quantiles",
    "subtract",
    "summed_area_table",
    "take",
    "take_texts",
    "text_words",
    "tied_ranks",
    "value_range",
    "window_starts",
]


def __dir__() -> list[str]:
    return __all__
