"""What runs inside one partition: scans, reductions, compaction and group-by of arrays by any operator, on any backend.

The functions here are the whole interface. Data stays where it lives: the type of the arrays chooses the backend.
This package knows arrays, null masks and operators, and must never import Dask, pandas or cuDF.
"""

from .arrays import is_array
from .asof import asof
from .associativity import check_associative
from .boxes import box_filter
from .built_in import BUILT_IN
from .by_key import reduce_by_code, reduce_by_key, scan_by_code, scan_by_key
from .codes import most_codes, number_codes
from .compact import (
    flags,
    head_flags,
    partition,
    run_length_decode,
    run_length_encode,
    select,
    unique,
)
from .first_within import first_within
from .grids import summed_area_table, window_sum
from .inference import Endless
from .int128 import INT128
from .intervals import interval_expand, interval_gather, interval_move, interval_scatter
from .nulls import NAT, InBand, Mask, Nulls, bitmap, byte_mask
from .operators import Operator, operator
from .options import (
    INTERPOLATIONS,
    RANKS,
    Distinct,
    OrderStatistic,
    Quantile,
    Rank,
    ScanOptions,
    Unsorted,
)
from .order_statistics import order_statistics
from .permute import put, take
from .rolling import rolling, rolling_by_code, rolls_by_code
from .scan import (
    aggregate,
    aggregating,
    carry_in_from,
    carry_inputs,
    carry_operator,
    fold,
    reduce,
    scan,
)
from .segments import segmented
from .selection import Predicate, Segments
from .shift import difference, rows_before, shift, subtract
from .signature import Signature, signature, state
from .sort import argsort, is_sorted, segmented_sort, sort, sort_pairs
from .sort_key import SortKey
from .sorted_search import searchsorted_sorted
from .tied_ranks import takes_ranks, tied_ranks
from .windows import BoundWindows, RowWindows, Windows

__all__ = [
    "BUILT_IN",
    "INT128",
    "INTERPOLATIONS",
    "NAT",
    "RANKS",
    "BoundWindows",
    "Distinct",
    "Endless",
    "InBand",
    "Mask",
    "Nulls",
    "Operator",
    "OrderStatistic",
    "Predicate",
    "Quantile",
    "Rank",
    "RowWindows",
    "ScanOptions",
    "Segments",
    "Signature",
    "SortKey",
    "Unsorted",
    "Windows",
    "aggregate",
    "aggregating",
    "argsort",
    "asof",
    "bitmap",
    "box_filter",
    "byte_mask",
    "carry_in_from",
    "carry_inputs",
    "carry_operator",
    "check_associative",
    "difference",
    "first_within",
    "flags",
    "fold",
    "head_flags",
    "interval_expand",
    "interval_gather",
    "interval_move",
    "interval_scatter",
    "is_array",
    "is_sorted",
    "most_codes",
    "number_codes",
    "operator",
    "order_statistics",
    "partition",
    "put",
    "reduce",
    "reduce_by_code",
    "reduce_by_key",
    "rolling",
    "rolling_by_code",
    "rolls_by_code",
    "rows_before",
    "run_length_decode",
    "run_length_encode",
    "scan",
    "scan_by_code",
    "scan_by_key",
    "searchsorted_sorted",
    "segmented",
    "segmented_sort",
    "select",
    "shift",
    "signature",
    "sort",
    "sort_pairs",
    "state",
    "subtract",
    "summed_area_table",
    "take",
    "takes_ranks",
    "tied_ranks",
    "unique",
    "window_sum",
]


def __dir__() -> list[str]:
    return __all__
