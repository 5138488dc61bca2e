"""Primitives inside one partition: scans, reductions, compaction and group-by by any operator, on any backend.

The names here are those that most callers need: a function for each primitive, and the records that it takes. Import
other names from their modules: ``from dask_gpuscan.kernels.keys import hash_codes``. Data stays where it lives: the
type of the arrays chooses the backend. This package knows arrays, null masks and operators, and must never import Dask,
pandas or cuDF.

The modules in this folder are front doors: each checks its arguments and calls the backend. Read `arrays`, `nulls` and
``operators/`` first, then a front door, then the module of its name in ``cpu/`` or ``cuda/``.
"""

from .arrays import INT128
from .asof import asof
from .by_code import reduce_by_code, scan_by_code
from .by_key import reduce_by_key, scan_by_key
from .compact import flags, head_flags, partition, run_length_encode, select, unique
from .factorize import factorize
from .intervals import interval_move, run_length_decode
from .nulls import InBand, Mask, Nulls, bitmap, byte_mask
from .operators.built_in import BUILT_IN
from .operators.operator import Operator
from .operators.signature import signature
from .options import Distinct, Quantile, Rank
from .order_statistics import order_statistics
from .permute import put, take
from .rolling import rolling
from .scan import reduce, scan
from .selection import Predicate, Segments
from .shift import shift
from .sort import argsort, sort, sort_pairs
from .windows import BoundWindows, RowWindows

__all__ = [
    "BUILT_IN",
    "INT128",
    "BoundWindows",
    "Distinct",
    "InBand",
    "Mask",
    "Nulls",
    "Operator",
    "Predicate",
    "Quantile",
    "Rank",
    "RowWindows",
    "Segments",
    "argsort",
    "asof",
    "bitmap",
    "byte_mask",
    "factorize",
    "flags",
    "head_flags",
    "interval_move",
    "order_statistics",
    "partition",
    "put",
    "reduce",
    "reduce_by_code",
    "reduce_by_key",
    "rolling",
    "run_length_decode",
    "run_length_encode",
    "scan",
    "scan_by_code",
    "scan_by_key",
    "select",
    "shift",
    "signature",
    "sort",
    "sort_pairs",
    "take",
    "unique",
]


def __dir__() -> list[str]:
    return __all__
