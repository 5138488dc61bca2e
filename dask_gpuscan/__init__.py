"""Ordered dataframe work in one pass: ``.gpuscan`` for pandas and Dask, and scans of arrays.

Importing this package registers the accessor. It never imports a GPU library.

Examples
--------
>>> import pandas as pd, dask_gpuscan
>>> pd.Series([1, 2, 3]).gpuscan.cumsum().tolist()
[1, 3, 6]
"""

from .api.accessor import Gpuscan, register
from .api.array_fills import bfill, ffill
from .api.array_scans import cummax, cummin, cumprod, cumsum, scan
from .api.asof import merge_asof
from .api.cluster_options import cluster_options
from .api.grids import box_filter, summed_area_table, window_sum
from .api.on import on
from .api.precompile import precompile, precompile_plugin
from .api.progress_bar import ProgressBar
from .api.run_ends import run_end_decode, run_end_encode
from .api.run_methods import rle_decode
from .api.table_accessor import register_polars
from .api.xarray_accessor import register_xarray
from .kernels.associativity import check_associative
from .kernels.built_in import (
    add,
    affine,
    bitwise_and,
    bitwise_or,
    bitwise_xor,
    first,
    last,
    logical_all,
    logical_any,
    maximum,
    minimum,
    multiply,
    welford,
)
from .kernels.operators import Operator, operator
from .kernels.reproducible import add_reproducible
from .kernels.segments import segmented

__version__ = "0.1.0"

__all__ = [
    "Gpuscan",
    "Operator",
    "ProgressBar",
    "add",
    "add_reproducible",
    "affine",
    "bfill",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "box_filter",
    "check_associative",
    "cluster_options",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "ffill",
    "first",
    "last",
    "logical_all",
    "logical_any",
    "maximum",
    "merge_asof",
    "minimum",
    "multiply",
    "on",
    "operator",
    "precompile",
    "precompile_plugin",
    "rle_decode",
    "run_end_decode",
    "run_end_encode",
    "scan",
    "segmented",
    "summed_area_table",
    "welford",
    "window_sum",
]


def __dir__() -> list[str]:
    return [*__all__, "__version__", "kernels"]


register()
register_polars()
register_xarray()
