"""The CUDA backend: scans, reductions, compaction and what is done by key, in one pass over CuPy arrays.

The engine is CUDA C++ (`device/`), an operator's functions are Python. `scan`, `compact`, `by_key` and `selection`
make plans of what they are asked for, `build` compiles a plan's kernels, `launch` runs them. Which primitives there
are stands in `visitors`, and all tuning numbers in `tuning`. Importing this package imports CuPy and Numba-CUDA;
nothing but a CuPy array may do so. It must never import Dask, pandas or cuDF.

Combinations are associated as a tree over lanes, warps and tiles that depends on types and lengths alone, so
the same input gives the same bits on every run. It is not the order of the CPU backend: floating-point sums
differ in rounding. How a run of keys is reduced depends on the device as well, which may have no room for
large tiles. Products overflow and underflow where a walk in order does all the same (`in_order`).
"""

from .requirements import require

require()

from .asof import asof  # noqa: E402
from .boxes import box_filter  # noqa: E402
from .by_key import reduce_by_key, scan_by_key  # noqa: E402
from .compact import compact, run_lengths  # noqa: E402
from .first_within import first_within  # noqa: E402
from .grids import summed_area_table  # noqa: E402
from .intervals import available, copy_intervals, intervals  # noqa: E402
from .multi_scan import by_code, most_codes, number_codes  # noqa: E402
from .order_statistics import order_statistics  # noqa: E402
from .rolling import most_ring_rows, rolling, rolling_by_code  # noqa: E402
from .scan import scan  # noqa: E402
from .selection import head_flags  # noqa: E402
from .shift import rows_before, shift, subtract  # noqa: E402
from .sort import is_sorted, put, sort, take, tied_ranks  # noqa: E402
from .sorted_search import searchsorted_sorted  # noqa: E402

__all__ = [
    "asof",
    "available",
    "box_filter",
    "by_code",
    "compact",
    "copy_intervals",
    "first_within",
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
