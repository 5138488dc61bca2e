"""What runs inside one partition: scans, reductions, compaction and group-by of arrays by any operator, on any backend.

The functions here are the whole interface. Data stays where it lives: the type of the arrays chooses the backend.
This package knows arrays, null masks and operators, and must never import Dask, pandas or cuDF.

The modules in this folder are front doors: each checks its arguments and calls the backend. Read `arrays`, `nulls` and
``operators/`` first, then a front door, then the module of its name in ``cpu/`` or ``cuda/``.
"""

from .arrays import INT128, is_array
from .asof import asof
from .by_code import max_groups, reduce_by_code, scan_by_code
from .by_key import reduce_by_key, scan_by_key
from .compact import (
    flags,
    head_flags,
    partition,
    run_length_decode,
    run_length_encode,
    select,
    unique,
)
from .factorize import (
    arrange_by_code,
    factorize,
    first_met,
    flags_at,
    most_arranged,
    occurring,
    sort_by_code,
    value_range,
)
from .grids import box_filter, summed_area_table, window_sum
from .intervals import interval_expand, interval_gather, interval_move, interval_scatter
from .keys import (
    KeyTable,
    count_distinct,
    factorize_words,
    hash_codes,
    hash_texts,
    take_texts,
    text_words,
)
from .nulls import NAT, InBand, Mask, Nulls, bitmap, byte_mask
from .operators.associativity import check_associative
from .operators.built_in import BUILT_IN
from .operators.clamped import clamped_add
from .operators.inference import Endless
from .operators.operator import Operator, operator
from .operators.segments import segmented
from .operators.signature import Signature, signature, state
from .options import (
    INTERPOLATIONS,
    RANKS,
    Distinct,
    OrderStatistic,
    Quantile,
    Rank,
    ScanOptions,
    SortKey,
    Unsorted,
)
from .order_statistics import order_statistics
from .permute import put, take
from .rolling import rolling, window_starts
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
from .selection import Predicate, Segments
from .shift import are_floats, difference, shift, subtract
from .sort import argsort, segmented_sort, sort, sort_pairs
from .sorted_values import (
    is_sorted,
    searchsorted_sorted,
    sorted_quantiles,
    takes_ranks,
    tied_ranks,
)
from .windows import BoundWindows, RowWindows, Windows
from .windows_by_code import (
    finds_rows_before,
    rolling_by_code,
    rolls_by_code,
    rows_before,
)

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
    "KeyTable",
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
    "are_floats",
    "argsort",
    "arrange_by_code",
    "asof",
    "bitmap",
    "box_filter",
    "byte_mask",
    "carry_in_from",
    "carry_inputs",
    "carry_operator",
    "check_associative",
    "clamped_add",
    "count_distinct",
    "difference",
    "factorize",
    "factorize_words",
    "finds_rows_before",
    "first_met",
    "flags",
    "flags_at",
    "fold",
    "hash_codes",
    "hash_texts",
    "head_flags",
    "interval_expand",
    "interval_gather",
    "interval_move",
    "interval_scatter",
    "is_array",
    "is_sorted",
    "max_groups",
    "most_arranged",
    "occurring",
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
    "sort_by_code",
    "sort_pairs",
    "sorted_quantiles",
    "state",
    "subtract",
    "summed_area_table",
    "take",
    "take_texts",
    "takes_ranks",
    "text_words",
    "tied_ranks",
    "unique",
    "value_range",
    "window_starts",
    "window_sum",
]


def __dir__() -> list[str]:
    return __all__
