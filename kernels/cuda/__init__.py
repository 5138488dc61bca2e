"""The CUDA backend: scans, reductions, compaction and work by key, in one pass over CuPy arrays.

The engine is CUDA C++; an operator's functions are Python. The folder of a primitive has its plans, its passes, its
`tuning` and its device sources (``*.cuh``). Read ``core/`` first: all of them share it. Importing this package
imports CuPy and Numba-CUDA, so it is imported only for CuPy arrays. It must never import Dask, pandas or cuDF.

States are combined in a tree over lanes, warps and tiles. The tree depends on types and lengths alone, so the same
input gives the same bits on every run. The CPU backend combines in another order, so floating-point sums differ in
rounding. The reduction of a run of keys also depends on the device, which may have no room for large tiles.
Products overflow and underflow where a sequential product does (`scan.sequential_product`).
"""

# ruff: noqa: E402

import numpy as np

from .core.requirements import require

# Numba-CUDA 0.30 asks for a name that NumPy 2.5 dropped.
vars(np).setdefault("row_stack", np.vstack)
require()

from .asof import asof
from .codes.by_code import by_code, max_groups
from .codes.factorize import (
    factorize,
    factorize_words,
    first_met,
    flags_at,
    most_arranged,
    occurring,
    sort_by_code,
    value_range,
)
from .columns.by_key import reduce_by_key, scan_by_key
from .columns.compact import compact, run_lengths
from .columns.selection import head_flags
from .grids.grids import box_filter, summed_area_table
from .intervals.intervals import available, copy_intervals, intervals
from .refused import (
    are_floats,
    arrange,
    count_distinct,
    hash_codes,
    hash_texts,
    rolling_by_code,
    subtract,
    take_texts,
    text_words,
)
from .scan.scan import scan
from .sort.permute import put, take
from .sort.sort import is_sorted, searchsorted_sorted, sort, sorted_quantiles, tied_ranks
from .windows.order_statistics import order_statistics
from .windows.rolling import most_ring_rows, rolling, window_starts
from .windows.shift import finds_rows_before, rows_before, shift

__all__ = [
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
    "hash_codes",
    "hash_texts",
    "head_flags",
    "intervals",
    "is_sorted",
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
