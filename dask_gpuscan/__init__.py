"""Ordered dataframe work in one pass: ``.gpuscan`` for pandas and Dask, and scans of arrays.

Importing this package imports no other: each library has the accessor once it is imported, before this one or after.

Examples
--------
>>> import pandas as pd, dask_gpuscan
>>> pd.Series([1, 2, 3]).gpuscan.cumsum().tolist()
[1, 3, 6]
"""


def _find_kernels() -> None:
    """Look for `kernels` in the folder above, too, where this one has no link to it.

    The link is made where the package is built or installed from this folder (setup.py).
    """
    from pathlib import Path

    here = Path(__file__).parent
    if not here.joinpath("kernels").is_dir() and here.with_name("kernels").is_dir():
        __path__.append(str(here.parent))


_find_kernels()
del _find_kernels

from typing import TYPE_CHECKING, Any

from .api.accessors import register_accessors
from .forks import import_late

if TYPE_CHECKING:
    from .api.accessor import Gpuscan
    from .api.arrays.fills import bfill, ffill
    from .api.arrays.grids import box_filter, summed_area_table, window_sum
    from .api.arrays.run_ends import run_end_decode, run_end_encode
    from .api.arrays.scans import cummax, cummin, cumprod, cumsum, scan
    from .api.cluster_options import cluster_options
    from .api.frame.asof import merge_asof
    from .api.frame.runs import rle_decode
    from .api.on import on
    from .api.stream import batches, compute, stream
    from .compile_ahead.precompile import precompile, precompile_plugin
    from .compile_ahead.progress_bar import ProgressBar
    from .engines.stream.sinks.loading import load_state
    from .engines.stream.sources.fragments import ChangedSourceError, Progress
    from .engines.stream.states.state import State
    from .engines.stream.stream import Stream
    from .kernels.operators.associativity import check_associative
    from .kernels.operators.built_in import (
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
    from .kernels.operators.operator import Operator, operator
    from .kernels.operators.reproducible import add_reproducible
    from .kernels.operators.segments import segmented

__version__ = "0.1.0"

__all__ = [
    "ChangedSourceError",
    "Gpuscan",
    "Operator",
    "Progress",
    "ProgressBar",
    "State",
    "Stream",
    "add",
    "add_reproducible",
    "affine",
    "batches",
    "bfill",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "box_filter",
    "check_associative",
    "cluster_options",
    "compute",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "ffill",
    "first",
    "last",
    "load_state",
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
    "stream",
    "summed_area_table",
    "welford",
    "window_sum",
]

_MODULES = {
    ".api.accessor": "Gpuscan",
    ".api.arrays.fills": "bfill ffill",
    ".api.arrays.grids": "box_filter summed_area_table window_sum",
    ".api.arrays.run_ends": "run_end_decode run_end_encode",
    ".api.arrays.scans": "cummax cummin cumprod cumsum scan",
    ".api.cluster_options": "cluster_options",
    ".api.frame.asof": "merge_asof",
    ".api.frame.runs": "rle_decode",
    ".api.on": "on",
    ".api.stream": "batches compute stream",
    ".compile_ahead.precompile": "precompile precompile_plugin",
    ".compile_ahead.progress_bar": "ProgressBar",
    ".engines.stream.sinks.loading": "load_state",
    ".engines.stream.sources.fragments": "ChangedSourceError Progress",
    ".engines.stream.states.state": "State",
    ".engines.stream.stream": "Stream",
    ".kernels.operators.associativity": "check_associative",
    ".kernels.operators.built_in": "add affine bitwise_and bitwise_or bitwise_xor first last logical_all logical_any "
    "maximum minimum multiply welford",
    ".kernels.operators.operator": "Operator operator",
    ".kernels.operators.reproducible": "add_reproducible",
    ".kernels.operators.segments": "segmented",
}
"""The modules of the public names, imported when one of these is first asked for."""

_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names.split()}

if not TYPE_CHECKING:  # checkers would take any name for one that is here

    def __getattr__(name: str) -> Any:
        """Import a public name, or the package `kernels`."""
        if name == "kernels":
            return import_late(".kernels", __name__)
        if name not in _MODULE_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(import_late(_MODULE_OF[name], __name__), name)
        return found


def __dir__() -> list[str]:
    return [*__all__, "__version__", "kernels"]


register_accessors()
