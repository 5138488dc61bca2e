"""The libraries whose own tests are run with their methods replaced by ours."""

import importlib.util
from collections.abc import Mapping

from . import dask_suites, pandas_suites
from .suite import Library, Suite


def _on_gpus() -> tuple[Mapping[str, Suite], Mapping[str, Suite]]:
    """Return the suites of cuDF and of CuPy; without cuDF, none."""
    if importlib.util.find_spec("cudf") is None:
        return {}, {}
    from . import gpu_suites

    return gpu_suites.CUDF_SUITES, gpu_suites.CUPY_SUITES


_CUDF, _CUPY = _on_gpus()

LIBRARIES = {
    library.name: library
    for library in (
        Library("pandas", "pandas", "pandas.tests", pandas_suites.SUITES),
        Library("Dask", "dask", "dask", dask_suites.SUITES),
        Library("cuDF", "cudf", "python/cudf/cudf/tests", _CUDF, checkout="CUDF_CHECKOUT"),
        Library("CuPy", "cupy", "tests", _CUPY, checkout="CUPY_CHECKOUT"),
    )
}
"""By name."""
